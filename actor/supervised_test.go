package actor_test

import (
	"context"
	"errors"
	"testing"

	"github.com/sabir-go/sabir/actor"
)

// guardian supervises a process, and ends when that has.
type guardian struct{ seen chan any }

func (g *guardian) init(p *actor.Process, seen chan any) error {
	p.TrapParent()
	g.seen = seen
	_, err := actor.Spawn(p, heirs, struct{}{}, actor.SpawnConfig{Supervised: true, Name: "ward"})
	return err
}

func (g *guardian) exit(p *actor.Process, e actor.Exit) error {
	g.seen <- e
	if e.Linked() && e.From != p.Parent() {
		return actor.ErrNormal
	}
	if ward, ok := p.System().Whereis("ward"); ok && !e.Linked() {
		return actor.Stop(p, ward, e.Reason)
	}
	return nil
}

func (*guardian) withCallTimeout(p *actor.Process, m withCallTimeout) (struct{}, error) {
	m.fn(p)
	return struct{}{}, nil
}

var guardians = actor.Define("guardian", (*guardian).init,
	actor.OnMessage((*guardian).exit),
	actor.OnCall((*guardian).withCallTimeout),
)

func TestStopOfTheSystemLeavesTheSupervisedToThoseWhoLookAfterThem(t *testing.T) {
	s := actor.NewSystem(actor.Config{})
	seen := make(chan any, 10)
	if _, err := actor.Spawn(s, guardians, seen); err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	reported, ok := (<-seen).(actor.Exit)
	if !ok || reported.Linked() || !reported.From.Zero() {
		t.Error("first comes the exit of the system:", reported)
	}
	if e, ok := (<-seen).(actor.Exit); !ok || !e.Linked() || !errors.Is(e.Reason, actor.ErrShutdown) {
		t.Error("then that the ward has ended:", e)
	}
}

func TestTrapParentMakesTheParentsExitAMessage(t *testing.T) {
	s := actor.NewSystem(actor.Config{})
	defer s.Stop(context.Background())
	seen := make(chan any, 10)
	parent, err := actor.Spawn(s, heirs, struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	insideOf(t, s, parent.PID(), func(p *actor.Process) {
		pid, err := actor.Spawn(p, guardians, seen)
		if err == nil {
			err = actor.Stop(p, pid, errors.New("go"))
		}
		if err != nil {
			t.Error(err)
		}
	})
	if e := (<-seen).(actor.Exit); e.From != parent.PID() || e.Linked() {
		t.Error(e)
	}
	<-seen
}

func TestSupervisedProcessCannotUnlinkItself(t *testing.T) {
	s := actor.NewSystem(actor.Config{})
	defer s.Stop(context.Background())
	seen := make(chan any, 10)
	pid, err := actor.Spawn(s, guardians, seen)
	if err != nil {
		t.Fatal(err)
	}
	ward, _ := s.Whereis("ward")
	insideOf(t, s, ward, func(p *actor.Process) { p.Unlink(pid.PID()) })
	actor.Kill(s, ward)
	if e := (<-seen).(actor.Exit); e.From != ward || !e.Linked() {
		t.Error(e)
	}
}

func TestSupervisedProcessThatDoesNotStartIsNoNewsForItsGuardian(t *testing.T) {
	s := actor.NewSystem(actor.Config{})
	defer s.Stop(context.Background())
	seen := make(chan any, 10)
	pid, err := actor.Spawn(s, guardians, seen)
	if err != nil {
		t.Fatal(err)
	}
	insideOf(t, s, pid.PID(), func(p *actor.Process) {
		if _, err := actor.Spawn(p, heirs, struct{}{}, actor.SpawnConfig{Supervised: true, Name: "ward"}); !errors.Is(err, actor.ErrNameTaken) {
			t.Error(err)
		}
		if links := p.Links(); len(links) != 1 {
			t.Error("it is linked with", links)
		}
	})
	ward, _ := s.Whereis("ward")
	actor.Kill(s, ward)
	if e := (<-seen).(actor.Exit); e.From != ward || len(seen) != 0 {
		t.Error(e)
	}
}
