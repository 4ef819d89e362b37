package channeltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/backoff"
	"github.com/sabir-go/sabir/internal/engine"
)

func eachGroup(b *bench) {
	b.declare(engine.Spec{})
	one, two := b.join(engine.GroupSpec{Name: "one"}), b.join(engine.GroupSpec{Name: "two"})
	b.publish("a", "b")
	for _, g := range []engine.Group{one, two} {
		if got := texts(b.receive(g, 2)); !slices.Equal(got, []string{"a", "b"}) {
			b.Fatalf("got %q", got)
		}
	}
}

func sharing(b *bench) {
	b.declare(engine.Spec{})
	other := b.open()
	b.declareAt(other, engine.Spec{})
	first, second := b.join(engine.GroupSpec{InFlight: 2}), b.joinAt(other, engine.GroupSpec{InFlight: 2})
	b.publish("a", "b", "c", "d")
	got := append(b.receive(first, 2), b.receive(second, 2)...)
	data := texts(got)
	slices.Sort(data)
	if !slices.Equal(data, []string{"a", "b", "c", "d"}) {
		b.Fatalf("got %q", data)
	}
}

func fromStart(b *bench) {
	b.declare(engine.Spec{})
	b.publish("old", "older")
	if got := texts(b.receive(b.join(engine.GroupSpec{}), 2)); !slices.Equal(got, []string{"old", "older"}) {
		b.Fatalf("got %q", got)
	}
}

func fromNew(b *bench) {
	b.declare(engine.Spec{})
	b.publish("old")
	g := b.join(engine.GroupSpec{From: engine.Position{New: true}})
	b.publish("new")
	if got := texts(b.receive(g, 1)); got[0] != "new" {
		b.Fatalf("got %q", got)
	}
}

func fromSequence(b *bench) {
	if !b.store.Features().Sequences {
		b.declare(engine.Spec{})
		_, err := b.store.Join(b.Context(), engine.GroupSpec{Channel: b.name, Name: "group", From: engine.Position{Sequence: 2}, AckWait: time.Second, InFlight: 1})
		if !errors.Is(err, engine.ErrNotOffered) {
			b.Fatalf("got %v, want ErrNotOffered", err)
		}
		return
	}
	b.declare(engine.Spec{})
	sent := b.publish("a", "b", "c")
	g := b.join(engine.GroupSpec{From: engine.Position{Sequence: sent[1].Sequence}})
	if got := texts(b.receive(g, 2)); !slices.Equal(got, []string{"b", "c"}) {
		b.Fatalf("got %q", got)
	}
}

// clockStep is more than the coarsest clock of a broker's messages: RabbitMQ's has seconds.
const clockStep = 2100 * time.Millisecond

func fromTime(b *bench) {
	b.declare(engine.Spec{})
	b.publish("old")
	backoff.Sleep(b.Context(), clockStep)
	since := time.Now()
	backoff.Sleep(b.Context(), clockStep)
	b.publish("new")
	if got := texts(b.receive(b.join(engine.GroupSpec{From: engine.Position{Time: since}}), 1)); got[0] != "new" {
		b.Fatalf("got %q", got)
	}
}

func goesOn(b *bench) {
	b.declare(engine.Spec{})
	b.publish("a")
	g := b.join(engine.GroupSpec{})
	b.done(g, b.receive(g, 1)...)
	if err := g.Close(); err != nil {
		b.Fatal(err)
	}
	b.publish("b") // while nothing listens there
	again := b.join(engine.GroupSpec{From: engine.Position{New: true}})
	if got := texts(b.receive(again, 1)); got[0] != "b" {
		b.Fatalf("got %q", got)
	}
}

func handled(b *bench) {
	b.declare(engine.Spec{})
	g := b.join(engine.GroupSpec{AckWait: 3 * time.Second}) // in which a busy machine must answer
	b.publish("a")
	b.done(g, b.receive(g, 1)...)
	b.nothing(g, 4*time.Second)
}

func comesAgain(b *bench) {
	if !b.store.Features().Lease {
		return
	}
	b.declare(engine.Spec{})
	g := b.join(engine.GroupSpec{AckWait: time.Second})
	b.publish("a")
	began := time.Now()
	first := b.receive(g, 1)[0]
	second := b.receive(g, 1)[0]
	if took := time.Since(began); took < 900*time.Millisecond || string(second.Data) != "a" || first.Attempt != 1 || first.Lost != 0 || second.Attempt != 1 || second.Lost != 1 || second.ID != first.ID {
		b.Fatalf("after %v: %+v, then %+v", took, first, second)
	}
}

func consumerGone(b *bench) {
	b.declare(engine.Spec{})
	b.publish("a")
	other := b.open()
	b.declareAt(other, engine.Spec{})
	b.receive(b.joinAt(other, engine.GroupSpec{AckWait: 2 * time.Second}), 1)
	if err := other.Close(); err != nil {
		b.Fatal(err)
	}
	if d := b.receive(b.join(engine.GroupSpec{AckWait: 2 * time.Second}), 1)[0]; string(d.Data) != "a" || d.Attempt != 1 || d.Lost != 1 {
		b.Fatalf("got %q, attempt %d, %d lost", d.Data, d.Attempt, d.Lost)
	}
}

func extending(b *bench) {
	b.declare(engine.Spec{})
	g := b.join(engine.GroupSpec{AckWait: 3 * time.Second}) // in which a busy machine must extend
	b.publish("a")
	d := b.receive(g, 1)
	for range 8 {
		b.nothing(g, 500*time.Millisecond)
		if err := g.Extend(b.Context(), d...); err != nil {
			b.Fatal(err)
		}
	}
	b.done(g, d...)
}

func retried(b *bench) {
	b.declare(engine.Spec{})
	g := b.join(engine.GroupSpec{})
	b.publish("a")
	const after = 700 * time.Millisecond
	d := b.receive(g, 1)[0]
	for attempt := 2; attempt <= 3; attempt++ {
		began := time.Now()
		if err := g.Retry(b.Context(), d, after); err != nil {
			b.Fatal(err)
		}
		d = b.receive(g, 1)[0]
		if took := time.Since(began); took < after-200*time.Millisecond || d.Attempt != attempt {
			b.Fatalf("attempt %d after %v, want %d after %v", d.Attempt, took, attempt, after)
		}
	}
	b.done(g, d)
}

// retriedWhileWaiting has consumers wait for more while a handler runs, which then fails. The message is extended meanwhile, so
// that the wait has begun when it is retried.
func retriedWhileWaiting(b *bench) {
	b.declare(engine.Spec{})
	g := b.join(engine.GroupSpec{})
	b.publish("a")
	d := b.receive(g, 1)[0]
	began := time.Now()
	for range 5 {
		received := make(chan []*engine.Delivery, 1)
		go func() {
			list, _ := g.Receive(b.Context(), 1)
			received <- list
		}()
		if err := errors.Join(g.Extend(b.Context(), d), g.Extend(b.Context(), d)); err != nil {
			b.Fatal(err)
		}
		if err := g.Retry(b.Context(), d, 100*time.Millisecond); err != nil {
			b.Fatal(err)
		}
		list := <-received
		if len(list) != 1 {
			b.Fatalf("got %d messages", len(list))
		}
		d = list[0]
	}
	if took := time.Since(began); took > 5*time.Second {
		b.Errorf("five retries after 100 ms each took %v", took)
	}
	b.done(g, d)
}

func retriedAtOnce(b *bench) {
	b.declare(engine.Spec{})
	g := b.join(engine.GroupSpec{})
	b.publish("a")
	if err := g.Retry(b.Context(), b.receive(g, 1)[0], 0); err != nil {
		b.Fatal(err)
	}
	if d := b.receive(g, 1)[0]; d.Attempt != 2 || d.Lost != 0 {
		b.Fatalf("attempt %d, %d lost", d.Attempt, d.Lost)
	}
}

func released(b *bench) {
	b.declare(engine.Spec{})
	g := b.join(engine.GroupSpec{})
	b.publish("a")
	d := b.receive(g, 1)[0]
	if err := g.Retry(b.Context(), d, 0); err != nil {
		b.Fatal(err)
	}
	if err := g.Release(b.Context(), b.receive(g, 1)[0]); err != nil {
		b.Fatal(err)
	}
	d = b.receive(g, 1)[0]
	if d.Attempt != 2 || d.Lost > 1 {
		b.Fatalf("attempt %d, %d lost", d.Attempt, d.Lost)
	}
	b.done(g, d)
}

func attemptsRaised(b *bench) {
	b.declare(engine.Spec{})
	g := b.join(engine.GroupSpec{})
	b.publish("a")
	d := b.receive(g, 1)[0]
	d.Attempt = 3
	if err := g.Retry(b.Context(), d, 0); err != nil {
		b.Fatal(err)
	}
	if d := b.receive(g, 1)[0]; d.Attempt != 4 || d.Lost != 0 {
		b.Fatalf("attempt %d, %d lost", d.Attempt, d.Lost)
	}
}

func lossesAndFailuresApart(b *bench) {
	b.declare(engine.Spec{})
	b.publish("a")
	other := b.open()
	b.declareAt(other, engine.Spec{})
	g := b.joinAt(other, engine.GroupSpec{AckWait: 2 * time.Second})
	if err := g.Retry(b.Context(), b.receive(g, 1)[0], 100*time.Millisecond); err != nil {
		b.Fatal(err)
	}
	b.receive(g, 1)
	if err := other.Close(); err != nil { // with the second attempt in its hands
		b.Fatal(err)
	}
	g = b.join(engine.GroupSpec{AckWait: 2 * time.Second})
	d := b.receive(g, 1)[0]
	if d.Attempt != 2 || d.Lost != 1 {
		b.Fatalf("attempt %d, %d lost", d.Attempt, d.Lost)
	}
	if err := g.Retry(b.Context(), d, 0); err != nil {
		b.Fatal(err)
	}
	if d := b.receive(g, 1)[0]; d.Attempt != 3 || d.Lost > 1 {
		b.Fatalf("attempt %d, %d lost", d.Attempt, d.Lost)
	}
}

func limited(b *bench) {
	b.declare(engine.Spec{})
	b.publish("a", "b", "c", "d", "e")
	g := b.join(engine.GroupSpec{InFlight: 3})
	got := b.receive(g, 3)
	ctx, cancel := context.WithTimeout(b.Context(), waitLimit)
	defer cancel()
	b.done(g, got[0])
	if list, err := g.Receive(ctx, 1); err != nil || len(list) != 1 {
		b.Fatalf("got %d, %v", len(list), err)
	}
}

func waitEnds(b *bench) {
	b.declare(engine.Spec{})
	g := b.join(engine.GroupSpec{})
	took := waitLimit
	for range 10 { // a busy machine is late now and then, but not each time
		ctx, cancel := context.WithTimeout(b.Context(), 100*time.Millisecond)
		began := time.Now()
		_, err := g.Receive(ctx, 1)
		cancel()
		if err == nil {
			b.Fatal("it ended without an error")
		}
		if took = min(took, time.Since(began)); took < time.Second {
			break
		}
	}
	if took > time.Second {
		b.Fatalf("it took %v at least, the context had 100 ms", took)
	}
	b.publish("a")
	if got := texts(b.receive(g, 1)); got[0] != "a" {
		b.Fatalf("got %q", got)
	}
}

func closeEnds(b *bench) {
	b.declare(engine.Spec{})
	g := b.join(engine.GroupSpec{})
	ended := make(chan error, 1)
	go func() {
		_, err := g.Receive(context.Background(), 1)
		ended <- err
	}()
	backoff.Sleep(b.Context(), 50*time.Millisecond) // most times it waits by then
	if err := g.Close(); err != nil {
		b.Fatal(err)
	}
	select {
	case err := <-ended:
		if !errors.Is(err, engine.ErrClosed) {
			b.Fatalf("got %v", err)
		}
	case <-time.After(waitLimit):
		b.Fatal("still waiting")
	}
}

// closeGivesBack closes a group in the middle of what is handed out to it, again and again. A message that was on its way and is lost with the group
// would come to another one after AckWait only.
func closeGivesBack(b *bench) {
	const rounds, each = 30, 40
	b.declare(engine.Spec{})
	seen := make(map[string]bool)
	spec := engine.GroupSpec{AckWait: time.Hour}
	for round := range rounds {
		g := b.join(spec)
		some := make(chan struct{})
		ended := make(chan []*engine.Delivery)
		go func() {
			var list []*engine.Delivery
			for {
				got, err := g.Receive(context.Background(), each)
				list = append(list, got...)
				if len(list) == len(got) && len(got) > 0 { // the first
					close(some)
				}
				if err != nil {
					ended <- list
					return
				}
			}
		}()
		published := make(chan struct{})
		go func() {
			defer close(published)
			batch := make([]*engine.Outgoing, each)
			for i := range batch {
				batch[i] = message(fmt.Sprintf("%d.%d", round, i))
			}
			b.store.Publish(context.Background(), b.name, batch)
			for _, m := range batch {
				if m.Err != nil {
					b.Errorf("publish: %v", m.Err)
				}
			}
		}()
		<-some
		if err := g.Close(); err != nil {
			b.Fatal(err)
		}
		list := <-ended
		<-published
		for _, text := range texts(list) {
			seen[text] = true
		}
		b.done(g, list...)
	}
	g := b.join(spec)
	for began := time.Now(); len(seen) < rounds*each; {
		ctx, cancel := context.WithTimeout(b.Context(), waitLimit-time.Since(began))
		list, err := g.Receive(ctx, each)
		cancel()
		if err != nil {
			b.Fatalf("%d of %d messages did not come: %v", rounds*each-len(seen), rounds*each, err)
		}
		for _, text := range texts(list) {
			seen[text] = true
		}
		b.done(g, list...)
	}
}

func dropCount(b *bench) {
	if !b.store.Features().KeepMessages {
		refused(b, engine.Spec{Name: b.name, MaxCount: 10})
		return
	}
	b.declare(engine.Spec{MaxCount: 100})
	var batch []*engine.Outgoing
	for i := range 1000 {
		batch = append(batch, message(fmt.Sprint(i)))
	}
	b.store.Publish(b.Context(), b.name, batch)
	s, err := b.store.Stats(b.Context(), b.name)
	if err != nil || s.Messages < 100 || s.Messages > 300 { // some engines drop whole blocks
		b.Fatalf("%d are kept, %v", s.Messages, err)
	}
	g := b.join(engine.GroupSpec{InFlight: 1000})
	if list := b.receive(g, int(s.Messages)); string(list[len(list)-1].Data) != "999" {
		b.Fatalf("the last is %q", list[len(list)-1].Data)
	}
}

func refused(b *bench, spec engine.Spec) {
	b.Helper()
	if err := b.store.Declare(b.Context(), spec); !errors.Is(err, engine.ErrNotOffered) {
		b.Fatalf("declare %+v: %v, want ErrNotOffered", spec, err)
	}
}

func dropAge(b *bench) {
	f := b.store.Features()
	if !f.KeepBytes {
		refused(b, engine.Spec{Name: b.name, MaxBytes: 1000})
	}
	if !f.Sequences {
		return // an engine without places keeps age by whole segments of its log
	}
	b.declare(engine.Spec{MaxAge: time.Second})
	var batch []*engine.Outgoing
	for i := range 500 {
		batch = append(batch, message(fmt.Sprint(i)))
	}
	b.store.Publish(b.Context(), b.name, batch)
	backoff.Sleep(b.Context(), 1500*time.Millisecond)
	b.publish("new")
	b.until("200 are kept at most", func() bool { // some engines drop by a timer of theirs
		s, err := b.store.Stats(b.Context(), b.name)
		if err != nil {
			b.Fatal(err)
		}
		return s.Messages <= 200
	})
}

func deadMessages(b *bench) {
	b.declare(engine.Spec{DeadLetters: true})
	sent := b.publish("a", "b", "c")
	list, err := b.store.DeadLetters(b.Context(), b.name, 10)
	if err != nil || len(list) != 3 || string(list[0].Data) != "a" || list[2].ID != sent[2].ID {
		b.Fatalf("%+v, %v", list, err)
	}
	if n, err := b.store.Remove(b.Context(), b.name, list[1].Key); n != 1 || err != nil {
		b.Fatalf("removed %d, %v", n, err)
	}
	if n, err := b.store.Remove(b.Context(), b.name, list[1].Key); n != 0 || err != nil {
		b.Fatalf("removed %d again, %v", n, err)
	}
	list, err = b.store.DeadLetters(b.Context(), b.name, 10)
	if err != nil || len(list) != 2 || string(list[0].Data) != "a" || string(list[1].Data) != "c" {
		b.Fatalf("%+v, %v", list, err)
	}
	if list, err = b.store.DeadLetters(b.Context(), b.name, 1); err != nil || len(list) != 1 {
		b.Fatalf("%+v, %v", list, err)
	}
	b.until("2 are counted", func() bool {
		s, err := b.store.Stats(b.Context(), b.name)
		return err == nil && s.Messages == 2
	})
}

func deadMessagesConsumed(b *bench) {
	b.declare(engine.Spec{DeadLetters: true})
	g := b.join(engine.GroupSpec{})
	b.publish("a")
	b.done(g, b.receive(g, 1)...)
	if list, err := b.store.DeadLetters(b.Context(), b.name, 10); err != nil || len(list) != 1 {
		b.Fatalf("%+v, %v", list, err)
	}
}

func stats(b *bench) {
	b.declare(engine.Spec{})
	g := b.join(engine.GroupSpec{InFlight: 2})
	b.publish("a", "b", "c", "d", "e")
	list := b.receive(g, 2)
	b.done(g, list[0])
	b.until("1 in flight and 3 waiting", func() bool {
		s, err := b.store.Stats(b.Context(), b.name)
		if err != nil {
			b.Fatal(err)
		}
		b.Logf("%+v", s)
		if len(s.Groups) != 1 || s.Groups[0].Name != "group" {
			return false
		}
		waiting, inFlight := s.Groups[0].Waiting, s.Groups[0].InFlight
		if !b.store.Features().Lease { // the broker hands out as much as the consumer has space for
			return waiting+inFlight >= 2 && waiting+inFlight <= 4
		}
		return waiting == 3 && inFlight == 1
	})
}

// until asks again and again for what must come true.
func (b *bench) until(what string, true func() bool) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), waitLimit)
	defer cancel()
	for !true() {
		if backoff.Sleep(ctx, 20*time.Millisecond); ctx.Err() != nil {
			b.Fatalf("not so after %v: %s", waitLimit, what)
		}
	}
}

var _ testing.TB = (*bench)(nil)
