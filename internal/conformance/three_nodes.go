package conformance

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
)

// threeNodes is a cluster of three nodes that behaviours share, each with services of its own names: ann calls, bob and cid
// offer.
type threeNodes struct {
	ann, bob, cid *sabir.Node
	processes     map[string]*actor.System // by node
}

// nodes are the three.
func (w *threeNodes) nodes() []*sabir.Node { return []*sabir.Node{w.ann, w.bob, w.cid} }

// startThreeNodes starts the nodes that the behaviours of a suite share.
func (s *suite) startThreeNodes(t *testing.T) {
	c := s.cluster(t)
	ann, bob, cid := processes(), processes(), processes()
	w := &threeNodes{ann: c.start("ann", ann.Option()), bob: c.start("bob", bob.Option()), cid: c.start("cid", cid.Option())}
	w.processes = map[string]*actor.System{"ann": ann, "bob": bob, "cid": cid}
	eventually(t, "the three nodes are linked", func() bool {
		return sees(w.ann, "bob") && sees(w.ann, "cid") && sees(w.bob, "cid")
	})
	s.threeNodes = w
}

var services atomic.Int64

// name makes a name that no other behaviour uses.
func name() string { return fmt.Sprintf("s%d", services.Add(1)) }

// serve runs a service on a node for the length of a test, and waits until all three know of it.
func (w *threeNodes) serve(t testing.TB, on *sabir.Node, service *sabir.Service) {
	t.Helper()
	must(t, on.Add(brief(t), service))
	t.Cleanup(func() {
		if on.State() == "running" {
			ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
			defer cancel()
			if err := on.Remove(ctx, service); err != nil {
				t.Errorf("service %s cannot be removed: %v", service.Name(), err)
			}
		}
	})
	for _, n := range w.nodes() {
		eventually(t, n.ID()+" knows that "+on.ID()+" offers "+service.Name(), func() bool { return offers(n, service.Name(), on.ID()) })
	}
}

// remote serves one action "it" on bob and returns its full name.
func remote[In, Out any](t testing.TB, w *threeNodes, fn func(context.Context, In) (Out, error), options ...sabir.ActionOption) string {
	t.Helper()
	s := sabir.NewService(name())
	sabir.Handle(s, "it", fn, options...)
	w.serve(t, w.bob, s)
	return s.Name() + ".it"
}

// remoteStream is remote for a stream.
func remoteStream[In, Out any](t testing.TB, w *threeNodes, fn func(context.Context, *sabir.Stream[In, Out]) error, options ...sabir.ActionOption) string {
	t.Helper()
	s := sabir.NewService(name())
	sabir.HandleStream(s, "it", fn, options...)
	w.serve(t, w.bob, s)
	return s.Name() + ".it"
}
