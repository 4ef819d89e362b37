package sabir_test

import (
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
)

func TestZoneLabelsAndSeedsAreAllThatANodeThatRunsTakesOfJoin(t *testing.T) {
	node := sabir.NewNode(sabir.Logger(quiet), sabir.Join("tcp://127.0.0.1:0", cluster.Config{Zone: "north"}))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer node.Stop(t.Context())
	for name, config := range map[string]cluster.Config{
		"a field of Join":         {Zone: "south", Name: "other"},
		"another field of Join":   {Zone: "south", ClientOnly: true},
		"a seed that is no URL":   {Zone: "south", Seeds: []string{"localhost"}},
		"a zone that is too long": {Zone: strings.Repeat("x", 5000)},
	} {
		if err := node.SetJoin(config); !errors.Is(err, sabir.NewError(sabir.CodeInvalidArgument, "BadOption", "")) || node.Info().Zone != "north" {
			t.Errorf("%s: %v, and the zone is %q", name, err, node.Info().Zone)
		}
	}
	if err := node.SetJoin(cluster.Config{}); err != nil || node.Info().Zone != "" {
		t.Errorf("what is left out is gone: %v, %q", err, node.Info().Zone)
	}
}

func TestANodeInNoClusterHasNoPlaceInIt(t *testing.T) {
	if err := sabir.NewNode().SetJoin(cluster.Config{Zone: "north"}); !errors.Is(err, sabir.NewError(sabir.CodeFailedPrecondition, "NodeState", "")) {
		t.Error(err)
	}
}

// lineWatch is a log that tells when it has a line with some text.
type lineWatch struct {
	mu    sync.Mutex
	text  strings.Builder
	until string
	came  chan struct{}
}

func (w *lineWatch) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if before := w.text.String(); !strings.Contains(before, w.until) && strings.Contains(before+string(line), w.until) {
		close(w.came)
	}
	return w.text.Write(line)
}

func TestASeedThatDoesNotAnswerIsLoggedOnce(t *testing.T) {
	w := &lineWatch{until: "a seed cannot be reached", came: make(chan struct{})}
	node := sabir.NewNode(sabir.Logger(slog.New(slog.NewTextHandler(w, nil))), sabir.Join("tcp://127.0.0.1:0", cluster.Config{Seeds: []string{"tcp://127.0.0.1:1"}}))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer node.Stop(t.Context())
	<-w.came
	w.mu.Lock()
	defer w.mu.Unlock()
	if got := strings.Count(w.text.String(), "tcp://127.0.0.1:1"); got != 1 {
		t.Errorf("the seed is in %d lines:\n%s", got, w.text.String())
	}
}
