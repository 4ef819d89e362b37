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
	node := sabir.NewNode(sabir.Logger(quiet), sabir.Join("tcp://127.0.0.1:0", cluster.Zone("north")))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer node.Stop(t.Context())
	for name, options := range map[string][]cluster.Option{
		"an option of Join":       {cluster.Zone("south"), cluster.Name("other")},
		"another option of Join":  {cluster.Zone("south"), cluster.ClientOnly()},
		"a zone twice":            {cluster.Zone("south"), cluster.Zone("west")},
		"a seed that is no URL":   {cluster.Zone("south"), cluster.Seeds("localhost")},
		"a zone that is too long": {cluster.Zone(strings.Repeat("x", 5000))},
	} {
		if err := node.SetJoin(options...); !errors.Is(err, sabir.NewError(sabir.CodeInvalidArgument, "BadOption", "")) || node.Info().Zone != "north" {
			t.Errorf("%s: %v, and the zone is %q", name, err, node.Info().Zone)
		}
	}
	if err := node.SetJoin(); err != nil || node.Info().Zone != "" {
		t.Errorf("what is left out is gone: %v, %q", err, node.Info().Zone)
	}
}

func TestANodeInNoClusterHasNoPlaceInIt(t *testing.T) {
	if err := sabir.NewNode().SetJoin(cluster.Zone("north")); !errors.Is(err, sabir.NewError(sabir.CodeFailedPrecondition, "NodeState", "")) {
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
	node := sabir.NewNode(sabir.Logger(slog.New(slog.NewTextHandler(w, nil))), sabir.Join("tcp://127.0.0.1:0", cluster.Seeds("tcp://127.0.0.1:1")))
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
