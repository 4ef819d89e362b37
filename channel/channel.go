package channel

import (
	"reflect"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/claim"
	"github.com/sabir-go/sabir/internal/engine"
	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/internal/native"
)

// Channel is a durable queue of messages of one type, kept by a broker until each group of consumers has handled them: at
// least once. Make it with [New], once for the program, and share it; its methods may be called from many goroutines at
// once. The node sets the broker that keeps it: see [Broker].
//
//	var Orders = channel.New[Order]("shop.orders")
//
//	receipt, err := Orders.Publish(ctx, node, Order{ID: 7})   // nil: the broker keeps it
//
//	Orders.Consume(billing, func(ctx context.Context, o Order) error { … })
//
// A message whose Publish returned nil is not lost, whatever ends: the publisher, consumers, the broker. It may be handled
// more than once, for example when a consumer ends between its work and the broker's hearing of it; handlers must bear
// that. docs/channels.md lists what each broker must be set to, and for how long messages are kept.
//
// Messages are handed out in the order in which they were published. Several are in flight at once, on several nodes, and
// one that failed comes again later: so there is no order between them that a handler could rely on. Where one matters,
// send what belongs together to one actor, or consume with a MaxInFlight of 1 on one node.
type Channel[T any] struct {
	spec       engine.Spec
	format     string
	publishers []string // patterns of names; nil for all
	broken     error    // of its making
}

// New names a channel. Its name is words of letters, digits, "_" and "-", joined by dots. The settings may be left out. An error in
// them is returned when the channel is used.
func New[T any](name string, config ...Config) *Channel[T] {
	settings := Config{}
	if len(config) > 0 {
		settings = config[0]
	}
	settings = settings.withDefaults(claim.Codec(reflect.TypeFor[T]()))
	c := &Channel[T]{format: settings.Codec, publishers: settings.PublishedBy, spec: engine.Spec{Name: name, MaxAge: settings.KeepFor,
		MaxBytes: settings.KeepBytes, MaxCount: settings.KeepMessages, MaxMessage: settings.MaxMessage}}
	if err := checkName("the channel", name); err != nil {
		c.broken = err
	} else if len(config) > 1 {
		c.broken = failure(errBadOption, "channel %s has %d structs of settings, and each would undo the others: give one", name, len(config))
	} else if err := settings.check(); err != nil {
		c.broken = failure(errBadOption, "channel %s: %w", name, err)
	} else if _, isEvent := any(new(T)).(eventMessage); c.format == binaryEvents && !isEvent {
		c.broken = failure(errBadChannel, "channel %s has the codec %q, the binary mode of CloudEvents, and its type %s is no webhook.Event", name, binaryEvents, reflect.TypeFor[T]())
	} else if c.format == native.Name {
		c.broken = failure(errBadChannel,
			"channel %s cannot be encoded natively: a message is read by programs that never got its schema; use json, or another codec", name)
	}
	return c
}

// checkName returns the error of a name that is not valid; nil for a good one. what is the kind of thing it names.
func checkName(what, name string) error {
	if err := names.Check(name); err != nil {
		return failure(errBadChannel, "%s: %w", what, err)
	}
	return nil
}

// usable returns the error of a channel that was made wrongly, or not by New; nil for none.
func (c *Channel[T]) usable() error {
	if c == nil || c.format == "" {
		return failure(errBadChannel, "this Channel[%s] was not made by channel.New, which every channel must be", reflect.TypeFor[T]())
	}
	return c.broken
}

// Name is the channel's name.
func (c *Channel[T]) Name() string { return c.spec.Name }

// MessageType is the channel with its messages' type, for [sabir.Sends]; the zero MessageType for one that cannot be used.
func (c *Channel[T]) MessageType() sabir.MessageType {
	if c.usable() != nil {
		return sabir.MessageType{}
	}
	return messageType[T](c.spec.Name, c.format)
}
