package cron_test

import (
	"context"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/cron"
	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/internal/bubbletest"
)

// runs counts when a job ran, over all nodes.
type runs struct {
	mu sync.Mutex
	at map[time.Time]int
}

func (r *runs) run(*actor.Process) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at[time.Now().Truncate(time.Second)]++
	return nil
}

// all is how often it ran at each time so far.
func (r *runs) all() map[time.Time]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.at)
}

// schedulers starts systems, each with a scheduler that has the job.
func schedulers(t *testing.T, n int, job cron.Job) (running []cron.Scheduler) {
	t.Helper()
	for range n {
		s := actor.NewSystem(actor.Config{})
		t.Cleanup(func() { _ = s.Stop(context.Background()) })
		jobs, err := cron.Start(s)
		if err == nil {
			err = jobs.Add(t.Context(), job)
		}
		if err != nil {
			t.Fatal(err)
		}
		running = append(running, jobs)
		time.Sleep(7 * time.Second) // nodes do not start at the same time
	}
	return running
}

func TestOfSeveralNodesOneRunsAJobAtEachTime(t *testing.T) {
	for name, job := range map[string]cron.Job{
		"expression": {Spec: "* * * * *"},
		"interval":   {Every: time.Minute},
		"jitter":     {Every: time.Minute, Jitter: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			bubbletest.Run(t, func(t *testing.T) {
				r := &runs{at: make(map[time.Time]int)}
				job.Name, job.Once, job.Do = "report", store.Memory(), r.run
				running := schedulers(t, 3, job)
				time.Sleep(time.Hour)
				total := 0
				for at, times := range r.all() {
					total++
					if times != 1 {
						t.Errorf("at %s it ran %d times", at, times)
					}
				}
				if total < 60 || total > 62 {
					t.Errorf("it ran at %d minutes of an hour", total)
				}
				ran, elsewhere := 0, 0
				for i := range running {
					list, err := running[i].List(t.Context())
					if err != nil || len(list) != 1 || list[0].Failed > 0 {
						t.Fatalf("%+v, %v", list, err)
					}
					ran, elsewhere = ran+list[0].Runs, elsewhere+list[0].Elsewhere
				}
				if ran != total || elsewhere < 100 {
					t.Errorf("the nodes count %d runs of %d, and %d elsewhere", ran, total, elsewhere)
				}
			})
		})
	}
}

// unknown is a store whose writes are made, and whose first answers are lost.
type unknown struct {
	store.Store
	mu   sync.Mutex
	lost int
}

func (u *unknown) Save(ctx context.Context, kind, key string, state []byte, revision uint64) (uint64, error) {
	revision, err := u.Store.Save(ctx, kind, key, state, revision)
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.lost > 0 && err == nil {
		u.lost--
		return 0, store.ErrOutcomeUnknown
	}
	return revision, err
}

func TestARunWhoseWriteWasNotAnsweredKnowsItsRecord(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		r := &runs{at: make(map[time.Time]int)}
		schedulers(t, 2, cron.Job{Name: "report", Every: time.Minute, Once: &unknown{Store: store.Memory(), lost: 5}, Do: r.run})
		time.Sleep(10 * time.Minute)
		for at, times := range r.all() {
			if times != 1 {
				t.Errorf("at %s it ran %d times", at, times)
			}
		}
		if n := len(r.all()); n < 10 {
			t.Errorf("it ran at %d minutes of ten", n)
		}
	})
}

func TestARunFailsWhoseJobHasRunAtATimeToCome(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		r, st := &runs{at: make(map[time.Time]int)}, store.Memory()
		if _, err := st.Save(t.Context(), "sabir.cron", "report", []byte(time.Now().Add(24*time.Hour).UTC().Format(time.RFC3339Nano)+" x"), 0); err != nil {
			t.Fatal(err)
		}
		running := schedulers(t, 1, cron.Job{Name: "report", Every: time.Minute, Once: st, Do: r.run})
		time.Sleep(10 * time.Minute)
		list, err := running[0].List(t.Context())
		if err != nil || len(r.all()) != 0 || list[0].Failed < 9 || list[0].Elsewhere != 0 || !strings.Contains(list[0].Error, "a clock is wrong") {
			t.Errorf("%+v, %v", list, err)
		}
	})
}

func TestAJobThatRunsOnceHasTimesThatAreTheSameOnAllNodes(t *testing.T) {
	w := newWorld(t)
	for says, job := range map[string]cron.Job{
		"CatchUp":   {Every: time.Minute, CatchUp: 1},
		"set Every": {Spec: "@every 1m"},
	} {
		job.Name, job.Once, job.Do = "report", store.Memory(), w.send("report")
		if err := w.scheduler.Add(t.Context(), job); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, which does not say %q", err, says)
		}
	}
}

func TestAQueuedRunTakesTheTimeAtWhichItWasDue(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		begun, ran := time.Now(), make(chan time.Duration, 10)
		schedulers(t, 1, cron.Job{Name: "report", Every: time.Minute, Once: store.Memory(), Overlap: "queue", Do: func(*actor.Process) error {
			if ran <- time.Since(begun); len(ran) == 1 {
				time.Sleep(90 * time.Second)
			}
			return nil
		}})
		time.Sleep(3 * time.Minute)
		for i, want := range []time.Duration{60 * time.Second, 150 * time.Second, 180 * time.Second} {
			if len(ran) == 0 {
				t.Fatalf("it ran %d times", i)
			}
			if at := <-ran; at != want {
				t.Errorf("it ran after %s, not %s", at, want)
			}
		}
	})
}

func TestANodeThatTookNoTimeOfAJobHasNotRunIt(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		r := &runs{at: make(map[time.Time]int)}
		running := schedulers(t, 2, cron.Job{Name: "report", Every: time.Minute, Once: store.Memory(), Do: r.run})
		time.Sleep(50 * time.Second)
		for i := range running {
			list, err := running[i].List(t.Context())
			if err != nil || len(list) != 1 || list[0].Last.IsZero() != (list[0].Runs == 0) {
				t.Errorf("%+v, %v", list, err)
			}
		}
	})
}
