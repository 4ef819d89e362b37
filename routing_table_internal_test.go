package sabir

import (
	"context"
	"testing"

	"github.com/sabir-go/sabir/internal/membership"
)

func TestAServiceOfAnotherNodeThatIsFoundGetsEventsToo(t *testing.T) {
	n := NewNode()
	views := make([]*membership.View, 20_000)
	age := make(map[*membership.View]int)
	for i := range views {
		views[i] = new(membership.View)
		age[views[i]] = i
	}
	n.rebuild(views[0])
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, v := range views[1:] {
			n.rebuild(v)
		}
	}()
	for last := views[len(views)-1]; ; {
		found := n.table.Load().view
		n.events.mu.RLock()
		reached := n.events.view
		n.events.mu.RUnlock()
		if age[reached] < age[found] {
			t.Errorf("calls go by view %d, and events by view %d still", age[found], age[reached])
			break
		}
		if found == last {
			break
		}
	}
	<-done
}

// early is a bound name that notes whether the table already showed what it is handed.
type early struct {
	node   *Node
	action string
	handed int
	late   bool
}

func (f *early) follow(e endpoint) {
	if e != nil {
		f.handed++
		f.late = f.late || f.node.table.Load().find(f.action) != nil
	}
}

func TestAServiceThatIsFoundIsReachedByABoundNameToo(t *testing.T) {
	service := NewService("svc")
	Handle(service, "it", func(context.Context, int) (int, error) { return 0, nil })
	n := NewNode(Serve(service))
	f := &early{node: n, action: "svc.it"}
	bound := &boundName{node: n, action: f.action, typed: f}
	n.bindings[bindingKey{action: f.action}] = func() *boundName { return bound }
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer n.Stop(context.Background())
	if f.handed != 1 || f.late {
		t.Errorf("the name was handed %d endpoints, after the table had it: %v", f.handed, f.late)
	}
}
