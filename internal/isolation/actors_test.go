package isolation_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	_ "github.com/sabir-go/sabir/transport/mem"
)

// notValidated is the reason of entry points at which nothing is validated.
const notValidated = "nothing is validated here"

// actorEntryPoints are the ways between processes of two nodes. What goes through them is sent by a process, so that code which ends
// its goroutine ends that process.
var actorEntryPoints = []entryPoint{
	{name: "message to a process of another node", open: between(func(ctx context.Context, from *actor.Process, s *sink, p Payload) error {
		return actor.Send(from, s.pid, p)
	}), silent: map[fault]string{panicsRead: noAnswer, exitsRead: noAnswer, panicsWritten: heldBack, nestsTooDeep: heldBack}, cannot: unchecked},
	{name: "important message to a process of another node", open: between(func(ctx context.Context, from *actor.Process, s *sink, p Payload) error {
		return actor.SendConfirmed(ctx, from, s.pid, p)
	}), cannot: unchecked},
	{name: "call of a process of another node, its input", open: between(func(ctx context.Context, from *actor.Process, s *sink, p Payload) error {
		_, err := actor.Call[string](ctx, from, s.pid, p)
		return err
	}), cannot: unchecked},
	{name: "call of a process of another node, its answer", open: between(func(ctx context.Context, from *actor.Process, s *sink, p Payload) error {
		_, err := actor.Call[Payload](ctx, from, s.pid, askedFor{string(p.Text), p.Next != nil})
		return err
	}), cannot: unchecked},
	{name: "data of a process's error", open: between(func(ctx context.Context, from *actor.Process, s *sink, p Payload) error {
		_, err := actor.Call[string](ctx, from, s.pid, refused{string(p.Text), p.Next != nil})
		if got, wrong := sabir.DataAs[Payload](err); wrong == nil && got.Text == p.Text {
			return nil
		}
		return err
	}), silent: map[fault]string{panicsWritten: dataLeftOut, exitsWritten: dataLeftOut, nestsTooDeep: dataLeftOut}, cannot: merge(unchecked, map[fault]string{panicsRead: untypedData, exitsRead: untypedData})},
	{name: "arguments of a process that starts on another node", open: between(func(ctx context.Context, from *actor.Process, s *sink, p Payload) error {
		_, err := actor.Spawn(from, started, p, actor.SpawnConfig{Node: "two"})
		return err
	}), cannot: unchecked},
}

const (
	noAnswer    = "who sends a message does not wait for those who read it"
	dataLeftOut = "the error comes without its data"
	heldBack    = "a message may be held back, and is written when the callback has returned; it is counted in Lost"
)

var unchecked = map[fault]string{panicsChecked: notValidated, exitsChecked: notValidated}

// askedFor selects which Payload is wanted as an answer.
type askedFor struct {
	Text string
	Deep bool
}

// refused is askedFor, for the data of an error.
type refused struct {
	Text string
	Deep bool
}

// sink takes payloads on node two.
type sink struct {
	pid actor.PID
	got chan Payload
}

func (s *sink) init(_ *actor.Process, from *sink) error { *s = *from; return nil }

func (s *sink) take(_ *actor.Process, p Payload) error {
	s.got <- p
	return nil
}

var sinks = actor.Define("isolation.sink", (*sink).init, actor.OnMessage((*sink).take),
	actor.OnCall(func(s *sink, p *actor.Process, in Payload) (string, error) { return "taken", s.take(p, in) }),
	actor.OnCall(func(s *sink, p *actor.Process, in askedFor) (Payload, error) {
		out := Payload{Text: Text(in.Text)}
		if in.Deep {
			out = with(nestsTooDeep)
		}
		return out, s.take(p, out)
	}),
	actor.OnCall(func(s *sink, p *actor.Process, in refused) (string, error) {
		data := Payload{Text: Text(in.Text)}
		if in.Deep {
			data = with(nestsTooDeep)
		}
		return "", errors.Join(s.take(p, good()), sabir.NewError(sabir.CodeFailedPrecondition, "Refused", "no").WithData(data))
	}))

// startings receives a report from each process that starts.
var startings atomic.Pointer[sink]

var started = actor.Define("isolation.started", func(_ *struct{}, p *actor.Process, in Payload) error {
	return startings.Load().take(p, in)
})

// send orders a process to send a message.
type send struct{ do func(*actor.Process) error }

var senders = actor.Define("isolation.sender", func(*struct{}, *actor.Process, struct{}) error { return nil },
	actor.OnCall(func(_ *struct{}, p *actor.Process, in send) (sabir.Empty, error) { return sabir.Empty{}, in.do(p) }))

// between is a way from a process of one node to another node. A good value goes through when it has come there.
func between(way func(context.Context, *actor.Process, *sink, Payload) error) func(*testing.T, *slog.Logger) func(context.Context, Payload) error {
	return func(t *testing.T, log *slog.Logger) func(context.Context, Payload) error {
		one, two := actor.NewSystem(actor.Config{Logger: log, Workers: 1}), actor.NewSystem(actor.Config{Logger: log, Workers: 1})
		address := fmt.Sprintf("mem://isolation%d", numbers.Add(1))
		start(t, sabir.NodeID("two"), sabir.Logger(log), two.Option(), sabir.Join(address))
		start(t, sabir.NodeID("one"), sabir.Logger(log), one.Option(), sabir.Join(address))
		started.AllowRemoteSpawn(two)
		to := &sink{got: make(chan Payload, 16)}
		startings.Store(to)
		var err error
		if to.pid, err = sinks.Spec(to).Start(two); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(10 * time.Second); ; runtime.Gosched() {
			if _, err := actor.Call[string](t.Context(), one, to.pid, good()); err == nil {
				<-to.got
				break
			} else if time.Now().After(end) {
				t.Fatalf("the nodes do not find each other: %v", err)
			}
		}
		return func(ctx context.Context, p Payload) error {
			from, err := actor.Spawn(one, senders, struct{}{})
			if err == nil { // a new one: the last may be ending, with the goroutine that was to write its answer
				to.pid, err = sinks.Spec(to).Start(two)
			}
			if err != nil {
				return err
			}
			if _, err = actor.Call[sabir.Empty](ctx, one, from, send{func(self *actor.Process) error { return way(ctx, self, to, p) }}); err != nil {
				return err
			}
			if p.Text != "good" || p.Next != nil {
				return nil
			}
			for {
				select {
				case got := <-to.got:
					if got.Text == "good" && got.Next == nil {
						return nil
					}
				case <-ctx.Done():
					return errors.New("it did not come")
				}
			}
		}
	}
}

var numbers atomic.Int64

// A process that ends its goroutine ends as by a panic, whatever its callback is, and others go on: a system with one worker
// would have none after it.
func TestAProcessThatEndsItsGoroutineEndsAlone(t *testing.T) {
	exits := func() { runtime.Goexit() }
	for name, callbacks := range map[string]*actor.Behavior[ender, func()]{
		"in a handler of messages": actor.Define("isolation.message", (*ender).init, actor.OnMessage(func(*ender, *actor.Process, string) error { exits(); return nil })),
		"in a handler of calls": actor.Define("isolation.call", (*ender).init, actor.OnCall(func(*ender, *actor.Process, string) (string, error) { exits(); return "", nil }),
			actor.OnMessage(func(_ *ender, p *actor.Process, m string) error {
				go actor.Call[string](context.Background(), p.System(), p.PID(), m)
				return nil
			})),
		"in Terminate": actor.Define("isolation.terminate", (*ender).init, actor.OnMessage(func(*ender, *actor.Process, string) error { return errors.New("it ends") })),
		"in Inspect": actor.Define("isolation.inspect", (*ender).init, actor.OnMessage(func(_ *ender, p *actor.Process, _ string) error {
			go p.System().Inspect(context.Background(), p.PID())
			return nil
		})),
	} {
		t.Run(name, func(t *testing.T) {
			s := actor.NewSystem(actor.Config{Workers: 1, Logger: slog.New(slog.DiscardHandler)})
			defer s.Stop(context.Background())
			for range 20 { // more than there are workers
				pid, err := actor.Spawn(s, callbacks, exits)
				if err != nil {
					t.Fatal(err)
				}
				waits := make(chan error, 1)
				go func() {
					_, err := actor.Call[int](t.Context(), s, pid, 7.5) // it lies behind the message, and it is not handled
					waits <- err
				}()
				if err := actor.Send(s, pid, "go"); err != nil {
					t.Fatal(err)
				}
				if err := <-waits; err == nil {
					t.Fatal("who waited got no error")
				}
				// It is counted until a moment after it is known to have ended.
				for end := time.Now().Add(10 * time.Second); s.Alive(pid.PID()) || s.Count() > 0; runtime.Gosched() {
					if time.Now().After(end) {
						t.Fatalf("the process has not ended: alive %v, %d are counted", s.Alive(pid.PID()), s.Count())
					}
				}
			}
		})
	}
}

// ender ends the goroutine of Terminate and Inspect.
type ender struct{ exits func() }

func (e *ender) init(_ *actor.Process, exits func()) error { e.exits = exits; return nil }

func (e *ender) Terminate(p *actor.Process, _ error) {
	if p.Behavior() == "isolation.terminate" {
		e.exits()
	}
}

func (e *ender) Inspect() any {
	e.exits()
	return nil
}
