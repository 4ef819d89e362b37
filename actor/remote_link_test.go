package actor_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
)

func TestTheEndOfAProcessIsAnExitToThoseLinkedOnAnotherNode(t *testing.T) {
	overNetworks(t, func(t *testing.T, address string) {
		m := joinMembers(t, address, "a", "b")
		one, two := m[0].witness(t), m[1].witness(t)
		m[0].order(t, one, link{two.pid})
		if err := actor.Send(m[0], two.pid, stopSelf{}); err != nil {
			t.Fatal(err)
		}
		got := nextOf[actor.Exit](t, one)
		if got.From != two.pid || !got.Linked() {
			t.Errorf("the exit is %+v", got)
		}
		wantError(t, got.Reason, errRefused)

		three := m[1].witness(t)
		m[0].order(t, one, link{three.pid}) // the other way
		if err := actor.Send(m[1], one.pid, stopSelf{}); err != nil {
			t.Fatal(err)
		}
		if got := nextOf[actor.Exit](t, three); got.From != one.pid {
			t.Errorf("the exit is %+v", got)
		}
	})
}

func TestAProcessThatDoesNotTrapExitsEndsWithOneOnAnotherNode(t *testing.T) {
	m := joinMembers(t, "mem://"+t.Name(), "a", "b")
	one, two := m[0].witness(t), m[1].witness(t)
	m[0].order(t, one, do{func(p *actor.Process) error { p.TrapExit(false); return p.Link(two.pid) }})
	watcher := m[0].witness(t)
	m[0].order(t, watcher, do{func(p *actor.Process) error { p.Monitor(one.pid); return nil }})
	if err := actor.Kill(m[0], two.pid); err != nil {
		t.Fatal(err)
	}
	got := nextOf[actor.Down](t, watcher)
	if got.PID != one.pid || got.Reason != error(actor.ErrKilled) {
		t.Errorf("the down is %+v", got)
	}
}

func TestAfterUnlinkNoExitComesFromAnotherNode(t *testing.T) {
	m := joinMembers(t, "mem://"+t.Name(), "a", "b")
	one, two := m[0].witness(t), m[1].witness(t)
	m[0].order(t, one, link{two.pid})
	m[0].order(t, one, unlink{two.pid})
	m[0].order(t, one, do{func(p *actor.Process) error { p.Monitor(two.pid); return nil }})
	if err := actor.Kill(m[0], two.pid); err != nil {
		t.Fatal(err)
	}
	nextOf[actor.Down](t, one) // and not an Exit
}

func TestALinkWithAProcessThatHasEndedIsAnExit(t *testing.T) {
	m := joinMembers(t, "mem://"+t.Name(), "a", "b")
	one, two := m[0].witness(t), m[1].witness(t)
	_ = actor.Kill(m[1], two.pid)
	for m[1].Alive(two.pid) {
		runtime.Gosched()
	}
	m[0].order(t, one, link{two.pid})
	got := nextOf[actor.Exit](t, one)
	wantError(t, got.Reason, actor.ErrNoProcess)
}

func TestStopIsAnExitOnAnotherNode(t *testing.T) {
	m := joinMembers(t, "mem://"+t.Name(), "a", "b")
	one, two := m[0].witness(t), m[1].witness(t, actor.SpawnConfig{Name: "two"})
	m[0].order(t, one, do{func(p *actor.Process) error { return actor.Stop(p, actor.Name{Name: "two", Node: "b"}, errRefused) }})
	got := nextOf[actor.Exit](t, two)
	if got.From != one.pid || got.Linked() {
		t.Errorf("the exit is %+v", got)
	}
	wantError(t, got.Reason, errRefused)
}

func TestAMonitorTellsOfTheEndOnAnotherNode(t *testing.T) {
	overNetworks(t, func(t *testing.T, address string) {
		m := joinMembers(t, address, "a", "b")
		one, two := m[0].witness(t), m[1].witness(t)
		var gone, kept actor.MonitorRef
		m[0].order(t, one, do{func(p *actor.Process) error {
			gone, kept = p.Monitor(two.pid), p.Monitor(two.pid)
			p.Demonitor(gone)
			return nil
		}})
		if err := actor.Send(m[0], two.pid, stopSelf{}); err != nil {
			t.Fatal(err)
		}
		got := nextOf[actor.Down](t, one)
		if got.Ref != kept || got.PID != two.pid {
			t.Errorf("the down is %+v, and the monitor %d", got, kept)
		}
		wantError(t, got.Reason, errRefused)

		m[0].order(t, one, do{func(p *actor.Process) error { kept = p.Monitor(two.pid); return nil }})
		got = nextOf[actor.Down](t, one)
		if got.Ref != kept {
			t.Errorf("the down is %+v, and the monitor %d", got, kept)
		}
		wantError(t, got.Reason, actor.ErrNoProcess)
	})
}

func TestAMonitorOfANameTellsOfTheEndOfWhoHadIt(t *testing.T) {
	m := joinMembers(t, "mem://"+t.Name(), "a", "b")
	one := m[0].witness(t)
	for _, where := range []member{m[0], m[1]} {
		name := actor.Name{Name: "boss", Node: where.node.ID()}
		two := where.witness(t, actor.SpawnConfig{Name: "boss"})
		var ref actor.MonitorRef
		m[0].order(t, one, do{func(p *actor.Process) error { p.Demonitor(p.MonitorName(name)); ref = p.MonitorName(name); return nil }})
		if _, err := actor.Call[echo](t.Context(), m[0], two.pid, echo{}); err != nil { // the monitor came before
			t.Fatal(err)
		}
		_ = actor.Kill(m[0], two.pid)
		got := nextOf[actor.Down](t, one)
		if got.Ref != ref || got.PID != two.pid || got.Name != name || got.Reason != error(actor.ErrKilled) {
			t.Errorf("the down is %+v, not of %s, %d", got, name, ref)
		}
		nobody := actor.Name{Name: "nobody", Node: name.Node}
		m[0].order(t, one, do{func(p *actor.Process) error { p.MonitorName(nobody); return nil }})
		got = nextOf[actor.Down](t, one)
		if !got.PID.Zero() || got.Name != nobody {
			t.Errorf("the down is %+v", got)
		}
		wantError(t, got.Reason, actor.ErrNoProcess)
	}
	m[0].order(t, one, do{func(p *actor.Process) error { p.MonitorName(actor.Name{Name: "boss", Node: "c"}); return nil }})
	wantError(t, nextOf[actor.Down](t, one).Reason, actor.ErrNoConnection)
}

func TestWhenANodeIsLostLinksGetAnExitMonitorsADownAndThenTheNodeIsDown(t *testing.T) {
	overNetworks(t, func(t *testing.T, address string) {
		m := joinMembers(t, address, "a", "b", "c")
		one := m[0].witness(t)
		two, three, four := m[1].witness(t), m[1].witness(t, actor.SpawnConfig{Name: "three"}), m[2].witness(t)
		m[0].order(t, one, watchNode{"b"})
		nextNode(t, one, true)
		m[0].order(t, one, link{two.pid})
		m[0].order(t, one, do{func(p *actor.Process) error {
			p.MonitorName(actor.Name{Name: "three", Node: "b"})
			p.Monitor(four.pid)
			return p.Link(four.pid)
		}})
		m[0].cut("b") // its processes have not ended
		exit := nextOf[actor.Exit](t, one)
		if exit.From != two.pid {
			t.Errorf("the exit is %+v", exit)
		}
		wantError(t, exit.Reason, actor.ErrNoConnection)
		down := nextOf[actor.Down](t, one)
		if down.Name.Name != "three" || !down.PID.Zero() {
			t.Errorf("the down is %+v", down)
		}
		wantError(t, down.Reason, actor.ErrNoConnection)
		if got := nextNode(t, one, false); got.Node != "b" {
			t.Error(got)
		}
		if _, err := actor.Call[echo](t.Context(), m[0], four.pid, echo{}); err != nil {
			t.Errorf("the third node: %v", err)
		}
		_ = three
	})
}

func TestNodeMonitorsTellHowThingsStandAndWhatChanges(t *testing.T) {
	address := "mem://" + t.Name()
	a := startMember(t, "a", address)
	one, all := a.witness(t), a.witness(t)
	a.order(t, one, watchNode{"b"})
	if got := nextNode(t, one, false); got.Node != "b" {
		t.Error(got)
	}
	a.order(t, all, watchNode{""})
	b := startMember(t, "b", a.node.Info().Addr)
	for _, w := range []watched{one, all} {
		if got := nextNode(t, w, true); got.Node != "b" {
			t.Error(got)
		}
	}
	if got := a.Nodes(); len(got) != 1 || got[0] != "b" {
		t.Error(got)
	}
	a.order(t, one, forgetNode{"b"})
	b.stop()
	if got := nextNode(t, all, false); got.Node != "b" {
		t.Error(got)
	}
	if got := a.Nodes(); len(got) != 0 {
		t.Error(got)
	}
	_ = actor.Send(a, one.pid, item{})
	nextOf[item](t, one) // and not a NodeChange
}

func TestANodeWithoutProcessesIsNeverUp(t *testing.T) {
	a := startMember(t, "a", "mem://"+t.Name())
	n := sabir.NewNode(sabir.NodeID("b"), sabir.Logger(quiet), sabir.Join(a.node.Info().Addr))
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer n.Stop(context.Background())
	c := startMember(t, "c", a.node.Info().Addr)
	a.awaitNode(t, "c")
	c.awaitNode(t, "a")
	if got := a.Nodes(); len(got) != 1 || got[0] != "c" {
		t.Errorf("%v are up", got)
	}
	wantError(t, actor.Send(a, actor.Name{Name: "x", Node: "b"}, item{}), actor.ErrNoConnection)
}

func TestNothingCanBeSpawnedBeforeTheNodeHasStarted(t *testing.T) {
	s := actor.NewSystem(actor.Config{Logger: quiet})
	n := sabir.NewNode(sabir.NodeID("a"), sabir.Logger(quiet), s.Option())
	_, err := actor.Spawn(s, sinkBehavior, struct{}{})
	wantError(t, err, actor.ErrSystemStopped)
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	pid, err := actor.Spawn(s, sinkBehavior, struct{}{})
	if err != nil || pid.PID().Node() != "a" {
		t.Error(pid, err)
	}
	if err := n.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if s.Alive(pid.PID()) {
		t.Error("the process has outlived its node")
	}
}
