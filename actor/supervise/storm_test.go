package supervise_test

import (
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/supervise"
	"github.com/sabir-go/sabir/internal/bubbletest"
)

func TestAllChildrenRunAgainAfterAStormOfKillsAndCrashes(t *testing.T) {
	for _, strategy := range []string{"one-for-one", "all-for-one", "rest-for-one"} {
		t.Run(strategy, func(t *testing.T) {
			w := newWorld(t)
			var list []supervise.Child
			for _, id := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
				j := w.job(id)
				j.quiet = true
				list = append(list, supervise.Child{ID: id, Start: working.Spec(j)})
			}
			pid := w.start(supervise.Spec(supervise.Config{Strategy: strategy, Intensity: 1 << 30}, list...))
			random := rand.New(rand.NewPCG(1, uint64(len(strategy))))
			for range 500 {
				c := w.children(pid)[random.IntN(len(list))]
				switch {
				case c.PID.Zero():
				case random.IntN(2) == 0:
					actor.Kill(w.system, c.PID)
				default:
					actor.Send(w.system, c.PID, fail{errCrash})
				}
			}
			for end := time.Now().Add(testTimeout); ; {
				children := w.children(pid)
				if !slices.ContainsFunc(children, func(c supervise.Info) bool { return c.State != "running" || !w.system.Alive(c.PID) }) {
					break
				}
				if time.Now().After(end) {
					t.Fatal(children)
				}
			}
			if n := w.system.Count(); n != len(list)+1 {
				t.Errorf("%d processes, want %d children and the supervisor", n, len(list))
			}
		})
	}
}

func TestSupervisorWorksInATimeOfSynctest(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		system := actor.NewSystem(actor.Config{Logger: slog.New(slog.DiscardHandler)})
		journal := make(chan string, 100)
		hold := make(chan struct{})
		slow := job{name: "slow", journal: journal}
		slow.init = func(p *actor.Process) error {
			return actor.Send(p, p.PID(), do{func(*actor.Process) { journal <- "block slow"; <-hold }})
		}
		pid, err := supervise.Spec(supervise.Config{},
			supervise.Child{ID: "a", Start: working.Spec(job{name: "a", journal: journal})},
			supervise.Child{ID: "slow", Start: working.Spec(slow), Shutdown: time.Minute},
		).Start(system)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"start a", "start slow", "block slow"} {
			if line := <-journal; line != want {
				t.Fatal(line)
			}
		}
		before := time.Now()
		actor.Stop(system, pid, nil)
		if line := <-journal; line != "shut a" {
			t.Error(line)
		}
		if took := time.Since(before); took < time.Minute+5*time.Second || took > 2*time.Minute {
			t.Errorf("the end of a came after %s", took)
		}
		bubbletest.Wait()
		if system.Alive(pid) {
			t.Error("the supervisor lives")
		}
		close(hold)
		if err := system.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
