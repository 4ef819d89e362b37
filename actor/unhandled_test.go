package actor

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/actor/inspect"
	"github.com/sabir-go/sabir/internal/bubbletest"
)

type (
	subtract struct{ N int }
	resetter struct{}
)

// bare has few handlers, and none for messages or calls of any type.
var bare = Define[counter, int]("bare", (*counter).Init, OnMessage((*counter).Add), OnCall((*counter).Total))

func TestAMessageOrCallWithoutHandlerFailsAtItsSender(t *testing.T) {
	s := quiet()
	defer s.Stop(context.Background())
	ref, err := Spawn(s, bare, 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	for name, test := range map[string]struct {
		send func(from Sender) error
		says string
	}{
		"a pointer":                    {func(f Sender) error { return Send(f, ref, &add{2}) }, "bare " + ref.String() + " has no handler for a message of type *actor.add; it has a handler for actor.add, not for *actor.add"},
		"another type":                 {func(f Sender) error { return Send(f, ref, subtract{2}) }, "it has handlers for actor.add"},
		"a call's type":                {func(f Sender) error { return Send(f, ref, total{}) }, "it takes that as a call: use Ask or Call"},
		"with a priority":              {func(f Sender) error { return SendPriority(f, ref, PriorityUrgent, subtract{2}) }, "message of type actor.subtract"},
		"confirmed":                    {func(f Sender) error { return SendConfirmed(ctx, f, ref, subtract{2}) }, "message of type actor.subtract"},
		"a call":                       {func(f Sender) error { _, err := Call[int](ctx, f, ref, subtract{2}); return err }, "call of type actor.subtract; it has handlers for actor.total"},
		"a call with a message's type": {func(f Sender) error { _, err := Call[int](ctx, f, ref, add{2}); return err }, "it takes that as a message: use Tell or Send"},
	} {
		t.Run(name, func(t *testing.T) {
			check := func(from Sender) {
				t.Helper()
				if err := test.send(from); !errors.Is(err, ErrNotHandled) || !strings.Contains(err.Error(), test.says) {
					t.Errorf("the error is %v; want %q", err, test.says)
				}
			}
			check(s)
			in(t, s, spawn(t, s, hooks{}), func(p *Process) {
				check(p)
				_ = Send(p, ref, add{1})
				check(p) // after others of the same callback
			})
		})
	}
	if !s.Alive(ref.PID()) {
		t.Error("the process has ended")
	}
}

func TestAMessageWithoutHandlerIsCountedAndLoggedOnce(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var log lines
		s := NewSystem(Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		defer s.Stop(context.Background())
		one, err := Spawn(s, bare, 0)
		two, err2 := Spawn(s, bare, 0)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		_ = Send(s, one, subtract{1})
		_ = Send(s, two, subtract{1})
		_ = Send(s, one, resetter{})
		SendAfter(s, one, time.Second, subtract{1})
		time.Sleep(2 * time.Second)
		if len(log.text) != 2 || !strings.Contains(log.text[0], "type=actor.subtract") || !strings.Contains(log.text[1], "type=actor.resetter") || !strings.Contains(log.text[0], "behavior=bare") {
			t.Errorf("logged: %q", log.text)
		}
		if lost := s.Stats(); lost != (inspect.Stats{NotHandled: 4}) {
			t.Errorf("counted: %+v", lost)
		}
	})
}

func TestWhatTheRuntimeSendsNeedsNoHandler(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var log lines
		s := NewSystem(Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		defer s.Stop(context.Background())
		ref, err := Spawn(s, bare, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, send := range []func() error{
			func() error { return Send(s, ref, NodeChange{Node: "b"}) },
			func() error { return Send(s, ref, GroupChange{Group: "g"}) },
		} {
			wantError(t, send(), ErrNotHandled) // of no interest to those who send by hand
		}
		if err := Send(s, ref, Down{}); err != nil {
			t.Error(err)
		}
		if len(log.text) != 0 {
			t.Errorf("logged: %q", log.text)
		}
	})
}
