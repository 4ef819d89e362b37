package sabir

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/sabir-go/sabir/channel/engine"
	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/json"
)

// Consume has a service handle the messages of a channel. Each group of consumers gets every message; within a group, on
// however many nodes, each message goes to one. A service's handlers are in the group of its name unless they set
// another by [ConsumerGroup]. A group that is new begins with the oldest message that is kept.
//
// A handler that returns nil has handled its message. After an error or a panic the message comes again, to any consumer
// of the group, after a time that doubles with each attempt; after the last attempt it becomes a dead letter, with the
// reason (see [Attempts], [DeadLettersTo]). Some errors make it a dead letter at once, since trying again cannot help:
// those of [Reject], those with the codes InvalidArgument, Unimplemented and DataLoss, and a message that cannot be
// decoded into T.
//
// An attempt counts when its handler was begun, not when the message was only handed out, and lost with the process of its
// consumer. A message that was lost twice is handled alone, while no other handler of the node's consumers runs; when the
// process ends then too, that counts. So a message that kills its consumers becomes a dead letter as well, after it has ended
// two processes more than it has attempts, and takes no other along.
//
// A handler may take as long as it wants: the node keeps the broker from giving its message to another. When the service stops, handlers
// that run are waited for, and messages that none has begun go back.
//
// Middlewares see a message as an [Event] whose name is the channel's. [DeliveryFromContext] describes it.
func Consume[T any](s *Service, c *Channel[T], fn func(context.Context, T) error, options ...ConsumeOption) {
	where := callerSite()
	s.declare("a consumer", where)
	if err := c.usable(); err != nil {
		s.problem(where, "%v", err)
		return
	}
	def := &consumerDefinition{spec: c.spec, where: where, group: s.name, dead: c.spec.Name + deadSuffix, inFlight: 16,
		attempts: 5, first: time.Second, longest: time.Minute, ackWait: 30 * time.Second}
	for _, o := range options {
		o.applyConsumer(def)
	}
	s.problems = append(s.problems, def.problems...)
	if fn == nil {
		s.problem(def.where, "the handler of channel %q is nil", c.spec.Name)
	}
	for what, name := range map[string]string{"group": def.group, "channel of dead letters": def.dead, "channel of begun messages": c.spec.Name + begunSuffix} {
		if bad := badName(name); bad != "" {
			s.problem(def.where, "the name of the %s, %.100q, %s", what, name, bad)
		}
	}
	for _, other := range s.consumers {
		if other.spec.Name == def.spec.Name && other.group == def.group {
			s.problem(def.where, "service %s has two consumers of channel %s in group %s; the first is at %s", s.fullName(), def.spec.Name, def.group, other.where)
		}
	}
	def.payload = reflect.TypeFor[T]()
	def.invoke = func(ctx context.Context, payload any) error { return fn(ctx, *payload.(*T)) }
	def.decode = func(m *engine.Message) (any, error) {
		name := m.Codec
		if name == "" {
			name = json.Name
		}
		format, ok := codec.Lookup(name)
		if !ok {
			return nil, fmt.Errorf("the message is written as %s, and the program links no codec of that name", name)
		}
		value := new(T)
		return value, format.Decode(m.Data, value)
	}
	s.consumers = append(s.consumers, def)
}

// deadSuffix makes the name of the channel that dead letters go to.
const deadSuffix = ".dead"

// consumerDefinition is a consumer as its author wrote it.
type consumerDefinition struct {
	spec        engine.Spec
	where       callSite
	group       string
	dead        string
	from        engine.Position
	inFlight    int
	attempts    int
	first       time.Duration
	longest     time.Duration
	ackWait     time.Duration
	middlewares []Middleware
	given       givenOptions
	problems    []error // of the options
	payload     reflect.Type
	invoke      func(ctx context.Context, payload any) error
	decode      func(*engine.Message) (payload any, err error)
}

// ConsumeOption is an option of Consume: [ConsumerGroup], [MaxInFlight], [Attempts], [AckWait], [DeadLettersTo], [FromStart],
// [FromTime], [FromSequence], [OnlyNew], [Use]. Use adds up; a service whose consumer has two of another, or two of where to
// start from, does not start.
type ConsumeOption interface{ applyConsumer(*consumerDefinition) }

type consumeOption func(*consumerDefinition)

func (o consumeOption) applyConsumer(d *consumerDefinition) { o(d) }

func (o ConsumerGroupOption) applyConsumer(d *consumerDefinition) {
	consumeOptionOnce("ConsumerGroup", o.where, func(d *consumerDefinition) { d.group = o.name }).applyConsumer(d)
}

func (u UseOption) applyConsumer(d *consumerDefinition) {
	d.middlewares = append(d.middlewares, u.middlewares...)
}

// MaxInFlight bounds the messages that the consumer handles at once on each node. Default: 16.
func MaxInFlight(n int) ConsumeOption {
	return consumeOptionOnce("MaxInFlight", callerSite(), func(d *consumerDefinition) { d.inFlight = min(max(n, 1), 10_000) })
}

// Attempts sets how often a message is handed out before it becomes a dead letter, and how long it waits after the first
// failure and at most. Default: 5 times, a second and a minute. The waiting time doubles with each attempt, and up to
// half of it is left to chance, so that what failed together does not come again together.
func Attempts(n int, first, longest time.Duration) ConsumeOption {
	return consumeOptionOnce("Attempts", callerSite(), func(d *consumerDefinition) {
		d.attempts, d.first, d.longest = max(n, 1), max(first, 0), max(first, longest)
	})
}

// AckWait sets how long the broker receives nothing about a message before it gives it to another consumer: how long the
// messages of a node that was killed are held up. Default: 30 seconds; a second at least. RabbitMQ goes by the node's
// connection instead.
func AckWait(d time.Duration) ConsumeOption {
	return consumeOptionOnce("AckWait", callerSite(), func(def *consumerDefinition) { def.ackWait = max(d, time.Second) })
}

// DeadLettersTo names the channel for messages that no attempt could handle. Default: "shop.orders.dead" for shop.orders.
// It is a channel like others: it can be consumed, and [DeadLetters] lists it. Messages in it are kept until they are deleted or
// replayed.
func DeadLettersTo(name string) ConsumeOption {
	return consumeOptionOnce("DeadLettersTo", callerSite(), func(d *consumerDefinition) { d.dead = name })
}

// FromStart has a group that is new begin with the oldest message that is kept, as it does without an option. A group that
// exists goes on where it was, regardless of these options.
func FromStart() ConsumeOption {
	return consumeOptionOnce("one of FromStart, OnlyNew, FromTime and FromSequence", callerSite(), func(d *consumerDefinition) { d.from = engine.Position{} })
}

// OnlyNew has a group that is new begin with what is published after it was made.
func OnlyNew() ConsumeOption {
	return consumeOptionOnce("one of FromStart, OnlyNew, FromTime and FromSequence", callerSite(), func(d *consumerDefinition) { d.from = engine.Position{New: true} })
}

// FromTime has a group that is new begin with the first message that was published at or after the time: give the group a
// new name to replay a channel.
func FromTime(t time.Time) ConsumeOption {
	return consumeOptionOnce("one of FromStart, OnlyNew, FromTime and FromSequence", callerSite(), func(d *consumerDefinition) { d.from = engine.Position{Time: t} })
}

// FromSequence has a group that is new begin with the message at that place: see [Receipt]. RabbitMQ does not offer it.
func FromSequence(sequence uint64) ConsumeOption {
	return consumeOptionOnce("one of FromStart, OnlyNew, FromTime and FromSequence", callerSite(), func(d *consumerDefinition) { d.from = engine.Position{Sequence: sequence} })
}

// Delivery describes the message that a handler is handling.
type Delivery struct {
	Channel   string
	Group     string
	ID        string    // see MessageID
	Sequence  uint64    // its place in the channel; 0 where the broker has none
	Published time.Time // by the publisher's clock
	Attempt   int       // 1 for the first
	Attempts  int       // the last one's number
	// Dead describes how the message became a dead letter, for a consumer of dead letters; nil for others.
	Dead *DeadInfo
}

// DeadInfo describes how a message became a dead letter: where it was, which group failed to handle it, after how many
// attempts, and why.
type DeadInfo = engine.Dead

type deliveryKey struct{}

// DeliveryFromContext describes the message whose handler got ctx; false in other handlers.
func DeliveryFromContext(ctx context.Context) (Delivery, bool) {
	d, ok := ctx.Value(deliveryKey{}).(*Delivery)
	if !ok {
		return Delivery{}, false
	}
	return *d, true
}

// Reject is for a handler that knows that its message will never be handled: the message becomes a dead letter at
// once, with the error as the reason.
func Reject(err error) error {
	if err == nil {
		err = errors.New("the handler gave it up")
	}
	return &permanentError{err}
}

type permanentError struct{ error }

func (e *permanentError) Unwrap() error { return e.error }

// permanent reports whether trying again cannot help.
func permanent(err error) bool {
	if _, ok := errors.AsType[*permanentError](err); ok {
		return true
	}
	e, ok := errors.AsType[*Error](err)
	return ok && (e.Code == CodeInvalidArgument || e.Code == CodeUnimplemented || e.Code == CodeDataLoss)
}
