package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/lab/table"
)

// small is a plan that every contender carries out in about a second.
var small = plan{rounds: 1, messages: 3000, processes: 300, duration: 20 * time.Millisecond, patience: 30 * time.Second}

func TestEveryContenderDeliversAll(t *testing.T) {
	for _, s := range scenarios() {
		for _, c := range contenders() {
			if !c.has(s.name) {
				continue
			}
			t.Run(s.name+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				result, err := runOnce(t.Context(), s, small.order(s.name, c), small.patience)
				if err != nil {
					t.Fatal(err)
				}
				if s.name == remoteNN && strings.HasPrefix(c.name, "ergo") {
					result.Faults.Disorder = 0 // with 6 CPUs or more its pool is still being filled: see startErgo
				}
				if result.Faults != (faults{}) || len(result.Problems) > 0 {
					t.Errorf("faults: %s, problems: %q", result.Faults, result.Problems)
				}
				if len(result.Figures) != len(s.columns) {
					t.Fatalf("%d figures for %d columns", len(result.Figures), len(s.columns))
				}
				if s.name != memory && result.Figures[0] <= 0 { // few processes may weigh less than what a collection frees
					t.Errorf("%s is %v", s.columns[0].name, result.Figures[0])
				}
			})
		}
	}
}

func TestEachScenarioHasContendersAndOneOursAtMost(t *testing.T) {
	for _, s := range scenarios() {
		var all, ours int
		for _, c := range contenders() {
			if c.has(s.name) {
				all++
				if c.ours {
					ours++
				}
			}
		}
		if all < 4 || ours > 1 {
			t.Errorf("%s: %d contenders, %d of them ours", s.name, all, ours)
		}
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

func TestARunThatLosesMessagesHasNoRate(t *testing.T) {
	o := order{Pairs: 2, Messages: 500}
	if got := o.perSecond(time.Second, faults{}); got != 1000 {
		t.Errorf("2 x 500 messages in a second: %v per second", got)
	}
	if got := o.perSecond(time.Second, faults{Lost: 1}); got != 0 {
		t.Errorf("with one lost: %v per second", got)
	}
	g := group{scenario: scenarios()[0]}
	g.add(outcome{Figures: []float64{0}, Faults: faults{Lost: 16}, Problems: []string{"the queue is full"}}, nil)
	if len(g.outcomes) != 0 || len(g.failures) != 1 || !strings.Contains(g.failures[0], "16 lost; the queue is full") {
		t.Errorf("outcomes %v, failures %q", g.outcomes, g.failures)
	}
}

func TestTablesSayHowManyTimesBetterOursIs(t *testing.T) {
	rate := scenario{name: "rate", columns: []column{{name: "messages/s", write: table.Count}}}
	cost := scenario{name: "cost", columns: []column{{name: "bytes each", write: table.Count, less: true}}}
	for _, s := range []scenario{rate, cost} {
		ours := &group{scenario: s, contender: contender{name: "sabir", ours: true}, outcomes: []outcome{{Figures: []float64{200}}}}
		peer := &group{scenario: s, contender: contender{name: "peer"}, outcomes: []outcome{{Figures: []float64{100}}, {Figures: []float64{300}}, {Figures: []float64{400}}}}
		gone := &group{scenario: s, contender: contender{name: "gone"}, failures: []string{"it ended"}}
		var out bytes.Buffer
		if err := writeTable(&out, small, s, []*group{ours, peer, gone}); err != nil {
			t.Fatal(err)
		}
		want := "0.667x" // 200 a second against 300
		if s.name == "cost" {
			want = "1.50x" // 200 bytes against 300
		}
		for _, part := range []string{want, "3/3", "0/1", "! gone: it ended"} {
			if !strings.Contains(out.String(), part) {
				t.Errorf("%s: no %q in\n%s", s.name, part, out.String())
			}
		}
	}
}

func TestOnlyTakesScenariosAndContenders(t *testing.T) {
	for _, c := range []struct {
		list                  string
		scenarios, contenders int
	}{
		{"", len(scenarios()), len(contenders())},
		{"local-1-1", 1, len(contenders())},
		{"ergo", len(scenarios()), 1},
		{"remote,ergo,go channels", 4, 2},
	} {
		gotScenarios, gotContenders, err := choose(c.list)
		if err != nil || len(gotScenarios) != c.scenarios || len(gotContenders) != c.contenders {
			t.Errorf("%q: %d scenarios, %d contenders, %v; want %d and %d", c.list, len(gotScenarios), len(gotContenders), err, c.scenarios, c.contenders)
		}
	}
	if _, _, err := choose("akka"); err == nil || !strings.Contains(err.Error(), "akka") {
		t.Errorf("an unknown name: %v", err)
	}
}

func TestFlagsThatMeanNothingAreRefused(t *testing.T) {
	for _, args := range [][]string{{"-rounds", "0"}, {"-messages", "2"}, {"-processes", "0"}, {"-duration", "1ms"}, {"ergo"}, {"-only", "akka"}} {
		if _, err := planOf(args, io.Discard); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}
