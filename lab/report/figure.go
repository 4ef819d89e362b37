package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/table"
)

// missing stands where there is no figure.
const missing = "–"

// perSecond follows a rate where its column does not say so.
const perSecond = "/s"

// scale is a unit's parts: what a figure is divided by, and what follows it.
type scale struct {
	by   float64
	name string
}

var (
	durations = []scale{{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}}
	sizes     = []scale{{1, "B"}, {1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}}
	counts    = []scale{{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}}
)

// scalesOf a unit.
func scalesOf(u bench.Unit) []scale {
	switch u {
	case bench.Duration:
		return durations
	case bench.Bytes:
		return sizes
	case bench.Percent:
		return []scale{{1, "%"}}
	}
	return counts
}

// figureText writes a figure in its unit: 12 345, 1.23 µs, 24.1 MB, 12.3 %. Rates and counts are written in full.
func figureText(u bench.Unit, v float64) string {
	switch u {
	case bench.Duration, bench.Bytes, bench.Percent:
		return scaled(scalesOf(u), v)
	}
	if math.Abs(v) >= 999.5 || v == math.Trunc(v) {
		return number(v)
	}
	return digits(v)
}

// durationText writes nanoseconds.
func durationText(ns float64) string { return scaled(durations, ns) }

// shortText writes a figure with about three digits: 1.23 M, 583 ns.
func shortText(u bench.Unit, v float64) string { return scaled(scalesOf(u), v) }

// tickText writes a round figure as short as it can be: 2 M, 0.5 ms.
func tickText(u bench.Unit, v float64) string {
	s := suiting(scalesOf(u), v)
	return strings.TrimSuffix(strconv.FormatFloat(v/s.by, 'g', 3, 64)+" "+s.name, " ")
}

// scaled writes a figure with about three digits, in the part of the unit that suits it.
func scaled(scales []scale, v float64) string {
	s := suiting(scales, v)
	if s.by == 1 && s.name == "B" && v == math.Trunc(v) {
		return number(v) + " B"
	}
	return strings.TrimSuffix(digits(v/s.by)+" "+s.name, " ")
}

// suiting is the greatest part of which v has at least one, after rounding to three digits.
func suiting(scales []scale, v float64) scale {
	chosen := scales[0]
	for _, s := range scales[1:] {
		if math.Abs(v)/s.by >= 0.9995 {
			chosen = s
		}
	}
	return chosen
}

// rangeText writes the least and the greatest: 1.20–1.25 M, 571–602 ns, 980 ns–1.2 ms. It is "" where they are the same.
func rangeText(u bench.Unit, s table.Spread) string {
	if s.Min == s.Max {
		return ""
	}
	scales := scalesOf(u)
	part := suiting(scales, max(math.Abs(s.Min), math.Abs(s.Max)))
	const far = 100 // times, from where on each has a part of its own
	if s.Min < 0 || s.Min*far < s.Max {
		return scaled(scales, s.Min) + "–" + scaled(scales, s.Max)
	}
	return strings.TrimSuffix(digits(s.Min/part.by)+"–"+digits(s.Max/part.by)+" "+part.name, " ")
}

// aroundText writes half of what lies between the least and the greatest in percent of the median: ±3 %. It is "" where that says
// nothing.
func aroundText(s table.Spread) string {
	percent := s.Percent()
	if s.Min == s.Max || math.IsInf(percent, 0) || math.IsNaN(percent) {
		return ""
	}
	return fmt.Sprintf("±%.0f%%", math.Abs(percent))
}

// ratioText writes a ratio: 0.82x, 12.3x, 1 234x. It is "" for what is no ratio.
func ratioText(r float64) string {
	switch {
	case math.IsNaN(r) || math.IsInf(r, 0):
		return ""
	case r >= 99.95:
		return number(r) + "x"
	case r >= 9.995:
		return strconv.FormatFloat(r, 'f', 1, 64) + "x"
	case r >= 0.0995 || r == 0:
		return strconv.FormatFloat(r, 'f', 2, 64) + "x"
	case r >= 0.00995:
		return strconv.FormatFloat(r, 'f', 3, 64) + "x"
	}
	return strconv.FormatFloat(r, 'g', 2, 64) + "x"
}

// digits is table.Digits without the digit that rounding up can add, and with at least two of what is small.
func digits(v float64) string {
	size := math.Abs(v)
	for _, next := range []float64{1, 10, 100} {
		if size >= next*0.9995 && size < next {
			return table.Digits(math.Copysign(next, v))
		}
	}
	switch {
	case size == 0:
		return "0"
	case size < 0.00995:
		return strconv.FormatFloat(v, 'g', 2, 64)
	case size >= 999.5:
		return number(v)
	}
	return table.Digits(v)
}

// number is table.Count; what is beyond its use is written with an exponent.
func number(v float64) string {
	if math.Abs(v) >= 1e15 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return table.Count(v)
}

// marked puts ~ before a figure during which others took much of the machine.
func marked(r bench.RowResult, text string) string {
	if r.Foreign() > bench.MuchForeign {
		return "~" + text
	}
	return text
}

// unbroken has spaces at which no line breaks, for figures in a page.
func unbroken(text string) string { return strings.ReplaceAll(text, " ", "\u202f") }
