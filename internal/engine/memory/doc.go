// Package mem keeps channels in the memory of the process: for tests and the first ten minutes. It is not durable: what
// it holds ends with the process, and other processes do not see it.
//
// Importing it registers the engine of mem://:
//
//	node := sabir.NewNode(channel.Broker("mem://shop"), sabir.Serve(billing))
//
// Stores opened at the same address, such as mem://shop, share their
// channels for as long as one of them is open; mem:// without a name is separate each time.
//
// Each channel holds 1,000,000 messages and 256 MiB at most; publishing more is an error, [engine.ErrFull], unless the
// channel has limits of its own above which the oldest go.
package memory
