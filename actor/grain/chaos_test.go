//go:build unix

package grain_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/grain"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/brokers"
)

// launch runs a node in a process of its own, until the test ends or it is killed.
func launch(t *testing.T, s setup) *launched {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), memberVariable+"="+string(text))
	var said strings.Builder
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	end := func(signal os.Signal) {
		once.Do(func() {
			if signal != nil {
				_ = cmd.Process.Signal(signal)
			}
			_ = in.Close()
			_ = cmd.Wait() // killed is no success
			if signal == nil && t.Failed() || strings.Contains(said.String(), "panic:") || strings.Contains(said.String(), "DATA RACE") {
				t.Errorf("%s said:\n%s", s.ID, said.String())
			}
		})
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGCONT) // where the test failed halfway; it may have ended
		end(nil)
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "started\n" {
		end(syscall.SIGKILL)
		t.Fatalf("%s did not start: %q, %v: %s", s.ID, line, err, said.String())
	}
	return &launched{cmd.Process, func() { end(syscall.SIGKILL) }}
}

type launched struct {
	*os.Process
	kill func()
}

func TestNoPaymentIsLostOrTakenTwice(t *testing.T) {
	brokers.Slow(t)
	const kills, between, payers, accounts = 12, 400, 12, 24
	redis := brokers.ForTest(t, brokers.Redis)
	system := actor.NewSystem(actor.Config{})
	grains := grain.New(system, grain.Config{})
	observer := sabir.NewNode(sabir.NodeID("observer"), sabir.Logger(slog.New(slog.DiscardHandler)), system.Option(), grains.Option(),
		sabir.Join("tcp://127.0.0.1:0", cluster.Config{Name: chaos}))
	if err := observer.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := observer.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	member := func(i int) setup { return setup{fmt.Sprint("member-", i), redis.URL(), observer.Info().Addr} }
	var members []*launched
	for i := range 3 {
		members = append(members, launch(t, member(i)))
	}

	var mu sync.Mutex
	acknowledged, unknown := map[int]bool{}, map[int]bool{}
	var number, done, again atomic.Int64
	var why sync.Map // the errors of unknown outcomes
	ended := make(chan struct{})
	var all sync.WaitGroup
	for range payers {
		all.Go(func() {
			for !closed(ended) {
				n := int(number.Add(1))
				of := ledgers.Key(fmt.Sprint(n % accounts))
				for attempt := 0; ; attempt++ {
					ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
					_, err := grain.Call[int](ctx, system, of, pay{n})
					cancel()
					if err != nil && sabir.AsError(err).Retryable {
						again.Add(1)
						continue
					}
					mu.Lock()
					if err == nil {
						acknowledged[n] = true
					} else {
						unknown[n] = true
						why.Store(sabir.AsError(err).Name, err)
					}
					mu.Unlock()
					done.Add(1)
					break
				}
			}
		})
	}
	for k := range kills {
		until(t, "payments are made", func() bool { return done.Load() >= int64(between*(k+1)) })
		i := rand.IntN(len(members))
		members[i].kill()
		members[i] = launch(t, member(i))
	}
	more := func() {
		before := done.Load()
		until(t, "payments are made", func() bool { return done.Load() >= before+between })
	}
	more()
	// One is thought dead, and comes back with all that it was about to do.
	until(t, "all are there", func() bool { return len(system.Nodes()) == len(members) })
	if err := members[0].Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	until(t, "it is given up", func() bool { return len(system.Nodes()) == len(members)-1 })
	more()
	if err := members[0].Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	until(t, "it is back", func() bool { return len(system.Nodes()) == len(members) })
	more()
	close(ended)
	all.Wait()

	times := map[int]int{}
	for i := range accounts {
		var numbers []int
		until(t, "an account answers", func() (ok bool) {
			var err error
			numbers, err = grain.Call[[]int](t.Context(), system, ledgers.Key(fmt.Sprint(i)), taken{})
			return err == nil
		})
		for _, n := range numbers {
			times[n]++
		}
	}
	lost, twice, late := 0, 0, 0
	for n := range acknowledged {
		if times[n] == 0 {
			lost++
		}
	}
	for n, k := range times {
		if k > 1 {
			twice++
		}
		if unknown[n] {
			late++
		} else if !acknowledged[n] {
			t.Errorf("payment %d was taken, and nobody was notified", n)
		}
	}
	t.Logf("%d kills and one that slept: %d payments acknowledged, %d asked to try again, %d of unknown outcome, of which %d were taken", kills, len(acknowledged), again.Load(), len(unknown), late)
	for name, err := range why.Range {
		t.Logf("unknown by %v, such as: %v", name, err)
	}
	if lost > 0 || twice > 0 {
		t.Errorf("%d acknowledged payments are lost, %d were taken twice", lost, twice)
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
