package lease

import "context"

// Lead runs a function while this process has the lease of a name, so that it runs in one process of the cluster at a time. It waits for
// the lease, and when the lease is lost, the context of the function ends, and Lead waits for it again as soon as the function has
// returned. Lead returns what the function returns while the lease is held, which it then releases; or the error of ctx.
//
//	err := leases.Lead(ctx, "billing", func(ctx context.Context) error {
//		for ctx.Err() == nil {
//			bill(ctx, lease.FromContext(ctx).Token())
//		}
//		return ctx.Err()
//	})
func (l *Leases) Lead(ctx context.Context, name string, lead func(ctx context.Context) error) error {
	for {
		h, err := l.Acquire(ctx, name, "")
		if err != nil {
			return err
		}
		if lost, err := h.term(ctx, lead); !lost || ctx.Err() != nil {
			return err
		}
	}
}

// term runs lead under the lease and releases it, also where lead panics.
func (h *Lease) term(ctx context.Context, lead func(ctx context.Context) error) (lost bool, err error) {
	defer h.releaseInTime(ctx)
	held, cancel := h.Context(ctx)
	defer cancel()
	err = lead(held)
	return !h.Valid(), err
}

// releaseInTime is Release for as long as the lease could be held anyway. What fails then is in the log, if it was not that the lease was lost.
func (h *Lease) releaseInTime(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), h.leases.ttl)
	defer cancel()
	if err := h.Release(ctx); err != nil && context.Cause(h.ctx) == errReleased {
		_, log := h.leases.settings()
		log.Warn("lease not released: it is free when its time has passed", "lease", h.name, "error", err)
	}
}
