package channel

import (
	"context"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/engine"
	"github.com/sabir-go/sabir/internal/requestid"
)

// Receipt is returned when the broker keeps a message.
type Receipt struct {
	// ID is the message's: the one given to PublishWithID, else a new one.
	ID string
	// Sequence is the message's place in the channel: later messages have larger ones. 0 where the broker has none (RabbitMQ).
	Sequence uint64
	// Duplicate reports that the channel had a message of this ID already, so this one was left out.
	Duplicate bool
}

// maxID bounds the bytes of a message's ID.
const maxID = 200

// Publish gives a message to the broker and returns when the broker keeps it. The request id and the metadata of ctx
// go with it.
//
// A broker that cannot be reached is tried again until ctx ends, or for 10 seconds where ctx has no deadline; the error is then
// [ErrChannelUnreachable], and the message may have been kept all the same. One that answers that it takes nothing now, such as a
// replica, is tried again for 2 seconds. One that is full is not: [ErrChannelFull] comes at once.
func (c *Channel[T]) Publish(ctx context.Context, from sabir.Caller, value T) (Receipt, error) {
	b, err := c.publisher(ctx, from)
	if err != nil {
		return Receipt{}, err
	}
	return c.publish(ctx, b, b.newOutgoing(ctx, c.format), &value)
}

// PublishWithID does what [Channel.Publish] does, and gives the message an ID of the publisher's choosing, such as an order's number with
// what happened to it: 1 to 200 bytes. One that is published again with the same ID within two minutes is kept once, where the broker
// offers it (NATS, Redis); everywhere the handler finds the ID in its [Delivery].
func (c *Channel[T]) PublishWithID(ctx context.Context, from sabir.Caller, id string, value T) (Receipt, error) {
	b, err := c.publisher(ctx, from)
	if err != nil {
		return Receipt{}, err
	}
	m := b.newOutgoing(ctx, c.format)
	m.ID, m.Dedup = id, true
	return c.publish(ctx, b, m, &value)
}

func (c *Channel[T]) publish(ctx context.Context, b *broker, m *engine.Outgoing, value *T) (Receipt, error) {
	if err := c.write(b, m, value); err != nil {
		return Receipt{}, err
	}
	err := b.publish(ctx, c.spec, []*engine.Outgoing{m})
	return receiptOf(m), err
}

// PublishAll gives several messages to the broker at once, which is many times faster than one after the other. It returns
// a receipt for each; where there is an error, those without an ID were not kept, or not surely. Those that were are in
// the order of values, unless the broker could not be reached in between.
func (c *Channel[T]) PublishAll(ctx context.Context, from sabir.Caller, values []T) ([]Receipt, error) {
	b, err := c.publisher(ctx, from)
	if err != nil {
		return nil, err
	}
	all := make([]*engine.Outgoing, len(values))
	for i := range values {
		all[i] = b.newOutgoing(ctx, c.format)
		if err := c.write(b, all[i], &values[i]); err != nil {
			return nil, err
		}
	}
	receipts := make([]Receipt, len(values))
	for first := 0; first < len(all); first += publishedAtOnce {
		batch := all[first:min(first+publishedAtOnce, len(all))]
		err = b.publish(ctx, c.spec, batch)
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

func (c *Channel[T]) publisher(ctx context.Context, from sabir.Caller) (*broker, error) {
	if err := c.usable(); err != nil {
		return nil, err
	}
	b, err := brokerOf(from, c.spec.Name)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, b.callerError("publish to "+c.spec.Name, err)
	}
	return b, nil
}

// newOutgoing is a message without its data.
func (b *broker) newOutgoing(ctx context.Context, format string) *engine.Outgoing {
	info := sabir.InfoFromContext(b.node.Carry(ctx))
	return &engine.Outgoing{Message: engine.Message{Head: engine.Head{ID: requestid.New(), Time: time.Now(), Codec: format,
		Request: info.RequestID, Metadata: info.Metadata}}}
}

// write puts the value into a message, and the proof of its publisher.
func (c *Channel[T]) write(b *broker, m *engine.Outgoing, value *T) error {
	if err := c.encode(b, m, value); err != nil {
		return err
	}
	return c.prove(b, m)
}

func (c *Channel[T]) encode(b *broker, m *engine.Outgoing, value *T) error {
	if m.ID == "" || len(m.ID) > maxID {
		return b.failure(errBadChannel, "the id of a message for %s must have 1 to %d bytes", c.spec.Name, maxID)
	}
	if err := c.encodeValue(m, value); err != nil {
		if failed := b.panicInside("the message for "+c.spec.Name, err); failed != nil {
			return failed
		}
		return b.failure(sabir.ErrBadInput, "the message for %s cannot be written as %s: %w", c.spec.Name, c.format, err)
	}
	if len(m.Data) > c.spec.MaxMessage {
		return b.failure(sabir.ErrMessageTooLarge, "the message for %s has %d bytes, the channel takes %d (MaxMessage of channel.Config)",
			c.spec.Name, len(m.Data), c.spec.MaxMessage)
	}
	attributes := 0
	for name, value := range m.Attributes {
		attributes += len(name) + len(value)
	}
	if attributes > maxAttributes {
		return b.failure(sabir.ErrMessageTooLarge, "the event for %s has attributes of %d bytes, a channel takes %d beside the data", c.spec.Name, attributes, maxAttributes)
	}
	return nil
}

func (c *Channel[T]) encodeValue(m *engine.Outgoing, value *T) error {
	if event, ok := eventOf(value, c.format); ok {
		return event.WriteMessage(&m.Message, c.format == binaryEvents)
	}
	format, err := lookupCodec(c.format)
	if err == nil {
		m.Data, err = format.Append(nil, value)
	}
	return err
}

// lookupCodec finds the codec that messages are written with, or were.
func lookupCodec(name string) (codec.Codec, error) {
	if format, ok := codec.Lookup(name); ok {
		return format, nil
	}
	return nil, &codec.Error{Codec: name, Offset: -1,
		Message: `the program links no codec of that name: add import _ "github.com/sabir-go/sabir/codec/` + name + `" if it is one of these`}
}
