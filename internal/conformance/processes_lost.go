package conformance

import (
	"errors"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
)

var processLossBehaviours = []behaviour{
	{"when a node dies its links get an exit, its monitors a down, and then the node is down", processNodeDies},
	{"when a node stops, the end of its processes is reported before the node is down", processNodeStops},
	{"calls in flight to a process of a node that dies fail at once", processLostCall},
	{"PIDs of an earlier run of a node are nobody's", processRestart},
	{"messages around the loss of a link are neither duplicated nor reordered", processLinkAgain},
}

// severable is two nodes with processes, between which the network can be broken.
type severable struct {
	*faultyCluster
	near, far     *actor.System
	nearAt, farAt *sabir.Node
}

func (s *suite) severable(t *testing.T) *severable {
	l := &severable{faultyCluster: s.faultyCluster(t), near: processes(), far: processes()}
	l.nearAt = l.start("near", l.near.Option())
	l.farAt = l.start("far", l.far.Option())
	reach(t, l.near, l.farAt.ID())
	reach(t, l.far, l.nearAt.ID())
	return l
}

func processNodeDies(t *testing.T, s *suite) {
	l := s.severable(t)
	watching, linked, monitored := spawnTest(t, l.near), spawnTest(t, l.far), spawnTest(t, l.far)
	watching.does(t, l.near, func(p *actor.Process) error { p.MonitorNode(l.farAt.ID()); return p.Link(linked.pid) })
	nextNode(t, watching, true)
	watching.does(t, l.near, func(p *actor.Process) error { p.Monitor(monitored.pid); return nil })
	died := time.Now()
	l.kill(l.farAt)
	var exits, downs int
	for range 2 {
		switch m := get(t, "the word", watching.received).(type) {
		case actor.Exit:
			exits++
			if m.From != linked.pid || !errors.Is(m.Reason, actor.ErrNoConnection) {
				t.Errorf("the exit is %+v", m)
			}
		case actor.Down:
			downs++
			if m.PID != monitored.pid || !errors.Is(m.Reason, actor.ErrNoConnection) {
				t.Errorf("the down is %+v", m)
			}
		default:
			t.Errorf("%T %+v comes", m, m)
		}
	}
	if exits != 1 || downs != 1 {
		t.Errorf("%d exits and %d downs", exits, downs)
	}
	if m := nextNode(t, watching, false); m.Node != l.farAt.ID() {
		t.Errorf("%s is down", m.Node)
	}
	if took := time.Since(died); took > s.cutOff() {
		t.Errorf("it took %v", took)
	}
	if err := actor.Send(l.near, linked.pid, numbered{}); !errors.Is(err, actor.ErrNoConnection) {
		t.Errorf("a message after that: %v", err)
	}
}

func processNodeStops(t *testing.T, s *suite) {
	c := s.cluster(t)
	near, far := processes(), processes()
	c.start("near", near.Option())
	leaving := c.start("far", far.Option())
	reach(t, near, "far")
	watching, there := spawnTest(t, near), spawnTest(t, far)
	watching.does(t, near, func(p *actor.Process) error {
		p.MonitorNode("far")
		p.Monitor(there.pid)
		return p.Link(there.pid)
	})
	nextNode(t, watching, true)
	must(t, actor.SendConfirmed(brief(t), near, there.pid, numbered{})) // monitor and link came before
	stop(t, leaving)
	if e := next[actor.Exit](t, watching); e.From != there.pid || !errors.Is(e.Reason, actor.ErrShutdown) {
		t.Errorf("the exit is %+v", e)
	}
	if d := next[actor.Down](t, watching); d.PID != there.pid || !errors.Is(d.Reason, actor.ErrShutdown) {
		t.Errorf("the down is %+v", d)
	}
	if m := nextNode(t, watching, false); m.Node != "far" {
		t.Errorf("%s is down", m.Node)
	}
}

func processLostCall(t *testing.T, s *suite) {
	l := s.severable(t)
	far := spawnTest(t, l.far)
	failed := make(chan error, 1)
	go func() {
		_, err := actor.Call[numbered](brief(t), l.near, far.pid, waiting{})
		failed <- err
	}()
	next[waiting](t, far)
	died := time.Now()
	l.kill(l.farAt)
	err := get(t, "the error", failed)
	if e := sabir.AsError(err); !errors.Is(err, actor.ErrNoConnection) || e.Retryable {
		t.Errorf("got %+v", e)
	}
	if took := time.Since(died); took > s.cutOff() {
		t.Errorf("it failed after %v", took)
	}
}

func processRestart(t *testing.T, s *suite) {
	c := s.cluster(t)
	near, before := processes(), processes()
	c.start("near", near.Option())
	first := c.start("far", before.Option())
	reach(t, near, "far")
	old := spawnTest(t, before, actor.SpawnConfig{Name: "there"})
	must(t, actor.SendConfirmed(brief(t), near, old.pid, numbered{}))
	stop(t, first)
	eventually(t, "the node is gone", func() bool { return len(near.Nodes()) == 0 })
	after := processes()
	c.start("far", after.Option())
	reach(t, near, "far")
	now := spawnTest(t, after, actor.SpawnConfig{Name: "there"})
	if err := actor.SendConfirmed(brief(t), near, old.pid, numbered{1}); !errors.Is(err, actor.ErrNoProcess) {
		t.Errorf("to the old one: %v", err)
	}
	if _, err := actor.Call[numbered](brief(t), near, old.pid, refuse{}); !errors.Is(err, actor.ErrNoProcess) {
		t.Errorf("a call of the old one: %v", err)
	}
	must(t, actor.SendConfirmed(brief(t), near, actor.Name{Name: "there", Node: "far"}, numbered{2}))
	if got := next[numbered](t, now); got.N != 2 {
		t.Errorf("message %d comes", got.N)
	}
}

func processLinkAgain(t *testing.T, s *suite) {
	l := s.severable(t)
	from, to, watching := spawnTest(t, l.near), spawnTest(t, l.far), spawnTest(t, l.near)
	watching.does(t, l.near, func(p *actor.Process) error { p.MonitorNode(l.farAt.ID()); return nil })
	nextNode(t, watching, true)
	const count = 4000
	sent := from.flood(l.near, to.pid, 0, count)
	l.interrupt(l.nearAt, l.farAt)
	nextNode(t, watching, false)
	nextNode(t, watching, true)
	must(t, get(t, "the sender's end", sent))
	eventually(t, "messages arrive again", func() bool { // of several connections each may be found lost by itself
		err := error(nil)
		from.does(t, l.near, func(p *actor.Process) error {
			err = actor.SendConfirmed(p.Context(), p, to.pid, numbered{count})
			return nil
		})
		if err != nil && !errors.Is(err, actor.ErrNoConnection) {
			t.Fatal(err)
		}
		return err == nil
	})
	for last := -1; last < count; {
		got := next[numbered](t, to)
		if got.N <= last {
			t.Fatalf("message %d comes after %d", got.N, last)
		}
		last = got.N
	}
}
