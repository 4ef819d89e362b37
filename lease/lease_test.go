package lease_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/lease"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

func leases(st store.Store) *lease.Leases { return lease.New(st, lease.Config{Log: quiet}) }

// named makes leases whose holder has a name.
func named(st store.Store, name string) *lease.Leases {
	return lease.New(st, lease.Config{Log: quiet, Holder: name})
}

func acquire(t *testing.T, l *lease.Leases, name string) *lease.Lease {
	t.Helper()
	h, err := l.Acquire(t.Context(), name, "")
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func release(t *testing.T, h *lease.Lease) {
	t.Helper()
	if err := h.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestALeaseIsHeldByOneAndHandedOverByRelease(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st := store.Memory()
		first := acquire(t, named(st, "first"), "bill")
		waiting, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if _, err := leases(st).Acquire(waiting, "bill", ""); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("while it is held, another got %v", err)
		}
		if holder, ok, err := leases(st).Holder(t.Context(), "bill"); err != nil || !ok || holder.Name != "first" || holder.Token != first.Token() {
			t.Errorf("the holder is %+v, %v, %v", holder, ok, err)
		}
		if !first.Valid() {
			t.Error("a lease was not renewed for an hour")
		}
		release(t, first)
		if _, ok, err := leases(st).Holder(t.Context(), "bill"); ok || err != nil {
			t.Errorf("after its release somebody has it, or %v", err)
		}
		begun := time.Now()
		second := acquire(t, leases(st), "bill")
		if waited := time.Since(begun); waited != 0 {
			t.Errorf("a free lease was waited for, %v", waited)
		}
		if second.Token() <= first.Token() {
			t.Errorf("token %d comes after %d", second.Token(), first.Token())
		}
		if first.Valid() || first.Release(t.Context()) != nil || !second.Valid() {
			t.Error("a lease that was released takes part in its next term")
		}
		release(t, second)
	})
}

// cut is a store that can be cut off from its client: operations wait until they may go on or their context ends.
type cut struct {
	store.Store
	mu  sync.Mutex
	off chan struct{} // nil while nothing is cut; closed to let operations go on
}

func (c *cut) cutOff() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.off = make(chan struct{})
}

func (c *cut) restore() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.off)
	c.off = nil
}

func (c *cut) pass(ctx context.Context) error {
	c.mu.Lock()
	off := c.off
	c.mu.Unlock()
	if off == nil {
		return nil
	}
	select {
	case <-off:
		return nil
	case <-ctx.Done():
		return store.ErrStoreUnreachable
	}
}

func (c *cut) Load(ctx context.Context, kind, key string) (store.Entry, error) {
	if err := c.pass(ctx); err != nil {
		return store.Entry{}, err
	}
	return c.Store.Load(ctx, kind, key)
}

func (c *cut) Save(ctx context.Context, kind, key string, state []byte, revision uint64) (uint64, error) {
	if err := c.pass(ctx); err != nil {
		return 0, err
	}
	return c.Store.Save(ctx, kind, key, state, revision)
}

func TestAHolderThatIsCutOffStopsBeforeAnotherBegins(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		shared := store.Memory()
		st := &cut{Store: shared}
		held := acquire(t, leases(st), "bill")
		ctx, cancel := held.Context(t.Context())
		defer cancel()
		time.Sleep(10 * time.Second)
		st.cutOff()
		begun := time.Now()
		other := acquire(t, leases(shared), "bill")
		took := time.Since(begun)
		if held.Valid() || !errors.Is(context.Cause(ctx), lease.ErrLost) {
			t.Errorf("two hold it: after %v the first still does, its context's cause is %v", took, context.Cause(ctx))
		}
		if took > 4200*time.Millisecond {
			t.Errorf("the lease of a holder that was cut off was free after %v; 4.2 s is promised", took)
		}
		release(t, other)
		st.restore()
		release(t, held)
	})
}

func TestTheLogSaysThatALeaseIsReleasedWhenTheStoreHasItBack(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		for _, reached := range []bool{true, false} {
			var out bytes.Buffer
			st := &cut{Store: store.Memory()}
			l := lease.New(st, lease.Config{Log: slog.New(slog.NewTextHandler(&out, nil))})
			ctx, cancel := context.WithCancel(t.Context())
			err := l.Lead(ctx, "billing", func(ctx context.Context) error {
				if !reached {
					st.cutOff()
				}
				cancel()
				return ctx.Err()
			})
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			text := out.String()
			if released, not := strings.Count(text, "lease released"), strings.Count(text, "lease not released"); reached && (released != 1 || not != 0) || !reached && (released != 0 || not != 1) {
				t.Errorf("with a store that can be reached (%v) the log says %s", reached, text)
			}
		}
	})
}

// lateAnswers is a store that answers the first save late, after it was done, and from then on is cut off.
type lateAnswers struct {
	*cut
	once sync.Once
}

func (l *lateAnswers) Save(ctx context.Context, kind, key string, state []byte, revision uint64) (uint64, error) {
	saved, err := l.cut.Save(ctx, kind, key, state, revision)
	l.once.Do(func() { time.Sleep(2 * time.Second); l.cutOff() })
	return saved, err
}

// Others count its time from when the store had it, so the holder must not count from the answer.
func TestALeaseWhoseAnswerCameLateEndsBeforeAnotherBegins(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		shared := store.Memory()
		st := &lateAnswers{cut: &cut{Store: shared}}
		held := make(chan *lease.Lease)
		go func() { held <- acquire(t, leases(st), "bill") }()
		bubbletest.Wait()
		got := make(chan *lease.Lease)
		go func() { got <- acquire(t, leases(shared), "bill") }()
		first := <-held
		other := <-got
		if first.Valid() {
			t.Error("two hold it")
		}
		st.restore()
		release(t, other)
		release(t, first)
	})
}

// slowLoad is a store whose first look takes two seconds, and sees what is there at their end.
type slowLoad struct {
	store.Store
	once sync.Once
}

func (s *slowLoad) Load(ctx context.Context, kind, key string) (store.Entry, error) {
	s.once.Do(func() { time.Sleep(2 * time.Second) })
	return s.Store.Load(ctx, kind, key)
}

// What it saw may have been written just before the answer, so the time of the holder counts from there.
func TestALookThatTookLongDoesNotShortenTheTimeOfTheHolder(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		shared := store.Memory()
		st := &cut{Store: shared}
		held := acquire(t, leases(st), "bill") // and renewed after 1 s and 2 s
		time.Sleep(500 * time.Millisecond)
		got := make(chan *lease.Lease)
		go func() { got <- acquire(t, leases(&slowLoad{Store: shared}), "bill") }()
		time.Sleep(1700 * time.Millisecond)
		st.cutOff()
		other := <-got
		if held.Valid() {
			t.Error("two hold it")
		}
		st.restore()
		release(t, other)
		release(t, held)
	})
}

// lossy answers the first n saves with an unknown outcome, after having done them or not.
type lossy struct {
	store.Store
	done bool
	n    atomic.Int32
}

func (l *lossy) Save(ctx context.Context, kind, key string, state []byte, revision uint64) (uint64, error) {
	if l.n.Add(-1) < 0 {
		return l.Store.Save(ctx, kind, key, state, revision)
	}
	if l.done {
		if _, err := l.Store.Save(ctx, kind, key, state, revision); err != nil {
			return 0, err
		}
	}
	return 0, store.ErrOutcomeUnknown
}

func TestARenewalWithAnUnknownOutcomeDoesNotLoseTheLease(t *testing.T) {
	for name, done := range map[string]bool{"done": true, "not done": false} {
		t.Run(name, func(t *testing.T) {
			bubbletest.Run(t, func(t *testing.T) {
				st := &lossy{Store: store.Memory(), done: done}
				held := acquire(t, leases(st), "bill")
				st.n.Store(2)
				time.Sleep(time.Minute)
				if !held.Valid() || st.n.Load() > 0 {
					t.Errorf("it was lost, or the store was asked for %d renewals less than meant", st.n.Load())
				}
				release(t, held)
			})
		})
	}
}

func TestAnAcquisitionWithAnUnknownOutcomeIsMadeAgain(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st := &lossy{Store: store.Memory(), done: true}
		st.n.Store(1)
		begun := time.Now()
		held := acquire(t, leases(st), "bill")
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("it took %v", took)
		}
		if held.Token() != 2 {
			t.Errorf("token %d, want 2: the attempt may have been a tenure of its own", held.Token())
		}
		release(t, held)
	})
}

func TestLeadRunsTheFunctionAgainAfterALossAndReturnsWhatItReturns(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st := &cut{Store: store.Memory()}
		finished := errors.New("finished")
		var tokens []uint64
		err := leases(st).Lead(t.Context(), "bill", func(ctx context.Context) error {
			tokens = append(tokens, lease.FromContext(ctx).Token())
			if len(tokens) > 1 {
				return finished
			}
			st.cutOff()
			<-ctx.Done()
			st.restore()
			return ctx.Err()
		})
		if err != finished || len(tokens) != 2 || tokens[0] >= tokens[1] {
			t.Errorf("Lead returned %v after the tokens %v", err, tokens)
		}
		if _, held, _ := leases(st).Holder(t.Context(), "bill"); held {
			t.Error("the lease was not released")
		}
	})
}

func TestAFunctionThatPanicsUnderALeaseReleasesIt(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st := store.Memory()
		func() {
			defer func() { _ = recover() }()
			_ = leases(st).Lead(t.Context(), "bill", func(context.Context) error { panic("broken") })
		}()
		if _, held, _ := leases(st).Holder(t.Context(), "bill"); held {
			t.Error("the lease was not released")
		}
	})
}

func TestWrongUseIsAnErrorThatSaysWhatToDo(t *testing.T) {
	st := store.Memory()
	for _, use := range []struct {
		of          *lease.Leases
		name, value string
		want        error
		says        string
	}{
		{lease.New(nil, lease.Config{}), "bill", "", sabir.NewError(sabir.CodeFailedPrecondition, "NoLeaseStore", ""), "store.Open"},
		{lease.New(st, lease.Config{TTL: time.Millisecond}), "bill", "", sabir.NewError(sabir.CodeInvalidArgument, "BadLease", ""), "100ms to 1h"},
		{lease.New(st, lease.Config{Holder: strings.Repeat("h", 257)}), "bill", "", sabir.NewError(sabir.CodeInvalidArgument, "BadLease", ""), "256"},
		{leases(st), "", "", sabir.NewError(sabir.CodeInvalidArgument, "BadLease", ""), "1 to 1024 bytes"},
		{leases(st), strings.Repeat("n", 1025), "", sabir.NewError(sabir.CodeInvalidArgument, "BadLease", ""), "1 to 1024 bytes"},
		{leases(st), "bill", strings.Repeat("v", 4096+1), sabir.NewError(sabir.CodeInvalidArgument, "BadLease", ""), "4096"},
	} {
		_, err := use.of.Acquire(t.Context(), use.name, use.value)
		if !errors.Is(err, use.want) || !strings.Contains(err.Error(), use.says) {
			t.Errorf("%v: want %v that says %q", err, use.want, use.says)
		}
	}
}

func TestARecordThatCannotBeReadIsAnErrorAndNotTakenOver(t *testing.T) {
	st := store.Memory()
	if _, err := st.Save(t.Context(), "sabir.lease", "bill", []byte("no record"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := leases(st).Acquire(t.Context(), "bill", ""); !errors.Is(err, sabir.NewError(sabir.CodeInvalidArgument, "BadLease", "")) {
		t.Errorf("got %v", err)
	}
}
