package simulation

import (
	"context"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/lease"
)

// singleName is the service that runs on one node at a time. All nodes may run it, and their leases are in the store of the grains.
const singleName = "single"

func (m *member) single() *sabir.Service {
	s := sabir.NewService(singleName, sabir.Once())
	sabir.Handle(s, "write", func(ctx context.Context, in request) (answer, error) {
		defer m.world.record.write(ctx, m.name, lease.FromContext(ctx).Token())()
		return m.serve(ctx, in)
	})
	return s
}

// tenure is a handler that writes, on behalf of the node that has the lease.
type tenure struct {
	ctx   context.Context // ends with the lease
	node  string
	token uint64
}

// write notes that a node begins to write with the token of its lease, and returns what notes that it has ended. No other node may be writing
// under a lease that it holds, and none may come with a token that is older than one that was used.
func (r *record) write(ctx context.Context, node string, token uint64) (end func()) {
	t := &tenure{ctx, node, token}
	r.mu.Lock()
	newest := r.newest
	r.newest = max(newest, token)
	var others []*tenure
	for other := range r.writing {
		if other.ctx.Err() == nil && (other.node != node || other.token != token) {
			others = append(others, other)
		}
	}
	r.writing[t] = true
	r.mu.Unlock()
	if token < newest {
		r.fail("%s writes with token %d after token %d was used", node, token, newest)
	}
	for _, other := range others {
		r.fail("%s writes with token %d while %s does with token %d", node, token, other.node, other.token)
	}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.writing, t)
	}
}

// finalSingle calls the service that runs once from each node, when nothing is broken. One node must answer all.
func (w *world) finalSingle(ctx context.Context) {
	first := ""
	for _, m := range w.members {
		i := m.current()
		if i == nil {
			continue
		}
		in := request{ID: w.record.id()}
		out, err := sabir.Call[answer](ctx, i.node, singleName+".write", in)
		if first == "" {
			first = out.Node
		}
		if err != nil || out.Node != first || w.record.handledOf(in.ID) != 1 {
			w.record.fail("when all is quiet, %s calls the service that runs once, on %q: %+v, %v, handled %d times", m.name, first, out, err, w.record.handledOf(in.ID))
		}
	}
}
