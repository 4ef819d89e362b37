package actor_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
)

func TestACallToAnotherNodeGetsItsAnswer(t *testing.T) {
	overNetworks(t, func(t *testing.T, address string) {
		m := joinMembers(t, address, "a", "b")
		to := m[1].witness(t)
		for _, size := range []int{0, 10, 200_000} {
			text := strings.Repeat("x", size)
			got, err := actor.Call[echo](t.Context(), m[0], to.pid, echo{text})
			if err != nil || got.Text != text {
				t.Errorf("%d bytes came back of %d: %v", len(got.Text), size, err)
			}
		}
		m[0].inProcess(t, func(p *actor.Process) error {
			got, err := actor.Call[echo](t.Context(), p, to.pid, echo{"from a process"})
			if err == nil && got.Text != "from a process" {
				t.Error(got)
			}
			return err
		})
	})
}

// parrot answers every call with what came.
type parrot struct{}

var parrots = actor.Define[parrot, struct{}]("parrot", nil,
	actor.OnAnyCall(func(_ *parrot, _ *actor.Process, in any) (any, error) { return in, nil }))

func TestAHandlerOfCallsOfAnyTypeAnswersAnotherNode(t *testing.T) {
	m := joinMembers(t, "mem://"+t.Name(), "a", "b")
	to, err := actor.Spawn(m[1], parrots, struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := actor.Call[echo](t.Context(), m[0], to, echo{"hello"}); err != nil || got.Text != "hello" {
		t.Fatal(got, err)
	}
}

func TestManyCallsAtOnceGetTheirOwnAnswers(t *testing.T) {
	m := joinMembers(t, "tcp://127.0.0.1:0", "a", "b")
	to := m[1].witness(t)
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			for range 20 {
				text := strings.Repeat("y", i)
				if got, err := actor.Call[echo](t.Context(), m[0], to.pid, echo{text}); err != nil || got.Text != text {
					t.Error(got, err)
				}
			}
		})
	}
	all.Wait()
}

func TestAnAnswerMayComeLaterFromAnotherNode(t *testing.T) {
	m := joinMembers(t, "mem://"+t.Name(), "a", "b")
	to := m[1].witness(t)
	answers := make(chan int)
	go func() {
		got, err := actor.Call[item](t.Context(), m[0], to.pid, later{})
		if err != nil {
			t.Error(err)
		}
		answers <- got.Seq
	}()
	for {
		if err := actor.Send(m[0], to.pid, item{Seq: 9}); err != nil {
			t.Fatal(err)
		}
		nextOf[item](t, to)
		select {
		case seq := <-answers:
			if seq != 9 {
				t.Errorf("the answer is %d", seq)
			}
			return
		default: // the call had not come yet
		}
	}
}

func TestTheErrorOfACallSurvivesTheWire(t *testing.T) {
	m := joinMembers(t, "mem://"+t.Name(), "a", "b")
	to := m[1].witness(t)
	_, err := actor.Call[item](t.Context(), m[0], to.pid, refusing{})
	wantError(t, err, errRefused)
	e, ok := errors.AsType[*sabir.Error](err)
	if !ok || e.Message != errRefused.Message || e.Node != "b" {
		t.Errorf("the error is %+v", e)
	}
	data, err := sabir.DataAs[map[string]string](err)
	if err != nil || data["day"] != "today" {
		t.Error(data, err)
	}
	_ = actor.Kill(m[1], to.pid)
	_, err = actor.Call[item](t.Context(), m[0], to.pid, refusing{})
	wantError(t, err, actor.ErrNoProcess)
	_, err = actor.Call[neverHandled](t.Context(), m[0], m[1].witness(t).pid, echo{})
	wantError(t, err, actor.ErrNotHandled) // the answer is an echo
}

func TestDeadlineRequestIDAndMetadataOfACallTravel(t *testing.T) {
	m := joinMembers(t, "mem://"+t.Name(), "a", "b")
	to := m[1].witness(t)
	got, err := actor.Call[brought](t.Context(), m[0], to.pid, contextQuery{})
	if err != nil || got.Deadline || got.RequestID != "" || len(got.Metadata) != 0 {
		t.Error(got, err)
	}
	ctx := sabir.WithRequestID(sabir.WithMetadata(sabir.WithMetadata(t.Context(), "tenant", "acme"), "zone", "north"), "r-1")
	ctx, cancel := context.WithTimeout(ctx, testTimeout)
	defer cancel()
	got, err = actor.Call[brought](ctx, m[0], to.pid, contextQuery{})
	if err != nil || !got.Deadline || got.RequestID != "r-1" || !maps.Equal(got.Metadata, map[string]string{"tenant": "acme", "zone": "north"}) {
		t.Error(got, err)
	}
}

func TestWhenTheCallerGivesUpTheContextOfTheCallEnds(t *testing.T) {
	m := joinMembers(t, "mem://"+t.Name(), "a", "b")
	to := m[1].witness(t)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := actor.Call[item](ctx, m[0], to.pid, hanging{})
		failed <- err
	}()
	nextOf[hanging](t, to)
	cancel()
	wantError(t, <-failed, context.Canceled)
	if got := nextOf[interrupted](t, to); got.Cause != context.Canceled.Error() {
		t.Error(got)
	}
}

func TestTheDeadlineOfACallEndsItsContextOnTheOtherNode(t *testing.T) {
	m := joinMembers(t, "mem://"+t.Name(), "a", "b")
	to := m[1].witness(t)
	for limit := 50 * time.Millisecond; len(to.received) == 0; limit *= 2 { // until there is time enough for the call to come there
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		_, err := actor.Call[item](ctx, m[0], to.pid, hanging{})
		cancel()
		wantError(t, err, context.DeadlineExceeded)
		ctx, cancel = context.WithTimeout(t.Context(), testTimeout)
		_, err = actor.Call[echo](ctx, m[0], to.pid, echo{}) // comes behind it, and is handled when it is over
		cancel()
		if err != nil {
			t.Fatal(err)
		}
	}
	nextOf[hanging](t, to)
	nextOf[interrupted](t, to)
}

func TestACallFailsWhenTheNodeIsLost(t *testing.T) {
	overNetworks(t, func(t *testing.T, address string) {
		m := joinMembers(t, address, "a", "b")
		to := m[1].witness(t)
		failed := make(chan error, 1)
		go func() {
			_, err := actor.Call[item](t.Context(), m[0], to.pid, later{})
			failed <- err
		}()
		if _, err := actor.Call[echo](t.Context(), m[0], to.pid, echo{}); err != nil {
			t.Fatal(err)
		}
		m[1].stop()
		select {
		case err := <-failed:
			if !errors.Is(err, actor.ErrNoConnection) && !errors.Is(err, actor.ErrNoProcess) { // it may have ended first
				t.Error(err)
			}
		case <-time.After(testTimeout):
			t.Fatal("the call still waits")
		}
		_, err := actor.Call[echo](t.Context(), m[0], to.pid, echo{})
		if !errors.Is(err, actor.ErrNoConnection) && !errors.Is(err, actor.ErrNoProcess) {
			t.Error(err)
		}
	})
}
