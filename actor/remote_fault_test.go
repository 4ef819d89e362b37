package actor_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/cluster"
)

// besideChild is a node here, with one in a process of its own.
func besideChild(t *testing.T) (member, *child) {
	t.Helper()
	c := startChild(t, "b")
	m := startMember(t, "a", "tcp://127.0.0.1:0", cluster.Config{Seeds: []string{c.address}})
	m.awaitNode(t, "b")
	return m, c
}

func TestACallFailsWhenTheProcessOfItsNodeIsKilled(t *testing.T) {
	m, c := besideChild(t)
	pid, err := actor.Call[holder](t.Context(), m, actor.Name{Name: "witness", Node: "b"}, makeAlias{})
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 2*testTimeout)
	defer cancel()
	go func() {
		_, err := actor.Call[item](ctx, m, pid.Of, later{})
		failed <- err
	}()
	if _, err := actor.Call[echo](t.Context(), m, pid.Of, echo{}); err != nil {
		t.Fatal(err)
	}
	c.kill()
	wantError(t, <-failed, actor.ErrNoConnection)
}

func TestASpawnFailsWhenTheProcessOfItsNodeIsKilled(t *testing.T) {
	m, c := besideChild(t)
	failed := make(chan error, 1)
	go func() {
		_, err := actor.Spawn(m, stuckBehavior, actor.PID{}, actor.SpawnConfig{Node: "b"})
		failed <- err
	}()
	// The spawn has begun when a call that was sent after it is answered; it was sent when the type of its arguments is known.
	if _, err := actor.Call[echo](t.Context(), m, actor.Name{Name: "witness", Node: "b"}, echo{}); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-failed:
		t.Fatalf("the spawn failed early: %v", err)
	case <-time.After(100 * time.Millisecond): // it waits
	}
	c.kill()
	wantError(t, <-failed, actor.ErrNoConnection)
}

func TestAPIDOfAnEarlierRunOfANodeIsThatOfNoProcess(t *testing.T) {
	m, c := besideChild(t)
	old, err := actor.Call[holder](t.Context(), m, actor.Name{Name: "witness", Node: "b"}, makeAlias{})
	if err != nil {
		t.Fatal(err)
	}
	one := m.witness(t)
	m.order(t, one, watchNode{"b"})
	nextNode(t, one, true)
	m.order(t, one, link{old.Of})
	c.kill()
	exit := nextOf[actor.Exit](t, one)
	wantError(t, exit.Reason, actor.ErrNoConnection)
	nextNode(t, one, false)
	wantError(t, actor.Send(m, old.Of, item{}), actor.ErrNoConnection)

	c = startChild(t, "b")
	// A new node finds the node that has been there all the time.
	again := sabir.NewNode(sabir.NodeID("c"), sabir.Logger(quiet), sabir.Join("tcp://127.0.0.1:0", cluster.Config{Seeds: []string{c.address, m.node.Info().Addr}}))
	if err := again.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer again.Stop(context.Background())
	nextNode(t, one, true)
	now, err := actor.Call[holder](t.Context(), m, actor.Name{Name: "witness", Node: "b"}, makeAlias{})
	if err != nil {
		t.Fatal(err)
	}
	if now.Of == old.Of {
		t.Error("a PID was given twice")
	}
	for what, err := range map[string]error{
		"send":      actor.Send(m, old.Of, item{}),
		"alias":     actor.SendConfirmed(t.Context(), m, old.Alias, item{}),
		"important": actor.SendConfirmed(t.Context(), m, old.Of, item{}),
		"kill":      actor.Kill(m, old.Of),
	} {
		t.Run(what, func(t *testing.T) { wantError(t, err, actor.ErrNoProcess) })
	}
	_, err = actor.Call[echo](t.Context(), m, old.Of, echo{})
	wantError(t, err, actor.ErrNoProcess)
	m.order(t, one, do{func(p *actor.Process) error {
		p.Monitor(old.Of)
		if err := p.Link(old.Of); err == nil {
			return fmt.Errorf("linked with a process of an earlier run")
		}
		return nil
	}})
	wantError(t, nextOf[actor.Down](t, one).Reason, actor.ErrNoProcess)
}

func TestAfterALostLinkNothingIsDuplicatedOrReordered(t *testing.T) {
	overNetworks(t, func(t *testing.T, address string) {
		m := joinMembers(t, address, "a", "b")
		a, b := m[0], m[1]
		to := b.witness(t)
		one := a.witness(t)
		a.order(t, one, watchNode{"b"})
		nextNode(t, one, true)
		const n, rounds = 2000, 4
		for round := range rounds {
			sent := make(chan error, 1)
			go func() {
				ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
				defer cancel()
				_, err := actor.Call[struct{}](ctx, a, a.witness(t).pid, do{func(p *actor.Process) error {
					for i := range n {
						_ = actor.Send(p, to.pid, item{Seq: round*n + i}) // those in the gap are lost
					}
					return nil
				}})
				sent <- err
			}()
			a.cut("b")
			nextNode(t, one, false)
			nextNode(t, one, true)
			if err := <-sent; err != nil {
				t.Fatal(err)
			}
		}
		if err := actor.SendConfirmed(t.Context(), a, to.pid, item{Seq: n * rounds}); err != nil {
			t.Fatal(err)
		}
		last := -1
		for last < n*rounds {
			got := nextOf[item](t, to).Seq
			if got <= last {
				t.Fatalf("%d came after %d", got, last)
			}
			last = got
		}
	})
}

func TestSeveralLinksOfTwoNodesCarryOneSessionAfterAnother(t *testing.T) {
	const links = 3
	a := startMember(t, "a", "mem://"+t.Name(), cluster.Links{Connections: links})
	b := startMember(t, "b", a.node.Info().Addr, cluster.Links{Connections: links})
	a.awaitNode(t, "b")
	b.awaitNode(t, "a")
	to, watching := b.witness(t), a.witness(t)
	a.order(t, watching, watchNode{"b"})
	for round := range 2 * links {
		nextNode(t, watching, true)
		a.inProcess(t, func(p *actor.Process) error {
			for i := range 3000 {
				if err := actor.Send(p, to.pid, item{Seq: i}); err != nil {
					return err
				}
			}
			return nil
		})
		for i := range 3000 {
			if got := nextOf[item](t, to).Seq; got != i {
				t.Fatalf("%d came in round %d instead of %d", got, round, i)
			}
		}
		a.cut("b")
		nextNode(t, watching, false)
	}
}

func TestWhatAPeerSaysAfterSomethingHostileIsNotRead(t *testing.T) {
	m := joinMembers(t, "mem://"+t.Name(), "a", "b")
	to := m[1].witness(t)
	watching := m[1].witness(t)
	m[1].order(t, watching, watchNode{"a"})
	for seq, behind := 1, false; !behind; seq += 2 {
		nextNode(t, watching, true)
		stands := m[0].Say("b", []byte{3, 99})
		_ = actor.Send(m[0], to.pid, item{Seq: seq})
		behind = stands() // and not over the next link already
		nextNode(t, watching, false)
		m[1].awaitNode(t, "a")
		m[0].awaitNode(t, "b")
		if err := actor.SendConfirmed(t.Context(), m[0], to.pid, item{Seq: seq + 1}); err != nil {
			t.Fatal(err)
		}
		for got := nextOf[item](t, to).Seq; got != seq+1; got = nextOf[item](t, to).Seq {
			if behind {
				t.Errorf("%d came", got)
			}
		}
	}
}
