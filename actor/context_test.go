package actor

import (
	"context"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
)

type key struct{}

func TestTheContextEndsWithTheProcess(t *testing.T) {
	for name, end := range map[string]struct {
		how  func(s *System, pid PID)
		want error
	}{
		"Kill": {func(s *System, pid PID) { s.Kill(pid) }, ErrKilled},
		"Stop": {func(s *System, pid PID) { Stop(s, pid, errOut) }, errOut},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *System) {
				pid := spawn(t, s, hooks{})
				var ctx context.Context
				notify(t, s, pid, func(p *Process) error { ctx = p.Context(); return nil })
				bubbletest.Wait()
				if ctx.Err() != nil {
					t.Error("it has ended before the process")
				}
				end.how(s, pid)
				<-ctx.Done()
				wantError(t, context.Cause(ctx), end.want)
			})
		})
	}
}

func TestTheContextOfAKilledProcessEndsInTheCallback(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		pid := spawn(t, s, hooks{})
		returned := make(chan struct{})
		notify(t, s, pid, func(p *Process) error {
			<-p.Context().Done()
			close(returned)
			return nil
		})
		bubbletest.Wait()
		s.Kill(pid)
		<-returned
	})
}

func TestTheContextInACallIsTheCallers(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		pid := spawn(t, s, hooks{})
		ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), key{}, "caller's"), time.Minute)
		defer cancel()
		Call[any](ctx, s, pid, ask{func(p *Process) (any, error) {
			own := p.Context()
			if own.Value(key{}) != "caller's" {
				t.Error("it has not the caller's values")
			}
			if at, ok := own.Deadline(); !ok || time.Until(at) != time.Minute {
				t.Error("it has not the caller's deadline")
			}
			cancel()
			<-own.Done()
			return nil, nil
		}})
		Call[any](context.Background(), s, pid, ask{func(p *Process) (any, error) {
			if p.Context().Value(key{}) != nil {
				t.Error("it has another caller's values")
			}
			return nil, nil
		}})
	})
}

func TestTheContextInACallEndsWithTheProcess(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		pid := spawn(t, s, hooks{})
		Call[any](context.WithValue(t.Context(), key{}, 1), s, pid, ask{func(p *Process) (any, error) {
			s.Kill(pid)
			<-p.Context().Done()
			wantError(t, context.Cause(p.Context()), ErrKilled)
			return nil, nil
		}})
	})
}

func TestTheContextInACallEndsWhenItIsAnsweredButNotWhenItWillBe(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		pid := spawn(t, s, hooks{})
		caller := context.WithValue(t.Context(), key{}, 1)
		var ctx context.Context
		Call[any](caller, s, pid, ask{func(p *Process) (any, error) { ctx = p.Context(); return nil, nil }})
		bubbletest.Wait()
		if ctx.Err() == nil {
			t.Error("it lives on after the answer")
		}
		go Call[any](caller, s, pid, ask{func(p *Process) (any, error) { ctx = p.Context(); return nil, ErrNoReply }})
		bubbletest.Wait()
		if ctx.Err() != nil {
			t.Error("it has ended before the answer")
		}
		s.Kill(pid)
		<-ctx.Done()
	})
}
