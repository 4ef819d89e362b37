package actor_test

import (
	"context"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/actor"
)

// clerk forwards what it is asked.
type clerk struct{ to actor.PID }

func (c *clerk) Init(_ *actor.Process, to actor.PID) error { c.to = to; return nil }

func (c *clerk) Echo(p *actor.Process, _ echo) (echo, error)       { return echo{}, c.forward(p) }
func (c *clerk) Refuse(p *actor.Process, _ refusing) (item, error) { return item{}, c.forward(p) }
func (c *clerk) Hang(p *actor.Process, _ hanging) (item, error)    { return item{}, c.forward(p) }

func (c *clerk) forward(p *actor.Process) error {
	if err := actor.Forward(p, c.to); err != nil {
		return err
	}
	return actor.ErrNoReply
}

var clerkBehavior = actor.Define("clerk", (*clerk).Init, actor.OnCall((*clerk).Echo), actor.OnCall((*clerk).Refuse), actor.OnCall((*clerk).Hang))

// forwarded is three nodes, where a clerk on the second forwards to a witness on the third.
func forwarded(t *testing.T) (all []member, clerk actor.PID, to watched) {
	all = joinMembers(t, "mem://"+strings.ReplaceAll(t.Name(), "/", "-"), "a", "b", "c")
	to = all[2].witness(t)
	clerk, err := clerkBehavior.Spec(to.pid).Start(all[1])
	if err != nil {
		t.Fatal(err)
	}
	return all, clerk, to
}

func TestACallForwardedToAThirdNodeIsAnsweredByWayOfTheSecond(t *testing.T) {
	m, clerk, _ := forwarded(t)
	for _, size := range []int{0, 10, 200_000, 10} {
		text := strings.Repeat("z", size)
		if got, err := actor.Call[echo](t.Context(), m[0], clerk, echo{text}); err != nil || got.Text != text {
			t.Errorf("%d bytes come back of %d: %v", len(got.Text), size, err)
		}
	}
	_, err := actor.Call[item](t.Context(), m[0], clerk, refusing{})
	wantError(t, err, errRefused)
	_, err = actor.Call[item](t.Context(), m[0], clerk, echo{})
	wantError(t, err, actor.ErrNotHandled) // the answer is an echo, and the caller finds that out
}

func TestAForwardedCallFailsWhenTheNodeThatHandlesItIsLost(t *testing.T) {
	m, clerk, to := forwarded(t)
	failed := make(chan error, 1)
	go func() {
		_, err := actor.Call[item](context.Background(), m[0], clerk, hanging{})
		failed <- err
	}()
	nextOf[hanging](t, to)
	m[1].cut("c")
	wantError(t, <-failed, actor.ErrNoConnection)
	nextOf[interrupted](t, to)
}

func TestAForwardedCallEndsWhereItIsHandledWhenTheNodeOfItsCallerIsLost(t *testing.T) {
	m, clerk, to := forwarded(t)
	failed := make(chan error, 1)
	go func() {
		_, err := actor.Call[item](context.Background(), m[0], clerk, hanging{})
		failed <- err
	}()
	nextOf[hanging](t, to)
	m[1].cut("a")
	wantError(t, <-failed, actor.ErrNoConnection)
	nextOf[interrupted](t, to)
}
