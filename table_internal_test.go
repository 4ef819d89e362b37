package sabir

import (
	"testing"

	"github.com/sabir-go/sabir/cluster"
)

func TestWhoFindsAServiceOfAnotherNodeReachesItWithEventsToo(t *testing.T) {
	n := NewNode()
	views := make([]*cluster.View, 20_000)
	age := make(map[*cluster.View]int)
	for i := range views {
		views[i] = new(cluster.View)
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
		reached := n.events.Load().view
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
