package actor

import (
	"context"
	"log/slog"
	"testing"

	seam "github.com/sabir-go/sabir/actor/internal/stepping"
)

// stepped is a system without workers.
func stepped() *System {
	return newSystem(Config{Logger: slog.New(slog.DiscardHandler)}, seam.Machine{}, &seam.Hooks[PID]{})
}

func TestASteppedSystemRunsOnlyInStep(t *testing.T) {
	s := stepped()
	handled := 0
	pid := spawn(t, s, hooks{any: func(*Process, any) error { handled++; return nil }})
	fill(s, pid, 3)
	for want := range 3 {
		if handled != want || !s.step() {
			t.Fatalf("%d were handled before step %d", handled, want+1)
		}
	}
	if handled != 3 || s.step() {
		t.Errorf("%d were handled; is there still one?", handled)
	}
	if err := s.Stop(context.Background()); err != nil || s.Count() != 0 {
		t.Error(err, s.Count())
	}
}

func TestStoppingASteppedSystemKillsWhoDoesNotEnd(t *testing.T) {
	s := stepped()
	if _, err := Spawn(s, catchers, hooks{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(context.Background()); err == nil || s.Count() != 0 {
		t.Error(err, s.Count())
	}
}

func TestOnlyASystemWithoutWorkersIsStepped(t *testing.T) {
	s := quiet()
	defer s.Stop(context.Background())
	defer func() {
		if recover() == nil {
			t.Error("step did not panic")
		}
	}()
	s.step()
}
