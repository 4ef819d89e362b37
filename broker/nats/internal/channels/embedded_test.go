package channels_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/channeltest"
	"github.com/sabir-go/sabir/internal/engine"
)

func TestAnEmbeddedServer(t *testing.T) {
	brokers.Slow(t) // the quick loop has a server of its own
	// Port 0 is any free one: the test shares no server with others of the machine.
	address := "nats://embedded:0?store=" + t.TempDir()
	keeper, err := engine.Open(t.Context(), address, engine.Config{Name: "suite"}) // keeps the server between the stores of the suite
	if err != nil {
		t.Fatal(err)
	}
	channeltest.Run(t, channeltest.Setup{Address: address})
	if err := keeper.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := engine.Open(t.Context(), address, engine.Config{Name: "suite"})
	if err != nil {
		t.Fatalf("the store was not left in order: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAServerWithoutJetStreamSaysWhatToDo(t *testing.T) {
	_, err := engine.Open(t.Context(), "nats://embedded:0", engine.Config{Name: "suite"})
	if err == nil || !strings.Contains(err.Error(), "store=folder") {
		t.Fatalf("got %v", err)
	}
}

// A description that is written at each start is what a power cut leaves half written, and a full disk does not take.
func TestAChannelThatIsThereIsNotWrittenAgain(t *testing.T) {
	folder := t.TempDir()
	s, err := engine.Open(t.Context(), "nats://embedded:0?store="+url.QueryEscape(folder), engine.Config{Name: "suite"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	description := filepath.Join(folder, "jetstream", "$G", "streams", "sabir=orders", "meta.inf")
	before := time.Now().Add(-time.Hour).Truncate(time.Second)
	for _, test := range []struct {
		spec    engine.Spec
		written bool
	}{
		{engine.Spec{Name: "orders"}, true},
		{engine.Spec{Name: "orders"}, false},
		{engine.Spec{Name: "orders", MaxAge: time.Minute, MaxBytes: 1 << 20, MaxCount: 1000, MaxMessage: 1 << 10}, true},
		{engine.Spec{Name: "orders", MaxAge: time.Minute, MaxBytes: 1 << 20, MaxCount: 1000, MaxMessage: 1 << 10}, false},
		{engine.Spec{Name: "orders", MaxAge: time.Hour}, true},
	} {
		if err := s.Declare(t.Context(), test.spec); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(description)
		if err != nil {
			t.Fatal(err)
		}
		if written := !info.ModTime().Equal(before); written != test.written {
			t.Errorf("%+v: the description was written: %v", test.spec, written)
		}
		if err := os.Chtimes(description, before, before); err != nil {
			t.Fatal(err)
		}
	}
}
