// Package cart keeps a cart for each user in a grain: an actor that nobody starts, whose state outlives its process.
package cart

import (
	"maps"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/grain"
)

// doc: grain
// Items is the saved state: how many of each item.
type Items map[string]int

// Cart is the grain. Its handlers run one at a time.
type Cart struct{ grain.State[Items] }

type Add struct {
	Item  string
	Count int
}

type Show struct{}

func (c *Cart) Add(p *actor.Process, m Add) (int, error) {
	if c.Value == nil {
		c.Value = Items{}
	}
	c.Value[m.Item] += m.Count
	return c.Value[m.Item], c.Save(p) // saved before the caller has the answer
}

func (c *Cart) Show(_ *actor.Process, _ Show) (Items, error) { return maps.Clone(c.Value), nil } // on one node the caller would share the map

// Kind defines the grain: nodes serve it, and callers name it.
var Kind = grain.Define("cart", grain.OnCall((*Cart).Add), grain.OnCall((*Cart).Show))

// end
