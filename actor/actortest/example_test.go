package actortest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/actortest"
)

// A cart asks the stock whether an item is there, and forgets everything after an hour without a message.
type (
	Cart struct {
		items []string
		stop  func() bool
	}
	Put    struct{ Item string }
	Items  struct{}
	Has    struct{ Item string }
	Refuse struct{ Item string }
	forget struct{}
)

func (c *Cart) Put(p *actor.Process, m Put) error {
	if c.stop != nil {
		c.stop()
	}
	c.stop = actor.SendAfter(p, p.PID(), time.Hour, forget{})
	has, err := actor.Call[bool](p.Context(), p, actor.Name{Name: "stock"}, Has(m))
	if err != nil || !has {
		return actor.Send(p, p.Sender(), Refuse(m))
	}
	c.items = append(c.items, m.Item)
	return nil
}

func (c *Cart) Items(*actor.Process, Items) ([]string, error) { return c.items, nil }
func (c *Cart) Forget(*actor.Process, forget) error           { return actor.ErrNormal }

var cart = actor.Define[Cart, struct{}]("cart", nil,
	actor.OnMessage((*Cart).Put), actor.OnMessage((*Cart).Forget), actor.OnCall((*Cart).Items))

func Example() {
	t := &testing.T{} // of the test

	k := actortest.New(t)
	stock, buyer := k.Probe("stock"), k.Probe("buyer")
	actortest.Stub(stock, func(q Has) (bool, error) { return q.Item != "gold", nil })
	pid := actortest.Spawn(k, cart, struct{}{})

	actortest.Send(buyer, pid, Put{"tea"})
	actortest.Send(buyer, pid, Put{"gold"})
	fmt.Println("refused:", actortest.Expect[Refuse](t, buyer).Item)

	items, err := actortest.Call[[]string](k, pid, Items{})
	fmt.Println("items:", items, err)

	k.Advance(time.Hour)
	reason, ended := k.Ended(pid)
	fmt.Println("ended:", ended, reason)

	// Output:
	// refused: gold
	// items: [tea] <nil>
	// ended: true Normal: the process ended normally
}

func ExampleKit_Step() {
	k := actortest.New(&testing.T{})
	stock := k.Probe("stock")
	actortest.Stub(stock, func(q Has) (bool, error) { return true, nil })
	pid := actortest.Spawn(k, cart, struct{}{})

	actor.Send(k.System(), pid, Put{"tea"})
	actor.Send(k.System(), pid, Put{"cups"})
	for k.Step() {
		fmt.Println(len(stock.Calls()), "call,", k.Info(pid).Waiting, "message waits")
	}
	// Output:
	// 1 call, 1 message waits
	// 1 call, 0 message waits
}
