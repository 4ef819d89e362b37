package report

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/lab/bench"
)

func TestSabirIsComparedWithItsBestPeer(t *testing.T) {
	const reason = "it crashed"
	for name, c := range map[string]struct {
		table   bench.TableResult
		verdict verdict
		peer    string
		ratio   float64
	}{
		"faster":                     {rates(contender("", "Sabir", 200), contender("", "a", 50), contender("", "b", 100)), first, "b", 2},
		"slower":                     {rates(contender("", "Sabir", 50), contender("", "a", 100)), behind, "a", 0.5},
		"less is better: less":       {times(contender("", "Sabir", 50), contender("", "a", 100), contender("", "b", 200)), first, "a", 2},
		"less is better: more":       {times(contender("", "Sabir", 400), contender("", "a", 100)), behind, "a", 0.25},
		"one round, 20 % faster":     {rates(contender("", "Sabir", 120), contender("", "a", 100)), tied, "a", 1.2},
		"one round, 30 % faster":     {rates(contender("", "Sabir", 130), contender("", "a", 100)), first, "a", 1.3},
		"one round, 20 % slower":     {rates(contender("", "Sabir", 100), contender("", "a", 120)), tied, "a", 100.0 / 120},
		"always a little faster":     {rates(contender("", "Sabir", 101, 102, 103), contender("", "a", 100, 100, 100)), first, "a", 1.02},
		"always a little slower":     {rates(contender("", "Sabir", 100, 100, 100), contender("", "a", 103, 102, 101)), behind, "a", 100.0 / 102},
		"now faster, now slower":     {rates(contender("", "Sabir", 80, 120, 140), contender("", "a", 100, 100, 100)), tied, "a", 1.2},
		"the machine doubles":        {rates(contender("", "Sabir", 110, 220, 55), contender("", "a", 100, 200, 50)), first, "a", 1.1},
		"rounds of one row only":     {rates(contender("", "Sabir", 110, 110, 110, 9, 9), contender("", "a", 100, 100, 100)), first, "a", 1.1},
		"limits are no peers":        {rates(contender("", "Sabir", 50), contender("", "raw", 100), contender("", "a", 10)), first, "a", 5},
		"failed rows are no peers":   {rates(contender("", "Sabir", 50), contender("", "a", 10), failed("", "b", reason)), first, "a", 5},
		"the first row of Sabir":     {rates(contender("", "Sabir", 50), contender("", "Sabir, other", 500), contender("", "a", 100)), behind, "a", 0.5},
		"no peer":                    {rates(contender("", "Sabir", 50), contender("", "raw", 100)), none, "", math.NaN()},
		"only a failed peer":         {rates(contender("", "Sabir", 50), failed("", "a", reason)), none, "", math.NaN()},
		"no row of Sabir":            {rates(contender("", "a", 50), contender("", "raw", 100)), none, "a", math.NaN()},
		"Sabir failed":               {rates(failed("", "Sabir", reason), contender("", "a", 50)), absent, "a", math.NaN()},
		"only another Sabir ran":     {rates(failed("", "Sabir", reason), contender("", "Sabir, other", 500), contender("", "a", 50)), absent, "a", math.NaN()},
		"Sabir has no figure":        {rates(contender("", "Sabir"), contender("", "a", 50)), absent, "a", math.NaN()},
		"a peer without a figure":    {rates(contender("", "Sabir", 50), contender("", "a"), contender("", "b", 10)), first, "b", 5},
		"a figure that is no number": {rates(contender("", "Sabir", 50), contender("", "a", math.NaN()), contender("", "b", math.Inf(1)), contender("", "c", 25)), first, "c", 2},
		"nothing at all is needed":   {times(contender("", "Sabir", 0), contender("", "a", 50)), first, "a", math.NaN()},
		"a peer needs nothing":       {times(contender("", "Sabir", 50), contender("", "a", 0)), behind, "a", 0},
		"both need nothing":          {times(contender("", "Sabir", 0), contender("", "a", 0)), tied, "a", math.NaN()},
	} {
		groups := groupsOf(c.table)
		if len(groups) != 1 {
			t.Fatalf("%s: %d groups", name, len(groups))
		}
		g := groups[0]
		if g.verdict != c.verdict {
			t.Errorf("%s: verdict %v, want %v", name, g.verdict, c.verdict)
		}
		if peer := nameOf(g.peer); peer != c.peer {
			t.Errorf("%s: the best peer is %q, want %q", name, peer, c.peer)
		}
		if math.IsNaN(g.ratio) != math.IsNaN(c.ratio) || math.Abs(g.ratio-c.ratio) > 1e-9 {
			t.Errorf("%s: ratio %v, want %v", name, g.ratio, c.ratio)
		}
	}
}

func nameOf(r *row) string {
	if r == nil {
		return ""
	}
	return r.Name
}

func TestRowsAreRankedWithLimitsAtTheEnd(t *testing.T) {
	rows := []bench.RowResult{contender("", "raw slow", 500), failed("", "raw failed", "x"), contender("", "slow", 1), failed("", "failed", "x"), contender("", "Sabir", 3),
		contender("", "raw fast", 900), contender("", "fast", 7), contender("", "as fast", 7)}
	for name, c := range map[string]struct {
		table bench.TableResult
		want  []string
	}{
		"more is better": {rates(rows...), []string{"fast", "as fast", "Sabir", "slow", "failed", "raw fast", "raw slow", "raw failed"}},
		"less is better": {times(rows...), []string{"slow", "Sabir", "fast", "as fast", "failed", "raw slow", "raw fast", "raw failed"}},
	} {
		var got []string
		g := groupsOf(c.table)[0]
		for _, r := range g.rows {
			got = append(got, r.Name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if g.limit.Name != c.want[5] {
			t.Errorf("%s: the limit is %s, want %s", name, g.limit.Name, c.want[5])
		}
	}
}

func TestGroupsKeepTheirOrder(t *testing.T) {
	var got []string
	for _, g := range groupsOf(rates(contender("z", "Sabir", 1), contender("a", "Sabir", 1), contender("z", "b", 1), contender("", "b", 1))) {
		got = append(got, g.Name)
	}
	if want := []string{"z", "a", ""}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestATableWithoutColumnsRanksNothing(t *testing.T) {
	table := rates(contender("", "Sabir", 1), contender("", "a", 2))
	table.Columns = nil
	if g := groupsOf(table)[0]; g.verdict != none || g.peer != nil {
		t.Errorf("verdict %v, peer %v", g.verdict, g.peer)
	}
}

func TestVerdictsInWords(t *testing.T) {
	for want, table := range map[string]bench.TableResult{
		"Sabir is first, 2.00x of a, 0.20x of the limit (raw).": rates(contender("", "Sabir", 100), contender("", "a", 50), contender("", "raw", 500)),
		"A tie: Sabir 1.01x of a.":                              rates(contender("", "Sabir", 101), contender("", "a", 100)),
		"Sabir is behind, 0.50x of a.":                          times(contender("", "Sabir", 100), contender("", "a", 50)),
		"Sabir has no figure here: it hangs.":                   rates(failed("", "Sabir", "it hangs"), contender("", "a", 50)),
		"Sabir is first, beside a.":                             times(contender("", "Sabir", 0), contender("", "a", 50)),
		"There is nothing to compare.":                          rates(contender("", "a", 50)),
	} {
		if got := groupsOf(table)[0].words(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestALossSaysBothFigures(t *testing.T) {
	g := groupsOf(rates(contender("", "Sabir", 82000, 82000, 82000), contender("", "ProtoBuf", 100000, 100000, 100000)))[0]
	if got, want := g.loss(), "Sabir 0.82x (0.82x to 0.82x) of ProtoBuf (82 000/s against 100 000/s)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTheCauseOfALossIsTheGroupsOrTheTables(t *testing.T) {
	table := rates(contender("own", "Sabir", 1), contender("own", "a", 2), contender("other", "Sabir", 1), contender("other", "a", 2), contender("won", "Sabir", 2), contender("won", "a", 1))
	table.Why = map[string]string{"": "of the table", "own": "of the group", "won": "of no use"}
	for i, want := range []string{"of the group", "of the table", ""} {
		g := groupsOf(table)[i]
		if got := why(table, &g); got != want {
			t.Errorf("%s: %q, want %q", g.Name, got, want)
		}
	}
}

func TestATallyCountsEachGroupOnce(t *testing.T) {
	tally := tallyOf(groupsOf(rates(
		contender("won", "Sabir", 4), contender("won", "a", 1),
		contender("tie", "Sabir", 1), contender("tie", "a", 1),
		contender("lost", "Sabir", 1), contender("lost", "a", 2),
		failed("absent", "Sabir", "x"), contender("absent", "a", 1),
		contender("alone", "Sabir", 1))))
	if tally.First != 1 || tally.Tied != 1 || tally.Behind != 1 || tally.Absent != 1 || tally.None != 1 || tally.Compared() != 4 || tally.Lost() != 2 {
		t.Errorf("%+v", tally)
	}
	if tally.Median() != "1.00x" || tally.Worst() != "0.50x, lost" {
		t.Errorf("median %s, worst %s", tally.Median(), tally.Worst())
	}
	want := "Of 4 groups, Sabir is first in 1, ties with the best peer in 1, is behind in 1 and has no figure in 1; the median ratio to the best peer is 1.00x."
	if got := tally.words(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestATallyOfOneKindSaysAll(t *testing.T) {
	won := []bench.RowResult{contender("a", "Sabir", 4), contender("a", "x", 1)}
	for want, rows := range map[string][]bench.RowResult{
		"Sabir is first in the one group.":                                            won,
		"Sabir is first in all 2 groups; the median ratio to the best peer is 3.00x.": append(won[:2:2], contender("b", "Sabir", 2), contender("b", "x", 1)),
		"No group has both Sabir and a peer.":                                         nil,
	} {
		if got := tallyOf(groupsOf(rates(rows...))).words(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestARatioOfManyRoundsHasItsInterval(t *testing.T) {
	g := groupsOf(rates(contender("", "Sabir", 119, 125, 131), contender("", "a", 100, 100, 100)))[0]
	if got, want := g.words(), "Sabir is first, 1.25x (1.19x to 1.31x) of a."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEveryRatioBelowOneIsListedWithItsCause(t *testing.T) {
	table := rates(contender("tie", "Sabir", 90, 95, 105), contender("tie", "a", 100, 100, 100))
	table.Why = map[string]string{"tie": "it copies"}
	g := groupsOf(table)[0]
	if g.verdict != tied || !g.below() || why(table, &g) != "it copies" || !strings.HasPrefix(g.loss(), "a tie, Sabir 0.95x") {
		t.Errorf("verdict %v, below %v, why %q, %q", g.verdict, g.below(), why(table, &g), g.loss())
	}
}

func TestRoundsThatDifferTooMuchAreSaidToBeUncertain(t *testing.T) {
	for want, rows := range map[bool][]bench.RowResult{
		true:  {contender("", "Sabir", 80, 100, 110), contender("", "a", 100, 100, 100)},
		false: {contender("", "Sabir", 99, 100, 101), contender("", "a", 100, 100, 100)},
	} {
		if g := groupsOf(rates(rows...))[0]; g.uncertain() != want {
			t.Errorf("%v is uncertain: %v", g.interval, g.uncertain())
		}
	}
}

func TestTheShareOfForeignLoadIsItsNumber(t *testing.T) {
	if muchForeign != percentText(bench.MuchForeign/100.0) {
		t.Errorf("%s is not %v %%", muchForeign, bench.MuchForeign)
	}
}

func percentText(share float64) string { return figureText(bench.Count, share*100) + " %" }
