package jetstream_test

import (
	"strings"
	"testing"

	"github.com/sabir-go/sabir/channel/engine"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/channeltest"
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
