package main

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/brokers"

	"github.com/sabir-go/sabir/lab/child"
)

// orderFor is an order as the tables have it.
func orderFor(t *testing.T, row, name string) child.Order {
	o := child.Order{Row: row, Work: name, Size: 5}
	switch name {
	case "cache redis", "set-get redis":
		o.Address = brokers.ForTest(t, brokers.Redis).URL()
	case "events":
		o.Extra = json.RawMessage(`{"pattern": "user.*", "payload": true}`)
	}
	if name == "set-get redis" || name == "set-get memory" || name == "clone without" || name == "clone with" {
		o.Extra = json.RawMessage(`{"users": [{"id": 1, "name": "Ada"}, {"id": 2, "name": "Grace"}]}`)
	}
	return o
}

func TestEveryContenderDoesEachOfItsWorksWithoutAWrongAnswer(t *testing.T) {
	for row, works := range contenders {
		for name := range works {
			t.Run(row+" "+name, func(t *testing.T) {
				job, err := start(orderFor(t, row, name))
				if err != nil {
					t.Fatal(err)
				}
				if job.Stop != nil {
					defer job.Stop()
				}
				for range 2 { // what is counted over measurements must fit after the second too
					s, err := job.Measure(time.Millisecond)
					if err != nil || s.Wrong > 0 || s.Operations == 0 {
						t.Fatalf("%d operations, %d wrong, %q, %v", s.Operations, s.Wrong, s.Problem, err)
					}
				}
			})
		}
	}
}

func TestAnUnknownWorkIsAnErrorThatNamesIt(t *testing.T) {
	for _, o := range []child.Order{{Row: "sabir", Work: "juggling"}, {Row: "nobody", Work: "call"}} {
		if _, err := start(o); err == nil {
			t.Errorf("%v starts", o)
		}
	}
}

func TestChecksFindWrongAnswers(t *testing.T) {
	none := new(tally)
	skipping := 0
	for name, do := range map[string]func(int) error{
		"a sum that is one too high":    sums(func(in Pair) (int, error) { return in.A + in.B + 1, nil }),
		"a number that comes twice":     counting(func() (int, error) { return 1, nil }),
		"a middleware that did not run": passing(func(int) error { return nil }, &skipping, 1),
		"an age that should have failed": ages(true, func(_ string, age int) (int, error) { return age + 1, nil },
			func(error) bool { return true }),
		"another error":               ages(true, func(string, int) (int, error) { return 0, errAge }, func(error) bool { return false }),
		"an answer of another id":     askingEach(func(Question) (Text, error) { return Text{}, nil }, nil, false),
		"a handler that ran again":    askingEach(func(in Question) (Text, error) { return texts()[in.ID], nil }, new(int), true),
		"an event without delivery":   none.events(1, false, func(int) error { return nil }),
		"an event of another handler": new(heard).events(3, false, func(string, UserCreated) error { return nil }),
		"an action of another number": sumsAmong(3, func(_ int, in Pair) (int, error) { return in.A, nil }),
		"a payload that was lost": none.events(1, true, func(int) error {
			none.take(0)
			return nil
		}),
	} {
		if do(2) == nil {
			t.Errorf("%s is not found", name)
		}
	}
}
