package rediscache_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/policy/rediscache"
)

func TestCallsGoOnWhileRedisIsKilledAndStartedAgain(t *testing.T) {
	server := brokers.ForTest(t, brokers.Redis)
	var r runs
	nodes := []*node{newNode(t, open(t, server.URL()), r.handler), newNode(t, open(t, server.URL()), r.handler)}
	var stop atomic.Bool
	var calls atomic.Int32
	var wg sync.WaitGroup
	for _, n := range nodes {
		for range 10 {
			wg.Go(func() {
				for !stop.Load() {
					n.get(t, "ada") // which fails the test where a call does
					calls.Add(1)
				}
			})
		}
	}
	reach := func(more int32) {
		want := calls.Load() + more
		eventually(t, "calls go on", func() bool { return calls.Load() >= want })
	}
	reach(1000)
	for range 2 {
		if err := server.Kill(); err != nil {
			t.Fatal(err)
		}
		reach(1000)
		if err := server.Restart(); err != nil {
			t.Fatal(err)
		}
		reach(1000)
	}
	stop.Store(true)
	wg.Wait()
	eventually(t, "the nodes share answers again", func() bool { return nodes[0].get(t, "bob") == nodes[1].get(t, "bob") })
	for _, n := range nodes {
		if lines := strings.Count(n.log.String(), "the cache's store fails"); lines != 1 {
			t.Errorf("the log has it %d times:\n%s", lines, n.log)
		}
	}
}

func TestANodeStartsWithoutRedisAndFindsItLater(t *testing.T) {
	server := brokers.ForTest(t, brokers.Redis)
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	var r runs
	n := newNode(t, open(t, server.URL()), r.handler)
	if a, b := n.get(t, "ada"), n.get(t, "ada"); a != 1 || b != 2 {
		t.Errorf("runs %d and %d, want 1 and 2", a, b)
	}
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "answers are kept", func() bool { return n.keeps(t, "ada") })
}

func TestARedisThatHangsIsWaitedForOnce(t *testing.T) {
	server := brokers.ForTest(t, brokers.Redis)
	var r runs
	n := newNode(t, open(t, server.URL(), rediscache.Config{Timeout: 200 * time.Millisecond}), r.handler)
	n.get(t, "ada")
	if err := server.Suspend(); err != nil {
		t.Fatal(err)
	}
	defer server.Resume()
	begun := time.Now()
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() { n.get(t, "ada") })
	}
	wg.Wait()
	for range 100 {
		n.get(t, "ada")
	}
	if took := time.Since(begun); took > 5*time.Second { // it would be 20 s if each of the second hundred waited
		t.Errorf("200 calls took %v", took)
	}
	if err := server.Resume(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "answers are kept again", func() bool { return n.keeps(t, "bob") })
}

// The lock's holder hangs together with Redis.
func TestCallersThatWaitForAnotherNodeGoOnWhenRedisIsLost(t *testing.T) {
	server := brokers.ForTest(t, brokers.Redis)
	working, goOn := make(chan struct{}), make(chan struct{})
	a := newNode(t, open(t, server.URL()), func(_ context.Context, id string) (user, error) {
		close(working)
		<-goOn
		return user{id, 1}, nil
	})
	b := newNode(t, open(t, server.URL()), func(_ context.Context, id string) (user, error) { return user{id, 2}, nil })
	var wg sync.WaitGroup
	wg.Go(func() { a.get(t, "ada") })
	<-working
	waiting := make(chan int)
	go func() { waiting <- b.get(t, "ada") }()
	raw := client(t, server.URL())
	eventually(t, "the other node watches the lock", func() bool {
		list, _ := raw.Do(t.Context(), raw.B().ClientList().Build()).ToString()
		for line := range strings.Lines(list) { // a connection that is notified has the flag t, and reads the lock in a transaction
			if strings.Contains(line, "name=sabir-cache") && strings.Contains(line, " flags=t ") && strings.Contains(line, " cmd=exec ") {
				return true
			}
		}
		return false
	})
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	if run := <-waiting; run != 2 {
		t.Errorf("run %d, want 2", run)
	}
	close(goOn)
	wg.Wait()
}

func TestACallersOwnEndSaysNothingAboutRedis(t *testing.T) {
	var r runs
	n := newNode(t, open(t, brokers.ForTest(t, brokers.Redis).URL()), r.handler)
	n.get(t, "ada")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _ = sabir.Call[user](ctx, n.Node, "users.get", "ada")
	if run := n.get(t, "ada"); run != 1 || n.log.String() != "" {
		t.Errorf("run %d, want 1; log:\n%s", run, n.log)
	}
}

// A lone caller has a connection for itself, which the server may close meanwhile, as its setting timeout has it.
func TestAnAnswerIsFoundThoughTheConnectionOfLoneCallersWasClosed(t *testing.T) {
	server := brokers.ForTest(t, brokers.Redis)
	var r runs
	n := newNode(t, open(t, server.URL()), r.handler)
	first := n.get(t, "ada")
	if again := n.get(t, "ada"); again != first {
		t.Fatal("the answer was not kept")
	}
	raw := client(t, server.URL())
	list, err := raw.Do(t.Context(), raw.B().ClientList().Build()).ToString()
	must(t, err)
	lone := "" // the youngest
	for line := range strings.Lines(list) {
		if id, rest, _ := strings.Cut(strings.TrimPrefix(line, "id="), " "); strings.Contains(rest, "name=sabir-cache") {
			lone = id
		}
	}
	must(t, raw.Do(t.Context(), raw.B().Arbitrary("CLIENT", "KILL", "ID", lone).Build()).Error())
	if again := n.get(t, "ada"); again != first {
		t.Error("the handler ran again")
	}
	if n.log.String() != "" {
		t.Errorf("the log has %s", n.log)
	}
}
