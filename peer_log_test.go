package sabir_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	_ "github.com/sabir-go/sabir/transport/mem"
)

// peerLines is a handler that has what a node logs at level info of the peers that come and go.
type peerLines chan string

func (peerLines) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }
func (h peerLines) WithAttrs([]slog.Attr) slog.Handler             { return h }
func (h peerLines) WithGroup(string) slog.Handler                  { return h }
func (h peerLines) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "peer" {
			h <- fmt.Sprint(r.Message, " ", a.Value)
		}
		return true
	})
	return nil
}

// The log had a line for each node that came, and none for one that was stopped: whoever read it saw the node come twice.
func TestTheLogSaysWhichPeersComeAndWhichLeave(t *testing.T) {
	lines := make(peerLines, 100)
	address := sabir.Join("mem://" + t.Name())
	stays := sabir.NewNode(sabir.NodeID("stays"), sabir.Logger(slog.New(lines)), address)
	if err := stays.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer stays.Stop(context.Background())
	for range 2 {
		other := sabir.NewNode(sabir.NodeID("other"), sabir.Logger(quiet), address)
		if err := other.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := other.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"linked other", "peer leaves other"} {
			select {
			case got := <-lines:
				if got != want {
					t.Fatalf("the log has %q, want %q", got, want)
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("the log does not have %q", want)
			}
		}
	}
}
