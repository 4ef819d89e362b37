package actor

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/race"
)

// The bytes are those of everything that there is per process, also what its parent keeps of it, but not its state.
func TestASleepingProcessTakesAtMost400Bytes(t *testing.T) {
	if testing.Short() || race.Enabled {
		t.Skip("takes seconds, and under the detector ten times as many, where memory is not what it is")
	}
	for _, test := range []struct {
		what    string
		limit   int
		options []SpawnConfig
		then    func(p *Process, child PID)
	}{
		{"plain", 150, nil, nil},
		{"linked", 250, []SpawnConfig{{Linked: true}}, nil},
		{"supervised", 250, []SpawnConfig{{Supervised: true}}, nil},
		{"linked and monitored", 400, []SpawnConfig{{Linked: true}}, func(p *Process, child PID) { p.Monitor(child) }},
	} {
		t.Run(test.what, func(t *testing.T) {
			const n = 200_000
			s := quiet()
			parent, err := Spawn(s, puppets, hooks{})
			if err != nil {
				t.Fatal(err)
			}
			before := inUse()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // more than callTimeout: there are many to start
			defer cancel()
			if _, err := Call[any](ctx, s, parent, ask{func(p *Process) (any, error) {
				for range n {
					child, err := Spawn(p, stateless, struct{}{}, test.options...)
					if err != nil {
						return nil, err
					}
					if test.then != nil {
						test.then(p, child.PID())
					}
				}
				return nil, nil
			}}); err != nil {
				t.Fatal(err)
			}
			each := (inUse() - before) / n
			t.Logf("%d bytes", each)
			if each > test.limit {
				t.Errorf("a process takes %d bytes, more than %d", each, test.limit)
			}
			if s.Count() != n+1 {
				t.Errorf("%d live", s.Count())
			}
			if err := s.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
}

var stateless = Define[struct{}, struct{}]("stateless", nil)

// inUse is the number of bytes of memory in use.
func inUse() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
