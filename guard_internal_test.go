package sabir

import (
	"context"
	"errors"
	"runtime"
	"testing"
)

func TestAHandlerDoesNotBeginWhenItsCallerWasAnsweredBefore(t *testing.T) {
	s := newOperation(NewNode(), "slow", "slow.wait")
	ran := false
	g := &guard{call: &callContext{Context: background, op: s}, worker: &worker{done: make(chan error, 1)},
		next: func(context.Context, *Request) error { ran = true; return nil }}
	g.abandon(context.DeadlineExceeded)
	if again := g.work(); again || ran {
		t.Errorf("the worker can be used again: %v, the handler ran: %v", again, ran)
	}
	if n := s.abandoned.Load(); n != 0 {
		t.Errorf("%d handlers are counted as left behind", n)
	}
}

func TestAHandlerDoesNotBeginWhenTheTimeOfItsCallIsOver(t *testing.T) {
	for _, end := range []error{context.DeadlineExceeded, context.Canceled} {
		ctx, cancel := context.WithTimeout(context.Background(), 0)
		if end == context.Canceled {
			ctx, cancel = context.WithCancel(context.Background())
			cancel()
		}
		defer cancel()
		s := newOperation(NewNode(), "slow", "slow.wait")
		ran := false
		g := &guard{call: &callContext{Context: ctx, op: s}, worker: &worker{done: make(chan error, 1)}, fork: &Request{},
			next: func(context.Context, *Request) error { ran = true; return nil }}
		if again := g.work(); again || ran {
			t.Errorf("%v: the worker can be used again: %v, the handler ran: %v", end, again, ran)
		}
		if err := <-g.worker.done; !errors.Is(err, end) {
			t.Errorf("the caller was answered with %v, want %v", err, end)
		}
		if n := s.abandoned.Load(); n != 0 {
			t.Errorf("%d handlers are counted as left behind", n)
		}
	}
}

func TestStopHooksWaitForACallerThatIsJustReturning(t *testing.T) {
	s := newOperation(NewNode(), "slow", "slow.wait")
	for range 20_000 {
		s.gate = newGate()
		s.gate.enter() // the caller, which is inside until the end
		s.gate.inside.Add(gateClosed)
		g := &guard{call: &callContext{Context: background, op: s}, worker: &worker{done: make(chan error, 1)}}
		worked := make(chan struct{})
		go func() {
			defer close(worked)
			for g.state.Load() == guardRunning {
				runtime.Gosched()
			}
			s.uncountAbandoned() // the handler returns in the moment in which its caller is let go
		}()
		g.abandon(nil)
		<-worked
		select {
		case <-s.gate.empty:
			t.Fatal("the gate was empty while the caller was inside")
		default:
		}
		s.gate.leave()
		<-s.gate.empty
		if n := s.abandoned.Load(); n != 0 {
			t.Fatalf("%d handlers are counted as left behind", n)
		}
	}
}
