// Package channel says what a durable channel needs of the broker that keeps it.
//
// A channel is a named queue of messages that a broker keeps until each group of consumers has handled them: at least
// once. Programs use channels by way of package sabir (NewChannel, Publish, Consume); this package is for those who write
// an [Engine]. An engine knows one kind of broker. It lives in a package of its own below this one and registers itself
// for the schemes of its addresses when it is imported, as database/sql drivers do:
//
//	import _ "github.com/sabir-go/sabir/channel/jetstream" // nats://
//
// An engine moves messages and keeps count of who has what. When a message is tried again, after how long, and when it
// is given up, is decided above, once for all engines. Package channeltest holds what every engine must do.
package channel
