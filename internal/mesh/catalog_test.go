package mesh

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/membership"
)

// changing is a node whose services change.
type changing struct {
	host
	mu  sync.Mutex
	now []membership.Service
}

func (c *changing) Services() []membership.Service {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]membership.Service(nil), c.now...)
}

func (c *changing) set(services ...membership.Service) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = services
}

func single(i int) membership.Service {
	return membership.Service{Name: fmt.Sprint("s", i), Actions: []membership.Action{{Name: fmt.Sprintf("s%d.it", i)}}}
}

func offers(m *Mesh, node string, services ...string) func() bool {
	return func() bool {
		known := m.View().Services(node)
		if len(known) != len(services) {
			return false
		}
		have := make(map[string]bool)
		for _, s := range known {
			have[s.Name] = true
		}
		for _, name := range services {
			if !have[name] {
				return false
			}
		}
		return true
	}
}

func TestANodeThatMissedADifferenceAsksForTheWhole(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	a := start(t, ctx, "a")
	defer stop(t, a)
	h := &changing{now: []membership.Service{single(1)}}
	b := startHost(t, ctx, "b", h)
	defer stop(t, b)
	await(t, ctx, "the first service of b", offers(a, "b", "s1"))

	h.set(single(1), single(2))
	b.announcing.Lock() // the difference to this version is lost
	b.announced = b.offered()
	b.announcing.Unlock()
	h.set(single(2), single(3))
	b.CatalogChanged()
	await(t, ctx, "all that b offers", offers(a, "b", "s2", "s3"))
	a.mu.Lock()
	defer a.mu.Unlock()
	if p := a.peers["b"]; p.missed != 0 {
		t.Errorf("version %d is still asked for", p.missed)
	}
}

func TestDifferencesThatOvertakeEachOtherEndInTheNewest(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	a := start(t, ctx, "a")
	defer stop(t, a)
	h := &changing{}
	b := startHost(t, ctx, "b", h)
	defer stop(t, b)
	await(t, ctx, "a link", func() bool { return a.Peer("b") != nil && b.Peer("a") != nil })
	for i := range 200 { // each is sent on a goroutine of its own
		h.set(single(i), single(i+1), single(10_000+i/2))
		b.announce()
	}
	h.set(single(1000))
	b.announce()
	await(t, ctx, "what b offered last", offers(a, "b", "s1000"))
}
