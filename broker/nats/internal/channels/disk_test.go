package channels_test

import (
	"net/url"
	"testing"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/channeltest"
	"github.com/sabir-go/sabir/internal/engine"
)

func TestAnEmbeddedStoreGoesOnWhenItsDiskHasSpaceAgain(t *testing.T) {
	brokers.Long(t)
	disk := brokers.SmallDisk(t, 24)
	channeltest.Fault{Address: "nats://embedded:0?store=" + url.QueryEscape(disk.Dir), Want: engine.ErrFull, Says: disk.Dir, Consumes: true,
		Cause: func(t *testing.T) { disk.Fill(t, 0) }, Undo: func(t *testing.T) { disk.Free(t) }}.Run(t)
}

// The messages themselves fill the disk: the engine stops before its end, so that the server never meets it.
func TestAnEmbeddedStoreStopsBeforeTheEndOfItsDisk(t *testing.T) {
	brokers.Long(t)
	disk := brokers.SmallDisk(t, 24)
	s, err := engine.Open(t.Context(), "nats://embedded:0?store="+url.QueryEscape(disk.Dir), engine.Config{Name: "suite"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Declare(t.Context(), engine.Spec{Name: "large"}); err != nil {
		t.Fatal(err)
	}
	kept := 0
	for ; kept < 100; kept++ {
		m := &engine.Outgoing{}
		m.ID, m.Data = string(rune('A'+kept)), make([]byte, 900_000)
		s.Publish(t.Context(), "large", []*engine.Outgoing{m})
		if m.Err != nil {
			wantFull(t, m.Err)
			break
		}
	}
	if kept < 20 {
		t.Errorf("%d messages of 900 kB are on a disk of 24 MB, want 20 or more", kept)
	}
	stats, err := s.Stats(t.Context(), "large")
	if err != nil || stats.Messages != uint64(kept) {
		t.Errorf("the channel has %d messages, %d were acknowledged (%v)", stats.Messages, kept, err)
	}
	// Consumers go on: what they write is little, and has the space that is kept free.
	g, err := s.Join(t.Context(), engine.GroupSpec{Channel: "large", Name: "group", InFlight: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for range kept {
		list, err := g.Receive(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Done(t.Context(), list...); err != nil {
			t.Fatal(err)
		}
	}
}
