package lease

import (
	"context"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
)

// The names of processes are leases of their own, so that a service may be called as a process is.
func leaseOfName(name string) string { return "process " + name }

// Register gives a process of this node a name that no other process of the cluster has meanwhile. It waits until the name is free, or until ctx ends,
// whose error it then returns. When the process ends, the name is free at once; when its node dies, after the lease's time. If the lease is
// lost, as where the store cannot be reached, the process is killed, since another may have the name from then on. Release the lease to take
// the name from the process.
//
// A process that has a name with a node, the Name of actor.SpawnConfig, may have one of the cluster besides.
func (l *Leases) Register(ctx context.Context, system *actor.System, pid actor.PID, name string) (*Lease, error) {
	value, err := pid.MarshalText()
	if err != nil {
		return nil, err
	}
	h, err := l.Acquire(ctx, leaseOfName(name), string(value))
	if err != nil {
		return nil, err
	}
	watcher, err := actor.Spawn(system, watching, watched{pid, h})
	if err != nil {
		h.releaseInTime(ctx)
		return nil, err
	}
	context.AfterFunc(h.ctx, func() {
		if context.Cause(h.ctx) != errReleased {
			_ = system.Kill(pid) // it may have ended
		}
		_ = system.Kill(watcher.PID())
	})
	return h, nil
}

// WhereIs finds the process of the cluster that has a name; [ErrNoName] if none has. It asks the store each time. A program that keeps the PID asks
// again when that is answered with actor.ErrNoProcess.
func (l *Leases) WhereIs(ctx context.Context, name string) (actor.PID, error) {
	holder, ok, err := l.Holder(ctx, leaseOfName(name))
	if err != nil {
		return actor.PID{}, err
	}
	if !ok {
		return actor.PID{}, sabir.Errorf(ErrNoName.Code, ErrNoName.Name, "%s: %q", ErrNoName.Message, name)
	}
	var pid actor.PID
	err = pid.UnmarshalText([]byte(holder.Value))
	return pid, err
}

// watched is a process and the lease of its name.
type watched struct {
	pid   actor.PID
	lease *Lease
}

// watcher is a process that frees the name of another one that has ended.
type watcher struct{ watched }

var watching = actor.Define("lease-name", (*watcher).Init, actor.OnMessage((*watcher).Down))

func (w *watcher) Init(p *actor.Process, of watched) error {
	w.watched = of
	p.Monitor(of.pid)
	return nil
}

// Down releases the lease from a goroutine of its own, as that ends this process.
func (w *watcher) Down(*actor.Process, actor.Down) error {
	go w.lease.releaseInTime(context.Background())
	return nil
}
