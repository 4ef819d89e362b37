package channel

import (
	"cmp"
	"reflect"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/codec/native"
	"github.com/sabir-go/sabir/internal/claim"
	"github.com/sabir-go/sabir/internal/engine"
	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/internal/native"
	"github.com/sabir-go/sabir/internal/option"
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

// defaultKeep is the time that channels keep messages without KeepFor: 7 days.
const defaultKeep = 7 * 24 * time.Hour

// defaultMessage and a head together fit the megabyte that brokers take.
const defaultMessage = 1<<20 - engine.MaxHead

// New names a channel. Its name is words of letters, digits, "_" and "-", joined by dots. An error in it is returned when
// the channel is used.
func New[T any](name string, options ...Option) *Channel[T] {
	d := definition{spec: engine.Spec{Name: name, MaxAge: defaultKeep, MaxMessage: defaultMessage}}
	d.format = cmp.Or(claim.Codec(reflect.TypeFor[T]()), json.Name)
	for _, o := range options {
		o(&d)
	}
	c := &Channel[T]{spec: d.spec, format: d.format, publishers: d.publishers}
	if err := checkName("the channel", name); err != nil {
		c.broken = err
	} else if d.twice != nil {
		c.broken = failure(errBadOption, "channel %s: %w", name, d.twice)
	} else if _, isEvent := any(new(T)).(eventMessage); d.format == binaryEvents && !isEvent {
		c.broken = failure(ErrBadChannel, "channel %s is Encoded(%q), the binary mode of CloudEvents, and its type %s is no webhook.Event", name, binaryEvents, reflect.TypeFor[T]())
	} else if d.format == native.Name {
		c.broken = failure(ErrBadChannel,
			"channel %s cannot be encoded natively: a message is read by programs that never got its schema; use json, or another codec", name)
	}
	return c
}

// checkName returns the error of a name that is not valid; nil for a good one. what is the kind of thing it names.
func checkName(what, name string) error {
	if err := names.Check(name); err != nil {
		return failure(ErrBadChannel, "%s: %w", what, err)
	}
	return nil
}

// usable returns the error of a channel that was made wrongly, or not by New; nil for none.
func (c *Channel[T]) usable() error {
	if c == nil || c.format == "" {
		return failure(ErrBadChannel, "this Channel[%s] was not made by channel.New, which every channel must be", reflect.TypeFor[T]())
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

// Option is an option of New: [KeepFor], [KeepBytes], [KeepMessages], [Encoded], [MaxMessage], [PublishedBy].
type Option func(*definition)

type definition struct {
	spec       engine.Spec
	format     string
	publishers []string
	given      option.Given
	twice      error // of an option that was given twice, or wrongly; nil for none
}

// once is an option of New that can be given once.
func once(name string, where option.Site, apply func(*definition)) Option {
	return func(d *definition) {
		d.twice = cmp.Or(d.twice, d.given.Again(name, where))
		apply(d)
	}
}

// KeepFor sets the time for which messages are kept, handled or not. Default: 7 days; 0 for as long as the other limits allow.
// RabbitMQ applies it to what new groups can start from; what a group has before it is kept until it is handled.
func KeepFor(age time.Duration) Option {
	return once("KeepFor", option.Caller(), func(d *definition) { d.spec.MaxAge = max(0, age) })
}

// KeepBytes drops the oldest messages, handled or not, when all together are larger. Redis does not offer it.
func KeepBytes(n int64) Option {
	return once("KeepBytes", option.Caller(), func(d *definition) { d.spec.MaxBytes = max(0, n) })
}

// KeepMessages drops the oldest messages, handled or not, when there are more. RabbitMQ does not offer it.
func KeepMessages(n int64) Option {
	return once("KeepMessages", option.Caller(), func(d *definition) { d.spec.MaxCount = max(0, n) })
}

// Encoded names the codec that messages are written with: by default "json", or the one that claims the type, such as
// "protobuf" for generated messages. Each message names its codec, so consumers read old messages after a change; the
// program must link the codec's package. "native" is refused: its bytes cannot be read without a schema.
//
// On a channel of webhook.Event "json" is the structured mode of CloudEvents, and "binary" the binary mode, with the event's attributes as headers of the
// broker. Consumers read both.
func Encoded(codec string) Option {
	return once("Encoded", option.Caller(), func(d *definition) { d.format = codec })
}

// MaxMessage is the most bytes that a message may have when encoded. Default: 983,040, which fits the brokers' usual limit
// of a megabyte.
func MaxMessage(bytes int) Option {
	return once("MaxMessage", option.Caller(), func(d *definition) { d.spec.MaxMessage = max(1, bytes) })
}
