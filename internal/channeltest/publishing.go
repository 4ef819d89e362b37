package channeltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sabir-go/sabir/internal/engine"
)

func arrives(b *bench) {
	b.declare(engine.Spec{})
	m := message("hello")
	m.Request, m.Only = "r-1", "group"
	m.Metadata = map[string]string{"a": "one\r\ntwo", "ü": "\x00\"", "traceparent": "00-1"}
	m.Dead = &engine.Dead{Channel: "x", Group: "g", Sequence: 7, Attempts: 3, Code: "Internal", Reason: "why\nnot", Time: m.Time}
	b.store.Publish(b.Context(), b.name, []*engine.Outgoing{m})
	if m.Err != nil || m.Duplicate {
		b.Fatalf("%+v", m)
	}
	d := b.receive(b.join(engine.GroupSpec{}), 1)[0]
	if d.ID != m.ID || !d.Time.Equal(m.Time) || d.Codec != "json" || d.Request != "r-1" || d.Only != "group" || !maps.Equal(d.Metadata, m.Metadata) ||
		string(d.Data) != "hello" || d.Attempt != 1 || d.Dead == nil || d.Dead.Reason != "why\nnot" || d.Dead.Sequence != 7 {
		b.Fatalf("sent %+v\ngot %+v", m.Message, d)
	}
	if b.store.Features().Sequences && d.Sequence != m.Sequence {
		b.Fatalf("published at %d, received at %d", m.Sequence, d.Sequence)
	}
}

// attributes publishes before there is a group, so that they are also in what the engine copies for it.
func attributes(b *bench) {
	b.declare(engine.Spec{})
	binary, structured := message("{}"), message("{}")
	binary.Attributes = map[string]string{"specversion": "1.0", "id": "1", "source": "/s", "type": "t", "subject": `100% "Grüße" \\`, "datacontenttype": "text/plain; charset=utf-8"}
	structured.Attributes = map[string]string{"datacontenttype": "application/cloudevents+json"}
	once := message("once")
	once.Attributes, once.Dedup = binary.Attributes, true
	sent := []*engine.Outgoing{binary, structured, message("none"), once}
	b.store.Publish(b.Context(), b.name, sent)
	g := b.join(engine.GroupSpec{})
	check := func(list []*engine.Delivery) {
		b.Helper()
		for _, d := range list {
			i := slices.IndexFunc(sent, func(m *engine.Outgoing) bool { return m.ID == d.ID })
			if i < 0 || d.Broken != nil || !maps.Equal(d.Attributes, sent[i].Attributes) || string(d.Data) != string(sent[i].Data) {
				b.Fatalf("message %d came as %+v", i, d)
			}
		}
	}
	list := b.receive(g, len(sent))
	check(list)
	for _, d := range list {
		if err := g.Retry(b.Context(), d, 0); err != nil {
			b.Fatal(err)
		}
	}
	check(b.receive(g, len(sent)))
}

func anyBytes(b *bench) {
	b.declare(engine.Spec{})
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	large := strings.Repeat(string(every), 4000)
	b.publish("", string(every), large)
	got := texts(b.receive(b.join(engine.GroupSpec{}), 3))
	slices.SortFunc(got, func(x, y string) int { return len(x) - len(y) })
	if got[0] != "" || got[1] != string(every) || got[2] != large {
		b.Fatalf("got %d, %d and %d bytes", len(got[0]), len(got[1]), len(got[2]))
	}
}

func places(b *bench) {
	if !b.store.Features().Sequences {
		return
	}
	b.declare(engine.Spec{})
	last := uint64(0)
	for _, m := range b.publish("a", "b", "c", "d") {
		if m.Sequence <= last {
			b.Fatalf("place %d after %d", m.Sequence, last)
		}
		last = m.Sequence
	}
}

func batchOrder(b *bench) {
	b.declare(engine.Spec{})
	var batch []*engine.Outgoing
	for i := range 300 {
		batch = append(batch, message(fmt.Sprint(i)))
	}
	b.store.Publish(b.Context(), b.name, batch)
	for _, m := range batch {
		if m.Err != nil {
			b.Fatal(m.Err)
		}
	}
	g := b.join(engine.GroupSpec{InFlight: 300})
	for i, d := range b.receive(g, 300) {
		if string(d.Data) != fmt.Sprint(i) {
			b.Fatalf("message %d is %q", i, d.Data)
		}
	}
}

func manyPublishers(b *bench) {
	b.declare(engine.Spec{})
	const publishers, each = 50, 20
	var wg sync.WaitGroup
	for p := range publishers {
		wg.Go(func() {
			for i := range each {
				m := message(fmt.Sprintf("%d/%d", p, i))
				b.store.Publish(b.Context(), b.name, []*engine.Outgoing{m})
				if m.Err != nil {
					b.Error(m.Err)
					return
				}
			}
		})
	}
	wg.Wait()
	got := texts(b.receive(b.join(engine.GroupSpec{InFlight: publishers * each}), publishers*each))
	slices.Sort(got)
	if n := len(slices.Compact(got)); n != publishers*each {
		b.Fatalf("%d different messages, want %d", n, publishers*each)
	}
}

func dedup(b *bench) {
	if !b.store.Features().Dedup {
		return
	}
	b.declare(engine.Spec{})
	first, second, other := message("first"), message("second"), message("other")
	second.ID = first.ID
	first.Dedup, second.Dedup, other.Dedup = true, true, true
	for _, m := range []*engine.Outgoing{first, second, other} {
		b.store.Publish(b.Context(), b.name, []*engine.Outgoing{m})
		if m.Err != nil {
			b.Fatal(m.Err)
		}
	}
	if first.Duplicate || !second.Duplicate || other.Duplicate || second.Sequence != first.Sequence {
		b.Fatalf("duplicate: %v %v %v, places %d %d", first.Duplicate, second.Duplicate, other.Duplicate, first.Sequence, second.Sequence)
	}
	if got := texts(b.receive(b.join(engine.GroupSpec{}), 2)); !slices.Equal(got, []string{"first", "other"}) {
		b.Fatalf("got %q", got)
	}
}

func undeclared(b *bench) {
	m := message("x")
	b.store.Publish(b.Context(), b.name+"-not", []*engine.Outgoing{m})
	if m.Err == nil {
		b.Error("published to a channel that was not declared")
	}
	if _, err := b.store.Join(b.Context(), engine.GroupSpec{Channel: b.name + "-not", Name: "group", AckWait: time.Second, InFlight: 1}); err == nil {
		b.Error("joined a channel that was not declared")
	}
}

func tooLarge(b *bench) {
	b.declare(engine.Spec{MaxMessage: 1000})
	b.publish(strings.Repeat("x", 1000))
	m := message(string(bytes.Repeat([]byte("x"), 200_000)))
	b.store.Publish(b.Context(), b.name, []*engine.Outgoing{m})
	if !errors.Is(m.Err, engine.ErrTooLarge) {
		b.Fatalf("got %v, want ErrTooLarge", m.Err)
	}
}

func alike(b *bench) {
	names := []string{b.name + ".a", b.name + "_a", b.name + "-a"}
	for _, name := range names {
		b.declare(engine.Spec{Name: name})
		m := message(name)
		b.store.Publish(b.Context(), name, []*engine.Outgoing{m})
		if m.Err != nil {
			b.Fatal(m.Err)
		}
	}
	for _, name := range names {
		for _, group := range []string{"g.a", "g_a", "g-a"} {
			if got := string(b.receive(b.join(engine.GroupSpec{Channel: name, Name: group}), 1)[0].Data); got != name {
				b.Errorf("%s has the message of %s", name, got)
			}
		}
	}
}

func closed(b *bench) {
	s := b.open()
	b.declareAt(s, engine.Spec{})
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(b.Context(), waitLimit)
	defer cancel()
	m := message("x")
	s.Publish(ctx, b.name, []*engine.Outgoing{m})
	if !errors.Is(m.Err, engine.ErrClosed) && !errors.Is(m.Err, engine.ErrUnreachable) {
		b.Fatalf("got %v", m.Err)
	}
}

func parameters(b *bench) {
	glue := "?"
	if strings.Contains(b.setup.Address, "?") {
		glue = "&"
	}
	address := b.setup.Address + glue + "nonsense=1"
	s, err := engine.Open(b.Context(), address, engine.Config{})
	if err == nil {
		s.Close()
		b.Fatalf("%s was taken", address)
	}
}

func nobody(b *bench) {
	if b.setup.Broker == nil {
		return
	}
	scheme, _, _ := strings.Cut(b.setup.Address, "://")
	ctx, cancel := context.WithTimeout(b.Context(), waitLimit)
	defer cancel()
	s, err := engine.Open(ctx, scheme+"://ada:geheim@127.0.0.1:1", engine.Config{})
	if err == nil {
		s.Close()
		b.Fatal("opened")
	}
	if !errors.Is(err, engine.ErrUnreachable) || strings.Contains(err.Error(), "geheim") || !strings.Contains(err.Error(), "127.0.0.1:1") {
		b.Fatalf("got %v", err)
	}
}
