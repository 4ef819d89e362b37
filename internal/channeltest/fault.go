package channeltest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/engine"
)

// Fault is something that happens to a broker that goes on running, such as a disk that is full. A test causes it and undoes it.
type Fault struct {
	Address     string
	Cause, Undo func(t *testing.T)
	Want        error  // what the engine answers meanwhile
	Says        string // what is in that error's text, the broker's own words
	// AtOnce is the time within which each publisher has its answer. Default: a second, of which most is a busy machine's.
	AtOnce time.Duration
	// Consumes says that consumers go on meanwhile: the broker hands out what it has, and takes their acknowledgements.
	Consumes bool
}

const (
	faultPublishers = 8
	faultChannel    = "faults"
	faultBody       = 1 << 10
	// recovery is the time within which a broker that is well again is used again.
	recovery = 2 * time.Second
)

// Run publishes and consumes while the broker meets the fault. It tests that publishers are answered at once, with the right error;
// that Check has it too; that messages are taken again when it is over; and that each one that was acknowledged is handled.
func (f Fault) Run(t *testing.T) {
	t.Helper()
	if f.AtOnce == 0 {
		f.AtOnce = time.Second
	}
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	s, err := engine.Open(ctx, f.Address, engine.Config{Name: "faults", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Declare(ctx, engine.Spec{Name: faultChannel}); err != nil {
		t.Fatal(err)
	}
	g, err := s.Join(ctx, engine.GroupSpec{Channel: faultChannel, Name: "group", AckWait: 2 * time.Second, InFlight: 64})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	r := &faultRun{fault: f, store: s, acknowledged: make(map[string]bool), handled: make(map[string]bool)}
	publishing, stop := context.WithCancel(ctx)
	consuming, end := context.WithCancel(ctx)
	var publishers, consumer sync.WaitGroup
	for n := range faultPublishers {
		publishers.Go(func() { r.publish(publishing, n) })
	}
	consumer.Go(func() { r.consume(consuming, g) })
	defer func() { stop(); end(); publishers.Wait(); consumer.Wait() }()

	r.await(t, "messages are acknowledged", waitLimit, func() bool { return len(r.acknowledged) >= 100 })
	f.Cause(t)
	caused := time.Now()
	r.await(t, "publishers are refused", waitLimit, func() bool { return r.refused >= 5*faultPublishers })
	refused := time.Since(caused)
	if err := s.Check(ctx); !errors.Is(err, f.Want) {
		t.Errorf("meanwhile Check returns %v, want %v", err, f.Want)
	}
	if f.Consumes {
		r.await(t, "meanwhile what was acknowledged is handled", 10*time.Second, func() bool { return r.lost() == 0 })
		begun := time.Now()
		if stats, err := s.Stats(ctx, faultChannel); err != nil || time.Since(begun) > time.Second {
			t.Errorf("meanwhile the channel is counted as %+v, %v after %v", stats, err, time.Since(begun))
		}
	}
	f.Undo(t)
	undone := time.Now()
	r.mu.Lock()
	before, slowest := len(r.acknowledged), r.slowest
	r.mu.Unlock()
	r.await(t, "messages are acknowledged again", waitLimit, func() bool { return len(r.acknowledged) > before })
	again := time.Since(undone)
	if again > recovery {
		t.Errorf("messages are taken again after %v, want %v", again, recovery)
	}
	if slowest > f.AtOnce {
		t.Errorf("a publisher was answered after %v, want %v", slowest, f.AtOnce)
	}
	r.await(t, "Check returns nil", recovery, func() bool { return s.Check(ctx) == nil })
	stop()
	publishers.Wait()
	r.await(t, "what was acknowledged is handled", waitLimit, func() bool { return r.lost() == 0 })
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.wrong != nil {
		t.Errorf("got the error %v, want %v with %q", r.wrong, f.Want, f.Says)
	}
	t.Logf("refused %d times, the slowest after %v, %d times by %v after the fault; service %v after its end; %d acknowledged, none lost",
		r.refused, slowest.Round(time.Millisecond), 5*faultPublishers, refused.Round(time.Millisecond), again.Round(time.Millisecond), len(r.acknowledged))
}

// faultRun records what a test of a fault saw in one run.
type faultRun struct {
	fault Fault
	store engine.Store

	mu           sync.Mutex
	acknowledged map[string]bool
	handled      map[string]bool
	refused      int           // publishings with the error that is wanted
	slowest      time.Duration // of those
	wrong        error         // another error
}

func (r *faultRun) publish(ctx context.Context, publisher int) {
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	body := strings.Repeat("x", faultBody)
	for n := 0; ctx.Err() == nil; n++ {
		m := &engine.Outgoing{Dedup: true}
		m.ID = fmt.Sprintf("%d-%d", publisher, n)
		m.Data = []byte(m.ID + " " + body)
		begun := time.Now()
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		r.store.Publish(limited, faultChannel, []*engine.Outgoing{m})
		cancel()
		r.note(m, time.Since(begun))
		<-again.C
	}
}

func (r *faultRun) note(m *engine.Outgoing, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case m.Err == nil:
		r.acknowledged[m.ID] = true
	case errors.Is(m.Err, r.fault.Want) && strings.Contains(m.Err.Error(), r.fault.Says):
		r.refused++
		r.slowest = max(r.slowest, took)
	case errors.Is(m.Err, engine.ErrUnreachable): // of what was on its way when the broker changed its state
	default:
		r.wrong = m.Err
	}
}

func (r *faultRun) consume(ctx context.Context, g engine.Group) {
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for ctx.Err() == nil {
		list, err := g.Receive(ctx, 64)
		r.mu.Lock()
		for _, d := range list {
			id, _, _ := strings.Cut(string(d.Data), " ")
			r.handled[id] = true
		}
		r.mu.Unlock()
		if len(list) > 0 {
			_ = g.Done(ctx, list...) // what is lost of it comes again
		}
		if err != nil {
			<-again.C
		}
	}
}

// lost counts what was acknowledged and not handled.
func (r *faultRun) lost() (n int) {
	for id := range r.acknowledged {
		if !r.handled[id] {
			n++
		}
	}
	return n
}

// await waits until a condition holds, which is asked with the lock held.
func (r *faultRun) await(t *testing.T, what string, limit time.Duration, holds func() bool) {
	t.Helper()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for end := time.Now().Add(limit); ; <-again.C {
		r.mu.Lock()
		done := holds()
		r.mu.Unlock()
		if done {
			return
		}
		if time.Now().After(end) {
			r.mu.Lock()
			defer r.mu.Unlock()
			t.Fatalf("%s: not within %v; %d acknowledged, %d of them not handled, %d refused, another error %v", what, limit,
				len(r.acknowledged), r.lost(), r.refused, r.wrong)
		}
	}
}
