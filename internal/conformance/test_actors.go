package conformance

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
)

// What the processes of the suite are sent and asked.
type (
	numbered struct{ N int }
	content  struct{ Data []byte }
	refuse   struct{}
	bringing struct{}
	brought  struct {
		Limited   bool
		RequestID string
		Metadata  map[string]string
	}
	waiting struct{}
	waited  struct {
		Limited bool
		Err     string
	}
	calling    struct{ Action string }
	passing    struct{ To []actor.PID } // one after the other
	forwarding struct{ To actor.PID }
	noted      struct{}
	// act is for a process of the same node: a function goes nowhere else.
	act struct{ fn func(p *actor.Process) error }
)

var errNotToday = sabir.NewError(sabir.CodeFailedPrecondition, "NotToday", "come back tomorrow").WithData(map[string]any{"day": "today"})

// testActor is a process that does what its messages ask for and reports what it receives.
type testActor struct {
	note     string
	received chan any
}

type start struct {
	Note     string
	received chan any
}

func (r *testActor) Init(_ *actor.Process, from start) error {
	if from.Note == "refuse" {
		return errNotToday
	}
	r.note, r.received = from.Note, from.received
	return nil
}

func receive[M any](r *testActor, _ *actor.Process, m M) error {
	if r.received != nil {
		r.received <- m
	}
	return nil
}

func (r *testActor) Content(_ *actor.Process, m content) (content, error) { return m, nil }
func (r *testActor) Refuse(*actor.Process, refuse) (numbered, error)      { return numbered{}, errNotToday }
func (r *testActor) Note(*actor.Process, noted) (string, error)           { return r.note, nil }
func (r *testActor) Act(p *actor.Process, m act) (sabir.Empty, error) {
	return sabir.Empty{}, m.fn(p)
}

func (r *testActor) Call(p *actor.Process, m calling) (seen, error) {
	return sabir.Call[seen](p.Context(), p.Node(), m.Action, 1)
}

func (r *testActor) Bring(p *actor.Process, _ bringing) (brought, error) {
	ctx := p.Context()
	_, limited := ctx.Deadline()
	info := sabir.InfoFromContext(ctx)
	return brought{limited, info.RequestID, info.Metadata}, nil
}

// Wait waits for the end of the call's context.
func (r *testActor) Wait(p *actor.Process, m waiting) (numbered, error) {
	ctx := p.Context()
	_, limited := ctx.Deadline()
	r.received <- m
	select {
	case <-ctx.Done():
	case <-time.After(waitLimit):
	}
	saw := waited{Limited: limited}
	if err := ctx.Err(); err != nil {
		saw.Err = err.Error()
	}
	r.received <- saw
	return numbered{}, ctx.Err()
}

// Pass is answered by the last of a chain of processes.
func (r *testActor) Pass(p *actor.Process, m passing) (actor.PID, error) {
	at := slices.Index(m.To, p.PID())
	if at == len(m.To)-1 {
		return p.PID(), nil
	}
	if err := actor.Forward(p, m.To[at+1]); err != nil {
		return actor.PID{}, err
	}
	return actor.PID{}, actor.ErrNoReply
}

// Forward passes a call on, where it waits.
func (r *testActor) Forward(p *actor.Process, m forwarding) (numbered, error) {
	if m.To == p.PID() {
		return r.Wait(p, waiting{})
	}
	if err := actor.Forward(p, m.To); err != nil {
		return numbered{}, err
	}
	return numbered{}, actor.ErrNoReply
}

// Exit ends the process only with its node.
func (r *testActor) Exit(p *actor.Process, e actor.Exit) error {
	if e.From.Zero() {
		return e.Reason
	}
	return receive(r, p, e)
}

var testActors = actor.Define("testActor", (*testActor).Init,
	actor.OnMessage(receive[numbered]), actor.OnMessage(receive[actor.Down]), actor.OnMessage(receive[actor.NodeChange]),
	actor.OnMessage((*testActor).Exit), actor.OnCall((*testActor).Content), actor.OnCall((*testActor).Refuse), actor.OnCall((*testActor).Note),
	actor.OnCall((*testActor).Act), actor.OnCall((*testActor).Call), actor.OnCall((*testActor).Bring), actor.OnCall((*testActor).Wait),
	actor.OnCall((*testActor).Pass), actor.OnCall((*testActor).Forward))

// mortal is a process that an exit ends.
type mortal struct{}

var mortals = actor.Define[mortal, struct{}]("mortal", nil)

// processes makes the system of a node.
func processes() *actor.System { return actor.NewSystem(actor.Config{Logger: quiet}) }

// reach waits until the processes of some nodes can be reached from a system.
func reach(t testing.TB, from *actor.System, nodes ...string) {
	t.Helper()
	eventually(t, "the processes can be reached", func() bool {
		up := from.Nodes()
		return !slices.ContainsFunc(nodes, func(node string) bool { return !slices.Contains(up, node) })
	})
}

// reachable is the processes of the three nodes, when all can be reached.
func (w *threeNodes) reachable(t testing.TB) (ann, bob, cid *actor.System) {
	t.Helper()
	ann, bob, cid = w.processes["ann"], w.processes["bob"], w.processes["cid"]
	reach(t, ann, "bob", "cid")
	reach(t, bob, "ann", "cid")
	reach(t, cid, "ann", "bob")
	return ann, bob, cid
}

// testProcess is a process with the channel on which it hands its messages to a test.
type testProcess struct {
	pid      actor.PID
	received chan any
}

// spawnTest starts a process, for the length of the test.
func spawnTest(t testing.TB, on *actor.System, config ...actor.SpawnConfig) testProcess {
	t.Helper()
	in := testProcess{received: make(chan any, 20_000)}
	pid, err := actor.Spawn(on, testActors, start{received: in.received}, config...)
	must(t, err)
	t.Cleanup(func() { _ = actor.Kill(on, pid) }) // it may have ended
	in.pid = pid.PID()
	return in
}

// does runs fn in a callback of a process of the system.
func (in testProcess) does(t testing.TB, on *actor.System, fn func(p *actor.Process) error) {
	t.Helper()
	_, err := actor.Call[sabir.Empty](brief(t), on, in.pid, act{fn})
	must(t, err)
}

// next returns the next message that the process receives. The test fails if it is no M.
func next[M any](t testing.TB, in testProcess) M {
	t.Helper()
	got := get(t, "a message", in.received)
	m, ok := got.(M)
	if !ok {
		t.Fatalf("the process got %T %+v instead of %T", got, got, m)
	}
	return m
}

// nextNode is next of a NodeChange, of a node that is up now or is not.
func nextNode(t testing.TB, in testProcess, up bool) actor.NodeChange {
	t.Helper()
	n := next[actor.NodeChange](t, in)
	if n.Up != up {
		t.Fatalf("the process got %+v", n)
	}
	return n
}

// flood sends numbered messages from a process, in its own time. What cannot be sent is lost.
func (in testProcess) flood(on *actor.System, to actor.PID, first, count int) <-chan error {
	sent := make(chan error, 1)
	go func() {
		_, err := actor.Call[sabir.Empty](context.Background(), on, in.pid, act{func(p *actor.Process) error {
			for n := range count {
				_ = actor.Send(p, to, numbered{first + n})
			}
			return nil
		}})
		sent <- err
	}()
	return sent
}
