package report

import (
	"math"
	"testing"

	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/table"
)

func TestFiguresAreWrittenInTheirUnit(t *testing.T) {
	for _, c := range []struct {
		unit  bench.Unit
		value float64
		want  string
	}{
		{bench.PerSecond, 12345, "12 345"}, {bench.PerSecond, 12.345, "12.3"}, {bench.PerSecond, 0, "0"}, {bench.PerSecond, 1e300, "1e+300"},
		{bench.Count, 3, "3"}, {bench.Count, 2.5, "2.50"}, {bench.Count, 1000000, "1 000 000"}, {bench.Count, 999.7, "1 000"}, {bench.Count, -1234, "-1 234"},
		{bench.Duration, 583, "583 ns"}, {bench.Duration, 58.31, "58.3 ns"}, {bench.Duration, 1234, "1.23 µs"}, {bench.Duration, 4.56e6, "4.56 ms"}, {bench.Duration, 12e9, "12.0 s"},
		{bench.Duration, 999.4, "999 ns"}, {bench.Duration, 999.7, "1.00 µs"}, {bench.Duration, 999999, "1.00 ms"}, {bench.Duration, 0, "0 ns"}, {bench.Duration, 0.004, "0.004 ns"},
		{bench.Duration, 9999, "10.0 µs"}, {bench.Duration, 5000e9, "5 000 s"},
		{bench.Bytes, 677, "677 B"}, {bench.Bytes, 24.1e6, "24.1 MB"}, {bench.Bytes, 1234, "1.23 kB"}, {bench.Bytes, 12.5, "12.5 B"}, {bench.Bytes, 0, "0 B"},
		{bench.Percent, 12.34, "12.3 %"}, {bench.Percent, 100, "100 %"},
	} {
		if got := figureText(c.unit, c.value); got != c.want {
			t.Errorf("%v as %s is %q, want %q", c.value, c.unit, got, c.want)
		}
	}
}

func TestRangesShareAUnitWhereTheyAreNear(t *testing.T) {
	for _, c := range []struct {
		unit     bench.Unit
		min, max float64
		want     string
	}{
		{bench.PerSecond, 1.2e6, 1.25e6, "1.20–1.25 M"}, {bench.PerSecond, 950, 1020, "0.950–1.02 k"}, {bench.Duration, 571, 602, "571–602 ns"}, {bench.Duration, 980, 1.2e6, "980 ns–1.20 ms"},
		{bench.Count, 2, 4, "2.00–4.00"}, {bench.Bytes, 0, 5e6, "0 B–5.00 MB"}, {bench.Duration, 7, 7, ""}, {bench.Count, -3, 4, "-3.00–4.00"},
	} {
		if got := rangeText(c.unit, table.Spread{Median: c.min, Min: c.min, Max: c.max}); got != c.want {
			t.Errorf("from %v to %v is %q, want %q", c.min, c.max, got, c.want)
		}
	}
}

func TestHalfOfTheRangeInPercent(t *testing.T) {
	for want, s := range map[string]table.Spread{
		"±3%": {Median: 100, Min: 97, Max: 103}, "": {Median: 5, Min: 5, Max: 5}, "±50%": {Median: -2, Min: -3, Max: -1},
	} {
		if got := aroundText(s); got != want {
			t.Errorf("%v is %q, want %q", s, got, want)
		}
	}
}

func TestRatiosHaveAboutThreeDigits(t *testing.T) {
	for value, want := range map[float64]string{0.816: "0.82x", 1: "1.00x", 12.34: "12.3x", 9.999: "10.0x", 99.99: "100x", 1234.5: "1 234x", 0.0941: "0.094x", 0.03: "0.030x", 0.00071: "0.00071x", 0: "0.00x"} {
		if got := ratioText(value); got != want {
			t.Errorf("%v is %q, want %q", value, got, want)
		}
	}
	if got := ratioText(math.NaN()) + ratioText(math.Inf(1)); got != "" {
		t.Errorf("what is no ratio is %q", got)
	}
}

func TestForeignLoadIsMarked(t *testing.T) {
	quiet := bench.RowResult{Rounds: []bench.Round{{Foreign: 1}, {Foreign: bench.MuchForeign}, {Foreign: 90}}}
	loud := bench.RowResult{Rounds: []bench.Round{{Foreign: 1}, {Foreign: bench.MuchForeign + 1}, {Foreign: 90}}}
	if got := marked(quiet, "5") + " " + marked(loud, "5"); got != "5 ~5" {
		t.Errorf("got %q", got)
	}
}
