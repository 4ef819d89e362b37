package mesh

import (
	"context"
	"encoding/binary"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/membership"
)

// changingHost is a node that offers one service more from a moment on.
type changingHost struct {
	host
	changed atomic.Bool
}

func (h *changingHost) Services() []membership.Service {
	if !h.changed.Load() {
		return nil
	}
	return []membership.Service{{Name: "svc", Actions: []membership.Action{{Name: "svc.it"}}}}
}

// slowHost is a node that takes its time to go by what others offer.
type slowHost struct {
	host
	waits atomic.Bool
	goOn  chan struct{}
}

func newSlowHost() *slowHost {
	h := &slowHost{goOn: make(chan struct{})}
	h.rebuild = func() {
		if h.waits.Load() {
			<-h.goOn
		}
	}
	return h
}

func TestWhatANodeOffersIsConfirmedWhenTheCallsOfAllOthersGoByIt(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	offered := &changingHost{}
	a := startHost(t, ctx, "a", offered)
	defer stop(t, a)
	if late := a.Unconfirmed(ctx); late != nil {
		t.Errorf("a node that is alone waits for %v", late)
	}
	b := start(t, ctx, "b")
	defer stop(t, b)
	slow := newSlowHost()
	c := startHost(t, ctx, "c", slow)
	defer stop(t, c)
	if late := a.Unconfirmed(ctx); late != nil {
		t.Errorf("not confirmed by %v", late)
	}
	slow.waits.Store(true)
	offered.changed.Store(true)
	brief, end := context.WithTimeout(ctx, 100*time.Millisecond)
	defer end()
	if late := a.Unconfirmed(brief); !slices.Equal(late, []string{"c"}) {
		t.Errorf("not confirmed by %v, want c", late)
	}
	close(slow.goOn)
	if late := a.Unconfirmed(ctx); late != nil {
		t.Errorf("not confirmed by %v", late)
	}
	for _, m := range []*Mesh{b, c} {
		if len(m.View().Services("a")) == 0 {
			t.Errorf("%s does not know what a offers, which it has confirmed", m.config.Node)
		}
	}
}

func TestAConfirmationIsWaitedForOfNoNodeThatHasLeft(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	offered, slow := &changingHost{}, newSlowHost()
	a := startHost(t, ctx, "a", offered)
	defer stop(t, a)
	b := startHost(t, ctx, "b", slow)
	defer stop(t, b)
	defer close(slow.goOn)
	if late := a.Unconfirmed(ctx); late != nil {
		t.Fatalf("not confirmed by %v", late)
	}
	slow.waits.Store(true)
	offered.changed.Store(true)
	waited := make(chan []string)
	for range 2 { // such as a node that starts, and whose operator drains it
		go func() { waited <- a.Unconfirmed(ctx) }()
	}
	if err := b.Drain(ctx); err != nil {
		t.Error(err)
	}
	for range 2 {
		if late := <-waited; late != nil {
			t.Errorf("not confirmed by %v", late)
		}
	}
}

func TestAConfirmationThatCannotBeReadOrIsOfAnEarlierRunDoesNotCount(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	a := start(t, ctx, "a")
	defer stop(t, a)
	b := start(t, ctx, "b")
	if late := a.Unconfirmed(ctx); late != nil {
		t.Fatalf("not confirmed by %v", late)
	}
	former := a.Peer("b").Link()
	high := binary.LittleEndian.AppendUint64(nil, 1<<40)
	a.Post(former, topicCatalogConfirmed, high[:7])
	if late, _ := a.notConfirmed(1 << 40); !slices.Equal(late, []string{"b"}) {
		t.Errorf("seven bytes count: %v", late)
	}
	stop(t, b)
	b = start(t, ctx, "b")
	defer stop(t, b)
	await(t, ctx, "the new b", func() bool { return a.Peer("b") != nil })
	a.Post(former, topicCatalogConfirmed, high)
	if late, _ := a.notConfirmed(1 << 40); !slices.Equal(late, []string{"b"}) {
		t.Errorf("the earlier run counts: %v", late)
	}
}

func TestANodeThatHasLeftWaitsForNoConfirmation(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	offered := &changingHost{}
	a := startHost(t, ctx, "a", offered)
	slow := newSlowHost()
	b := startHost(t, ctx, "b", slow)
	defer stop(t, b)
	if late := a.Unconfirmed(ctx); late != nil {
		t.Errorf("not confirmed by %v", late)
	}
	stop(t, a)
	offered.changed.Store(true)
	if a.Unconfirmed(ctx); ctx.Err() != nil {
		t.Error("it waited until its context ended")
	}
}
