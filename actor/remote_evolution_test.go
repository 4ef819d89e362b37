package actor_test

import (
	"context"
	"testing"

	"github.com/sabir-go/sabir/actor"
)

// Two forms of one type, as programs of two versions have them. Both are called order.
var sendOldOrder, oldOrders = func() (func(m member, to actor.PID) error, func(member, actor.PID) (int, error)) {
	type order struct {
		ID   int32
		Note string
	}
	return func(m member, to actor.PID) error { return actor.Send(m, to, order{7, "old"}) },
		func(m member, to actor.PID) (int, error) {
			got, err := actor.Call[order](context.Background(), m, to, echo{"give me an order"})
			return int(got.ID), err
		}
}()

var newOrders = func() *actor.Behavior[newer, chan string] {
	type order struct {
		Note     string
		ID       int64
		Priority *int
	}
	return actor.Define("newer", func(n *newer, _ *actor.Process, got chan string) error { n.got = got; return nil },
		actor.OnMessage(func(n *newer, _ *actor.Process, m order) error {
			if m.ID == 7 && m.Priority == nil {
				n.got <- m.Note
			}
			return nil
		}),
		actor.OnCall(func(*newer, *actor.Process, echo) (order, error) { return order{Note: "new", ID: 9}, nil }),
	)
}()

type newer struct{ got chan string }

func TestMessagesOfAnotherVersionOfTheirTypeAreTranslated(t *testing.T) {
	m := joinMembers(t, "mem://"+t.Name(), "a", "b")
	got := make(chan string, 1)
	to, err := actor.Spawn(m[1], newOrders, got)
	if err != nil {
		t.Fatal(err)
	}
	if err := sendOldOrder(m[0], to.PID()); err != nil {
		t.Fatal(err)
	}
	if note := <-got; note != "old" {
		t.Error(note)
	}
	// An answer in the new form cannot become the old one, since its number has become wider: the caller gets an error.
	_, err = oldOrders(m[0], to.PID())
	wantError(t, err, actor.ErrNotHandled)
}
