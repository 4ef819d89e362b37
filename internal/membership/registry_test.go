package membership_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sabir-go/sabir/internal/membership"
)

func offers(v *membership.View, action string) string {
	var nodes []string
	for _, o := range v.Action(action) {
		nodes = append(nodes, o.Node)
	}
	return strings.Join(nodes, " ")
}

func TestTheRegistryKnowsWhichNodesOfferAnAction(t *testing.T) {
	r := membership.NewRegistry()
	for _, c := range []membership.Catalog{catalogOf("c", 1, "users.get"), catalogOf("a", 1, "users.get", "users.put"), catalogOf("b", 1, "users.put")} {
		if !r.Set(c) {
			t.Fatalf("the catalog of %s was not taken", c.Node)
		}
	}
	v := r.View()
	if got := v.Nodes(); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("nodes are %v", got)
	}
	if got := v.Actions(); !slices.Equal(got, []string{"users.get", "users.put"}) {
		t.Errorf("actions are %v", got)
	}
	for action, want := range map[string]string{"users.get": "a c", "users.put": "a b", "users.delete": ""} {
		if got := offers(v, action); got != want {
			t.Errorf("%s is offered by %q, want %q", action, got, want)
		}
	}
	offer := v.Action("users.get")[0]
	if offer.Service.Name != "users" || offer.Action.Name != "users.get" {
		t.Errorf("the offer is of %s, %s", offer.Service.Name, offer.Action.Name)
	}
	if v.Catalog("a") == nil || len(v.Services("a")) != 1 || v.Catalog("z") != nil || v.Services("z") != nil {
		t.Error("services by node are wrong")
	}
}

func TestANewerCatalogReplacesTheOlder(t *testing.T) {
	r := membership.NewRegistry()
	r.Set(catalogOf("a", 5, "users.get"))
	tests := []struct {
		name    string
		catalog membership.Catalog
		taken   bool
		actions string
	}{
		{"older", catalogOf("a", 4, "users.old"), false, "users.get"},
		{"the same", catalogOf("a", 5, "users.same"), false, "users.get"},
		{"newer", catalogOf("a", 6, "users.put", "users.get"), true, "users.get users.put"},
		{"another instance", membership.Catalog{Node: "a", Instance: 9, Version: 1}, true, ""},
		{"newer of that", func() membership.Catalog { c := catalogOf("a", 2, "users.new"); c.Instance = 9; return c }(), true, "users.new"},
	}
	for _, test := range tests {
		before := r.View()
		if taken := r.Set(test.catalog); taken != test.taken || taken == (r.View() == before) {
			t.Errorf("%s: taken %v", test.name, taken)
		}
		if got := strings.Join(r.View().Actions(), " "); got != test.actions {
			t.Errorf("%s: actions are %q, want %q", test.name, got, test.actions)
		}
	}
}

func TestARemovedNodeLeavesNothingBehind(t *testing.T) {
	r := membership.NewRegistry()
	r.Set(catalogOf("a", 1, "users.get", "users.put"))
	r.Set(catalogOf("b", 1, "users.get"))
	if !r.Remove("a") || r.Remove("a") || r.Remove("z") {
		t.Error("Remove tells wrongly whether the node was there")
	}
	if got := offers(r.View(), "users.get"); got != "b" || r.View().Action("users.put") != nil {
		t.Errorf("users.get is offered by %q", got)
	}
	if !r.Set(catalogOf("a", 1, "users.get")) {
		t.Error("the removed node cannot come back with the same version")
	}
}

func TestAViewNeverChanges(t *testing.T) {
	r := membership.NewRegistry()
	r.Set(catalogOf("b", 1, "users.get"))
	old := r.View()
	r.Set(catalogOf("a", 1, "users.get", "users.put"))
	r.Set(catalogOf("c", 1, "users.get"))
	r.Remove("b")
	if got := offers(old, "users.get"); got != "b" || len(old.Nodes()) != 1 || len(old.Actions()) != 1 {
		t.Errorf("the old view has %q, %v, %v", got, old.Nodes(), old.Actions())
	}
}

func TestReadersAndWritersOfTheRegistryDoNotDisturbEachOther(t *testing.T) {
	r := membership.NewRegistry()
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			node := fmt.Sprint(i)
			for version := range uint64(200) {
				r.Set(catalogOf(node, version+1, "users.get"))
				r.View().Action("users.get")
				if version%50 == 49 {
					r.Remove(node)
				}
			}
			r.Set(catalogOf(node, 1, "users.get"))
		})
	}
	all.Wait()
	if got := offers(r.View(), "users.get"); got != "0 1 2 3" {
		t.Errorf("users.get is offered by %q", got)
	}
}
