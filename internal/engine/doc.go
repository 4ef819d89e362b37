// Package engine is the interface between durable channels and the brokers that keep them.
//
// A channel is a named queue of messages that a broker keeps until each group of consumers has handled them: at least
// once. Programs use package channel, which is above this one. An [Engine] knows
// one kind of broker. It is in a package of its own, below broker, and registers itself for the schemes of its
// addresses when it is imported, as database/sql drivers do:
//
//	import _ "github.com/sabir-go/sabir/broker/nats" // nats://
//
// An engine moves messages and tracks which consumer has what. Package channel decides, once for all engines, when a message
// is tried again, after how long, and when it is dead-lettered. Package internal/channeltest tests what every engine must do.
package engine
