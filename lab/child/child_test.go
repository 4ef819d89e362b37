package child

import (
	"bufio"
	"errors"
	"strings"
	"testing"
	"time"
)

// talk runs a child with an order and lines, and returns what it reported.
func talk(t *testing.T, order, lines string, start func(Order) (Job, error)) ([]Report, error) {
	t.Helper()
	var said []Report
	err := run(order, bufio.NewScanner(strings.NewReader(lines)), start, func(r Report) { said = append(said, r) })
	return said, err
}

func TestChildIsReadyThenMeasuresThenStops(t *testing.T) {
	stopped := false
	said, err := talk(t, `{"role":"client","row":"x","callers":7}`, "measure 1000000000\n", func(o Order) (Job, error) {
		if o.Role != "client" || o.Row != "x" || o.Callers != 7 {
			t.Errorf("the order is %+v", o)
		}
		return Job{Measure: func(d time.Duration) (Sample, error) { return Sample{Operations: 3, Elapsed: d}, nil },
			Stop: func() { stopped = true }}, nil
	})
	if err != nil || len(said) != 2 || said[1].Sample == nil || said[1].Sample.Elapsed != time.Second {
		t.Errorf("said %+v, %v", said, err)
	}
	if !stopped {
		t.Error("the job was not stopped at the end")
	}
}

func TestWordsOfAProgramsOwnAreAnswered(t *testing.T) {
	said, err := talk(t, `{}`, "count\nelse\nmeasure 1\n", func(Order) (Job, error) {
		return Job{Answer: func(word string) (any, error) {
			if word == "count" {
				return 42, nil
			}
			return nil, errors.New("no such word")
		}}, nil
	})
	if err != nil || len(said) != 4 || string(said[1].Data) != "42" || said[2].Error != "no such word" || said[3].Error == "" {
		t.Errorf("said %+v, %v", said, err)
	}
}

func TestChildWithoutAnOrderNamesTheProgramThatStartsIt(t *testing.T) {
	if _, err := talk(t, "", "", nil); err == nil || !strings.Contains(err.Error(), "started by the lab") {
		t.Errorf("got %v", err)
	}
	if _, err := talk(t, "{", "", nil); err == nil {
		t.Error("a broken order was taken")
	}
	if _, err := talk(t, "{}", "", func(Order) (Job, error) { return Job{}, errors.New("the port is taken") }); err == nil {
		t.Error("a start that failed was ready")
	}
}

func TestClosedLoopCountsRightAndWrongAnswers(t *testing.T) {
	s, err := Closed(500*time.Millisecond, 3, func(caller int) func() error {
		n := 0
		return func() error {
			if n++; caller == 0 && n%2 == 0 {
				return errors.New("wrong")
			}
			return nil
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	var timed int64
	for _, pair := range s.Latencies {
		timed += pair[1]
	}
	if s.Operations == 0 || s.Wrong == 0 || s.Problem != "wrong" || timed != s.Operations {
		t.Errorf("%d right, %d timed, %d wrong (%s)", s.Operations, timed, s.Wrong, s.Problem)
	}
}

func TestEachCallerDoesAtLeastOneOperation(t *testing.T) {
	s, err := Closed(0, 1000, func(int) func() error { return func() error { return nil } })
	if err != nil || s.Operations < 1000 {
		t.Errorf("%d operations of 1000 callers, %v", s.Operations, err)
	}
}

func TestCallerWhoseCallsAllFailStops(t *testing.T) {
	begun := time.Now()
	s, err := Closed(time.Hour, 1, func(int) func() error { return func() error { return errors.New("refused") } })
	if err != nil || s.Wrong != givesUpAfter || time.Since(begun) > time.Minute {
		t.Errorf("%d wrong, %v", s.Wrong, err)
	}
}

func TestShortOperationsAreTimedInRuns(t *testing.T) {
	done := 0
	s, err := Repeat(5*time.Millisecond, func(n int) error { done += n; return nil })
	if err != nil || s.Operations == 0 || int64(done) < s.Operations {
		t.Errorf("%d operations counted, %d done, %v", s.Operations, done, err)
	}
	s, err = Repeat(time.Second, func(n int) error {
		if done += n; n > 8 {
			return errors.New("wrong")
		}
		return nil
	})
	if err == nil && s.Wrong == 0 {
		t.Error("a wrong answer was not noticed")
	}
}

func TestQuantilesOfAHistogram(t *testing.T) {
	h := NewHistogram()
	if h.Quantile(.5) != 0 {
		t.Error("an empty histogram has a median")
	}
	for i := range 1000 {
		h.Record(time.Duration(i+1) * time.Microsecond)
	}
	again := NewHistogram()
	again.Add(h.Latencies())
	for share, want := range map[float64]time.Duration{0: time.Microsecond, .5: 500 * time.Microsecond, .99: 990 * time.Microsecond, 1: time.Millisecond} {
		for name, one := range map[string]*Histogram{"recorded": h, "sent": again} {
			if got := one.Quantile(share); got < want*998/1000 || got > want*1002/1000 {
				t.Errorf("%s: the quantile %v is %v, want %v", name, share, got, want)
			}
		}
	}
}
