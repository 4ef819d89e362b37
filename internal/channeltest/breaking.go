package channeltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/sabir-go/sabir/internal/engine"
)

func (b *bench) kill() {
	b.Helper()
	if err := b.setup.Broker.Kill(); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) restart() {
	b.Helper()
	if err := b.setup.Broker.Restart(); err != nil {
		b.Fatal(err)
	}
}

// eventually publishes until the broker is back.
func (b *bench) eventually(text string) {
	b.Helper()
	b.until("the broker takes messages again", func() bool {
		ctx, cancel := context.WithTimeout(b.Context(), 5*time.Second)
		defer cancel()
		m := message(text)
		b.store.Publish(ctx, b.name, []*engine.Outgoing{m})
		if m.Err != nil {
			b.Logf("publish: %v", m.Err)
		}
		return m.Err == nil
	})
}

func publishWithoutBroker(b *bench) {
	if b.setup.Broker == nil {
		return
	}
	b.declare(engine.Spec{})
	b.publish("before")
	b.kill()
	for range 3 {
		ctx, cancel := context.WithTimeout(b.Context(), 500*time.Millisecond)
		began := time.Now()
		m := message("while")
		b.store.Publish(ctx, b.name, []*engine.Outgoing{m})
		cancel()
		if !errors.Is(m.Err, engine.ErrUnreachable) {
			b.Errorf("got %v, want ErrUnreachable", m.Err)
		}
		if took := time.Since(began); took > 4*time.Second { // less than the 5 seconds that stores wait by themselves
			b.Errorf("it took %v, the context had 500 ms", took)
		}
	}
	b.until("the error says why", func() bool {
		ctx, cancel := context.WithTimeout(b.Context(), 500*time.Millisecond)
		defer cancel()
		m := message("while")
		b.store.Publish(ctx, b.name, []*engine.Outgoing{m})
		return errors.Is(m.Err, syscall.ECONNREFUSED)
	})
	b.restart()
	b.eventually("after")
}

func survives(b *bench) {
	if b.setup.Broker == nil {
		return
	}
	b.declare(engine.Spec{})
	g := b.join(engine.GroupSpec{Name: "early", AckWait: 2 * time.Second, InFlight: 1000})
	var batch []*engine.Outgoing
	for i := range 500 {
		batch = append(batch, message(fmt.Sprint(i)))
	}
	b.store.Publish(b.Context(), b.name, batch)
	kept := map[string]bool{}
	for _, m := range batch {
		if m.Err != nil {
			b.Fatal(m.Err)
		}
		kept[string(m.Data)] = true
	}
	b.kill()
	b.restart()
	b.eventually("after")
	b.Logf("the broker takes messages")
	late := b.join(engine.GroupSpec{Name: "late", AckWait: 2 * time.Second, InFlight: 1000})
	for _, g := range []engine.Group{g, late} {
		left := len(kept)
		seen := map[string]bool{}
		for left > 0 {
			d := b.receive(g, 1)[0]
			if kept[string(d.Data)] && !seen[string(d.Data)] {
				seen[string(d.Data)] = true
				left--
			}
			_ = g.Done(b.Context(), d) // it may belong to the broker that was killed
		}
	}
}

func handedOutSurvives(b *bench) {
	if b.setup.Broker == nil {
		return
	}
	b.declare(engine.Spec{})
	g := b.join(engine.GroupSpec{AckWait: 2 * time.Second})
	b.publish("done", "open", "delayed")
	list := b.receive(g, 3)
	b.done(g, list[0])
	if err := g.Retry(b.Context(), list[2], 3*time.Second); err != nil {
		b.Fatal(err)
	}
	// The broker may not have received it yet: its report on the group shows that.
	b.until("the first is handled", func() bool {
		s, err := b.store.Stats(b.Context(), b.name)
		return err == nil && len(s.Groups) == 1 && s.Groups[0].InFlight+s.Groups[0].Waiting+s.Groups[0].Delayed <= 2
	})
	b.kill()
	b.restart()
	b.eventually("after")
	var got []string
	for len(got) < 2 {
		d := b.receive(g, 1)[0]
		_ = g.Done(b.Context(), d)
		if text := string(d.Data); !slices.Contains(got, text) && text != "done" && text != "after" { // that it was done may be lost with the broker
			got = append(got, text)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, []string{"delayed", "open"}) {
		b.Fatalf("got %q", got)
	}
}

func emptied(b *bench) {
	if b.setup.Broker == nil {
		return
	}
	b.declare(engine.Spec{})
	for _, from := range []engine.Position{{}, {New: true}} {
		b.Logf("a group that began at %+v", from)
		g := b.join(engine.GroupSpec{Name: fmt.Sprintf("group%v", from.New), From: from})
		attempts := func() {
			first := b.receive(g, 1)[0]
			if err := g.Retry(b.Context(), first, 100*time.Millisecond); err != nil {
				b.Fatal(err)
			}
			second := b.receive(g, 1)[0]
			if first.Attempt != 1 || second.Attempt != 2 || string(second.Data) != string(first.Data) {
				b.Errorf("%q was attempt %d, and %q came back as attempt %d", first.Data, first.Attempt, second.Data, second.Attempt)
			}
			b.done(g, second)
		}
		b.publish("before")
		attempts()
		if err := b.setup.Broker.Erase(); err != nil {
			b.Fatal(err)
		}
		b.restart()
		b.eventually("after")
		attempts()
		if err := b.store.Check(b.Context()); err != nil {
			b.Errorf("check: %v", err)
		}
		if err := g.Close(); err != nil {
			b.Errorf("close: %v", err)
		}
	}
}
