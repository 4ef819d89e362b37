package mesh

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/joining"
	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/wire"
	_ "github.com/sabir-go/sabir/transport/mem"
)

// host is a node that offers services and calls nothing.
type host struct {
	services []membership.Service
	rebuild  func() // may be nil
}

func (h *host) Services() []membership.Service { return h.services }
func (h *host) Rebuild(*membership.View) {
	if h.rebuild != nil {
		h.rebuild()
	}
}
func (host) Waiting() []membership.Waiting    { return nil }
func (host) Decisions() []membership.Decision { return nil }
func (host) Members(context.Context, string) ([]membership.Member, error) {
	return nil, errors.New("not asked")
}
func (host) Route(*wire.Link, *wire.Route) wire.Target { return nil }
func (host) Suspected(*wire.Link)                      {}
func (host) Look()                                     {}
func (host) Linked(*wire.Link)                         {}
func (host) Posted(*wire.Link, uint8, []byte)          {}
func (host) Unlinked(*wire.Link, error)                {}

var instances atomic.Uint64

func start(t *testing.T, ctx context.Context, id string, services ...membership.Service) *Mesh {
	t.Helper()
	return startHost(t, ctx, id, &host{services: services})
}

func startHost(t *testing.T, ctx context.Context, id string, h Host) *Mesh {
	t.Helper()
	m, err := New(h, Config{Node: id, Info: Info{Instance: instances.Add(1)}, Log: slog.Default(),
		Address: "mem://" + t.Name(), Config: joining.Config{Cluster: "default", Connections: 1}})
	if err == nil {
		err = m.Listen(ctx)
	}
	if err == nil {
		err = m.Enter(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func stop(t *testing.T, m *Mesh) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := errors.Join(m.Drain(ctx), m.Leave(ctx)); err != nil {
		t.Error(err)
	}
}

func await(t *testing.T, ctx context.Context, what string, holds func() bool) {
	t.Helper()
	for !holds() {
		if ctx.Err() != nil {
			t.Fatal("in vain: " + what)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestLateMessagesOfAnEarlierRunOfANodeDoNotCount(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	offered := membership.Service{Name: "svc", Actions: []membership.Action{{Name: "svc.it"}}}
	a := start(t, ctx, "a")
	defer stop(t, a)
	b := start(t, ctx, "b", offered)
	await(t, ctx, "the service of b", func() bool { return len(a.View().Services("b")) > 0 })
	former := a.Peer("b").Link()
	stop(t, b)
	await(t, ctx, "the end of b", func() bool { return len(a.View().Services("b")) == 0 })
	b = start(t, ctx, "b", offered)
	defer stop(t, b)
	await(t, ctx, "the service of the new b", func() bool { return len(a.View().Services("b")) > 0 })

	nothing, err := json.Marshal(membership.Catalog{Node: "b", Instance: 2, Version: 1 << 40})
	if err != nil {
		t.Fatal(err)
	}
	a.GoAway(former)
	a.receiveCatalog(former, nothing)
	a.applyCatalogs()
	if a.Peer("b") == nil || len(a.View().Services("b")) == 0 {
		t.Error("what the earlier run of b sent late counts")
	}
}

func TestWhatANodeSentBeforeItLeftDoesNotHideWhatItOffersWhenItIsBack(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	offered := membership.Service{Name: "svc", Actions: []membership.Action{{Name: "svc.it"}}}
	var tables sync.Mutex
	waiting := make(chan struct{}, 1)
	a := startHost(t, ctx, "a", &host{rebuild: func() {
		wake(waiting)
		tables.Lock()
		tables.Unlock() //lint:ignore SA2001 the lock is only waited for
	}})
	defer stop(t, a)
	b := start(t, ctx, "b", offered)
	await(t, ctx, "the service of b", func() bool { return len(a.View().Services("b")) > 0 })

	// b says that it takes no more calls, then that it offers nothing, and membership says that it has left: all before the link ends.
	last, err := json.Marshal(membership.Catalog{Node: "b", Instance: b.info.Load().Instance, Version: 1 << 40})
	if err != nil {
		t.Fatal(err)
	}
	tables.Lock() // a has much to do: it makes its next tables when the new b is there
	goOn := sync.OnceFunc(tables.Unlock)
	defer goOn()
	wake(waiting)
	<-waiting
	left := a.Peer("b").Link()
	a.GoAway(left)
	<-waiting
	a.receiveCatalog(left, last)
	a.changed(membership.Change{Kind: membership.Left, Member: membership.Member{ID: "b"}})
	stop(t, b)

	b = start(t, ctx, "b")
	defer stop(t, b)
	await(t, ctx, "a link to the new b", func() bool { return a.Peer("b") != nil })
	now, err := json.Marshal(membership.Catalog{Node: "b", Instance: b.info.Load().Instance, Version: 1 << 20, Services: []membership.Service{offered}})
	if err != nil {
		t.Fatal(err)
	}
	a.receiveCatalog(a.Peer("b").Link(), now)
	goOn()
	await(t, ctx, "the service of the new b", func() bool { return len(a.View().Services("b")) > 0 })
}

func TestAnotherLinkToANodeLosesNoCountOfTheCallsInFlight(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	b := start(t, ctx, "b")
	defer stop(t, b)
	a := start(t, ctx, "a")
	defer stop(t, a)
	await(t, ctx, "a link to b", func() bool { return a.Peer("b") != nil })
	stats := a.Peer("b").Stats()
	began := stats.Begin()
	if err := a.dial(ctx, b.OwnAddress(), "b"); err != nil {
		t.Fatal(err)
	}
	if now := a.Peer("b").Stats(); now != stats || now.InFlight() != 1 {
		t.Errorf("%d calls are in flight, and balancers look where they are counted: %v", now.InFlight(), now == stats)
	}
	stats.End(began, false)
}

func TestALinkThatThisNodeEndsIsNoSignThatThePeerLeaves(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	b := start(t, ctx, "b")
	defer stop(t, b)
	a := start(t, ctx, "a")
	defer stop(t, a)
	await(t, ctx, "a link to b", func() bool { return a.Settled("b") })
	p := a.Peer("b")
	setEnding := func(ending bool) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.ending = ending
	}
	setEnding(true)
	p.Refused(p.Link())
	if p.HasLeft() {
		t.Error("where this node leaves")
	}
	setEnding(false)
	for _, l := range p.Links() {
		p.Refused(l)
	}
	if !p.HasLeft() {
		t.Error("where the peer leaves")
	}
}
