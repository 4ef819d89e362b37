package main

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

var errWrong = errors.New("wrong reply")

// fake is a client whose calls do what the test says.
func fake(call roundTrip) *client {
	return &client{say: func(int) roundTrip { return call }}
}

var shortLoad = load{Mode: callMode, Callers: 2, Size: 10, Warmup: time.Millisecond, Duration: 20 * time.Millisecond}

func TestWrongRepliesAreCountedApart(t *testing.T) {
	var measuring atomic.Bool
	measure, err := shortLoad.prepare(fake(func(sequence int, _ bool) error {
		if measuring.Load() && sequence%3 == 0 {
			return errWrong
		}
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	measuring.Store(true)
	result, err := measure()
	if err != nil {
		t.Fatal(err)
	}
	if result.Problem != errWrong.Error() || result.Errors == 0 || result.Calls < result.Errors || result.Calls > 3*result.Errors {
		t.Errorf("%d calls and %d errors (%s), want about twice as many calls as errors", result.Calls, result.Errors, result.Problem)
	}
}

func TestAWrongReplyWhileWarmingUpEndsTheRun(t *testing.T) {
	_, err := shortLoad.prepare(fake(func(sequence int, full bool) error {
		if !full {
			t.Error("not checked in full")
		}
		if sequence == 2 {
			return errWrong
		}
		return nil
	}))
	if !errors.Is(err, errWrong) || !strings.Contains(err.Error(), "call 2") {
		t.Errorf("got %v", err)
	}
}

func TestOneReplyInAThousandIsCheckedInFull(t *testing.T) {
	var full, all atomic.Int64
	c := caller{call: func(_ int, whole bool) error {
		if whole {
			full.Add(1)
		}
		if all.Add(1) == 10_000 {
			return errWrong
		}
		return nil
	}}
	var stop atomic.Bool
	inner := c.call
	c.call = func(sequence int, whole bool) error {
		err := inner(sequence, whole)
		stop.Store(err != nil)
		return err
	}
	c.run(time.Now(), &stop)
	if full.Load() != 10 {
		t.Errorf("%d of %d in full, want 10", full.Load(), all.Load())
	}
}

func TestACallerWhoseCallsAllFailGivesUp(t *testing.T) {
	c := caller{call: func(int, bool) error { return errWrong }}
	c.run(time.Now(), new(atomic.Bool))
	if c.errors != givesUpAfter || c.calls != 0 {
		t.Errorf("%d errors and %d calls", c.errors, c.calls)
	}
}

func TestLatenciesAreThoseOfTheCalls(t *testing.T) {
	const took = 2 * time.Millisecond
	measure, err := shortLoad.prepare(fake(func(int, bool) error {
		for started := time.Now(); time.Since(started) < took; {
		}
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	result, err := measure()
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]float64{"mean": result.Mean, "p50": result.P50, "p99": result.P99, "p99.9": result.P999} {
		if got < float64(took)*0.99 {
			t.Errorf("%s is %v, want at least %v", name, time.Duration(got), took)
		}
	}
	if result.Mean > float64(result.Elapsed) {
		t.Errorf("mean %v of a run of %v", time.Duration(result.Mean), result.Elapsed)
	}
}

func TestMessagesThatTheServerDidNotCountAreErrors(t *testing.T) {
	sent := int64(0)
	l := load{Mode: streamMode, Callers: 1, Size: 10, Duration: time.Millisecond}
	result, err := l.push(&client{push: func(int, int) (*pushing, error) {
		return &pushing{
			send:   func() error { sent++; return nil },
			finish: func() (int64, int64, error) { return sent - 5, (sent - 5) * 10, nil },
		}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if result.Errors != 5 || result.Calls != sent-5 || result.Problem == "" {
		t.Errorf("of %d messages 5 were lost; got %+v", sent, result)
	}
}

func TestAFailedStreamIsAnError(t *testing.T) {
	l := load{Mode: streamMode, Callers: 3, Size: 10, Duration: time.Millisecond}
	result, err := l.push(&client{push: func(int, int) (*pushing, error) { return nil, errWrong }})
	if err != nil || result.Errors != 3 || result.Problem != errWrong.Error() {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestOnlyTheEndOfAChildsOutputIsKept(t *testing.T) {
	var kept tail
	for range 1000 {
		kept.Write([]byte("0123456789"))
	}
	kept.Write([]byte("the end"))
	if text := kept.String(); len(text) != tailBytes || !strings.HasSuffix(text, "the end") {
		t.Errorf("kept %d bytes", len(text))
	}
}
