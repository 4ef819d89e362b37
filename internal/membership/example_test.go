package membership_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/sabir-go/sabir/internal/membership"
)

// A node's catalog goes to its peers as JSON; they keep it in their registries.
func ExampleRegistry() {
	data, _ := json.Marshal(membership.Catalog{Node: "a", Version: 1, Services: []membership.Service{
		{Name: "users", Actions: []membership.Action{{Name: "users.get"}}},
	}})

	registry := membership.NewRegistry()
	if catalog, err := membership.ParseCatalog(data); err == nil {
		registry.Set(catalog)
	}
	for _, offer := range registry.View().Action("users.get") {
		fmt.Println(offer.Node, "offers", offer.Action.Name)
	}
	// Output: a offers users.get
}

// A balancer picks among the candidates that offer an action; the candidate is notified when the call begins and ends.
func ExampleBalancer() {
	a := membership.NewCandidate("a", membership.Place{})
	b := membership.NewCandidate("b", membership.Place{})
	balancer := membership.LeastInFlight()

	start := a.Begin() // a call to a is under way
	next := balancer.Pick([]*membership.Candidate{a, b}, "")
	fmt.Println("the next call goes to", next.ID)
	a.End(start, false)
	// Output: the next call goes to b
}

// Candidates of the caller's zone go first; among them the inner balancer decides.
func ExampleNearest() {
	here := membership.Place{Zone: "north"}
	balancer := membership.Nearest(func() *membership.Place { return &here }, membership.RoundRobin())
	picked := balancer.Pick([]*membership.Candidate{
		membership.NewCandidate("a", membership.Place{Zone: "south"}),
		membership.NewCandidate("b", membership.Place{Zone: "north"}),
	}, "")
	fmt.Println(picked.ID)
	// Output: b
}

// The node at an address of a static list shows when a link to it is up.
func ExampleStatic() {
	received := make(chan membership.Change)
	peers := membership.NewStatic([]string{"tcp://10.0.0.2:7700"})
	_ = peers.Start(context.Background(), membership.Member{ID: "me"}, func(c membership.Change) { received <- c })

	change := <-received
	fmt.Println(change.Kind, change.Member)
	peers.Identified("tcp://10.0.0.2:7700", membership.Member{ID: "a"})
	change = <-received
	fmt.Println(change.Kind, change.Member)
	_ = peers.Stop(context.Background())
	// Output:
	// joined tcp://10.0.0.2:7700
	// updated a
}
