package rediscache_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/policy/rediscache"
)

// longTimeout is for tests whose calls may be late on a busy machine.
const longTimeout = 20 * time.Second

// process is another node, in a process of its own: see runNode.
type process struct {
	*exec.Cmd
	in  io.Writer
	out *bufio.Scanner
}

func newProcess(t *testing.T, url string, lease time.Duration) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(os.Args[0])}
	p.Env = append(os.Environ(), asNode+"="+url, leaseOfNode+"="+lease.String())
	p.Stderr = os.Stderr
	in, err := p.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.in, p.out = in, bufio.NewScanner(out)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Process.Kill()
		_ = p.Wait()
	})
	if line := p.read(); line != "ready" {
		t.Fatalf("the process says %q", line)
	}
	return p
}

func (p *process) read() string {
	p.out.Scan()
	return p.out.Text()
}

func (p *process) write(line string) { fmt.Fprintln(p.in, line) }

func TestTheHandlerRunsOnceForAThousandCallsOnEachOfFourNodes(t *testing.T) {
	url := brokers.ForTest(t, brokers.Redis).URL()
	var r runs
	var nodes []*node
	for range 4 {
		nodes = append(nodes, newNode(t, open(t, url), func(ctx context.Context, id string) (user, error) {
			time.Sleep(50 * time.Millisecond) // the work
			return r.handler(ctx, id)
		}))
	}
	for _, id := range []string{"ada", "bob", "eve"} {
		r.Store(0)
		var wg sync.WaitGroup
		for _, n := range nodes {
			for range 1000 {
				wg.Go(func() { n.get(t, id) })
			}
		}
		wg.Wait()
		if r.Load() != 1 {
			t.Errorf("%s: the handler ran %d times", id, r.Load())
		}
	}
}

func TestTheHandlerRunsOnceForAThousandCallsInEachOfThreeProcesses(t *testing.T) {
	url := brokers.ForTest(t, brokers.Redis).URL()
	const lease = time.Minute // however busy they are, none takes another for lost
	processes := []*process{newProcess(t, url, lease), newProcess(t, url, lease), newProcess(t, url, lease)}
	for _, id := range []string{"ada", "bob", "eve"} {
		total := 0
		for _, p := range processes {
			p.write(id)
		}
		for _, p := range processes {
			var runs int
			if _, err := fmt.Sscan(p.read(), &runs); err != nil {
				t.Fatal(err)
			}
			total += runs
		}
		if total != 1 {
			t.Errorf("%s: the handler ran %d times", id, total)
		}
	}
}

// The other process is killed while its handler runs. Its lease is a second.
func TestANodeThatIsKilledWhileItWorksCostsTheOthersItsLease(t *testing.T) {
	url := brokers.ForTest(t, brokers.Redis).URL()
	holder := newProcess(t, url, time.Second)
	holder.write("hold")
	if line := holder.read(); line != "holding" {
		t.Fatalf("the process says %q", line)
	}
	n := newNode(t, open(t, url, rediscache.Config{Lease: time.Minute}), func(context.Context, string) (string, error) { return "here", nil })
	raw := client(t, url)
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	left := leaseLeft(t, raw)
	out, err := sabir.Call[string](t.Context(), n.Node, "users.get", "hold")
	if waited := time.Since(begun); err != nil || out != "here" || waited < left || waited > 30*time.Second {
		t.Errorf("got %q, %v after %v, want %v", out, err, waited, left)
	}
}

// leaseLeft is the remaining time of the lock that is the only key in Redis which ends by itself.
func leaseLeft(t *testing.T, raw rueidis.Client) (left time.Duration) {
	t.Helper()
	keys, err := raw.Do(t.Context(), raw.B().Keys().Pattern("*").Build()).AsStrSlice()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		milliseconds, err := raw.Do(t.Context(), raw.B().Pttl().Key(key).Build()).AsInt64()
		if err != nil {
			t.Fatal(err)
		}
		left = max(left, time.Duration(milliseconds)*time.Millisecond)
	}
	return left
}

func TestALockIsHeldForAsLongAsItsHolderWorks(t *testing.T) {
	url := brokers.ForTest(t, brokers.Redis).URL()
	var r runs
	slow := func(ctx context.Context, id string) (user, error) {
		time.Sleep(3500 * time.Millisecond) // the work, some leases long
		return r.handler(ctx, id)
	}
	a := newNode(t, open(t, url, rediscache.Config{Lease: time.Second}), slow)
	b := newNode(t, open(t, url, rediscache.Config{Lease: time.Second}), slow)
	var wg sync.WaitGroup
	wg.Go(func() { a.get(t, "ada") })
	wg.Go(func() { b.get(t, "ada") })
	wg.Wait()
	if r.Load() != 1 {
		t.Errorf("the handler ran %d times", r.Load())
	}
}

func TestALockThatIsNotProlongedEndsWithItsLease(t *testing.T) {
	url := brokers.ForTest(t, brokers.Redis).URL()
	const lease = 300 * time.Millisecond
	lost, other := open(t, url, rediscache.Config{Lease: lease}), open(t, url, rediscache.Config{Lease: time.Minute})
	begun := time.Now()
	if _, _, err := lock(t.Context(), lost, "k"); err != nil {
		t.Fatal(err)
	}
	lost.Close() // as a node that dies: nothing is released or prolonged
	_, unlock, err := lock(t.Context(), other, "k")
	if err != nil {
		t.Fatal(err)
	}
	unlock()
	if waited := time.Since(begun); waited < lease*9/10 || waited > 30*time.Second {
		t.Errorf("the lock was free after %v, want %v", waited, lease)
	}
}

// Redis does what it was told while it stood still, though nobody waits for it any more.
func TestALockWhoseHolderNeverHeardOfItIsReleased(t *testing.T) {
	server := brokers.ForTest(t, brokers.Redis)
	a := open(t, server.URL(), rediscache.Config{Lease: time.Minute, Timeout: 200 * time.Millisecond})
	b := open(t, server.URL(), rediscache.Config{Lease: time.Minute})
	raw := client(t, server.URL())
	_, unlock, err := lock(t.Context(), a, "another")
	if err != nil {
		t.Fatal(err)
	}
	unlock()
	eventually(t, "the first lock is released", func() bool {
		keys, err := raw.Do(t.Context(), raw.B().Keys().Pattern("*lock*").Build()).AsStrSlice()
		return err == nil && len(keys) == 0
	})
	if err := server.Suspend(); err != nil {
		t.Fatal(err)
	}
	defer server.Resume()
	if _, _, err := lock(t.Context(), a, "k"); err == nil {
		t.Fatal("a server that stands still gave a lock")
	}
	if err := server.Resume(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second answer comes after all that was sent before
		if err := raw.Do(t.Context(), raw.B().Ping().Build()).Error(); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), longTimeout)
	defer cancel()
	if _, unlock, err = lock(ctx, b, "k"); err != nil {
		t.Fatalf("another node waits for a lock that nobody holds: %v", err)
	}
	unlock()
}

func TestALockThatIsReleasedIsTakenAtOnce(t *testing.T) {
	url := brokers.ForTest(t, brokers.Redis).URL()
	a, b := open(t, url, rediscache.Config{Lease: time.Minute}), open(t, url, rediscache.Config{Lease: time.Minute})
	_, unlock, err := lock(t.Context(), a, "k")
	if err != nil {
		t.Fatal(err)
	}
	taken := make(chan time.Time)
	var waiting atomic.Bool
	go func() {
		waiting.Store(true)
		_, unlock, err := lock(context.Background(), b, "k")
		if err != nil {
			t.Error(err)
		} else {
			unlock()
		}
		taken <- time.Now()
	}()
	select {
	case <-taken:
		t.Fatal("two hold it")
	case <-time.After(200 * time.Millisecond):
	}
	released := time.Now()
	unlock()
	if waited := (<-taken).Sub(released); waited > 20*time.Second {
		t.Errorf("it took %v", waited)
	}
}

func TestWaitingForALockEndsWithTheContext(t *testing.T) {
	url := brokers.ForTest(t, brokers.Redis).URL()
	a, b := open(t, url), open(t, url)
	_, unlock, err := lock(t.Context(), a, "k")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, _, err := lock(ctx, b, "k"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestALockIsNotReleasedByOneWhoseLeaseHasEnded(t *testing.T) {
	url := brokers.ForTest(t, brokers.Redis).URL()
	a, b, c := open(t, url), open(t, url), open(t, url)
	_, late, err := lock(t.Context(), a, "k")
	if err != nil {
		t.Fatal(err)
	}
	raw := client(t, url)
	raw.Do(t.Context(), raw.B().Flushall().Build())
	_, unlock, err := lock(t.Context(), b, "k")
	if err != nil {
		t.Fatal(err)
	}
	late()
	a.Close() // when it was received
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, _, err := lock(ctx, c, "k"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("two hold it: %v", err)
	}
	unlock()
}
