package actortest

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/actor"
)

// Probe is a process in the place of one that the tested processes talk to. It keeps what it is sent, also exits
// (actor.Exit) and the ends of what it monitors (actor.Down), until the test takes it with [Expect]; and it answers calls as
// as configured by [Stub].
type Probe struct {
	k      *Kit
	pid    actor.PID
	name   string
	kept   []Message
	sender actor.PID // of what Expect has taken last
	calls  []Message
	stubs  map[reflect.Type]func(in any) (any, error)
}

// Message is a message that came to a probe.
type Message struct {
	From actor.PID // the zero PID where no process has sent it
	Body any
}

// double is the state of a probe's process.
type double struct{ *Probe }

// task runs in a probe's process.
type task struct{ do func(p *actor.Process) error }

func (d *double) Init(p *actor.Process, of *Probe) error {
	d.Probe = of
	p.TrapExit(true)
	return nil
}

func (d *double) keep(p *actor.Process, body any) error {
	d.kept = append(d.kept, Message{p.Sender(), body})
	return nil
}

func (d *double) answer(p *actor.Process, in any) (any, error) {
	d.calls = append(d.calls, Message{p.Sender(), in})
	stub := d.stubs[reflect.TypeOf(in)]
	if stub == nil {
		return nil, fmt.Errorf("%w: the probe %s has no answer to calls with %T: see actortest.Stub", actor.ErrNotHandled, d.name, in)
	}
	out, err := stub(in)
	if err == actor.ErrNoReply {
		d.k.silent = append(d.k.silent, d.Probe)
	}
	return out, err
}

var probes = actor.Define("actortest.probe", (*double).Init,
	actor.OnAnyMessage((*double).keep),
	actor.OnAnyCall((*double).answer),
	actor.OnCall(func(_ *double, p *actor.Process, t task) (struct{}, error) { return struct{}{}, t.do(p) }),
)

// Probe starts a probe. It is registered under the name too, unless that is "".
func (k *Kit) Probe(name string) *Probe {
	k.t.Helper()
	p := &Probe{k: k, name: name, stubs: map[reflect.Type]func(any) (any, error){}}
	var options []actor.SpawnConfig
	if name != "" {
		options = append(options, actor.SpawnConfig{Name: name})
	}
	pid, err := actor.Spawn(k.system, probes, p, options...)
	if err != nil {
		k.t.Fatalf("actortest: the probe %q: %v", name, err)
	}
	p.pid = pid.PID()
	return p
}

// PID is the probe's address.
func (p *Probe) PID() actor.PID { return p.pid }

// Do runs fn as a callback of the probe, so that the test sends, links and monitors as a process, and then runs until
// nothing is ready. The test fails with the error of fn.
//
//	db.Do(func(p *actor.Process) error { return p.Link(pid) })
func (p *Probe) Do(fn func(p *actor.Process) error) {
	p.k.t.Helper()
	if _, err := actor.Call[struct{}](context.Background(), p.k.system, p.pid, task{fn}); err != nil {
		p.k.t.Errorf("actortest: the probe %q: %v", p.name, err)
	}
	p.k.Run()
}

// Monitor makes the probe monitor a process: its end comes to the probe as an actor.Down.
func (p *Probe) Monitor(pid actor.PID) actor.MonitorRef {
	p.k.t.Helper()
	var ref actor.MonitorRef
	p.Do(func(self *actor.Process) error { ref = self.Monitor(pid); return nil })
	return ref
}

// Link links the probe with a process: its end comes to the probe as an actor.Exit.
func (p *Probe) Link(pid actor.PID) {
	p.k.t.Helper()
	p.Do(func(self *actor.Process) error { return self.Link(pid) })
}

// End ends the probe for a reason, as what it stands for may end.
func (p *Probe) End(reason error) {
	p.k.t.Helper()
	p.Do(func(self *actor.Process) error { self.Stop(reason); return nil })
}

// Stub sets how the probe answers calls with In. The last stub for a type counts; a call without one fails with
// actor.ErrNotHandled. One that returns actor.ErrNoReply never answers: the call fails with actor.ErrCallTimeout, at once, and the
// test goes on.
func Stub[In, Out any](p *Probe, fn func(in In) (Out, error)) {
	p.stubs[reflect.TypeFor[In]()] = func(in any) (any, error) { return fn(in.(In)) }
}

// Calls returns the calls that came since Calls was last called, answered or not.
func (p *Probe) Calls() []Message {
	calls := p.calls
	p.calls = nil
	return calls
}

// Kept returns the messages that have come and were not taken by [Expect], the oldest first.
func (p *Probe) Kept() []Message { return append([]Message(nil), p.kept...) }

// Clear forgets the messages and calls so far.
func (p *Probe) Clear() { p.kept, p.calls = nil, nil }

// Expect runs what is ready, and takes the oldest message that came to the probe. The test ends where there is none, or it
// is no M.
func Expect[M any](t testing.TB, p *Probe) M {
	t.Helper()
	p.k.Run()
	if len(p.kept) == 0 {
		t.Fatalf("actortest: nothing has come to the probe %q, where %s was expected", p.name, reflect.TypeFor[M]())
	}
	m, ok := p.kept[0].Body.(M)
	if !ok {
		t.Fatalf("actortest: to the probe %q came %s, where %s was expected", p.name, p.list(), reflect.TypeFor[M]())
	}
	p.sender, p.kept = p.kept[0].From, p.kept[1:]
	return m
}

// Sender returns the sender of the message that [Expect] has taken last; the zero PID where that was no process.
func (p *Probe) Sender() actor.PID { return p.sender }

// ExpectNothing runs what is ready; the test fails where messages have come to the probe that were not taken.
func (p *Probe) ExpectNothing(t testing.TB) {
	t.Helper()
	p.k.Run()
	if len(p.kept) != 0 {
		t.Errorf("actortest: to the probe %q came %s, where nothing was expected", p.name, p.list())
	}
}

// list formats the received messages for an error message.
func (p *Probe) list() string {
	var all []string
	for i, m := range p.kept {
		if i == 10 {
			all = append(all, fmt.Sprintf("and %d more", len(p.kept)-i))
			break
		}
		all = append(all, fmt.Sprintf("%T%+v", m.Body, m.Body))
	}
	return strings.Join(all, ", ")
}
