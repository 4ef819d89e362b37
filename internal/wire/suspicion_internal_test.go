package wire

import (
	"context"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
)

// looked is the result of one glance at a link: the bytes that have come since the last one.
type looked struct {
	came    uint64
	waiting bool
	times   int
}

func TestAPeerIsSuspectedByItsSilence(t *testing.T) {
	const every, pong = 50 * time.Millisecond, headerSize + pingSize
	for _, test := range []struct {
		name      string
		usual     time.Duration // of a ping
		glances   []looked
		suspected bool
		fewest    int // pings
		most      int
	}{
		{name: "answers come all the time", glances: []looked{{1000, true, 40}}},
		{name: "nothing comes, and calls wait", glances: []looked{{1000, true, 1}, {0, true, 4}}, suspected: true, fewest: 1, most: 1},
		{name: "nothing has come for a moment", glances: []looked{{1000, true, 1}, {0, true, 3}}, fewest: 1, most: 1},
		{name: "nothing comes, and nothing waits", glances: []looked{{1000, true, 1}, {0, false, 40}}},
		{name: "nothing comes for eight times the usual", usual: 50 * time.Millisecond, glances: []looked{{1000, true, 1}, {0, true, 9}}, suspected: true, fewest: 1, most: 1},
		{name: "nothing comes for seven times the usual", usual: 50 * time.Millisecond, glances: []looked{{1000, true, 1}, {0, true, 8}}, fewest: 1, most: 1},
		{name: "a byte ends it", glances: []looked{{0, true, 10}, {1, true, 1}}, fewest: 1, most: 1},
		{name: "handlers take long, and pings are answered", glances: []looked{{0, true, 1}, {pong, true, 1}, {0, true, 2}, {pong, true, 1}, {0, true, 4}, {pong, true, 1}, {0, true, 7}}, fewest: 3, most: 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			var h health
			bytes, pings := uint64(0), 0
			for _, g := range test.glances {
				for range g.times {
					bytes += g.came
					if ping, _ := h.judge(bytes, g.waiting, max(fewestQuiet*every, usualTrips*test.usual), every); ping {
						pings++
					}
				}
			}
			if h.suspected.Load() != test.suspected {
				t.Errorf("suspected: %v, want %v", h.suspected.Load(), test.suspected)
			}
			if pings < test.fewest || pings > test.most {
				t.Errorf("%d pings, want %d to %d", pings, test.fewest, test.most)
			}
		})
	}
}

func TestASilentPeerIsSuspectedLongBeforeItIsLost(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		began := time.Now()
		suspected := make(chan time.Duration, 1)
		c := Config{Node: "here", Suspicion: func(l *Link) {
			if l.Suspected() {
				suspected <- time.Since(began)
			}
		}}
		l := New(&quiet{closed: make(chan struct{})}, peerOfTest(Config{Node: "stopped"}, true), c, newNode())
		if _, err := call(context.Background(), l, "anything", nil); err == nil {
			t.Fatal("a call of a silent peer was answered")
		}
		if after := <-suspected; after > 300*time.Millisecond {
			t.Errorf("the peer was suspected after %v, want at most 300ms", after)
		}
		<-l.finished
	})
}
