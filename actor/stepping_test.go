package actor

import (
	"context"
	"testing"
)

func TestASteppedSystemRunsOnlyInStep(t *testing.T) {
	s := quiet(Stepped(Stepping{}))
	handled := 0
	pid := spawn(t, s, hooks{any: func(*Process, any) error { handled++; return nil }})
	fill(s, pid, 3)
	for want := range 3 {
		if handled != want || !s.Step() {
			t.Fatalf("%d were handled before step %d", handled, want+1)
		}
	}
	if handled != 3 || s.Step() {
		t.Errorf("%d were handled; is there still one?", handled)
	}
	if err := s.Stop(context.Background()); err != nil || s.Count() != 0 {
		t.Error(err, s.Count())
	}
}

func TestStoppingASteppedSystemKillsWhoDoesNotEnd(t *testing.T) {
	s := quiet(Stepped(Stepping{}))
	if _, err := Spawn(s, catchers, hooks{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(context.Background()); err == nil || s.Count() != 0 {
		t.Error(err, s.Count())
	}
}

func TestStepIsOnlyForSteppedSystems(t *testing.T) {
	s := quiet()
	defer s.Stop(context.Background())
	defer func() {
		if recover() == nil {
			t.Error("Step did not panic")
		}
	}()
	s.Step()
}
