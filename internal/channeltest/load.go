package channeltest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/engine"
)

// loadChannel is the channel of a [Load].
const loadChannel = "failover"

// Load is four publishers, and one consumer of a group that began with what was new, which go on while the test does something bad to
// the broker.
type Load struct {
	address string
	stop    context.CancelFunc
	running sync.WaitGroup

	mu           sync.Mutex
	acknowledged map[string]bool
	handled      map[string]bool
	refused      int // publishings that ended in ErrUnreachable
	errors       int // of Receive
}

// StartLoad begins at an address. It ends with the test.
func StartLoad(t *testing.T, address string) *Load {
	t.Helper()
	s := openLoaded(t, address)
	g := joinLoaded(t, s)
	ctx, stop := context.WithCancel(context.Background())
	l := &Load{address: address, stop: stop, acknowledged: make(map[string]bool), handled: make(map[string]bool)}
	for n := range 4 {
		l.running.Go(func() { l.publish(t, ctx, s, n) })
	}
	l.running.Go(func() { l.consume(ctx, g) })
	t.Cleanup(func() { l.end(); g.Close() })
	return l
}

var loadGroup = engine.GroupSpec{Channel: loadChannel, Name: "group", From: engine.Position{New: true}, AckWait: 2 * time.Second, InFlight: 64}

// openLoaded opens a store as soon as the broker is there: the servers of a cluster have to agree on a leader first.
func openLoaded(t *testing.T, address string) (s engine.Store) {
	t.Helper()
	within(t, "the broker takes the channel", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		var err error
		if s, err = engine.Open(ctx, address, engine.Config{Log: slog.New(slog.DiscardHandler)}); err != nil {
			return false
		}
		if err = s.Declare(ctx, engine.Spec{Name: loadChannel}); err != nil {
			s.Close()
		}
		return err == nil
	})
	t.Cleanup(func() { s.Close() })
	return s
}

// joinLoaded joins as soon as the broker is there for the group, which in a cluster has a leader of its own.
func joinLoaded(t *testing.T, s engine.Store) (g engine.Group) {
	t.Helper()
	within(t, "the broker takes the group", func() bool {
		var err error
		if g, err = s.Join(t.Context(), loadGroup); err != nil && !errors.Is(err, engine.ErrUnreachable) {
			t.Fatal(err)
		}
		return err == nil
	})
	return g
}

func within(t *testing.T, what string, done func() bool) {
	t.Helper()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for end := time.Now().Add(waitLimit); !done(); <-again.C {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v", what, waitLimit)
		}
	}
}

func (l *Load) end() { l.stop(); l.running.Wait() }

func (l *Load) publish(t *testing.T, ctx context.Context, s engine.Store, publisher int) {
	for n := 0; ctx.Err() == nil; n++ {
		m := &engine.Outgoing{Dedup: n%2 == 0}
		m.ID = fmt.Sprintf("%d-%d", publisher, n)
		m.Data = []byte(m.ID)
		limited, cancel := context.WithTimeout(ctx, 2*time.Second)
		s.Publish(limited, loadChannel, []*engine.Outgoing{m})
		cancel()
		l.mu.Lock()
		if m.Err == nil {
			l.acknowledged[m.ID] = true
		} else {
			l.refused++
		}
		l.mu.Unlock()
		if m.Err != nil && !errors.Is(m.Err, engine.ErrUnreachable) && ctx.Err() == nil {
			t.Errorf("publisher %d: %v", publisher, m.Err)
			return
		}
	}
}

func (l *Load) consume(ctx context.Context, g engine.Group) {
	for ctx.Err() == nil {
		list, err := g.Receive(ctx, 64)
		l.mu.Lock()
		if err != nil {
			l.errors++
		}
		for _, d := range list {
			l.handled[string(d.Data)] = true
		}
		l.mu.Unlock()
		if len(list) > 0 {
			_ = g.Done(ctx, list...)
		}
	}
}

func (l *Load) counts() (acknowledged, refused int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.acknowledged), l.refused
}

// Some waits for so many acknowledgements more.
func (l *Load) Some(t *testing.T, more int) {
	t.Helper()
	before, _ := l.counts()
	within(t, "messages are acknowledged", func() bool { now, _ := l.counts(); return now >= before+more })
}

// Refusals waits until so many publishings more have ended in ErrUnreachable.
func (l *Load) Refusals(t *testing.T, more int) {
	t.Helper()
	_, before := l.counts()
	within(t, "messages are refused", func() bool { _, now := l.counts(); return now >= before+more })
}

// Acknowledged is the number of messages that the broker has acknowledged.
func (l *Load) Acknowledged() int {
	n, _ := l.counts()
	return n
}

// Lost stops publishing, has the rest handled, and counts acknowledged messages that the group never got.
func (l *Load) Lost(t *testing.T) (lost int) {
	t.Helper()
	l.end()
	s := openLoaded(t, l.address)
	g := joinLoaded(t, s)
	defer g.Close()
	ctx, stop := context.WithCancel(t.Context())
	l.running.Go(func() { l.consume(ctx, g) })
	within(t, "the group has nothing more to handle", func() bool {
		stats, err := s.Stats(t.Context(), loadChannel)
		return err == nil && len(stats.Groups) == 1 && stats.Groups[0].Waiting+stats.Groups[0].InFlight == 0
	})
	stop()
	l.running.Wait()
	for id := range l.acknowledged {
		if !l.handled[id] {
			lost++
		}
	}
	t.Logf("%d messages acknowledged, %d of them never handled; %d publishings and %d receivings refused", len(l.acknowledged), lost, l.refused, l.errors)
	return lost
}
