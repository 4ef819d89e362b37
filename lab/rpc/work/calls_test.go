package work

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir/lab/child"
)

var errWrong = errors.New("wrong reply")

// job is a process at work with calls that do what the test says.
func job(t *testing.T, callers int, call RoundTrip) child.Job {
	t.Helper()
	c := Contender{Name: "fake", Dial: func(string, int) (*Client, error) {
		return &Client{Close: func() {}, Say: func(int) RoundTrip { return call }}, nil
	}}
	made, err := Start([]Contender{c}, child.Order{Role: Caller, Row: "fake", Work: Call, Callers: callers})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestAWrongReplyIsCountedAndNamed(t *testing.T) {
	s, err := job(t, 2, func(sequence int, _ bool) error {
		if sequence%3 == 0 {
			return errWrong
		}
		return nil
	}).Measure(10 * time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if s.Problem != errWrong.Error() || s.Wrong == 0 || s.Operations < s.Wrong || s.Operations > 3*s.Wrong {
		t.Errorf("%d right and %d wrong (%s), want about twice as many right as wrong", s.Operations, s.Wrong, s.Problem)
	}
}

func TestEveryReplyIsCheckedInFullWhileWarmingUpAndOneInAThousandAfter(t *testing.T) {
	var full, all atomic.Int64
	j := job(t, 1, func(_ int, whole bool) error {
		if whole {
			full.Add(1)
		}
		all.Add(1)
		return nil
	})
	if _, err := j.Measure(2 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if full.Load() != all.Load() || all.Load() == 0 {
		t.Fatalf("%d of %d in full while warming up", full.Load(), all.Load())
	}
	warm := all.Load()
	full.Store(0)
	if _, err := j.Measure(10 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if want := all.Load()/fullCheckEach - warm/fullCheckEach; full.Load() != want {
		t.Errorf("%d of calls %d to %d in full, want %d", full.Load(), warm, all.Load(), want)
	}
}

func TestACallersNumbersGoOnFromOneMeasurementToTheNext(t *testing.T) {
	last := 0
	j := job(t, 1, func(sequence int, _ bool) error {
		if sequence != last+1 {
			t.Errorf("call %d after call %d", sequence, last)
		}
		last = sequence
		return nil
	})
	for range 3 {
		if _, err := j.Measure(time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhatAContenderCannotDoIsRefused(t *testing.T) {
	c := Contender{Name: "fake", Serve: func(string) (func(), error) { return func() {}, nil }, Dial: func(string, int) (*Client, error) {
		return &Client{Close: func() {}, Say: func(int) RoundTrip { return nil }}, nil
	}}
	for name, o := range map[string]child.Order{
		"another's name": {Role: Caller, Row: "other", Work: Call, Callers: 1},
		"no role":        {Row: "fake", Work: Call, Callers: 1},
		"no work":        {Role: Caller, Row: "fake", Callers: 1},
		"another work":   {Role: Alone, Row: "fake", Work: Stream, Callers: 1},
		"nobody calls":   {Role: Caller, Row: "fake", Work: Call},
	} {
		if _, err := Start([]Contender{c}, o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestOneProcessOfBothEndsItsClientBeforeItsServer(t *testing.T) {
	var order []string
	c := Contender{Name: "fake",
		Serve: func(string) (func(), error) { return func() { order = append(order, "server") }, nil },
		Dial: func(string, int) (*Client, error) {
			return &Client{Close: func() { order = append(order, "client") }, Say: func(int) RoundTrip { return nil }}, nil
		}}
	j, err := Start([]Contender{c}, child.Order{Role: Alone, Row: "fake", Work: Call, Callers: 1})
	if err != nil {
		t.Fatal(err)
	}
	j.Stop()
	if len(order) != 2 || order[0] != "client" || order[1] != "server" {
		t.Errorf("ended %v", order)
	}
}
