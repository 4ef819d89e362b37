package inbound

import (
	"context"
	"errors"
	"testing"
)

func TestNoMoreCallsBeginThanTheLimit(t *testing.T) {
	var c Calls
	for range MaxCalls {
		if !c.Begin() {
			t.Fatal("a call within the limit was refused")
		}
	}
	if c.Begin() {
		t.Error("a call beyond the limit was taken")
	}
	c.End()
	if !c.Begin() {
		t.Error("a call was refused after another had ended")
	}
}

func TestWaitReturnsWhenTheLastCallHasEnded(t *testing.T) {
	var c Calls
	if err := c.Wait(t.Context()); err != nil {
		t.Errorf("without calls: %v", err)
	}
	c.Begin()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Wait(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
	waited := make(chan error)
	go func() { waited <- c.Wait(t.Context()) }()
	c.End()
	if err := <-waited; err != nil {
		t.Error(err)
	}
}

func TestForeignNodesCannotSetWhatTheRuntimeSays(t *testing.T) {
	for key, want := range map[string]bool{"sabir.principal": true, "$node": true, "user": false, "": false} {
		if Reserved(key) != want {
			t.Errorf("Reserved(%q) is %v", key, !want)
		}
	}
}
