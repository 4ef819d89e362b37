package sabir

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/sabir-go/sabir/channel/engine"
	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/codec/native"
)

// Channel is a durable queue of messages of one type, kept by a broker until each group of consumers has handled them: at
// least once. Make it with [NewChannel], once for the program, and share it; its methods may be called from many
// goroutines at once. The node sets the broker that keeps it: see [Channels].
//
//	var Orders = sabir.NewChannel[Order]("shop.orders")
//
//	receipt, err := Orders.Publish(ctx, node, Order{ID: 7})   // nil: the broker keeps it
//
//	sabir.Consume(billing, Orders, func(ctx context.Context, o Order) error { … })
//
// A message whose Publish returned nil is not lost, whatever ends: the publisher, consumers, the broker. It may be handled
// more than once, for example when a consumer ends between its work and the broker's hearing of it; handlers must bear
// that. docs/channels.md lists what each broker must be set to, and for how long messages are kept.
//
// Messages are handed out in the order in which they were published. Several are in flight at once, on several nodes, and
// one that failed comes again later: so there is no order between them that a handler could rely on. Where one matters,
// send what belongs together to one actor, or consume with MaxInFlight(1) on one node.
type Channel[T any] struct {
	spec   engine.Spec
	format string
	broken error // what was wrong with its making
}

// DefaultKeep is the time that channels keep messages without KeepFor: 7 days.
const DefaultKeep = 7 * 24 * time.Hour

// defaultMessage and a head together fit the megabyte that brokers take.
const defaultMessage = 1<<20 - engine.MaxHead

// NewChannel names a channel. Its name is words of letters, digits, "_" and "-", joined by dots. An error in it is
// returned when the channel is used.
func NewChannel[T any](name string, options ...ChannelOption) *Channel[T] {
	d := channelDefinition{spec: engine.Spec{Name: name, MaxAge: DefaultKeep, MaxMessage: defaultMessage}, format: codec.Claimed(reflect.TypeFor[T]())}
	if d.format == "" {
		d.format = json.Name
	}
	for _, o := range options {
		o(&d)
	}
	c := &Channel[T]{spec: d.spec, format: d.format}
	if bad := badName(name); bad != "" {
		c.broken = &Error{Code: CodeInvalidArgument, Name: nameBadChannel, Message: fmt.Sprintf("the channel's name %.100q %s", name, bad)}
	} else if d.format == native.Name {
		c.broken = &Error{Code: CodeInvalidArgument, Name: nameBadChannel,
			Message: "channel " + name + " cannot be encoded natively: a message is read by programs that never got its schema; use json, or another codec"}
	}
	return c
}

// usable is the error of a channel that was made wrongly, or not by NewChannel; nil for none.
func (c *Channel[T]) usable() error {
	if c == nil || c.format == "" {
		return &Error{Code: CodeInvalidArgument, Name: nameBadChannel,
			Message: fmt.Sprintf("this Channel[%s] was not made by sabir.NewChannel, which every channel must be", reflect.TypeFor[T]())}
	}
	return c.broken
}

// Name is the channel's name.
func (c *Channel[T]) Name() string { return c.spec.Name }

// ChannelOption is an option of NewChannel: [KeepFor], [KeepBytes], [KeepMessages], [Encoded], [MaxMessage].
type ChannelOption func(*channelDefinition)

type channelDefinition struct {
	spec   engine.Spec
	format string
}

// KeepFor sets the time for which messages are kept, handled or not. Default: 7 days; 0 for as long as the other limits allow.
// RabbitMQ applies it to what new groups can start from; what a group has before it is kept until it is handled.
func KeepFor(age time.Duration) ChannelOption {
	return func(c *channelDefinition) { c.spec.MaxAge = max(0, age) }
}

// KeepBytes drops the oldest messages, handled or not, when all together are larger. Redis does not offer it.
func KeepBytes(n int64) ChannelOption {
	return func(c *channelDefinition) { c.spec.MaxBytes = max(0, n) }
}

// KeepMessages drops the oldest messages, handled or not, when there are more. RabbitMQ does not offer it.
func KeepMessages(n int64) ChannelOption {
	return func(c *channelDefinition) { c.spec.MaxCount = max(0, n) }
}

// Encoded names the codec that messages are written with: by default "json", or the one that claims the type, such as
// "protobuf" for generated messages. Each message names its codec, so consumers read old messages after a change; the
// program must link the codec's package. "native" is refused: its bytes cannot be read without a schema.
func Encoded(codec string) ChannelOption {
	return func(c *channelDefinition) { c.format = codec }
}

// MaxMessage is the most bytes that a message may have when encoded. Default: 983,040, which fits the brokers' usual limit
// of a megabyte.
func MaxMessage(bytes int) ChannelOption {
	return func(c *channelDefinition) { c.spec.MaxMessage = max(1, bytes) }
}

// Receipt is returned when the broker keeps a message.
type Receipt struct {
	// ID is the message's: the one given by MessageID, else a new one.
	ID string
	// Sequence is the message's place in the channel: later messages have larger ones. 0 where the broker has none (RabbitMQ).
	Sequence uint64
	// Duplicate reports that the channel had a message of this ID already, so this one was left out.
	Duplicate bool
}

// PublishOption is an option of Publish: [MessageID].
type PublishOption func(*engine.Outgoing)

// MessageID gives the message an ID of the publisher's choosing, such as an order's number with what happened to it. One
// that is published again with the same ID within two minutes is kept once, where the broker offers it (NATS, Redis);
// everywhere the handler finds the ID in its [Delivery].
func MessageID(id string) PublishOption {
	return func(m *engine.Outgoing) { m.ID, m.Dedup = id, true }
}

// Publish gives a message to the broker and returns when the broker keeps it. The request id and the metadata of ctx
// go with it.
//
// A broker that cannot be reached is tried again until ctx ends, or for 10 seconds where ctx has no deadline; the error is then
// [ErrChannelAway], and the message may have been kept all the same.
func (c *Channel[T]) Publish(ctx context.Context, from Caller, value T, options ...PublishOption) (Receipt, error) {
	n, err := c.publisher(ctx, from)
	if err != nil {
		return Receipt{}, err
	}
	m := n.newOutgoing(ctx, c.format)
	for _, o := range options {
		o(m)
	}
	if err := c.encode(n, m, &value); err != nil {
		return Receipt{}, err
	}
	err = n.publishTo(ctx, c.spec, []*engine.Outgoing{m})
	return receiptOf(m), err
}

// PublishAll gives several messages to the broker at once, which is many times faster than one after the other. It returns
// a receipt for each; where there is an error, those without an ID were not kept, or not surely. Those that were are in
// the order of values, unless the broker could not be reached in between.
func (c *Channel[T]) PublishAll(ctx context.Context, from Caller, values []T) ([]Receipt, error) {
	n, err := c.publisher(ctx, from)
	if err != nil {
		return nil, err
	}
	all := make([]*engine.Outgoing, len(values))
	for i := range values {
		all[i] = n.newOutgoing(ctx, c.format)
		if err := c.encode(n, all[i], &values[i]); err != nil {
			return nil, err
		}
	}
	receipts := make([]Receipt, len(values))
	for first := 0; first < len(all); first += publishedAtOnce {
		batch := all[first:min(first+publishedAtOnce, len(all))]
		err = n.publishTo(ctx, c.spec, batch)
		for i, m := range batch {
			if m.Err == nil {
				receipts[first+i] = receiptOf(m)
			}
		}
		if err != nil {
			break
		}
	}
	return receipts, err
}

// publishedAtOnce bounds what one PublishAll has on its way.
const publishedAtOnce = 256

func receiptOf(m *engine.Outgoing) Receipt {
	return Receipt{ID: m.ID, Sequence: m.Sequence, Duplicate: m.Duplicate}
}

func (c *Channel[T]) publisher(ctx context.Context, from Caller) (*Node, error) {
	if err := c.usable(); err != nil {
		return nil, err
	}
	n := from.callingNode()
	if n == nil {
		return nil, errNoNode(from, c.spec.Name)
	}
	if err := ctx.Err(); err != nil {
		return nil, n.channelError("publish to "+c.spec.Name, err)
	}
	return n, nil
}

// newOutgoing is a message without its data.
func (n *Node) newOutgoing(ctx context.Context, format string) *engine.Outgoing {
	if n.carry != nil {
		ctx = n.carry(ctx)
	}
	return &engine.Outgoing{Message: engine.Message{Head: engine.Head{ID: NewRequestID(), Time: time.Now(), Codec: format,
		Request: RequestIDFromContext(ctx), Metadata: MetadataFromContext(ctx)}}}
}

func (c *Channel[T]) encode(n *Node, m *engine.Outgoing, value *T) error {
	if m.ID == "" || len(m.ID) > maxName {
		return &Error{Code: CodeInvalidArgument, Name: nameBadChannel, Node: n.id, Message: "the id of a message for " + c.spec.Name + " must have 1 to " + itoa(maxName) + " bytes"}
	}
	format, err := formatOf[T](c.format)
	if err != nil {
		return err
	}
	m.Data, err = format.codec.Append(nil, value)
	if err != nil {
		if failed := n.panicInside("the message for "+c.spec.Name, err); failed != nil {
			return failed
		}
		return &Error{Code: CodeInvalidArgument, Name: nameBadInput, Node: n.id, cause: err,
			Message: fmt.Sprintf("the message for %s cannot be written as %s: %v", c.spec.Name, c.format, err)}
	}
	if len(m.Data) > c.spec.MaxMessage {
		return &Error{Code: CodeResourceExhausted, Name: nameMessageTooLarge, Node: n.id,
			Message: fmt.Sprintf("the message for %s has %d bytes, the channel takes %d (sabir.MaxMessage)", c.spec.Name, len(m.Data), c.spec.MaxMessage)}
	}
	return nil
}
