//go:build unix

package grain_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
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
	"github.com/sabir-go/sabir/actor/grain/store"
	_ "github.com/sabir-go/sabir/actor/grain/store/redis"
	"github.com/sabir-go/sabir/brokers"
)

// ledger keeps the number of each payment that it has taken.
type ledger struct{ grain.State[payments] }

type payments struct{ Numbers []int }

type (
	pay   struct{ Number int }
	taken struct{}
)

func (l *ledger) Pay(p *actor.Process, m pay) (int, error) {
	l.Value.Numbers = append(l.Value.Numbers, m.Number)
	return len(l.Value.Numbers), l.Save(p)
}

func (l *ledger) Taken(*actor.Process, taken) ([]int, error) { return l.Value.Numbers, nil }

var ledgers = grain.Define("ledger", grain.Answer((*ledger).Pay), grain.Answer((*ledger).Taken, grain.Strong))

// memberVariable holds what a process of this test binary is to be: a node of TestNoPaymentIsLostOrTakenTwice.
const memberVariable = "SABIR_GRAIN_MEMBER"

type setup struct{ ID, Store, Seed string }

const chaos = "grain-chaos" // the cluster

// runMember is a node until its standard input ends.
func runMember(text string) {
	var s setup
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	st, err := store.Open(ctx, s.Store)
	if err != nil {
		log.Fatal(err)
	}
	system := actor.NewSystem()
	grains := grain.New(system, grain.Serve(ledgers), grain.Store(st))
	node := sabir.NewNode(sabir.ID(s.ID), sabir.Logger(slog.New(slog.DiscardHandler)), system.Extension(), grains.Extension(),
		sabir.Join("tcp://127.0.0.1:0", sabir.ClusterName(chaos), sabir.Seeds(s.Seed)))
	if err := node.Start(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println("started")
	_, _ = io.Copy(io.Discard, os.Stdin) // its end is all that counts
	if err := node.Stop(ctx); err != nil {
		log.Fatal(err)
	}
	_ = st.Close() // the process ends
}

// launch runs a node in a process of its own, until the test ends or it is killed.
func launch(t *testing.T, s setup) (kill func()) {
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
	t.Cleanup(func() { end(nil) })
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "started\n" {
		end(syscall.SIGKILL)
		t.Fatalf("%s did not start: %q, %v: %s", s.ID, line, err, said.String())
	}
	return func() { end(syscall.SIGKILL) }
}

func TestNoPaymentIsLostOrTakenTwice(t *testing.T) {
	brokers.Slow(t)
	const kills, between, payers, accounts = 25, 400, 12, 24
	redis := brokers.ForTest(t, brokers.Redis)
	system := actor.NewSystem()
	grains := grain.New(system)
	guest := sabir.NewNode(sabir.ID("guest"), sabir.Logger(slog.New(slog.DiscardHandler)), system.Extension(), grains.Extension(),
		sabir.Join("tcp://127.0.0.1:0", sabir.ClusterName(chaos)))
	if err := guest.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := guest.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	member := func(i int) setup { return setup{fmt.Sprint("member-", i), redis.URL(), guest.Info().Addr} }
	var members []func()
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
		members[i]()
		members[i] = launch(t, member(i))
	}
	until(t, "payments are made", func() bool { return done.Load() >= int64(between*(kills+1)) })
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
			t.Errorf("payment %d was taken, and nobody was told", n)
		}
	}
	t.Logf("%d kills: %d payments acknowledged, %d told to try again, %d of unknown outcome, of which %d were taken", kills, len(acknowledged), again.Load(), len(unknown), late)
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
