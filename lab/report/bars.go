package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/sabir-go/sabir/lab/bench"
)

// How a bar chart is laid out, in pixels. Lengths are in percent of its width, so that it fits a phone with letters as large as
// elsewhere.
const (
	barStep   = 27 // from one row to the next
	barName   = 10 // from a row's top to the base line of its name
	barTop    = 14 // from a row's top to its bar
	barHeight = 7
	axisFoot  = 18
)

// manifold is the ratio of the greatest to the least from where on an axis is logarithmic.
const manifold = 50

// mostSpan is the ratio of an axis' ends that suffices; what is less has no bar.
const mostSpan = 1e12

// axis places figures between 0 and 1.
type axis struct {
	low, high   float64
	logarithmic bool
}

// axisOf the figures of rows with their spreads; ok is false where there is nothing to see.
func axisOf(rows []row) (a axis, ok bool) {
	least := math.Inf(1)
	for _, r := range rows {
		if r.figure.Median > 0 {
			least = min(least, r.figure.Median)
		}
		a.high = max(a.high, r.figure.Median, r.figure.Max)
	}
	if math.IsInf(least, 1) {
		return a, false
	}
	if a.high/least > manifold {
		a.logarithmic = true
		a.low = math.Pow(10, math.Floor(math.Log10(max(least/2, a.high/mostSpan))))
	}
	return a, a.high > a.low
}

func (a axis) place(v float64) float64 {
	if !a.logarithmic {
		return clamp(v / a.high)
	}
	if v <= a.low {
		return 0
	}
	return clamp(math.Log(v/a.low) / math.Log(a.high/a.low))
}

func clamp(share float64) float64 { return min(max(share, 0), 1) }

// ticks are four to six round figures, or the powers of ten.
func (a axis) ticks() []float64 {
	var all []float64
	if a.logarithmic {
		decades := math.Log10(a.high / a.low)
		for step, power := math.Ceil(decades/5), 0.0; power <= decades; power += step {
			all = append(all, a.low*math.Pow(10, power))
		}
		return all
	}
	step := roundStep(a.high / 4)
	for i := range 8 {
		if v := float64(i) * step; v <= a.high {
			all = append(all, v)
		}
	}
	return all
}

// roundStep is the greatest of 1, 2 and 5 times a power of ten that is not above v.
func roundStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{5, 2} {
		if m*power <= v {
			return m * power
		}
	}
	return power
}

// barChart draws the first column of a group as SVG: a bar for each row with a figure, and a line from its least to its greatest.
// It is "" for fewer than two rows.
func barChart(g *group, name string) string {
	var rows []row
	for _, r := range g.rows {
		if r.known {
			rows = append(rows, r)
		}
	}
	a, ok := axisOf(rows)
	if !ok || len(rows) < 2 {
		return ""
	}
	var out strings.Builder
	foot := len(rows) * barStep
	fmt.Fprintf(&out, `<svg class="bars" role="img" width="100%%" height="%d"><title>%s</title><desc>%s</desc>`, foot+axisFoot,
		escape(name), escape(inOrder(g, rows)))
	for _, tick := range a.ticks() {
		x := percent(a.place(tick))
		fmt.Fprintf(&out, `<line class="g" x1="%s" x2="%s" y2="%d"/><text class="t%s" x="%s" y="%d">%s</text>`, x, x, foot,
			anchorOf(a.place(tick)), x, foot+13, unbroken(tickText(g.column.Unit, tick)))
	}
	for i, r := range rows {
		y := i * barStep
		fmt.Fprintf(&out, `<text class="%s" y="%d">%s</text><text class="v" x="100%%" y="%d">%s</text><rect class="%s" y="%d" width="%s" height="%d"/>`,
			kindOf(r.RowResult), y+barName, escape(shortened(r.Name, 36)), y+barName,
			unbroken(marked(r.RowResult, shortText(g.column.Unit, r.figure.Median))),
			kindOf(r.RowResult), y+barTop, percent(a.place(r.figure.Median)), barHeight)
		out.WriteString(whisker(a, r, y+barTop))
	}
	out.WriteString("</svg>")
	return out.String()
}

// whisker is a line from the least to the greatest, with ends; "" where it would be a dot.
func whisker(a axis, r row, y int) string {
	const visible = 0.004
	low, high := a.place(r.figure.Min), a.place(r.figure.Max)
	if high-low < visible {
		return ""
	}
	x1, x2 := percent(low), percent(high)
	return fmt.Sprintf(`<line class="w" x1="%s" x2="%s" y1="%d.5" y2="%d.5"/><line class="w" x1="%s" x2="%s" y1="%d" y2="%d"/>`+
		`<line class="w" x1="%s" x2="%s" y1="%d" y2="%d"/>`, x1, x2, y+3, y+3, x1, x1, y+1, y+6, x2, x2, y+1, y+6)
}

// inOrder describes a bar chart in words, for screen readers.
func inOrder(g *group, rows []row) string {
	var all []string
	for _, r := range rows {
		all = append(all, r.Name+" "+shortText(g.column.Unit, r.figure.Median))
	}
	return strings.Join(all, ", ")
}

// kindOf is a row's class: o for Sabir, l for limits, p for peers.
func kindOf(r bench.RowResult) string {
	switch {
	case r.Limit:
		return "l"
	case r.Ours:
		return "o"
	}
	return "p"
}

// anchorOf keeps the labels of an axis within its ends.
func anchorOf(place float64) string {
	switch {
	case place < 0.05:
		return ""
	case place > 0.95:
		return " v"
	}
	return " m"
}

func percent(share float64) string {
	return strconv.FormatFloat(math.Round(share*1000)/10, 'f', -1, 64) + "%"
}

// shortened is a name of no more than so many letters.
func shortened(name string, most int) string {
	if letters := []rune(name); len(letters) > most {
		return string(letters[:most-1]) + "…"
	}
	return name
}
