package workers_test

import (
	"runtime"
	"testing"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir/internal/workers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type task func()

func (f task) Run() { f() }

// until waits for a number of idle goroutines.
func until(t *testing.T, p *workers.Pool[task], idle int) {
	t.Helper()
	for p.Idle() != idle {
		if t.Context().Err() != nil {
			t.Fatalf("%d are idle, want %d", p.Idle(), idle)
		}
		runtime.Gosched()
	}
}

// goroutine names the goroutine that calls, as its stack does.
func goroutine() string {
	text := make([]byte, len("goroutine 1234567890"))
	return string(text[:runtime.Stack(text, false)])
}

func TestTasksOneAfterTheOtherAreRunByOneGoroutine(t *testing.T) {
	var p workers.Pool[task]
	defer p.End()
	seen := make(map[string]bool)
	for range 100 {
		name := make(chan string)
		p.Run(func() { name <- goroutine() })
		seen[<-name] = true
		until(t, &p, 1)
	}
	if len(seen) != 1 {
		t.Errorf("%d goroutines ran them", len(seen))
	}
}

func TestTasksThatWaitHoldNoOthersUpAndSoManyGoroutinesAreKept(t *testing.T) {
	var p workers.Pool[task]
	const tasks = 2 * workers.Most
	begun, gate := make(chan bool), make(chan bool)
	for range tasks {
		p.Run(func() { begun <- true; <-gate })
	}
	for range tasks {
		<-begun
	}
	close(gate)
	until(t, &p, workers.Most)
	p.End()
	until(t, &p, 0)
}

func TestAfterItsEndAPoolRunsTasksAndKeepsNoGoroutineUntilItIsResumed(t *testing.T) {
	var p workers.Pool[task]
	none := goleak.IgnoreCurrent()
	p.End()
	ran := make(chan bool)
	p.Run(func() { close(ran) })
	<-ran
	goleak.VerifyNone(t, none)
	p.Resume()
	p.Run(func() {})
	until(t, &p, 1)
	p.End()
}

func TestAGoroutineThatRanAtTheEndIsNotKeptAfterAResume(t *testing.T) {
	var p workers.Pool[task]
	none := goleak.IgnoreCurrent()
	begun, gate := make(chan bool), make(chan bool)
	p.Run(func() { close(begun); <-gate })
	<-begun
	p.End()
	p.Resume()
	close(gate)
	goleak.VerifyNone(t, none)
	if p.Idle() != 0 {
		t.Errorf("%d goroutines are kept", p.Idle())
	}
}

func BenchmarkRun(b *testing.B) {
	var p workers.Pool[task]
	defer p.End()
	done := make(chan bool)
	b.ReportAllocs()
	for b.Loop() {
		p.Run(func() { done <- true })
		<-done
	}
}
