//go:build unix

package faults_test

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/introspect"
	"github.com/sabir-go/sabir/policy"
	"github.com/sabir-go/sabir/rpc"
	"github.com/sabir-go/sabir/secret"
	"github.com/sabir-go/sabir/transport/tcp"
	"github.com/sabir-go/sabir/web"
)

// setupVariable is the environment variable that makes the test binary a node.
const setupVariable = "SABIR_FAULTS_NODE"

// setup describes a node.
type setup struct {
	ID         string
	Join       string // "" is a free port of this machine
	Seeds      []string
	Cluster    string
	Key        string
	FormerKey  string // accepted too
	ClientOnly bool
	Works      bool // offers the service work
	Sick       bool // work.echo answers with a retryable error at once
	Retry      bool // its calls go through policy.Retry
	Hedge      bool // and through policy.Hedge
	Breaker    bool // and through policy.Breaker
	Balance    cluster.Balancer
	Zone       string
	TLS        *transporttest.Files
	Files      uint64 // how many it may have open; 0 for no change

	HTTP       bool   // serves work.echo over HTTP
	GRPC       string // the address where it serves work over gRPC
	Dials      string // the URL of a server that it calls over gRPC
	Processors int    // that it may use; 0 for all
}

// host is a node and what the tests ask of it.
type host struct {
	*sabir.Node
	held   atomic.Int64 // handlers of work.hold that are running
	ran    atomic.Int64 // runs of work.once
	sick   bool
	failed atomic.Int64 // calls of work.echo that a sick node has answered
	made   atomic.Int64 // calls of loads that have ended
	halted chan struct{}
	halt   sync.Once
}

// echo is the input of work.echo.
type echo struct {
	Data []byte
	Wait time.Duration // that the handler takes
	Work time.Duration // for which the handler keeps a processor busy
}

// echoed is the answer of work.echo.
type echoed struct {
	Data []byte
	Node string
}

// sum is the answer of the stream work.sum after the last chunk.
type sum struct {
	Bytes  int
	SHA256 []byte
}

func newHost(s setup) (*host, error) {
	h := &host{halted: make(chan struct{})}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	options := []sabir.NodeOption{sabir.NodeID(s.ID), sabir.Logger(log)}
	h.sick = s.Sick
	if s.Works {
		options = append(options, sabir.Serve(h.work()))
	}
	options = append(options, sabir.Balance(s.Balance))
	if s.Retry {
		options = append(options, sabir.Use(policy.Retry{Attempts: 5, FirstPause: 10 * time.Millisecond, MaxPause: 200 * time.Millisecond}))
	}
	if s.Hedge {
		options = append(options, sabir.Use(policy.Hedge{}))
	}
	if s.Breaker {
		options = append(options, sabir.Use(policy.Breaker{}))
	}
	if s.HTTP {
		options = append(options, sabir.HTTP(":0"))
	}
	if s.GRPC != "" {
		options = append(options, sabir.HTTP(s.GRPC, rpc.Serve(), web.With(web.Config{AllowUnauthenticated: true})))
	}
	if s.Dials != "" {
		options = append(options, rpc.Dial(rpc.Foreign{URL: s.Dials}))
	}
	place := cluster.Config{Zone: s.Zone, Seeds: s.Seeds, Name: cmp.Or(s.Cluster, "faults"), Key: secret.New(s.Key)}
	if s.FormerKey != "" {
		place.OldKeys = []secret.Secret{secret.New(s.FormerKey)}
	}
	join := []cluster.Option{place}
	if s.ClientOnly {
		join = append(join, cluster.Config{ClientOnly: true})
	}
	if s.TLS != nil {
		certificates, err := tcp.Certificates(s.TLS.Cert, s.TLS.Key, s.TLS.CA)
		if err != nil {
			return nil, err
		}
		join = append(join, cluster.Config{TLS: certificates})
	}
	h.Node = sabir.NewNode(append(options, sabir.Join(cmp.Or(s.Join, "tcp://127.0.0.1:0"), join...))...)
	return h, nil
}

// startHost runs a node in the test's own process.
func startHost(t *testing.T, s setup) *host {
	t.Helper()
	h, err := newHost(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
		defer cancel()
		if err := h.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return h
}

func (h *host) work() *sabir.Service {
	s := sabir.NewService("work")
	sabir.Handle(s, "echo", func(ctx context.Context, in echo) (echoed, error) {
		if h.sick {
			h.failed.Add(1)
			return echoed{}, sabir.NewError(sabir.CodeUnavailable, "Sick", "the node is sick").AsRetryable()
		}
		for end := time.Now().Add(in.Work); time.Now().Before(end); {
		}
		if in.Wait > 0 {
			select {
			case <-time.After(in.Wait):
			case <-ctx.Done():
				return echoed{}, ctx.Err()
			}
		}
		return echoed{in.Data, h.ID()}, nil
	}, sabir.Idempotent())
	sabir.Handle(s, "hold", func(ctx context.Context, _ sabir.Empty) (sabir.Empty, error) {
		h.held.Add(1)
		defer h.held.Add(-1)
		<-ctx.Done()
		return sabir.Empty{}, ctx.Err()
	})
	sabir.Handle(s, "once", func(_ context.Context, in echo) (echoed, error) { // not idempotent
		h.ran.Add(1)
		return echoed{in.Data, h.ID()}, nil
	})
	sabir.HandleStream(s, "sum", func(_ context.Context, stream *sabir.Stream[[]byte, sum]) error {
		h.held.Add(1)
		defer h.held.Add(-1)
		hash, bytes := sha256.New(), 0
		for part, err := range stream.All() {
			if err != nil {
				return err
			}
			hash.Write(part)
			bytes += len(part)
		}
		return stream.Send(sum{bytes, hash.Sum(nil)})
	})
	sabir.HandleStream(s, "ticks", func(ctx context.Context, stream *sabir.Stream[sabir.Empty, tick]) error {
		h.held.Add(1)
		defer h.held.Add(-1)
		for again := time.NewTicker(10 * time.Millisecond); ; {
			select {
			case <-again.C:
			case <-ctx.Done():
				again.Stop()
				return ctx.Err()
			}
			if err := stream.Send(tick{1}); err != nil {
				return err
			}
		}
	})
	return s
}

// beNode is the process of a node. It returns the exit code.
func beNode(text string) int {
	var s setup
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if s.Processors > 0 {
		runtime.GOMAXPROCS(s.Processors)
	}
	if s.Files > 0 {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: s.Files, Max: s.Files}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	h, err := newHost(s)
	if err == nil {
		err = h.Start(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return 1
	}
	var mu sync.Mutex
	reply := func(id int, value any, err error) {
		a := answer{ID: id}
		if err == nil {
			a.Answer, err = json.Marshal(value)
		}
		if err != nil {
			a.Error = err.Error()
		}
		line, _ := json.Marshal(a)
		mu.Lock()
		defer mu.Unlock()
		os.Stdout.Write(append(line, '\n'))
	}
	reply(0, h.Info().Addr, nil)
	go func() {
		lines := bufio.NewScanner(os.Stdin)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var c command
			if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
				fmt.Fprintln(os.Stderr, err)
				continue
			}
			go func() {
				value, err := h.obey(c)
				reply(c.ID, value, err)
			}()
		}
		os.Exit(3) // the test is gone
	}()
	<-asked
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	if err := h.Stop(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return 1
	}
	return 0
}

// obey executes a command.
func (h *host) obey(c command) (any, error) {
	switch c.Do {
	case "figures":
		return h.figures(), nil
	case "http address":
		return h.HTTPAddr(), nil
	case "await nodes":
		return awaitList(c.With, func() []string {
			var ids []string
			for _, info := range h.Nodes()[1:] {
				ids = append(ids, info.ID)
			}
			return ids
		})
	case "await offers":
		return awaitList(c.With, h.offers)
	case "load":
		var w workload
		if err := json.Unmarshal(c.With, &w); err != nil {
			return nil, err
		}
		return h.load(w), nil
	case "halt":
		h.halt.Do(func() { close(h.halted) })
		return true, nil
	case "push":
		var p push
		if err := json.Unmarshal(c.With, &p); err != nil {
			return nil, err
		}
		return h.push(p), nil
	}
	return nil, errors.New("no such command")
}

// offers lists the nodes that offer work.echo.
func (h *host) offers() []string {
	list, err := sabir.Call[[]introspect.Action](context.Background(), h, "$node.actions", sabir.Empty{})
	if err != nil {
		return []string{err.Error()}
	}
	for _, a := range list {
		if a.Name == "work.echo" {
			if len(a.Nodes) == 0 {
				return []string{a.Node}
			}
			return a.Nodes
		}
	}
	return nil
}

func awaitList(with json.RawMessage, list func() []string) (time.Duration, error) {
	var want []string
	if err := json.Unmarshal(with, &want); err != nil {
		return 0, err
	}
	slices.Sort(want)
	began := time.Now()
	var got []string
	err := poll(waitLimit, func() bool {
		got = list()
		slices.Sort(got)
		return slices.Equal(got, want)
	})
	if err != nil {
		return 0, fmt.Errorf("%w: it knows of %q, not of %q", err, got, want)
	}
	return time.Since(began), nil
}

// figures is the state of a process.
type figures struct {
	Goroutines int
	Heap       int // bytes that are in use
	Files      int // that are open, connections included; -1 where the system does not report it
	Held       int // handlers of work.hold and work.sum that are running
	InFlight   int // calls from other nodes, as the node counts them
	Made       int // calls of its loads that have ended
	Ran        int // runs of work.once
	Sick       int // calls of work.echo that it has answered as a sick node
}

func (h *host) figures() figures {
	runtime.GC()
	runtime.GC() // pools are emptied in two steps
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return figures{Goroutines: runtime.NumGoroutine(), Heap: int(memory.HeapAlloc), Files: openFiles(), Held: int(h.held.Load()), InFlight: h.Info().Load.InFlight, Made: int(h.made.Load()), Ran: int(h.ran.Load()), Sick: int(h.failed.Load())}
}

func openFiles() int {
	for _, dir := range []string{"/proc/self/fd", "/dev/fd"} {
		if entries, err := os.ReadDir(dir); err == nil {
			return len(entries)
		}
	}
	return -1
}

// push is a stream to work.sum.
type push struct {
	To    string
	Bytes int
}

// pushed is the result of a push.
type pushed struct {
	Sent  int
	Whole bool   // the other side got what was sent
	Name  string // of the error that ended it
	Took  time.Duration
}

func (h *host) push(p push) (result pushed) {
	began := time.Now()
	if err := h.pushOne(p, &result); err != nil {
		result.Name = nameOf(err)
	}
	result.Took = time.Since(began)
	return result
}

func (h *host) pushOne(p push, result *pushed) error {
	s, err := sabir.OpenStream[[]byte, sum](context.Background(), h, "work.sum", sabir.ToNode(p.To))
	if err != nil {
		return err
	}
	defer s.Close()
	hash, part := sha256.New(), make([]byte, 32<<10)
	for i := 0; result.Sent < p.Bytes; i++ {
		part = part[:min(len(part), p.Bytes-result.Sent)]
		for j := range part {
			part[j] = byte(i * (j + 7))
		}
		if err := s.Send(part); err == io.EOF {
			_, err = s.Recv() // it returns why the stream has ended
			return err
		} else if err != nil {
			return err
		}
		hash.Write(part)
		result.Sent += len(part)
	}
	s.CloseSend()
	got, err := s.Recv()
	result.Whole = got.Bytes == p.Bytes && slices.Equal(got.SHA256, hash.Sum(nil))
	return err
}

func nameOf(err error) string {
	e := sabir.AsError(err)
	return e.Code.String() + "/" + e.Name
}

// names lists what was counted, for messages.
func names(counts map[string]int) string {
	var parts []string
	for name, count := range counts {
		parts = append(parts, fmt.Sprintf("%d of %s", count, name))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}
