package dashboard

import (
	"context"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
)

// openWaiting starts a node that serves the dashboard, beside one whose service waits for another one.
func openWaiting(t *testing.T) (watcher *sabir.Node) {
	address := freeAddress(t)
	watcher = openNode(t, sabir.Join(address), sabir.HTTP(":0", At("/dashboard")))
	waiting := sabir.NewNode(sabir.NodeID("waiting"), quiet, sabir.Join(address), sabir.Serve(sabir.NewService("orders", sabir.DependsOn(sabir.ServiceName("users")))))
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- waiting.Start(ctx) }()
	t.Cleanup(func() {
		end()
		<-ended
	})
	for changed := watcher.Changed(); len(watcher.Nodes()) < 2 || watcher.Nodes()[1].Unmet == nil; changed = watcher.Changed() {
		<-changed
	}
	return watcher
}

func TestALookHasWhatServicesWaitFor(t *testing.T) {
	o := observer{node: openWaiting(t)}
	found, _ := o.look(t.Context())
	n := found.Nodes[len(found.Nodes)-1]
	if n.ID != "waiting" || n.State != "starting" || len(n.Unmet) != 1 || n.Unmet[0].Service != "orders" || n.Unmet[0].On != "users" || !strings.Contains(n.NotReady, "no node offers users") {
		t.Errorf("the look has %+v", n)
	}
}
