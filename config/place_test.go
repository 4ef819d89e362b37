package config_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/config"
	"github.com/sabir-go/sabir/policy"
)

// named is a service whose action answers with the name of its node.
func named(node string) *sabir.Service {
	s := sabir.NewService("named")
	sabir.Handle(s, "node", func(context.Context, sabir.Empty) (string, error) { return node, nil })
	return s
}

// placeSeenBy is the zone and the labels of a node as another one lists it.
func placeSeenBy(peer *sabir.Node, id string) string {
	for _, n := range peer.Nodes() {
		if n.ID == id {
			return fmt.Sprint(n.Zone, n.Labels)
		}
	}
	return ""
}

// startMember starts a node in the cluster of another.
func startMember(t *testing.T, of *sabir.Node, id string, options ...any) *sabir.Node {
	t.Helper()
	join := []cluster.Option{cluster.Config{Seeds: []string{of.Info().Addr}}}
	list := []sabir.NodeOption{sabir.NodeID(id), sabir.Logger(slog.New(slog.DiscardHandler))}
	for _, o := range options {
		if o, ok := o.(cluster.Option); ok {
			join = append(join, o)
			continue
		}
		list = append(list, o.(sabir.NodeOption))
	}
	node := sabir.NewNode(append(list, sabir.Join("tcp://127.0.0.1:0", join...))...)
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { node.Stop(context.Background()) })
	return node
}

// await waits until something holds that changes with what the node knows of others.
func await(t *testing.T, node *sabir.Node, holds func() bool, now func() string) {
	t.Helper()
	limit := time.After(20 * time.Second)
	for {
		changed := node.Changed()
		if holds() {
			return
		}
		select {
		case <-changed:
		case <-limit:
			t.Fatal(now())
		}
	}
}

func TestOtherNodesSeeTheZoneAndLabelsOfANodeThatRuns(t *testing.T) {
	file := write(t, "sabir.yaml", "{id: moving, join: 'tcp://127.0.0.1:0', zone: north, log: {level: error}}")
	l := load(t, config.Config{File: file})
	moving := start(t, l, named("moving"))
	peer := startMember(t, moving, "peer", cluster.Config{Zone: "south", Labels: map[string]string{"rack": "r2"}})
	if got := placeSeenBy(peer, "moving"); got != "northmap[]" {
		t.Fatalf("at first it is seen at %s", got)
	}
	reload := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte("{id: moving, join: 'tcp://127.0.0.1:0', log: {level: error}"+text+"}"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, later, err := l.Reload(); err != nil || later != nil {
			t.Fatal(later, err)
		}
	}
	for _, c := range []struct {
		change func()
		want   string
	}{
		{func() { reload(", zone: south, labels: {rack: r1, disk: ssd}") }, "southmap[disk:ssd rack:r1]"},
		{func() {
			if used, err := sabir.Call[[]string](t.Context(), peer, "$config.set", map[string]string{"zone": "west", "labels": "rack=r9"}, sabir.ToNode("moving")); err != nil || strings.Join(used, " ") != "labels zone" {
				t.Fatal(used, err)
			}
		}, "westmap[rack:r9]"},
		{func() {
			if _, err := l.Set(map[string]string{"zone": "", "labels": ""}); err != nil {
				t.Fatal(err)
			}
		}, "southmap[disk:ssd rack:r1]"},
		{func() { reload("") }, "map[]"},
	} {
		c.change()
		await(t, peer, func() bool { return placeSeenBy(peer, "moving") == c.want }, func() string { return placeSeenBy(peer, "moving") + ", want " + c.want })
		if info := moving.Info(); fmt.Sprint(info.Zone, info.Labels) != c.want {
			t.Errorf("the node itself says %s %v, want %s", info.Zone, info.Labels, c.want)
		}
	}
	late := startMember(t, moving, "late")
	if got := placeSeenBy(late, "moving"); got != "map[]" {
		t.Errorf("a node that comes later sees it at %s", got)
	}
}

func TestSeedsThatANodeIsGivenWhileItRunsLeadItToOthers(t *testing.T) {
	one := load(t, config.Config{Defaults: config.Settings{ID: "one", Join: "tcp://127.0.0.1:0", Log: config.Log{Level: "error"}}})
	first := start(t, one)
	other := start(t, load(t, config.Config{Defaults: config.Settings{ID: "two", Join: "tcp://127.0.0.1:0", Log: config.Log{Level: "error"}}}), named("two"))
	if _, err := one.Set(map[string]string{"seeds": other.Info().Addr}); err != nil {
		t.Fatal(err)
	}
	if err := first.WaitFor(t.Context(), "named"); err != nil {
		t.Fatal(err)
	}
	if _, err := one.Set(map[string]string{"seeds": ""}); err != nil {
		t.Fatal(err)
	}
	if node, err := sabir.Call[string](t.Context(), first, "named.node", sabir.Empty{}); err != nil || node != "two" {
		t.Errorf("without the seed by which it was found: %q, %v", node, err)
	}
}

func TestAPlaceThatNoNodeCanHaveChangesNothing(t *testing.T) {
	l := load(t, config.Config{Defaults: config.Settings{ID: "n", Join: "tcp://127.0.0.1:0", Zone: "north", Log: config.Log{Level: "error"}}})
	guarded := sabir.NewService("guarded")
	sabir.Handle(guarded, "pay", func(context.Context, sabir.Empty) (sabir.Empty, error) { return sabir.Empty{}, nil }, sabir.Use(policy.Breaker{}))
	node := start(t, l, guarded)
	for name, values := range map[string]map[string]string{
		"a long zone":          {"zone": strings.Repeat("x", 5000)},
		"no URL":               {"zone": "south", "seeds": "localhost"},
		"many labels":          {"zone": "south", "labels": manyLabels(300, 1)},
		"too much in all":      {"zone": "south", "labels": manyLabels(20, 1000)},
		"a policy besides":     {"zone": "south", "policies.guarded.*.timeout": "1s"},
		"a setting that stays": {"zone": "south", "id": "other"},
	} {
		used, err := l.Set(values)
		if err == nil || used != nil || node.Info().Zone != "north" || l.Settings.Zone != "north" || len(node.Info().Labels) > 0 {
			t.Errorf("%s: %v, %v, and the node is at %q", name, used, err, node.Info().Zone)
		}
	}
}

// manyLabels returns so many labels, with values of a size.
func manyLabels(n, size int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("l%d=%s", i, strings.Repeat("x", size)))
	}
	return strings.Join(list, ",")
}

func TestCallsGoByTheZoneThatNodesHaveNow(t *testing.T) {
	l := load(t, config.Config{Defaults: config.Settings{ID: "caller", Join: "tcp://127.0.0.1:0", Zone: "north", Log: config.Log{Level: "error"}}})
	caller := start(t, l)
	far := load(t, config.Config{Defaults: config.Settings{ID: "far", Join: "tcp://127.0.0.1:0", Zone: "south", Seeds: []string{caller.Info().Addr}, Log: config.Log{Level: "error"}}})
	start(t, far, named("far"))
	startMember(t, caller, "near", cluster.Config{Zone: "north"}, sabir.Serve(named("near")))
	if err := caller.WaitFor(t.Context(), "named"); err != nil {
		t.Fatal(err)
	}
	reached := func() string {
		seen := map[string]bool{}
		for range 8 {
			node, err := sabir.Call[string](t.Context(), caller, "named.node", sabir.Empty{})
			if err != nil {
				t.Fatal(err)
			}
			seen[node] = true
		}
		return fmt.Sprint(seen)
	}
	set := func(l *config.Loaded, zone string) {
		t.Helper()
		if _, err := l.Set(map[string]string{"zone": zone}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		change func()
		want   string
	}{
		{func() {}, "map[near:true]"},
		{func() { set(l, "south") }, "map[far:true]"},
		{func() { set(far, "east") }, "map[far:true near:true]"},
		{func() { set(far, "north"); set(l, "north") }, "map[far:true near:true]"},
		{func() { set(far, "west") }, "map[near:true]"},
	} {
		c.change()
		await(t, caller, func() bool { return reached() == c.want }, func() string { return "calls reach " + reached() + ", want " + c.want })
	}
}
