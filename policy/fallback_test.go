package policy_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/internal/signal"
	"github.com/sabir-go/sabir/policy"
)

func TestFallbackAnswersWithTheInputAndTheErrorAtHand(t *testing.T) {
	instead := func(_ context.Context, in helloRequest, err error) (helloReply, error) {
		return helloReply{Text: in.Name + ": " + sabir.AsError(err).Name}, nil
	}
	r := newRig(t, func(context.Context, helloRequest) (helloReply, error) { return helloReply{}, errBroken },
		sabir.Use(policy.FallbackFunc(instead)))
	out, err := sabir.Call[helloReply](t.Context(), r.node, "test.run", helloRequest{Name: "Ada"})
	if err != nil || out.Text != "Ada: Broken" || r.received(signal.FellBack) != 1 {
		t.Errorf("got %v, %v, signals %v", out, err, r.all())
	}
}

func TestFallbackAnswersWithItsOwnErrorWhenItFailsToo(t *testing.T) {
	r := newRig(t, func(context.Context, none) (int, error) { return 0, errBroken },
		sabir.Use(policy.FallbackFunc(func(context.Context, none, error) (int, error) { return 9, errBusy })))
	if _, err := r.call(t.Context()); !errors.Is(err, errBusy) {
		t.Errorf("got %v", err)
	}
}

func TestFallbackFallsBack(t *testing.T) {
	for _, test := range []struct {
		what string
		err  error
		want bool
	}{
		{"not for an answer", nil, false},
		{"for a plain error", errors.New("plain"), true},
		{"for Internal", errBroken, true},
		{"for Unavailable", errBusy, true},
		{"for DeadlineExceeded", context.DeadlineExceeded, true},
		{"for ResourceExhausted", sabir.NewError(sabir.CodeResourceExhausted, errname.BulkheadFull, ""), true},
		{"not for InvalidArgument", sabir.NewError(sabir.CodeInvalidArgument, "Bad", ""), false},
		{"not for NotFound", sabir.NewError(sabir.CodeNotFound, "Gone", ""), false},
		{"not for PermissionDenied", sabir.NewError(sabir.CodePermissionDenied, "No", ""), false},
		{"not for Canceled", context.Canceled, false},
	} {
		t.Run(test.what, func(t *testing.T) {
			r := newRig(t, func(context.Context, none) (int, error) { return 1, test.err }, sabir.Use(policy.FallbackValue(2)))
			out, err := r.call(t.Context())
			if fell := out == 2 && err == nil; fell != test.want || (r.received(signal.FellBack) == 1) != test.want {
				t.Errorf("got %d, %v", out, err)
			}
		})
	}
}

func TestFallbackDoesNotHideAFailedValidation(t *testing.T) {
	type in struct {
		Name string `json:"name" validate:"required"`
	}
	s := sabir.NewService("test")
	sabir.Handle(s, "run", func(context.Context, in) (int, error) { return 1, nil })
	node := start(t, sabir.Serve(sabir.NewModule("all", s).Use(policy.FallbackValue(2))))
	if _, err := sabir.Call[int](t.Context(), node, "test.run", in{}); !errors.Is(err, sabir.ErrValidationFailed) {
		t.Errorf("got %v", err)
	}
}

func TestFallbackIfChoosesTheErrors(t *testing.T) {
	notFound := func(e *sabir.Error) bool { return e.Code == sabir.CodeNotFound }
	r := newRig(t, func(context.Context, none) (int, error) { return 0, sabir.NewError(sabir.CodeNotFound, "Gone", "") },
		sabir.Use(policy.FallbackValue(2).If(notFound)))
	if out, err := r.call(t.Context()); out != 2 || err != nil {
		t.Errorf("got %d, %v", out, err)
	}
}

func TestFallbackAnswersForAHandlerThatHangs(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		release := make(chan struct{})
		r := newRig(t, func(context.Context, none) (int, error) { <-release; return 1, nil },
			sabir.Use(policy.FallbackValue(2), policy.Timeout(time.Second)))
		if out, err := r.call(t.Context()); out != 2 || err != nil {
			t.Errorf("got %d, %v", out, err)
		}
		close(release)
	})
}

func TestFallbackRefuses(t *testing.T) {
	for what, p := range map[string]sabir.Wrapper{
		"FallbackFunc takes int, test.run has policy_test.helloRequest": policy.FallbackFunc(func(context.Context, int, error) (helloReply, error) {
			return helloReply{}, nil
		}),
		"FallbackFunc answers with int, test.run has policy_test.helloReply": policy.FallbackFunc(func(context.Context, helloRequest, error) (int, error) {
			return 0, nil
		}),
		"FallbackValue answers with int": policy.FallbackValue(0),
		"the function is nil":            policy.FallbackFunc[helloRequest, helloReply](nil),
		"If was given nil":               policy.FallbackValue(helloReply{}).If(nil),
	} {
		refusedFor(t, what, p)
	}
}
