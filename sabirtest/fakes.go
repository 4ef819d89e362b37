package sabirtest

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
)

// Fakes are services of a test in place of those that are not there. Fill it with [Fake], [FakeStream], [Events] and [Messages], then give a node
// its Serve. The zero value is empty. The functions that fill it belong before the start of the node; they must not run at the same time.
type Fakes struct {
	services map[string]*sabir.Service
	order    []sabir.Servable
}

// Serve is the option of a node that serves them.
func (f *Fakes) Serve() sabir.NodeOption { return sabir.Serve(f.order...) }

// service returns the service of that full name, which may have a version in front, and makes it where there is none.
func (f *Fakes) service(full string) *sabir.Service {
	if s := f.services[full]; s != nil {
		return s
	}
	options := []sabir.ServiceOption{sabir.Doc(standIn)}
	name := full
	if v := versioned.FindStringSubmatch(full); v != nil {
		number, _ := strconv.Atoi(v[1]) // the pattern has digits only; a number out of range is refused by Version
		options, name = append(options, sabir.Version(number)), v[2]
	}
	if f.services == nil {
		f.services = make(map[string]*sabir.Service)
	}
	s := sabir.NewService(name, options...)
	f.services[full] = s
	f.order = append(f.order, s)
	return s
}

var versioned = regexp.MustCompile(`^v([0-9]+)\.(.+)$`)

// serviceOf returns the name of the service that an action of that full name is in.
func serviceOf(action string) string { return action[:max(0, strings.LastIndexByte(action, '.'))] }

// Fake handles an action of another service with fn and returns a record of the inputs that it was called with, in the order of their
// arrival. Where fn is nil, the answer is the zero value.
func Fake[In, Out any](f *Fakes, action *sabir.Contract[In, Out], fn func(context.Context, In) (Out, error)) *Record[In] {
	calls := newRecord[In]("calls of " + action.Name())
	action.Handle(f.service(serviceOf(action.Name())), func(ctx context.Context, in In) (out Out, err error) {
		calls.add(ctx, in)
		if fn == nil {
			return out, nil
		}
		return fn(ctx, in)
	})
	return calls
}

// FakeStream handles a stream of another service with fn.
func FakeStream[In, Out any](f *Fakes, stream *sabir.StreamContract[In, Out], fn func(context.Context, *sabir.Stream[In, Out]) error) {
	stream.Handle(f.service(serviceOf(stream.Name())), fn)
}

// Events returns a record of the events of a contract that any node of the test emits, as a consumer group of its own. An emitter within
// the same node has handed the event over when its Emit returns. Events for chosen groups are among them: [Record.Infos] has the groups.
func Events[T any](f *Fakes, event *sabir.EventContract[T]) *Record[T] {
	record := newRecord[T]("events " + event.Name())
	event.On(f.service(recorder), func(ctx context.Context, payload T) error {
		record.add(ctx, payload)
		return nil
	})
	// Events whose emitter chose other groups come only to those that watch, whom no emitter waits for.
	event.On(f.service(recorder), func(ctx context.Context, payload T) error {
		if groups := sabir.InfoFromContext(ctx).Groups; groups != nil && !slices.Contains(groups, recorder) {
			record.add(ctx, payload)
		}
		return nil
	}, sabir.Delivery{Group: recorder + " watching", BestEffort: true})
	return record
}

// Messages returns a record of what is published to a channel, as a consumer group of its own. The node needs a
// [channel.Broker], such as "mem://"; messages arrive a little after Publish returns, see [Record.Await].
func Messages[T any](f *Fakes, c *channel.Channel[T]) *Record[T] {
	record := newRecord[T]("messages of " + c.Name())
	c.ConsumeWith(f.service(recorder), channel.Consumer{Group: recorder}, func(ctx context.Context, value T) error {
		record.add(ctx, value)
		return nil
	})
	return record
}

// standIn describes the services of Fakes, and tells them from those that are tested.
const standIn = "stands in for a service in a test of package sabirtest"

// recorder is the service that listens for events and messages.
const recorder = "sabirtest"
