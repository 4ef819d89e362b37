package sabir_test

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
)

// board is a directory in memory.
type board struct {
	mu      sync.Mutex
	entries map[string]string
	changed chan struct{}
}

func newBoard(entries map[string]string) *board {
	return &board{entries: entries, changed: make(chan struct{})}
}

func (b *board) set(node, address string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.entries, node)
	if address != "" {
		b.entries[node] = address
	}
	close(b.changed)
	b.changed = make(chan struct{})
}

func (b *board) Run(ctx context.Context, entry cluster.DirectoryEntry, found func([]string)) {
	b.set(entry.Node, entry.Address)
	defer b.set(entry.Node, "")
	for ctx.Err() == nil {
		b.mu.Lock()
		list, changed := slices.Collect(maps.Values(b.entries)), b.changed
		b.mu.Unlock()
		found(list)
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

func TestNodesFindEachOtherInADirectoryWhateverElseIsInIt(t *testing.T) {
	b := newBoard(map[string]string{"nothing": "mem://nobody-is-here", "no URL": "10.0.0.5:7700", "empty": ""})
	of := func(id string) *sabir.Node {
		s := sabir.NewService("of-" + id)
		sabir.Handle(s, "name", func(context.Context, sabir.Empty) (string, error) { return id, nil })
		return start(t, sabir.NodeID(id), sabir.Serve(s), sabir.Logger(slog.New(slog.DiscardHandler)), sabir.Join("mem://directory-"+id, cluster.Config{Directory: b}))
	}
	first, second := of("first"), of("second")
	for from, id := range map[*sabir.Node]string{first: "second", second: "first"} {
		if err := from.WaitFor(t.Context(), "of-"+id); err != nil {
			t.Fatal(err)
		}
		if got, err := sabir.Call[string](t.Context(), from, "of-"+id+".name", sabir.Empty{}); err != nil || got != id {
			t.Errorf("%q, %v", got, err)
		}
	}
	b.set("second", "") // as a directory that has lost it: the link stays
	if got, err := sabir.Call[string](t.Context(), first, "of-second.name", sabir.Empty{}); err != nil || got != "second" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestADirectoryBesideAnotherWayToFindNodesKeepsTheNodeFromStarting(t *testing.T) {
	for want, option := range map[string]sabir.NodeOption{
		"leave out Members or Directory": sabir.Join("mem://directory-twice", cluster.Config{Members: []string{"mem://a"}, Directory: newBoard(nil)}),
	} {
		if err := sabir.NewNode(option).Start(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
