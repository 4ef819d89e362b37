package conformance

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
)

var processBehaviours = []behaviour{
	{"messages from one process to one of another node arrive in their order", processOrder},
	{"the error of a process's answer arrives with its code, name, data and node", processError},
	{"a value of 5 MB goes to a process of another node and comes back", processLarge},
	{"a process ends with one of another node that it is linked with", processLink},
	{"a monitor tells why a process of another node has ended, or that there is none", processMonitor},
	{"a process is started on another node where that permits it, and only there", processSpawn},
	{"a process of another node is found by its name and by its alias", processNames},
	{"one name on two nodes is two processes", processSameName},
	{"who sends an important message learns that the mailbox is full or the process gone", processImportant},
	{"the deadline of a call reaches the process and ends its context", processDeadline},
	{"cancellation of a call reaches the process", processCancellation},
	{"metadata and request id travel with the call of a process", processMetadata},
	{"the call of a process belongs to the trace of its caller", processTrace},
	{"a call that is forwarded to a third node is answered from there", processForward},
	{"when the caller of a forwarded call gives up, who handles it learns that", processForwardCanceled},
}

func processOrder(t *testing.T, s *suite) {
	ann, bob, _ := s.threeNodes.reachable(t)
	const count = 10_000
	from, to := spawnTest(t, ann), spawnTest(t, bob)
	sent := from.flood(ann, to.pid, 0, count)
	for n := range count {
		if got := next[numbered](t, to); got.N != n {
			t.Fatalf("message %d comes instead of %d", got.N, n)
		}
	}
	must(t, get(t, "the sender's end", sent))
}

func processError(t *testing.T, s *suite) {
	ann, bob, _ := s.threeNodes.reachable(t)
	to := spawnTest(t, bob)
	_, err := actor.Call[numbered](brief(t), ann, to.pid, refuse{})
	e, ok := errors.AsType[*sabir.Error](err)
	if !ok || !errors.Is(err, errNotToday) || e.Code != errNotToday.Code || e.Message != errNotToday.Message || e.Node != "bob" {
		t.Fatalf("got %+v", err)
	}
	if data, err := sabir.DataAs[map[string]string](err); err != nil || data["day"] != "today" {
		t.Errorf("the data is %v, %v", data, err)
	}
	if _, err = actor.Call[content](brief(t), ann, to.pid, numbered{}); !errors.Is(err, actor.ErrNotHandled) {
		t.Errorf("a call that it has no handler for: %v", err)
	}
	_ = actor.Kill(bob, to.pid)
	if _, err = actor.Call[numbered](brief(t), ann, to.pid, refuse{}); !errors.Is(err, actor.ErrNoProcess) {
		t.Errorf("a call of one that was killed: %v", err)
	}
}

func processLarge(t *testing.T, s *suite) {
	ann, bob, _ := s.threeNodes.reachable(t)
	to := spawnTest(t, bob)
	sent := bytes.Repeat([]byte("0123456789abcdef"), 5<<20/16)
	got, err := actor.Call[content](brief(t), ann, to.pid, content{sent})
	if err != nil || !bytes.Equal(got.Data, sent) {
		t.Errorf("%d bytes of %d come back, %v", len(got.Data), len(sent), err)
	}
}

func processLink(t *testing.T, s *suite) {
	ann, bob, _ := s.threeNodes.reachable(t)
	near := spawnTest(t, ann)
	far, err := actor.Spawn(bob, mortals, struct{}{})
	must(t, err)
	near.does(t, ann, func(p *actor.Process) error { return p.Link(far.PID()) })
	must(t, actor.Stop(ann, far, errNotToday))
	if e := next[actor.Exit](t, near); e.From != far.PID() || !errors.Is(e.Reason, errNotToday) {
		t.Errorf("the exit is %+v", e)
	}
	far, err = actor.Spawn(bob, mortals, struct{}{})
	must(t, err)
	watching := spawnTest(t, ann)
	watching.does(t, ann, func(p *actor.Process) error { p.Monitor(far.PID()); return nil })
	near.does(t, ann, func(p *actor.Process) error { return p.Link(far.PID()) })
	must(t, actor.Kill(ann, near.pid))
	if d := next[actor.Down](t, watching); d.PID != far.PID() || !errors.Is(d.Reason, actor.ErrKilled) {
		t.Errorf("the other end: %+v", d)
	}
}

func processMonitor(t *testing.T, s *suite) {
	ann, bob, _ := s.threeNodes.reachable(t)
	near := spawnTest(t, ann)
	far, err := actor.Spawn(bob, mortals, struct{}{})
	must(t, err)
	var ref actor.MonitorRef
	monitor := func(p *actor.Process) error {
		p.Demonitor(p.Monitor(far.PID()))
		ref = p.Monitor(far.PID())
		return nil
	}
	near.does(t, ann, monitor)
	must(t, actor.Stop(ann, far, errNotToday))
	if d := next[actor.Down](t, near); d.Ref != ref || d.PID != far.PID() || !errors.Is(d.Reason, errNotToday) {
		t.Errorf("the monitor %d tells %+v", ref, d)
	}
	near.does(t, ann, monitor)
	if d := next[actor.Down](t, near); d.Ref != ref || d.PID != far.PID() || !errors.Is(d.Reason, actor.ErrNoProcess) {
		t.Errorf("the monitor %d of nobody tells %+v", ref, d)
	}
}

func processSpawn(t *testing.T, s *suite) {
	ann, bob, cid := s.threeNodes.reachable(t)
	if _, err := actor.Spawn(ann, testActors, start{}, actor.SpawnConfig{Node: "cid"}); !errors.Is(err, actor.ErrNotPermitted) {
		t.Errorf("where nothing is permitted: %v", err)
	}
	for _, permitted := range []string{"nobody", cmp.Or(s.Proven, "ann")} {
		testActors.AllowRemoteSpawn(bob, permitted)
		if permitted == s.Proven {
			break // cid proves that name too
		}
		if _, err := actor.Spawn(cid, testActors, start{}, actor.SpawnConfig{Node: "bob"}); !errors.Is(err, actor.ErrNotPermitted) {
			t.Errorf("from a node that is not permitted: %v", err)
		}
	}
	if _, err := actor.Spawn(ann, testActors, start{Note: "refuse"}, actor.SpawnConfig{Node: "bob"}); !errors.Is(err, errNotToday) {
		t.Errorf("the error of Init: %v", err)
	}
	near, named := spawnTest(t, ann), name()
	var far actor.PID
	near.does(t, ann, func(p *actor.Process) (err error) {
		far, err = testActors.Spec(start{Note: "from ann"}, actor.SpawnConfig{Node: "bob", Name: named, Linked: true}).Start(p)
		return err
	})
	note, err := actor.Call[string](brief(t), cid, actor.Name{Name: named, Node: "bob"}, noted{})
	if err != nil || note != "from ann" || far.Node() != "bob" {
		t.Errorf("%s has the note %q, %v", far, note, err)
	}
	must(t, actor.Kill(bob, far))
	if e := next[actor.Exit](t, near); e.From != far || !errors.Is(e.Reason, actor.ErrKilled) {
		t.Errorf("the exit is %+v", e)
	}
}

func processNames(t *testing.T, s *suite) {
	ann, bob, _ := s.threeNodes.reachable(t)
	named := name()
	far := spawnTest(t, bob, actor.SpawnConfig{Name: named})
	var alias actor.Alias
	far.does(t, bob, func(p *actor.Process) (err error) { alias, err = p.NewAlias(); return err })
	must(t, actor.SendConfirmed(brief(t), ann, actor.Name{Name: named, Node: "bob"}, numbered{1}))
	must(t, actor.SendConfirmed(brief(t), ann, alias, numbered{2}))
	for n := range 2 {
		if got := next[numbered](t, far); got.N != n+1 {
			t.Errorf("message %d comes instead of %d", got.N, n+1)
		}
	}
	far.does(t, bob, func(p *actor.Process) error { p.DropAlias(alias); p.Unregister(); return nil })
	if err := actor.SendConfirmed(brief(t), ann, alias, numbered{3}); !errors.Is(err, actor.ErrNoProcess) {
		t.Errorf("an alias that was taken back: %v", err)
	}
	if err := actor.SendConfirmed(brief(t), ann, actor.Name{Name: named, Node: "bob"}, numbered{4}); !errors.Is(err, actor.ErrNoProcess) {
		t.Errorf("a name that was given back: %v", err)
	}
}

func processSameName(t *testing.T, s *suite) {
	ann, bob, cid := s.threeNodes.reachable(t)
	named := name()
	all := map[string]testProcess{"bob": spawnTest(t, bob, actor.SpawnConfig{Name: named}), "cid": spawnTest(t, cid, actor.SpawnConfig{Name: named})}
	for node, in := range all {
		must(t, actor.Send(ann, actor.Name{Name: named, Node: node}, content{}))
		must(t, actor.Send(ann, actor.Name{Name: named, Node: node}, numbered{len(node)}))
		next[numbered](t, in)
	}
	if _, ok := ann.Whereis(named); ok {
		t.Error("ann has the name too")
	}
}

func processImportant(t *testing.T, s *suite) {
	ann, bob, _ := s.threeNodes.reachable(t)
	far := spawnTest(t, bob, actor.SpawnConfig{Mailbox: 1})
	busy, free := make(chan struct{}), make(chan struct{})
	go func() {
		_, _ = actor.Call[sabir.Empty](context.Background(), bob, far.pid, act{func(*actor.Process) error {
			close(busy)
			<-free
			return nil
		}})
	}()
	get(t, "the callback", busy)
	must(t, actor.SendConfirmed(brief(t), ann, far.pid, numbered{1}))
	err := actor.SendConfirmed(brief(t), ann, far.pid, numbered{2})
	close(free)
	if !errors.Is(err, actor.ErrMailboxFull) {
		t.Errorf("one too many: %v", err)
	}
	if got := next[numbered](t, far); got.N != 1 {
		t.Errorf("message %d comes", got.N)
	}
	must(t, actor.Kill(bob, far.pid))
	eventually(t, "the process has ended", func() bool { return !bob.Alive(far.pid) })
	if err := actor.SendConfirmed(brief(t), ann, far.pid, numbered{3}); !errors.Is(err, actor.ErrNoProcess) {
		t.Errorf("to one that was killed: %v", err)
	}
}

func processDeadline(t *testing.T, s *suite) {
	ann, bob, _ := s.threeNodes.reachable(t)
	far := spawnTest(t, bob)
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	begun := time.Now()
	_, err := actor.Call[numbered](ctx, ann, far.pid, waiting{})
	if took := time.Since(begun); !errors.Is(err, context.DeadlineExceeded) || took > soon+atOnce {
		t.Errorf("got %v after %v", err, took)
	}
	next[waiting](t, far)
	if saw := next[waited](t, far); !saw.Limited || saw.Err == "" || time.Since(begun) > soon+atOnce {
		t.Errorf("the process saw %+v after %v", saw, time.Since(begun))
	}
}

func processCancellation(t *testing.T, s *suite) {
	ann, bob, _ := s.threeNodes.reachable(t)
	cancelWaiting(t, ann, spawnTest(t, bob), func(ctx context.Context, to actor.PID) error {
		_, err := actor.Call[numbered](ctx, ann, to, waiting{})
		return err
	})
}

// cancelWaiting cancels a call when a process waits in it.
func cancelWaiting(t *testing.T, from *actor.System, far testProcess, call func(context.Context, actor.PID) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	failed := make(chan error, 1)
	go func() { failed <- call(ctx, far.pid) }()
	next[waiting](t, far)
	cancel()
	if err := get(t, "the caller's error", failed); !errors.Is(err, context.Canceled) {
		t.Errorf("the caller got %v", err)
	}
	if saw := next[waited](t, far); saw.Limited || saw.Err != context.Canceled.Error() {
		t.Errorf("the process saw %+v", saw)
	}
}

func processMetadata(t *testing.T, s *suite) {
	ann, bob, _ := s.threeNodes.reachable(t)
	far := spawnTest(t, bob)
	ctx := sabir.WithRequestID(sabir.WithMetadata(sabir.WithMetadata(brief(t), "tenant", "añ"), "empty", ""), "r-1")
	out, err := actor.Call[brought](ctx, ann, far.pid, bringing{})
	if err != nil || !out.Limited || out.RequestID != "r-1" || !maps.Equal(out.Metadata, map[string]string{"tenant": "añ", "empty": ""}) {
		t.Errorf("got %+v, %v", out, err)
	}
	out, err = actor.Call[brought](context.Background(), ann, far.pid, bringing{})
	if err != nil || out.Limited || out.RequestID != "" || len(out.Metadata) > 0 {
		t.Errorf("a bare call: %+v, %v", out, err)
	}
}

func processTrace(t *testing.T, s *suite) {
	c, tr := s.cluster(t), &traced{}
	near, far := processes(), processes()
	starter, offered := sabir.NewService("starter"), sabir.NewService("offered")
	sabir.Handle(offered, "it", look)
	sabir.Handle(starter, "it", func(ctx context.Context, _ int) (seen, error) {
		return actor.Call[seen](ctx, near, actor.Name{Name: "caller", Node: "second"}, calling{"offered.it"})
	})
	first, second := tr.option(t), tr.option(t)
	tr.second = c.start("second", second, far.Option(), sabir.Serve(offered))
	spawnTest(t, far, actor.SpawnConfig{Name: "caller"})
	tr.first = c.start("first", first, near.Option(), sabir.Serve(starter))
	reach(t, near, "second")
	_, err := sabir.Call[seen](brief(t), tr.first, "starter.it", 1)
	must(t, err)
	tr.continues(t, "offered.it")
}

func processForward(t *testing.T, s *suite) {
	ann, bob, cid := s.threeNodes.reachable(t)
	one, two, near := spawnTest(t, bob), spawnTest(t, cid), spawnTest(t, ann)
	for _, chain := range [][]actor.PID{{one.pid, two.pid}, {one.pid, near.pid}, {near.pid, two.pid}, {one.pid, two.pid, near.pid}} {
		for range 2 { // the second finds the types known
			got, err := actor.Call[actor.PID](brief(t), ann, chain[0], passing{chain})
			if last := chain[len(chain)-1]; err != nil || got != last {
				t.Errorf("%s answers instead of %s, %v", got, last, err)
			}
		}
	}
	must(t, actor.Kill(cid, two.pid))
	if _, err := actor.Call[actor.PID](brief(t), ann, one.pid, passing{[]actor.PID{one.pid, two.pid}}); !errors.Is(err, actor.ErrNoProcess) {
		t.Errorf("forwarded to one that was killed: %v", err)
	}
}

func processForwardCanceled(t *testing.T, s *suite) {
	ann, bob, cid := s.threeNodes.reachable(t)
	between, far := spawnTest(t, bob), spawnTest(t, cid)
	cancelWaiting(t, ann, far, func(ctx context.Context, to actor.PID) error {
		_, err := actor.Call[numbered](ctx, ann, between.pid, forwarding{to})
		return err
	})
}
