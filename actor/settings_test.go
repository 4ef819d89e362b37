package actor_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/actor"
	systemlevel "github.com/sabir-go/sabir/actor/internal/level"
)

type colour struct{}
type size struct{}

// heir passes what it is asked on to a function.
type heir struct{}

// withCallTimeout bounds a context that has no deadline by callTimeout.
type withCallTimeout struct{ fn func(*actor.Process) }

func (*heir) withCallTimeout(p *actor.Process, m withCallTimeout) (struct{}, error) {
	m.fn(p)
	return struct{}{}, nil
}

var heirs = actor.Define[heir, struct{}]("heir", nil, actor.OnCall((*heir).withCallTimeout))

func insideOf(t *testing.T, s *actor.System, pid actor.PID, fn func(*actor.Process)) {
	t.Helper()
	if _, err := actor.Call[struct{}](t.Context(), s, pid, withCallTimeout{fn}); err != nil {
		t.Fatal(err)
	}
}

// family is a process and one that it has started with the options.
func family(t *testing.T, s *actor.System, parent []actor.SpawnConfig, child ...actor.SpawnConfig) (first, second actor.PID) {
	t.Helper()
	first, err := heirs.Spec(struct{}{}, parent...).Start(s)
	if err != nil {
		t.Fatal(err)
	}
	insideOf(t, s, first, func(p *actor.Process) { second, err = heirs.Spec(struct{}{}, child...).Start(p) })
	if err != nil {
		t.Fatal(err)
	}
	return first, second
}

func TestInheritedValuesGoToAllBelow(t *testing.T) {
	s := actor.NewSystem(actor.Config{})
	defer s.Stop(context.Background())
	first, second := family(t, s, []actor.SpawnConfig{actor.SpawnConfig{Inherit: map[any]any{colour{}: "red", size{}: 5}}}, actor.SpawnConfig{Inherit: map[any]any{colour{}: "blue"}})
	insideOf(t, s, second, func(p *actor.Process) {
		if p.Value(colour{}) != "blue" || p.Value(size{}) != 5 || p.Value("colour") != nil {
			t.Error(p.Value(colour{}), p.Value(size{}))
		}
	})
	insideOf(t, s, first, func(p *actor.Process) {
		if p.Value(colour{}) != "red" {
			t.Error("the child has changed its parent's:", p.Value(colour{}))
		}
	})
}

func TestLogLevelIsInheritedAndCanBeChangedForAllAtOnce(t *testing.T) {
	var text bytes.Buffer
	s := actor.NewSystem(actor.Config{Logger: slog.New(slog.NewTextHandler(&text, nil))})
	defer s.Stop(context.Background())
	level := &slog.LevelVar{}
	level.Set(slog.LevelDebug)
	_, second := family(t, s, []actor.SpawnConfig{{LogLevel: level}})
	enabled := func() (list []slog.Level) {
		insideOf(t, s, second, func(p *actor.Process) {
			for _, l := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelError} {
				if p.Log().Enabled(t.Context(), l) {
					list = append(list, l)
				}
			}
			p.Log().Debug("hello")
		})
		return list
	}
	if got := enabled(); len(got) != 3 || !strings.Contains(text.String(), "level=DEBUG msg=hello") {
		t.Error(got, text.String())
	}
	level.Set(slog.LevelError)
	if got := enabled(); len(got) != 1 {
		t.Error(got)
	}
	level.Set(systemlevel.System)
	if got := enabled(); len(got) != 2 {
		t.Error(got)
	}
}

func TestSpecWithOptionsIsAnotherSpec(t *testing.T) {
	s := actor.NewSystem(actor.Config{})
	defer s.Stop(context.Background())
	plain := heirs.Spec(struct{}{})
	if _, err := plain.With(actor.SpawnConfig{Name: "a"}).With(actor.SpawnConfig{Inherit: map[any]any{size{}: 1}}).Start(s); err != nil {
		t.Fatal(err)
	}
	if _, err := plain.Start(s); err != nil {
		t.Fatal(err)
	}
	pid, ok := s.Whereis("a")
	if !ok || s.Count() != 2 || plain.Zero() || !(actor.Spec{}).Zero() {
		t.Error(pid, ok, s.Count())
	}
}
