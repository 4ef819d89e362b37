// Package directorytest tests directories of nodes against their servers: what each owes to [github.com/sabir-go/sabir/cluster.Config].
package directorytest

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/brokers"
	_ "github.com/sabir-go/sabir/transport/tcp"
)

// Run tests a directory whose entries live as long as ttl without their nodes. at makes one of the server at a URL.
func Run(t *testing.T, kind brokers.Kind, ttl time.Duration, at func(url string) cluster.Directory) {
	server := brokers.ForTest(t, kind)
	new := func(t *testing.T) *room {
		return &room{server: server, directory: func() cluster.Directory { return at(server.URL()) }, name: strings.ReplaceAll(t.Name(), "/", "-")}
	}

	t.Run("nodes find each other and those that come later", func(t *testing.T) {
		r := new(t)
		a := r.start(t, "a")
		b := r.start(t, "b")
		b.reaches(t, "a") // at once, since the start waits for those that are there
		a.reaches(t, "b")
		c := r.start(t, "c")
		c.reaches(t, "a")
		a.reaches(t, "c")
		b.reaches(t, "c")
	})
	t.Run("a node that stops is taken out", func(t *testing.T) {
		r := new(t)
		r.start(t, "a")
		b := r.start(t, "b")
		r.sees(t, 2)
		b.stop(t)
		r.sees(t, 1)
	})
	t.Run("a node that only looks is not entered and finds the others", func(t *testing.T) {
		r := new(t)
		r.start(t, "a")
		only := sabir.NewNode(sabir.NodeID("only"), sabir.Logger(slog.New(slog.DiscardHandler)),
			sabir.Join("tcp://127.0.0.1:0", cluster.Config{Name: r.name, ClientOnly: true, Directory: r.directory()}))
		if err := only.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer only.Stop(context.Background())
		member{Node: only}.reaches(t, "a")
		r.sees(t, 1)
	})
	t.Run("nodes of another cluster are not found", func(t *testing.T) {
		r, other := new(t), new(t)
		other.name += "-other"
		r.start(t, "a")
		b := other.start(t, "b")
		other.sees(t, 1)
		if nodes := b.Nodes(); len(nodes) != 1 {
			t.Errorf("%+v", nodes)
		}
	})
	t.Run("an entry whose node has gone ends by itself", func(t *testing.T) {
		r := new(t)
		way := brokers.NewForwarder(t, server.Addr())
		ctx, cancel := context.WithCancel(t.Context())
		var gone sync.WaitGroup
		gone.Go(func() {
			at("http://"+way.Addr()).Run(ctx, cluster.DirectoryEntry{Cluster: r.name, Node: "gone", Address: "tcp://127.0.0.1:1", Log: slog.New(slog.DiscardHandler)}, func([]string) {})
		})
		r.sees(t, 1)
		way.Point("127.0.0.1:1") // so that its last word is not heard, as if it had been killed
		way.Cut()
		begun := time.Now()
		cancel()
		gone.Wait()
		r.sees(t, 0)
		t.Logf("it was gone after %v, with a TTL of %v", time.Since(begun), ttl)
	})
	t.Run("a server that goes and comes back costs no link", func(t *testing.T) {
		r := new(t)
		a, b := r.start(t, "a"), r.start(t, "b")
		b.reaches(t, "a")
		if err := server.Kill(); err != nil {
			t.Fatal(err)
		}
		a.logs(t, "the directory of nodes is not reached")
		late := r.start(t, "late") // which starts without the others
		a.reaches(t, "b")
		if err := server.Restart(); err != nil {
			t.Fatal(err)
		}
		late.reaches(t, "a")
		b.reaches(t, "late")
		a.logs(t, "the directory of nodes is reached again")
	})
	t.Run("a server that has lost everything is told anew", func(t *testing.T) {
		r := new(t)
		a, b := r.start(t, "a"), r.start(t, "b")
		b.reaches(t, "a")
		if err := server.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(server.Dir(), "data")); err != nil {
			t.Fatal(err)
		}
		if err := server.Restart(); err != nil {
			t.Fatal(err)
		}
		r.sees(t, 2)
		if a.lost() || b.lost() {
			t.Error("a link was lost meanwhile")
		}
	})
	t.Run("a node that comes back at another address is found there", func(t *testing.T) {
		r := new(t)
		a, b := r.start(t, "a"), r.start(t, "b")
		a.reaches(t, "b")
		b.stop(t)
		b = r.start(t, "b")
		a.reaches(t, "b")
		b.reaches(t, "a")
	})
}

// Look enters a node in a directory until that has reported something or has logged an error, and returns both.
func Look(t *testing.T, d cluster.Directory) (addresses []string, logged string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	log := &firstError{cancel: cancel}
	d.Run(ctx, cluster.DirectoryEntry{Cluster: "shop", Node: "a", Address: "tcp://10.0.0.5:7700", Log: slog.New(log)}, func(list []string) {
		if len(list) > 0 {
			addresses = list
			cancel()
		}
	})
	return addresses, log.text
}

// firstError is a log handler that keeps the error of the first line that has one, and then ends what logs.
type firstError struct {
	slog.Handler
	cancel func()
	text   string
}

func (f *firstError) Enabled(context.Context, slog.Level) bool { return true }
func (f *firstError) WithAttrs([]slog.Attr) slog.Handler       { return f }

// Handle takes a line.
func (f *firstError) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "error" && f.text == "" {
			f.text = a.Value.String()
			f.cancel()
		}
		return true
	})
	return nil
}

// room is the nodes of one test.
type room struct {
	server    *brokers.Server
	directory func() cluster.Directory
	name      string
}

// member is a node with a service named after it.
type member struct {
	*sabir.Node
	log *buffer
}

func (r *room) start(t *testing.T, id string) member {
	t.Helper()
	m := member{log: &buffer{}}
	s := sabir.NewService("of-" + id)
	sabir.Handle(s, "name", func(context.Context, sabir.Empty) (string, error) { return id, nil })
	m.Node = sabir.NewNode(sabir.NodeID(id), sabir.Serve(s), sabir.Logger(slog.New(slog.NewTextHandler(m.log, nil))),
		sabir.Join("tcp://127.0.0.1:0", cluster.Config{Name: r.name, Directory: r.directory()}))
	if err := m.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if m.State() == "running" {
			m.stop(t)
		}
		if t.Failed() {
			t.Logf("the log of %s:\n%s", id, m.log.String())
		}
	})
	return m
}

func (m member) stop(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := m.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// reaches calls the other node's service, once it is there.
func (m member) reaches(t *testing.T, id string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := m.WaitFor(ctx, "of-"+id); err != nil {
		t.Fatal(err)
	}
	if got, err := sabir.Call[string](ctx, m, "of-"+id+".name", sabir.Empty{}); err != nil || got != id {
		t.Errorf("%s calls %s: %q, %v", m.ID(), id, got, err)
	}
}

func (m member) logs(t *testing.T, text string) {
	t.Helper()
	for begun := time.Now(); !strings.Contains(m.log.String(), text); time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > time.Minute {
			t.Fatalf("%q is not in the log:\n%s", text, m.log)
		}
	}
}

func (m member) lost() bool { return strings.Contains(m.log.String(), `msg="link lost"`) }

// sees waits until so many nodes are entered, as one sees it that is not.
func (r *room) sees(t *testing.T, want int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var last []string
	r.directory().Run(ctx, cluster.DirectoryEntry{Cluster: r.name, Node: "watcher", Log: slog.New(slog.DiscardHandler)}, func(addresses []string) {
		slices.Sort(addresses)
		if last = slices.Compact(addresses); len(last) == want {
			cancel()
		}
	})
	if len(last) != want {
		t.Fatalf("the directory has %v, want %d addresses", last, want)
	}
}

type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String returns the lines that were logged so far.
func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
