package transport

import (
	"context"
	"net/url"
)

// Bus is a transport that passes messages through a broker. It has no connections between two nodes: package
// internal/bus makes them of its messages, so that links run over a bus as over a [Stream].
//
// All methods may be called from any number of goroutines at once.
type Bus interface {
	// Connect joins the broker at the address, within ctx and config.DialTimeout, whichever is shorter. Names of clusters
	// and nodes are no part of the address; what the broker wants to know is: user and password, a database, a virtual host.
	//
	// It refuses brokers that other machines can reach unless config sets how nodes authenticate: [Config.CheckBroker] does
	// that for drivers. Where nothing listens the error is [syscall.ECONNREFUSED] for errors.Is. Errors name the address,
	// and passwords do not show in them.
	Connect(ctx context.Context, at *url.URL, config Config, events BusEvents) (Broker, error)
}

// Broker is a connection to a broker. It connects again by itself, and renews its subscriptions, for as long as it is not
// closed.
//
// Subjects are made of 1 to 200 letters, digits, '_' and '-', and '.' between others. Drivers write them as their broker
// wants them.
//
// All methods may be called from any number of goroutines at once.
type Broker interface {
	// Publish hands a message to the broker, for all that subscribe to the subject. It does not wait for the broker's
	// answer, and data is the caller's again when it returns. It blocks while the client's own bounded buffer is full.
	//
	// Messages of one publisher on one subject arrive in the order of their Publish calls, at most once each. They are lost
	// while the connection is down, on this side or the subscriber's: Publish then fails, or returns without a fault.
	Publish(subject string, data []byte) error

	// Probe is Publish that also checks for subscribers: where there are none, BusEvents.Unheard is called.
	// Subscribers cannot tell it from Publish, and it keeps the order with it.
	Probe(subject string, data []byte) error

	// Subscribe has deliver called with each message on the subject, one at a time and in order. When it returns the
	// broker has the subscription: what is published from then on, by any node, arrives. data is deliver's to keep. deliver
	// must not block. A subject is subscribed to once; several nodes that subscribe to one subject all get its messages.
	Subscribe(ctx context.Context, subject string, deliver func(data []byte)) error

	// MaxMessage is the size in bytes of the largest message that the broker takes.
	MaxMessage() int

	// Addr is the broker's address as a URL that others can connect to, without a password.
	Addr() string

	// Close ends the connection and all deliveries; when it returns, no callback runs any more. What was published before
	// has been handed to the broker, if that could be done within a second.
	Close() error
}

// BusEvents are the callbacks from a Broker to its owner. Callbacks come one at a time, never from within a call of Publish,
// Probe or Close by the owner's goroutine, and must not block. Each may be nil.
type BusEvents struct {
	// Lost reports that the connection to the broker broke. The driver tries to connect again at once, then every 50 ms
	// rising to a second, with some chance in it, for as long as the Broker is not closed.
	Lost func(err error)
	// Restored reports that the connection is back with its subscriptions.
	Restored func()
	// Unheard reports that a message sent by Probe had no subscriber. The broker itself must report it; silence does not count.
	Unheard func(subject string)
}
