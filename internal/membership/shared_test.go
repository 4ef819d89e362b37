package membership_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"testing"
	"weak"

	"github.com/sabir-go/sabir/internal/membership"
)

// sent is a catalog as it comes from another node.
func sent(t *testing.T, c membership.Catalog) membership.Catalog {
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = membership.ParseCatalog(text); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestWhatManyNodesOfferAlikeIsKeptOnceAndGoesWithTheLast(t *testing.T) {
	r := membership.NewRegistry()
	for i := range 5 {
		r.Set(sent(t, catalogOf(fmt.Sprint("n", i), 1, "users.get", "users.put")))
	}
	r.Set(sent(t, catalogOf("other", 1, "users.get")))
	offers := r.View().Offers()["users"]
	if len(offers) != 6 {
		t.Fatalf("%d offers", len(offers))
	}
	kept := offers[0].Service
	for _, o := range offers {
		shares := o.Service == kept && &r.View().Services(o.Node)[0].Actions[0] == &kept.Actions[0]
		if shares != (o.Node != "other") {
			t.Errorf("%s shares its description: %v", o.Node, shares)
		}
	}
	for _, offer := range r.View().Action("users.put") {
		if offer.Action != &kept.Actions[1] {
			t.Errorf("%s has an action of its own", offer.Node)
		}
	}
	gone := weak.Make(kept)
	kept, offers = nil, nil
	for i := range 5 {
		if gone.Value() == nil {
			t.Errorf("it went while %d nodes have it", 5-i)
		}
		r.Remove(fmt.Sprint("n", i))
		runtime.GC()
	}
	if gone.Value() != nil {
		t.Error("the description stays when its last node has gone")
	}
}

func TestTheListsOfWhatDoesNotChangeStay(t *testing.T) {
	r := membership.NewRegistry()
	orders := func(node string) membership.Catalog {
		return membership.Catalog{Node: node, Version: 1, Services: []membership.Service{{Name: "orders"}}}
	}
	r.Set(sent(t, catalogOf("a", 1, "users.get")))
	r.Set(sent(t, orders("b")))
	before := r.View().Offers()
	r.Set(sent(t, orders("c")))
	after := r.View().Offers()
	if &before["users"][0] != &after["users"][0] || len(before["orders"]) != 1 || len(after["orders"]) != 2 {
		t.Errorf("%v, then %v", before, after)
	}
}
