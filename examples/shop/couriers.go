package shop

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"sync/atomic"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/supervise"
)

// Courier counts the parcels of a courier since it was started: one that fell off its bicycle begins at 0 again.
type Courier struct {
	Name      string `json:"name"`
	Delivered int64  `json:"delivered"`
}

// The couriers are processes: each keeps what it has done for itself, and handles one parcel after the other.
const couriers = 3

// fallEvery means that a courier falls with one parcel of so many. Its supervisor starts it again.
const fallEvery = 400

// courier is the state of one process.
type courier struct {
	name      string
	delivered int64
	parcels   *atomic.Int64 // of all couriers of the node
}

type (
	parcel struct{ orderID string }
	// report asks for a Courier.
	report struct{}
)

var errFell = errors.New("the courier fell off the bicycle")

func (c *courier) init(_ *actor.Process, name courierName) error {
	c.name, c.parcels = name.name, name.parcels
	return nil
}

func (c *courier) deliver(*actor.Process, parcel) error {
	if c.parcels.Add(1)%fallEvery == 0 {
		return errFell
	}
	c.delivered++
	return nil
}

func (c *courier) report(*actor.Process, report) (Courier, error) {
	return Courier{c.name, c.delivered}, nil
}

// courierName is given to a courier at its start.
type courierName struct {
	name    string
	parcels *atomic.Int64
}

var courierBehavior = actor.Define("courier", (*courier).init, actor.OnMessage((*courier).deliver), actor.OnCall((*courier).report))

// delivery hands parcels to the couriers of its node.
type delivery struct{ system *actor.System }

// newDelivery makes the service delivery. Its couriers start and stop with it.
func newDelivery(system *actor.System) *sabir.Service {
	d := &delivery{system}
	s := sabir.NewService("delivery", sabir.Doc("has couriers bring what was ordered: a process each"), sabir.OnStart(d.hire))
	sabir.On(s, "order.created", d.send, sabir.Delivery{Buffer: 1000})
	sabir.Handle(s, "couriers", d.list, sabir.Doc("tells what each courier has done"), sabir.Idempotent(), sabir.Route("GET", "/couriers"))
	return s
}

func nameOf(i int) actor.Name { return actor.Name{Name: fmt.Sprintf("courier-%d", i+1)} }

func (d *delivery) hire(context.Context) error {
	var all []supervise.Child
	parcels := new(atomic.Int64)
	for i := range couriers {
		name := nameOf(i)
		all = append(all, supervise.Child{ID: name.Name, Start: courierBehavior.Spec(courierName{name.Name, parcels}, actor.SpawnConfig{Name: name.Name})})
	}
	_, err := supervise.Spec(supervise.Config{Name: "couriers", Intensity: 100}, all...).Start(d.system)
	return err
}

// send gives an order to the courier that is always the customer's.
func (d *delivery) send(_ context.Context, order Order) error {
	hash := fnv.New32a()
	hash.Write([]byte(order.UserID))
	return actor.Send(d.system, nameOf(int(hash.Sum32()%couriers)), parcel{order.ID})
}

func (d *delivery) list(ctx context.Context, _ struct{}) ([]Courier, error) {
	list := []Courier{}
	for i := range couriers {
		one, err := actor.Call[Courier](ctx, d.system, nameOf(i), report{})
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}
