package channel

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/engine"
)

// Consumer says how a service handles the messages of a channel, see [Channel.ConsumeWith]. The zero Consumer is that of
// [Channel.Consume].
type Consumer struct {
	// Group is the group of consumers. Default: the service's name, without its version.
	Group string
	// MaxInFlight bounds the messages that are handled at once on each node: 1 to 10,000. Default: 16.
	MaxInFlight int
	// Attempts is how often a message is handled before it becomes a dead letter. Default: 5.
	Attempts int
	// FirstPause is the wait after the first attempt. It doubles with each attempt, and up to half of it is left to chance, so
	// that what failed together does not come again together. Default: a second, or MaxPause if that is shorter.
	FirstPause time.Duration
	// MaxPause bounds each wait. Default: a minute, or FirstPause if that is longer. Up to it, a wait is as long as the error of the handler
	// asks, such as that of policy.RateLimit: by data as of policy.RetryAfter.
	MaxPause time.Duration
	// AckWait is how long the broker receives nothing about a message before it gives it to another consumer: how long the
	// messages of a node that was killed are held up. Default: 30 seconds; a second at least. RabbitMQ goes by the node's
	// connection instead.
	AckWait time.Duration
	// DeadLettersTo names the channel for messages that no attempt could handle. Default: "shop.orders.dead" for shop.orders.
	// It is a channel like others: it can be consumed, and [DeadLetters] lists it. Messages in it are kept until they are
	// deleted or replayed.
	DeadLettersTo string

	// Where a group that is new begins, one of three. By default it begins with the oldest message that is kept. A group that
	// exists goes on where it was, regardless of them.

	// OnlyNew begins with what is published after the group was made.
	OnlyNew bool
	// FromTime begins with the first message that was published at or after the time: give the group a new name to replay a
	// channel.
	FromTime time.Time
	// FromSequence begins with the message of that sequence: see [Receipt]. RabbitMQ does not offer it.
	FromSequence uint64

	// Use are middlewares around the handler, inside those of the service and the node. They see a message as a sabir.Event
	// whose name is the channel's. The first is the outermost.
	Use []sabir.Wrapper
}

// Consume has a service handle the messages of a channel. Each group of consumers gets every message; within a group, on
// however many nodes, each message goes to one. A service's handlers are in the group of its name unless they set
// another. A group that is new begins with the oldest message that is kept.
//
// A handler that returns nil has handled its message. After an error or a panic the message comes again, to any consumer
// of the group, after a time that doubles with each attempt; after the last attempt it becomes a dead letter, with the
// reason. Some errors make it a dead letter at once, since trying again cannot help: those of [Reject], those with the codes
// InvalidArgument, Unimplemented and DataLoss, and a message that cannot be decoded into T.
//
// An attempt counts when its handler was begun, not when the message was only handed out, and lost with the process of its
// consumer. A message that was lost twice is handled alone, while no other handler of the node's consumers runs; when the
// process ends then too, that counts. So a message that kills its consumers becomes a dead letter as well, after it has ended
// two processes more than it has attempts, and takes no other along.
//
// A handler may take as long as it wants: the node keeps the broker from giving its message to another. When the service
// stops, handlers that run are waited for, and messages that none has begun go back.
//
// [DeliveryFromContext] describes the message. Mistakes are reported when the service starts, with the line of Consume. It panics
// when a node serves s already: it would have no effect.
func (c *Channel[T]) Consume(s *sabir.Service, fn func(context.Context, T) error) {
	c.consume(s, Consumer{}, fn)
}

// ConsumeWith is [Channel.Consume] with settings.
func (c *Channel[T]) ConsumeWith(s *sabir.Service, config Consumer, fn func(context.Context, T) error) {
	c.consume(s, config, fn)
}

func (c *Channel[T]) consume(s *sabir.Service, config Consumer, fn func(context.Context, T) error) {
	const skip = 2 // this function, and Consume or ConsumeWith
	d := &consumer{service: s, Consumer: config, payload: reflect.TypeFor[T]()}
	if c != nil {
		d.spec, d.publishers = c.spec, c.publishers
		d.receives = messageType[T](c.spec.Name, c.format)
	}
	if s != nil { // Attach reports it
		d.Group = cmp.Or(d.Group, s.Group())
	}
	if err := c.usable(); err != nil {
		s.Attach(d, skip, err)
		return
	}
	problems := d.complete()
	if fn == nil {
		problems = append(problems, fmt.Errorf("the handler of channel %q is nil", c.spec.Name))
	}
	d.invoke = func(ctx context.Context, payload any) error { return fn(ctx, *payload.(*T)) }
	d.decode = func(m *engine.Message) (any, error) {
		value := new(T)
		if event, ok := eventOf(value, cmp.Or(m.Codec, json.Name)); ok {
			return value, event.ReadMessage(m)
		}
		format, err := lookupCodec(cmp.Or(m.Codec, json.Name))
		if err != nil {
			return nil, err
		}
		return value, format.Decode(m.Data, value)
	}
	s.Attach(d, skip, problems...)
}

// The ends of the names of the channels beside a channel: of its dead letters, unless the consumer names one, and of its marks of
// begun messages.
const (
	deadSuffix  = ".dead"
	begunSuffix = ".begun"
)

// consumer is a consumer as its author wrote it, with its defaults. It is a component of its service.
type consumer struct {
	Consumer
	service    *sabir.Service
	spec       engine.Spec
	publishers []string
	payload    reflect.Type
	receives   sabir.MessageType
	invoke     func(ctx context.Context, payload any) error
	decode     func(*engine.Message) (payload any, err error)

	running *runner // while the service runs
}

// complete fills in the defaults, and returns the mistakes.
func (c *consumer) complete() (problems []error) {
	want := func(fine bool, format string, args ...any) {
		if !fine {
			problems = append(problems, fmt.Errorf("the consumer of channel %s: %s", c.spec.Name, fmt.Sprintf(format, args...)))
		}
	}
	want(c.MaxInFlight >= 0 && c.MaxInFlight <= 10_000, "MaxInFlight is %d: want 1 to 10,000", c.MaxInFlight)
	want(c.Attempts >= 0, "Attempts is %d: want 1 or more", c.Attempts)
	want(c.FirstPause >= 0 && c.MaxPause >= 0, "FirstPause is %v and MaxPause %v: want positive times", c.FirstPause, c.MaxPause)
	want(c.MaxPause == 0 || c.FirstPause <= c.MaxPause, "FirstPause is %v, longer than MaxPause, %v", c.FirstPause, c.MaxPause)
	want(c.AckWait == 0 || c.AckWait >= time.Second, "AckWait is %v: want a second or more", c.AckWait)
	c.MaxInFlight, c.Attempts = cmp.Or(c.MaxInFlight, 16), cmp.Or(c.Attempts, 5)
	c.AckWait = cmp.Or(c.AckWait, 30*time.Second)
	c.MaxPause = cmp.Or(c.MaxPause, max(time.Minute, c.FirstPause))
	c.FirstPause = cmp.Or(c.FirstPause, min(time.Second, c.MaxPause))
	c.DeadLettersTo = cmp.Or(c.DeadLettersTo, c.spec.Name+deadSuffix)
	starts := 0
	for _, set := range []bool{c.OnlyNew, !c.FromTime.IsZero(), c.FromSequence != 0} {
		if set {
			starts++
		}
	}
	want(starts <= 1, "a new group has one start: set one of OnlyNew, FromTime and FromSequence")
	for _, n := range [][2]string{{"the group", c.Group}, {"the channel of dead letters", c.DeadLettersTo},
		{"the channel of begun messages", c.spec.Name + begunSuffix}} {
		if err := checkName(n[0], n[1]); err != nil {
			problems = append(problems, err)
		}
	}
	made := make([]sabir.Wrapper, len(c.Use)) // once, and not at each start
	for i, w := range c.Use {
		made[i] = w.Middleware()
	}
	c.Use = made
	return problems
}

// Name identifies the extension.
func (c *consumer) Name() string {
	return "consumer of channel " + c.spec.Name + " in group " + c.Group
}

// Receives describes what it receives.
func (c *consumer) Receives() (sabir.MessageType, string) {
	return c.receives, c.Group
}

// Start joins the group.
func (c *consumer) Start(ctx context.Context, n *sabir.Node) (err error) {
	c.running, err = openRunner(ctx, c, n)
	return err
}

// Begin begins to receive.
func (c *consumer) Begin() { c.running.begin() }

// Stop receives no more and waits for the handlers that run, or for the context.
func (c *consumer) Stop(ctx context.Context) error {
	r := c.running
	c.running = nil
	return r.close(ctx)
}

// position returns the start of a new group.
func (c *consumer) position() engine.Position {
	return engine.Position{New: c.OnlyNew, Time: c.FromTime, Sequence: c.FromSequence}
}

// unreadable returns the error of a message that cannot be decoded.
func (c *consumer) unreadable(err error) error {
	return failure(sabir.ErrBadInput, "the message, for the handler in %s which takes %s, cannot be read: %w",
		c.service.Name(), c.payload, err)
}
