package sabirtest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/names"
)

// Each stands for every call, where a fault is for one of them.
const Each = 0

// Faults make calls fail by the name of the action, whatever their handlers do. It is a middleware of the node whose calls are to fail:
//
//	var faults sabirtest.Faults
//	faults.Fail("stock.reserve", 2, stock.ErrBusy) // the second call
//	node := sabirtest.Start(t, sabir.Serve(orders), sabir.Use(policy.Retry{}, &faults), fakes.Serve())
//
// Policies before it see the faults as those of the action; those after it do not. Calls count from 1 for each fault, from when it was
// added, those of a node to its own actions and to others alike, and with each retry. A stream counts as a call where it is handled:
// give the faults to the node that handles it, that of the [Fakes] too. Faults may be added while calls run. The zero value has none.
type Faults struct {
	mu    sync.Mutex
	rules []*fault
}

type fault struct {
	pattern string
	call    int
	calls   int // so far, that the pattern fits
	act     func(ctx context.Context, a *sabir.Action, r *sabir.Request, next sabir.Handler) error
}

// Fail ends a call with an error before it is handled. The pattern is the full name of an action, or has wildcards, as in "stock.*"; the call
// is counted among those that it fits, or [Each].
func (f *Faults) Fail(pattern string, call int, err error) {
	f.add(pattern, call, func(context.Context, *sabir.Action, *sabir.Request, sabir.Handler) error { return err })
}

// Delay holds a call up before it is handled. The call ends with its context where that is sooner.
func (f *Faults) Delay(pattern string, call int, by time.Duration) {
	f.add(pattern, call, func(ctx context.Context, _ *sabir.Action, r *sabir.Request, next sabir.Handler) error {
		pause := time.NewTimer(by)
		defer pause.Stop()
		select {
		case <-pause.C:
			return next(ctx, r)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
}

// LoseAnswer has a call handled, and loses its answer: the caller gets [sabir.ErrLinkLost], as where the node ends between the two. It is what an
// action must stand that changes something.
func (f *Faults) LoseAnswer(pattern string, call int) {
	f.add(pattern, call, func(ctx context.Context, a *sabir.Action, r *sabir.Request, next sabir.Handler) error {
		if err := next(ctx, r); err != nil {
			return err
		}
		lost := sabir.NewError(sabir.ErrLinkLost.Code, sabir.ErrLinkLost.Name, fmt.Sprintf("the answer of %s was lost by a fault of the test", a.Name))
		if a.Idempotent {
			lost = lost.AsRetryable()
		}
		return lost
	})
}

func (f *Faults) add(pattern string, call int, act func(context.Context, *sabir.Action, *sabir.Request, sabir.Handler) error) {
	if call < 0 {
		panic(fmt.Sprintf("sabirtest: a fault for call %d of %s: calls count from 1, and 0 is for each", call, pattern))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = append(f.rules, &fault{pattern: pattern, call: call, act: act})
}

// Middleware is the method of [sabir.Wrapper].
func (f *Faults) Middleware() sabir.Middleware {
	wrap := func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		return func(ctx context.Context, r *sabir.Request) error { return f.apply(ctx, a, r, next) }
	}
	return sabir.Middleware{Name: "faults", Local: wrap, Remote: wrap, Stream: wrap}
}

// apply counts a call, and applies the faults that are for it: the one that was added first is the outermost.
func (f *Faults) apply(ctx context.Context, a *sabir.Action, r *sabir.Request, next sabir.Handler) error {
	due := f.due(a.Name)
	for _, d := range slices.Backward(due) {
		rule, inner := d, next
		next = func(ctx context.Context, r *sabir.Request) error { return rule.act(ctx, a, r, inner) }
	}
	return next(ctx, r)
}

// due counts a call of an action and returns the faults that are for it.
func (f *Faults) due(action string) (due []*fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, rule := range f.rules {
		if !names.Match(rule.pattern, action) {
			continue
		}
		if rule.calls++; rule.call == Each || rule.call == rule.calls {
			due = append(due, rule)
		}
	}
	return due
}
