package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/lab/child"
)

// That each contender does each work is tested where the tables are, in package seeds/ergo.

func TestAnUnknownContenderOrWorkIsRefused(t *testing.T) {
	for _, o := range []child.Order{{Row: "akka", Work: local11}, {Row: "channels", Work: "sleep"}} {
		if _, err := start(o); err == nil {
			t.Errorf("%+v was started", o)
		}
	}
}

func TestWhatGoesWrongIsInTheSample(t *testing.T) {
	inside := new(problems)
	s, err := counted(1000, inside, func() error { inside.add(errors.New("the queue is full")); return nil },
		func() (time.Time, faults) { return time.Now(), faults{Lost: 16, Disorder: 2} })
	if err != nil || s.Operations != 1000 || s.Elapsed <= 0 || s.Wrong != 19 || s.Problem != "16 lost, 2 out of order; the queue is full" {
		t.Errorf("%+v, %v", s, err)
	}
	s, err = counted(1000, new(problems), func() error { return nil }, func() (time.Time, faults) { return time.Now(), faults{} })
	if err != nil || s.Wrong != 0 || s.Problem != "" {
		t.Errorf("nothing went wrong: %+v, %v", s, err)
	}
}

func TestManyProblemsAreCountedAndTheFirstAreShown(t *testing.T) {
	p := new(problems)
	for _, text := range []string{"a", "b", "c", "d", "e"} {
		p.add(errors.New(text))
	}
	if count, words := p.all(); count != 5 || words != "a; b; c" {
		t.Errorf("%d, %q", count, words)
	}
}

func TestANodeOfTwoAnswersWords(t *testing.T) {
	inside, begun := new(problems), false
	at := time.Now()
	job := side(func() error { begun = true; return nil }, func() (time.Time, faults) { return at, faults{Extra: 1} }, inside)
	first, err := job.Answer("begin")
	if err != nil || !begun || first.(moment).At < at.UnixNano() {
		t.Errorf("begin: %+v, %v", first, err)
	}
	inside.add(errors.New("unreachable"))
	last, err := job.Answer("end")
	if m := last.(moment); err != nil || m.At != at.UnixNano() || m.Wrong != 2 || !strings.Contains(m.Problem, "1 too many; unreachable") {
		t.Errorf("end: %+v, %v", last, err)
	}
	if _, err := job.Answer("wait"); err == nil {
		t.Error("an unknown word was answered")
	}
}

func TestWrongRepliesAreCounted(t *testing.T) {
	c := caller{stride: 4}
	if err := c.run(func(m Message) (Message, error) { return Message{Value: m.Value, Sequence: m.Sequence}, nil }, 0); err != nil {
		t.Fatal(err)
	}
	if c.wrong != 4 || c.calls != 4 || c.problem == "" {
		t.Errorf("%d of %d wrong, %q", c.wrong, c.calls, c.problem)
	}
	if err := c.run(func(m Message) (Message, error) { return m.answer(), nil }, 0); err != nil || c.wrong != 0 {
		t.Errorf("right replies: %d wrong, %v", c.wrong, err)
	}
}

func TestCounterNoticesWhatIsWrong(t *testing.T) {
	at := func(numbers ...uint64) []Message {
		var all []Message
		for _, n := range numbers {
			all = append(all, messageAt(n))
		}
		return all
	}
	for name, c := range map[string]struct {
		messages []Message
		want     faults
	}{
		"all in order":   {at(0, 1, 2, 3), faults{}},
		"one overtaken":  {at(0, 2, 1, 3), faults{Disorder: 3}},
		"one doubled":    {at(0, 1, 1, 2, 3), faults{Disorder: 1, Extra: 1}},
		"one altered":    {append(at(0, 1, 2), Message{Value: 9, Sequence: 3}), faults{Wrong: 1}},
		"one too many":   {at(0, 1, 2, 3, 4), faults{Extra: 1}},
		"one left out":   {at(0, 1, 3, 4), faults{Disorder: 1}},
		"none came":      {nil, faults{Lost: 4}},
		"the last twice": {at(0, 1, 2, 3, 3), faults{Disorder: 1, Extra: 1}},
	} {
		counter := newCounter(4)
		for _, m := range c.messages {
			counter.add(m)
		}
		got := faults{counter.lost(), counter.disorder.Load(), counter.wrong.Load(), counter.extra.Load()}
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestASubscriberCountsThePublicationOnceAndNothingElse(t *testing.T) {
	for name, c := range map[string]struct {
		messages   []Message
		got, wrong int64
	}{
		"once":          {[]Message{published}, 1, 0},
		"twice":         {[]Message{published, published}, 1, 1},
		"another":       {[]Message{messageAt(1)}, 0, 1},
		"another first": {[]Message{messageAt(1), published}, 0, 2},
	} {
		s := subscriber{deliveries: newTally(2)}
		for _, m := range c.messages {
			s.take(m)
		}
		if got, wrong := s.deliveries.got.Load(), s.deliveries.wrong.Load(); got != c.got || wrong != c.wrong {
			t.Errorf("%s: %d counted, %d wrong, want %d and %d", name, got, wrong, c.got, c.wrong)
		}
	}
}
