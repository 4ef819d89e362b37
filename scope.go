package sabir

import (
	"bytes"
	"context"
	"log/slog"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
)

// Go runs fn in a goroutine that belongs to the call whose handler got ctx. The call ends when its handler and all such
// goroutines have ended; if fn panics or returns an error, that is the caller's error (the first one counts), and the
// contexts of the call's other goroutines are cancelled. So a goroutine's failure reaches exactly the caller that asked
// for the work, and cannot take the process down:
//
//	sabir.Handle(s, "import", func(ctx context.Context, in Import) (Report, error) {
//		for _, file := range in.Files {
//			sabir.Go(ctx, func(ctx context.Context) error { return load(ctx, file) })
//		}
//		return Report{Files: len(in.Files)}, nil // the caller gets it when all files are loaded
//	})
//
// Where the call has a deadline, its caller is answered as soon as fn fails, even while the handler still runs.
//
// Go must be called from the handler's goroutine or from one started by Go. With a context that belongs to no call, fn
// is isolated all the same and its failure goes to the log.
func Go(ctx context.Context, fn func(context.Context) error) {
	c := callOf(ctx)
	if c == nil {
		go isolateGoroutine("sabir.Go", ctx, fn, func(err error) {
			if err != nil {
				slog.Default().Error("goroutine outside a call failed", "error", AsError(err))
			}
		})
		return
	}
	c.openScope().start(ctx, c, fn)
}

// scope is the goroutines that one call started with Go.
type scope struct {
	call    *callContext
	wg      sync.WaitGroup
	mu      sync.Mutex
	err     error
	cancels []context.CancelFunc
}

func (s *scope) start(ctx context.Context, c *callContext, fn func(context.Context) error) {
	ctx, cancel := context.WithCancel(ctx)
	own := &callContext{Context: ctx, op: c.op, parent: c.parent, level: c.level, guard: c.guard, releasedAt: c.releasedAt}
	own.scope.Store(s)
	s.mu.Lock()
	s.cancels = append(s.cancels, cancel)
	failed := s.err != nil
	s.mu.Unlock()
	if failed {
		cancel()
	}
	s.wg.Go(func() {
		defer cancel()
		isolateGoroutine(c.op.name, own, fn, func(err error) {
			if err != nil {
				s.fail(err)
			}
		})
	})
}

func (s *scope) fail(err error) {
	s.call.op.node.logPanic(s.call, err)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	s.err = err
	for _, cancel := range s.cancels {
		cancel()
	}
	if g := s.call.guard; g != nil && g.call == s.call {
		g.abandon(err)
	}
}

// wait waits for the goroutines; their first error goes before what the handler returned.
func (s *scope) wait(handlerErr error) error {
	s.wg.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	return handlerErr
}

// openScope finds or makes the scope of the call.
func (c *callContext) openScope() *scope {
	if c.shared {
		c.op.usesGo.Store(true)
		return c.op.scopes.open(c)
	}
	if s := c.scope.Load(); s != nil {
		return s
	}
	c.scope.CompareAndSwap(nil, &scope{call: c})
	return c.scope.Load()
}

// hasScope reports whether closeScope may have something to do.
func (c *callContext) hasScope() bool {
	if c.shared {
		return c.op.scopes.live.Load() != 0
	}
	return c.scope.Load() != nil
}

// closeScope ends the scope of the call, if it opened one: every handler's last act.
func (c *callContext) closeScope(handlerErr error) error {
	if c.shared {
		if s := c.op.scopes.take(c); s != nil {
			return s.wait(handlerErr)
		}
		return handlerErr
	}
	if s := c.scope.Swap(nil); s != nil {
		return s.wait(handlerErr)
	}
	return handlerErr
}

// scopeTable finds the scopes of calls that share their contexts. A handler runs on one goroutine from start to end, so the
// number of its goroutine and the context identify the call. Only the first calls of an operation that use Go pay for the
// look-up, some microseconds: later ones have contexts of their own.
type scopeTable struct {
	live atomic.Int32
	mu   sync.Mutex
	of   map[scopeKey]*scope
}

type scopeKey struct {
	goroutine uint64
	call      *callContext
}

// maxScopes bounds the table against programs that call Go from goroutines of their own, where no handler's end takes
// the scope out again. What such a goroutine fails with is in the log.
const maxScopes = 4096

func (t *scopeTable) open(c *callContext) *scope {
	key := scopeKey{goroutineID(), c}
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.of[key]; s != nil {
		return s
	}
	s := &scope{call: c}
	if len(t.of) >= maxScopes {
		return s
	}
	if t.of == nil {
		t.of = make(map[scopeKey]*scope)
	}
	t.of[key] = s
	t.live.Add(1)
	return s
}

func (t *scopeTable) take(c *callContext) *scope {
	key := scopeKey{goroutineID(), c}
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.of[key]
	if s != nil {
		delete(t.of, key)
		t.live.Add(-1)
	}
	return s
}

// goroutineID reads the number of the running goroutine from the head of its stack trace, "goroutine 42 [running]:", the
// only place where Go shows it. Numbers are never used twice in a process.
func goroutineID() uint64 {
	var buf [64]byte
	trace := bytes.TrimPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine "))
	digits, _, _ := bytes.Cut(trace, []byte(" "))
	id, _ := strconv.ParseUint(string(digits), 10, 64)
	return id
}
