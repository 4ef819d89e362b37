package cluster_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/sabir-go/sabir/cluster"
)

// A node's catalog goes to its peers as JSON; they keep it in their registries.
func ExampleRegistry() {
	data, _ := json.Marshal(cluster.Catalog{Node: "a", Version: 1, Services: []cluster.Service{
		{Name: "users", Actions: []cluster.Action{{Name: "users.get"}}},
	}})

	registry := cluster.NewRegistry()
	if catalog, err := cluster.ParseCatalog(data); err == nil {
		registry.Set(catalog)
	}
	for _, offer := range registry.View().Action("users.get") {
		fmt.Println(offer.Node, "offers", offer.Action.Name)
	}
	// Output: a offers users.get
}

// A balancer picks among the candidates that offer an action; the candidate is notified when the call begins and ends.
func ExampleBalancer() {
	a := cluster.NewCandidate(cluster.Member{ID: "a"})
	b := cluster.NewCandidate(cluster.Member{ID: "b"})
	balancer := cluster.LeastInFlight()

	start := a.Begin() // a call to a is under way
	next := balancer.Pick([]*cluster.Candidate{a, b}, "")
	fmt.Println("the next call goes to", next.ID)
	a.End(start, false)
	// Output: the next call goes to b
}

// Candidates of the caller's zone go first; among them the inner balancer decides.
func ExampleNearest() {
	here := cluster.Member{ID: "me", Zone: "north"}
	balancer := cluster.Nearest(here, cluster.RoundRobin())
	picked := balancer.Pick([]*cluster.Candidate{
		cluster.NewCandidate(cluster.Member{ID: "a", Zone: "south"}),
		cluster.NewCandidate(cluster.Member{ID: "b", Zone: "north"}),
	}, "")
	fmt.Println(picked.ID)
	// Output: b
}

// The node at an address of a static list shows when a link to it is up.
func ExampleStatic() {
	received := make(chan cluster.Change)
	peers := cluster.NewStatic([]string{"tcp://10.0.0.2:7700"})
	_ = peers.Start(context.Background(), cluster.Member{ID: "me"}, func(c cluster.Change) { received <- c })

	change := <-received
	fmt.Println(change.Kind, change.Member)
	peers.Identified("tcp://10.0.0.2:7700", cluster.Member{ID: "a"})
	change = <-received
	fmt.Println(change.Kind, change.Member)
	_ = peers.Stop(context.Background())
	// Output:
	// joined tcp://10.0.0.2:7700
	// updated a
}
