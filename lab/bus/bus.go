// Package bus is the bare clients of brokers, each as its own documentation uses it: what a broker and its client take, with
// nothing of Sabir in it.
package bus

// Connect is a client of the broker at address, with one connection or what the client makes of one. It subscribes to one
// subject, calls deliver for each message that comes, one after another, and returns what publishes, which any goroutine may
// call. A message's bytes are deliver's until it returns.
type Connect func(address, subject string, deliver func([]byte)) (publish func(subject string, data []byte) error, stop func(), err error)
