package http1

import (
	"context"
	"runtime"
	"testing"
	"time"
)

func TestALifeIsAContext(t *testing.T) {
	var l connContext
	if _, ok := l.Deadline(); ok || l.Err() != nil || l.Value(1) != nil {
		t.Error("it has something from the start")
	}
	done := l.Done()
	select {
	case <-done:
		t.Error("it is done from the start")
	default:
	}
	l.end(context.DeadlineExceeded)
	l.end(context.Canceled)
	<-done
	<-l.Done()
	if l.Err() != context.DeadlineExceeded {
		t.Error(l.Err())
	}
}

func TestAConnContextWithoutADoneChannelEndsToo(t *testing.T) {
	var l connContext
	l.end(context.Canceled)
	<-l.Done()
	child, cancel := context.WithCancel(&l)
	defer cancel()
	<-child.Done()
}

func TestContextsOfAConnectionEndWithItAndNeedNoGoroutine(t *testing.T) {
	var l connContext
	before := runtime.NumGoroutine()
	var children []context.Context
	for range 100 {
		child, cancel := context.WithTimeout(&l, time.Hour)
		defer cancel()
		children = append(children, child)
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, %d before", n, before)
	}
	l.end(context.Canceled)
	for _, child := range children {
		if <-child.Done(); child.Err() != context.Canceled {
			t.Error(child.Err())
		}
	}
}

func TestALifeKeepsNothingOfContextsThatEnded(t *testing.T) {
	var l connContext
	for range 100 {
		_, cancel := context.WithTimeout(&l, time.Hour)
		cancel()
	}
	if len(l.after) != 0 {
		t.Errorf("%d are kept", len(l.after))
	}
	ran := false
	stop := l.AfterFunc(func() { ran = true })
	if !stop() || stop() {
		t.Error("stop does not tell whether it stopped")
	}
	l.end(context.Canceled)
	if ran {
		t.Error("a function ran that was stopped")
	}
}
