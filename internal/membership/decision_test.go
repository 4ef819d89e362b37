package membership

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

var decided = time.Unix(1_700_000_000, 0)

func version(after time.Duration) uint64 { return uint64(decided.Add(after).UnixNano()) }

func TestDecisionsAreTheSameInWhateverOrderTheyBecomeKnown(t *testing.T) {
	list := []Decision{
		{Drain: "a", Version: version(1), By: "a"},
		{Drain: "a", Ended: true, Version: version(2), By: "a"},
		{Drain: "a", Version: version(3), By: "b"},
		{Drain: "b", Version: version(1), By: "b"},
		{Drain: "b", Ended: true, Version: version(1), By: "c"}, // at the same time
		{Route: "users.get", Shares: []Share{{"v2", 5}}, Version: version(1), By: "a"},
		{Route: "users.get", Shares: []Share{{"v2", 50}}, Version: version(9), By: "a"},
		{Route: "users.*", Shares: []Share{{"track=canary", 10}}, Version: version(4), By: "b"},
	}
	var want *Decisions
	for range 50 {
		rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		var got *Decisions
		for _, one := range slices.Concat(list, list[:3]) {
			got, _ = got.With(decided, one)
		}
		if want == nil {
			want = got
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v and %+v", got, want)
		}
	}
	if !want.Drained("a") || want.Drained("b") || want.Drained("c") || len(want.Routes()) != 2 {
		t.Errorf("%+v", want)
	}
	if shares := want.Shares("v2.users.get", "users.get"); len(shares) != 1 || shares[0].Percent != 50 {
		t.Errorf("users.get: %+v", shares)
	}
	if shares := want.Shares("users.list"); len(shares) != 1 || shares[0].To != "track=canary" || want.Shares("orders.get") != nil {
		t.Errorf("users.list: %+v", shares)
	}
	if _, changed := want.With(decided, list...); changed {
		t.Error("what is known changes something")
	}
}

func TestADecisionIsNewerThanAllThatItsNodeKnows(t *testing.T) {
	d, _ := (*Decisions)(nil).With(decided, Decision{Drain: "a", Version: version(time.Hour), By: "z"}) // by a clock that is ahead
	next, changed := d.With(decided, Decision{Drain: "a", Ended: true, Version: d.Next(decided), By: "a"})
	if !changed || next.Drained("a") {
		t.Errorf("%+v", next)
	}
}

func TestWhatHasEndedIsForgottenAfterADay(t *testing.T) {
	ended := Decision{Drain: "a", Ended: true, Version: version(0), By: "a"}
	d, _ := (*Decisions)(nil).With(decided, ended)
	if old, changed := d.With(decided.Add(23*time.Hour), Decision{Drain: "a", Version: version(-1), By: "b"}); changed || old.Drained("a") {
		t.Errorf("an older decision came back: %+v", old)
	}
	if d, _ = d.With(decided.Add(25 * time.Hour)); len(d.All()) != 0 {
		t.Errorf("%+v", d)
	}
	if _, changed := d.With(decided.Add(25*time.Hour), ended); changed {
		t.Error("it came back from another node")
	}
}

func TestDecisionsAreBounded(t *testing.T) {
	var d *Decisions
	for i := range MaxDecisions + 10 {
		d, _ = d.With(decided, Decision{Drain: fmt.Sprint("n", i), Version: version(1), By: "a"})
	}
	if len(d.All()) != MaxDecisions || d.Has(Decision{Drain: fmt.Sprint("n", MaxDecisions), Version: version(1), By: "a"}) {
		t.Errorf("%d decisions", len(d.All()))
	}
	if d, _ = d.With(decided, Decision{Drain: "n0", Ended: true, Version: version(2), By: "a"}); d.Drained("n0") {
		t.Error("a known one cannot end")
	}
}

func TestDecisionsThatHaveEndedTakeNoSpaceOfThoseThatHold(t *testing.T) {
	var d *Decisions
	route := func(i int, ended bool) Decision {
		one := Decision{Route: fmt.Sprintf("x%d.get", i), Shares: []Share{{"v2", 5}}, Version: d.Next(decided), By: "a"}
		if ended {
			one.Shares, one.Ended = nil, true
		}
		return one
	}
	for i := range 3 * MaxEnded {
		for _, ended := range []bool{false, true} {
			one := route(i, ended)
			if d, _ = d.With(decided, one); !d.Has(one) {
				t.Fatalf("decision %d is refused, ended: %v", i, ended)
			}
		}
	}
	for i := range MaxDecisions {
		d, _ = d.With(decided, route(1000+i, false))
	}
	if ended := len(d.All()) - len(d.Routes()); len(d.Routes()) != MaxDecisions || ended != MaxEnded {
		t.Errorf("%d hold, %d have ended", len(d.Routes()), ended)
	}
	again := route(3*MaxEnded-1, false)
	if full, changed := d.With(decided, again); changed || full.Routed(again.Route) {
		t.Error("one that has ended holds again though there is no space")
	}
}

func TestTheOldestOfTooManyThatHaveEndedIsForgotten(t *testing.T) {
	ended := func(i int) Decision {
		return Decision{Drain: fmt.Sprint("n", i), Ended: true, Version: version(time.Duration(i)), By: "a"}
	}
	var all []Decision
	for i := range MaxEnded + 10 {
		all = append(all, ended(i))
	}
	want, _ := (*Decisions)(nil).With(decided, all...)
	for range 20 {
		rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		var got *Decisions
		for _, one := range all {
			got, _ = got.With(decided, one)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatal("it depends on the order in which they become known")
		}
	}
	if want.Has(ended(9)) || !want.Has(ended(10)) || len(want.All()) != MaxEnded {
		t.Errorf("%d are kept", len(want.All()))
	}
	if _, changed := want.With(decided, ended(9)); changed {
		t.Error("one that is forgotten and comes back from another node changes something: the two would tell each other for ever")
	}
}

func TestACatalogWithDecisionsThatCannotBeIsRefused(t *testing.T) {
	for want, d := range map[string]Decision{
		"":                             {Route: "users.*", Shares: []Share{{"v2", 5}}, Version: 1, By: "a"},
		"about a node or about names":  {Version: 1, By: "a"},
		"about a node or about  names": {Drain: "a", Route: "users.*", Version: 1, By: "a"},
		"the version of a decision":    {Drain: "a", Version: 1 << 63, By: "a"},
		"has a control character":      {Drain: "a\n", Version: 1, By: "a"},
		"the pattern \"a..b\"":         {Route: "a..b", Shares: []Share{{"v2", 5}}, Version: 1},
		"do not fit":                   {Route: "users.get", Version: 1},
		"do not  fit":                  {Drain: "a", Shares: []Share{{"v2", 5}}, Version: 1},
		"is no target":                 {Route: "users.get", Shares: []Share{{"x", 5}}, Version: 1},
		"longer than 256 bytes":        {Drain: "a", By: strings.Repeat("x", 300), Version: 1},
	} {
		text, err := json.Marshal(Catalog{Node: "a", Version: 1, Decisions: []Decision{d}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = ParseCatalog(text)
		want = strings.ReplaceAll(want, "  ", " ")
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", d, err, want)
		}
	}
	text, _ := json.Marshal(Catalog{Node: "a", Version: 1, Decisions: make([]Decision, MaxDecisions+MaxEnded+1)})
	if _, err := ParseCatalog(text); err == nil || !strings.Contains(err.Error(), "513 decisions") {
		t.Error(err)
	}
}

func TestADifferenceHasTheDecisions(t *testing.T) {
	old := Catalog{Node: "a", Version: 1}
	now := Catalog{Node: "a", Version: 2, Decisions: []Decision{{Drain: "b", Version: 7, By: "a"}}}
	difference, changed := now.Since(&old)
	if !changed {
		t.Fatal("nothing has changed")
	}
	got, err := old.With(&difference)
	if err != nil || !reflect.DeepEqual(got.Decisions, now.Decisions) {
		t.Errorf("%+v, %v", got, err)
	}
}

// Nobody says twice that a node is drained: it is for as long as nobody ends it, over a weekend too.
func TestADecisionThatHoldsIsNotForgottenAfterADay(t *testing.T) {
	made := time.Now()
	known, _ := (*Decisions)(nil).With(made, Decision{Drain: "a", Version: uint64(made.UnixNano()), By: "x"})
	later := made.Add(100 * keepEnded)
	known, _ = known.With(later, Decision{Drain: "b", Version: uint64(later.UnixNano()), By: "x"})
	if !known.Drained("a") || !known.Drained("b") {
		t.Errorf("after %v there are %+v", 100*keepEnded, known.All())
	}
	fresh, _ := (*Decisions)(nil).With(later, known.All()...) // a node that comes later
	if !fresh.Drained("a") {
		t.Error("a node that comes later does not learn of it")
	}
}
