package actor_test

import (
	"context"
	"errors"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
)

func TestTooManyLinksAndMonitorsOfAnotherNodeAreRefused(t *testing.T) {
	const limit = 20
	s := actor.NewSystem(actor.Config{Logger: quiet})
	s.HoldAtMost(limit)
	n := sabir.NewNode(sabir.NodeID("b"), sabir.Logger(quiet), s.Option(), sabir.Join("mem://"+t.Name()))
	if err := n.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	b := member{s, n}
	t.Cleanup(b.stop)
	a := startMember(t, "a", n.Info().Addr)
	a.awaitNode(t, "b")
	sinkBehavior.AllowRemoteSpawn(s)
	one, two := a.witness(t), b.witness(t)
	refs := make([]actor.MonitorRef, limit)
	a.order(t, one, do{func(p *actor.Process) error {
		for i := range refs {
			refs[i] = p.Monitor(two.pid)
		}
		return nil
	}})
	settled := func() {
		t.Helper()
		if _, err := actor.Call[echo](t.Context(), a, two.pid, echo{}); err != nil { // what was sent before has come
			t.Fatal(err)
		}
	}
	settled()
	if held := s.Held("a"); held != limit {
		t.Fatalf("%d are held", held)
	}

	var ref actor.MonitorRef
	a.order(t, one, do{func(p *actor.Process) error { ref = p.Monitor(two.pid); return nil }})
	down := nextOf[actor.Down](t, one)
	wantError(t, down.Reason, actor.ErrTooMany)
	if down.Ref != ref {
		t.Errorf("the down is %+v, not of %d", down, ref)
	}
	a.order(t, one, link{two.pid})
	wantError(t, nextOf[actor.Exit](t, one).Reason, actor.ErrTooMany)
	a.order(t, one, do{func(p *actor.Process) error {
		_, err := actor.Spawn(p, sinkBehavior, struct{}{}, actor.SpawnConfig{Node: "b", Linked: true})
		if !errors.Is(err, actor.ErrTooMany) {
			t.Errorf("the spawn: %v", err)
		}
		return nil
	}})

	a.order(t, one, unwatch{refs[0]})
	a.order(t, one, link{two.pid})
	settled()
	if held := s.Held("a"); held != limit {
		t.Errorf("%d are held after one has gone and another come", held)
	}
	_ = actor.Send(a, two.pid, stopSelf{})
	for range limit {
		switch m := one.next(t).(type) {
		case actor.Down:
			wantError(t, m.Reason, errRefused)
		case actor.Exit:
			wantError(t, m.Reason, errRefused)
		default:
			t.Errorf("%T came", m)
		}
	}
	if held := s.Held("a"); held != 0 {
		t.Errorf("%d are held when all is over", held)
	}
}

func TestLinksAndMonitorsAreCountedExactly(t *testing.T) {
	m := joinMembers(t, "mem://"+t.Name(), "a", "b")
	a, b := m[0], m[1]
	one, two := a.witness(t), b.witness(t)
	both := func(want int64, after string) {
		t.Helper()
		for _, ask := range []struct {
			from member
			to   watched
		}{{a, two}, {b, one}} {
			if _, err := actor.Call[echo](t.Context(), ask.from, ask.to.pid, echo{}); err != nil {
				t.Fatal(err)
			}
		}
		if x, y := a.Held("b"), b.Held("a"); x != want || y != want {
			t.Errorf("%d and %d are held after %s, not %d", x, y, after, want)
		}
	}
	a.order(t, one, link{two.pid})
	a.order(t, one, link{two.pid})
	b.order(t, two, link{one.pid})
	both(1, "three links of the same two")
	b.order(t, two, unlink{one.pid})
	both(0, "the link was taken back")
	b.order(t, two, link{one.pid})
	both(1, "it was made again")
	_ = actor.Kill(a, one.pid)
	wantError(t, nextOf[actor.Exit](t, two).Reason, actor.ErrKilled)
	one = a.witness(t)
	both(0, "the end of one")
	a.order(t, one, watchNode{"b"})
	nextNode(t, one, true)
	a.order(t, one, do{func(p *actor.Process) error { p.Monitor(two.pid); return p.Link(two.pid) }})
	if _, err := actor.Call[echo](t.Context(), a, two.pid, echo{}); err != nil {
		t.Fatal(err)
	}
	if x, y := a.Held("b"), b.Held("a"); x != 1 || y != 2 { // a monitor costs the node of the process that is monitored
		t.Errorf("%d and %d are held with a link and a monitor", x, y)
	}
	a.cut("b")
	nextOf[actor.Exit](t, one)
	nextOf[actor.Down](t, one)
	nextNode(t, one, false)
	nextNode(t, one, true)
	wantError(t, nextOf[actor.Exit](t, two).Reason, actor.ErrNoConnection)
	b.awaitNode(t, "a")
	both(0, "the link of the nodes was lost")
}
