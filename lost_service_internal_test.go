package sabir

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/membership"
)

// A loss of a node must cost what its services are, not what their actions are: when many nodes go at once, each of the others does this for every
// one of them.
func TestActionsOfANodeThatHasGoneAreMadeWhenTheyAreLookedUp(t *testing.T) {
	caller := joined(t, "caller")
	owner := joined(t, "owner", withTwoActions("users"), withTwoActions("orders", Version(2)))
	table := awaitTable(t, caller, func(table *routingTable) bool { return len(table.remote) == 2 })
	called := table.find("users.get")
	stopNode(t, owner)
	table = awaitTable(t, caller, func(table *routingTable) bool { return len(table.absent) == 2 })
	if made := table.madeActions(); len(made) != 1 || made[0] != called {
		t.Errorf("%d actions were made for the loss, or the one that was called is another one now", len(made)-1)
	}
	for _, name := range []string{"users.get", "v2.orders.put", "orders.put"} {
		e := table.find(name)
		if e == nil || !table.isAbsent(e) || e.(*remoteAction).lost.Load().node != "owner" {
			t.Errorf("%s is %v", name, e)
		}
	}
	if e := table.find("orders.gett"); e != nil {
		t.Errorf("a name that nobody offered reaches %v", e)
	}
	if listed := caller.Absent(); len(listed) != 4 {
		t.Errorf("absent are %d actions", len(listed))
	}
}

// Two nodes offered different actions of one service, and have gone one after the other.
func TestWhatEachOfTwoLostNodesOfferedIsAbsent(t *testing.T) {
	caller := joined(t, "caller")
	first := joined(t, "first", withTwoActions("users"))
	second := joined(t, "second", withOneAction("users", "list"))
	awaitTable(t, caller, func(table *routingTable) bool {
		return table.find("users.get") != nil && table.find("users.list") != nil
	})
	stopNode(t, first)
	table := awaitTable(t, caller, func(table *routingTable) bool { return table.isAbsent(table.find("users.get")) })
	if table.isAbsent(table.find("users.list")) {
		t.Error("an action that is still offered is absent")
	}
	stopNode(t, second)
	table = awaitTable(t, caller, func(table *routingTable) bool { return table.isAbsent(table.find("users.list")) })
	for name, node := range map[string]string{"users.get": "first", "users.put": "first", "users.list": "second"} {
		if e := table.find(name); !table.isAbsent(e) || e.(*remoteAction).lost.Load().node != node {
			t.Errorf("%s is not absent for the loss of %s", name, node)
		}
	}

	// One of them comes back: what it offers is not absent any more, and the same action as before.
	gone := table.find("users.list")
	joined(t, "second", withOneAction("users", "list"))
	table = awaitTable(t, caller, func(table *routingTable) bool { return !table.isAbsent(table.find("users.list")) })
	if table.find("users.list") != gone {
		t.Error("an action that is back is another one")
	}
	if !table.isAbsent(table.find("users.get")) {
		t.Error("an action of the node that stays away is not absent")
	}
	if listed := caller.Absent(); len(listed) != 2 {
		t.Errorf("absent are %d actions", len(listed))
	}
}

func TestTheOldestLossesAreForgottenWhereThereAreTooMany(t *testing.T) {
	caller := joined(t, "caller")
	large := NewService("large")
	for i := range maxAbsent - 2 {
		Handle(large, "a"+itoa(i), func(context.Context, int) (int, error) { return 0, nil })
	}
	for i, services := range [][]Servable{{withTwoActions("oldest")}, {withTwoActions("older")}, {large}} {
		n := joined(t, "owner"+itoa(i), services...)
		awaitTable(t, caller, func(table *routingTable) bool { return len(table.remote) == 1 })
		stopNode(t, n)
		awaitTable(t, caller, func(table *routingTable) bool { return len(table.remote) == 0 })
	}
	table := caller.table.Load()
	if table.find("oldest.get") != nil || table.find("older.get") == nil || table.find("large.a7") == nil {
		t.Error("other actions are remembered than the newest ones")
	}
}

func withOneAction(name, action string) *Service {
	s := NewService(name)
	Handle(s, action, func(context.Context, int) (int, error) { return 0, nil })
	return s
}

func stopNode(t *testing.T, n *Node) {
	t.Helper()
	if err := n.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkALossBesideManyAbsentActions has the table made anew while as many actions are absent as may be.
func BenchmarkALossBesideManyAbsentActions(b *testing.B) {
	n := NewNode(Logger(slog.New(slog.DiscardHandler)))
	old := &routingTable{view: &membership.View{}, absent: make(map[string][]*remoteService)}
	now := time.Now()
	for i := range maxAbsent / 25 {
		full := "s" + itoa(i)
		d := &membership.Service{Name: full}
		for j := range 25 {
			d.Actions = append(d.Actions, membership.Action{Name: full + ".a" + itoa(j)})
		}
		old.absent[full] = []*remoteService{{version: version{full: full}, node: n, name: full, lost: now, described: []*membership.Service{d}}}
	}
	for b.Loop() {
		n.rememberAbsent(&routingTable{view: &membership.View{}}, old, nil)
	}
	n.stopForgetting()
}
