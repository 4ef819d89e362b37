package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sabir-go/sabir/lab/bench"
)

// How a chart of latencies is laid out.
const (
	chartWidth  = 440
	chartHeight = 250
	chartLeft   = 50  // the labels of the latencies
	chartRight  = 145 // the names of the lines
	chartTop    = 8
	chartFoot   = 34 // the labels of the percentiles
	labelStep   = 14 // from one name to the next
	mostPeers   = 4  // with lines of their own
	lastShare   = 5  // where the greatest stands: behind 99.99 %, which is at 4
)

// curve is one line of a chart of latencies.
type curve struct {
	name, class string
	points      []bench.Quantile
}

// curvesOf are Sabir's latencies, those of the best peers, and those of the limit; of rows that have some.
func curvesOf(g *group) []curve {
	var all []curve
	ours, limits, peers := 0, 0, 0
	for _, r := range g.rows {
		points := upperHalf(r.Quantiles)
		if !r.known || len(points) < 2 {
			continue
		}
		switch {
		case r.Limit:
			if limits++; limits == 1 {
				all = append(all, curve{r.Name, "cl", points})
			}
		case r.Ours:
			if ours++; ours == 1 {
				all = append(all, curve{r.Name, "co", points})
			}
		default:
			if peers++; peers <= mostPeers {
				all = append(all, curve{r.Name, "c" + strconv.Itoa(peers), points})
			}
		}
	}
	return all
}

// upperHalf are the quantiles from the median on that a logarithmic axis can show, in order.
func upperHalf(all []bench.Quantile) []bench.Quantile {
	var kept []bench.Quantile
	for _, q := range all {
		if q.Share >= 0.5 && q.Share <= 1 && q.Latency > 0 {
			kept = append(kept, q)
		}
	}
	slices.SortStableFunc(kept, func(a, b bench.Quantile) int { return cmp.Compare(a.Share, b.Share) })
	return kept
}

// latencyChart draws latencies over percentiles as SVG, both on logarithmic axes; "" where there are none.
func latencyChart(g *group, name string) string {
	curves := curvesOf(g)
	if len(curves) == 0 {
		return ""
	}
	low, high := math.Inf(1), 0.0
	for _, c := range curves {
		for _, q := range c.points {
			low, high = min(low, float64(q.Latency)), max(high, float64(q.Latency))
		}
	}
	low, high = below(low), above(high)
	y := func(ns float64) float64 {
		return chartTop + (chartHeight-chartTop-chartFoot)*(1-math.Log(ns/low)/math.Log(high/low))
	}
	var out strings.Builder
	fmt.Fprintf(&out, `<svg class="lat" role="img" viewBox="0 0 %d %d"><title>%s</title><desc>%s</desc>`, chartWidth, chartHeight,
		escape(name), escape(described(curves)))
	for _, tick := range latencyTicks(low, high) {
		fmt.Fprintf(&out, `<path class="g" d="M%d %sH%d"/><text class="v" x="%d" y="%s">%s</text>`, chartLeft, coordinate(y(tick)),
			chartWidth-chartRight, chartLeft-6, coordinate(y(tick)+4), unbroken(tickText(bench.Duration, tick)))
	}
	for _, share := range []float64{.5, .9, .99, .999, .9999, 1} {
		label := strconv.FormatFloat(share*100, 'g', -1, 64)
		if share == 1 {
			label = "max"
		}
		fmt.Fprintf(&out, `<text class="m" x="%s" y="%d">%s</text>`, coordinate(shareAt(share)), chartHeight-chartFoot+16, label)
	}
	out.WriteString(curveLines(curves, y))
	out.WriteString("</svg>")
	return out.String()
}

// curveLines draws the curves, and their names where they end; names that would overlap are moved apart. Sabir's comes last, on top.
func curveLines(curves []curve, y func(float64) float64) string {
	byEnd := slices.Clone(curves)
	slices.SortStableFunc(byEnd, func(a, b curve) int { return cmp.Compare(endOf(b), endOf(a)) })
	at := make([]float64, len(byEnd))
	for i, c := range byEnd {
		at[i] = y(float64(endOf(c)))
		if i > 0 {
			at[i] = max(at[i], at[i-1]+labelStep)
		}
	}
	most := float64(chartHeight - chartFoot)
	for i := len(at) - 1; i >= 0; i-- {
		at[i] = min(at[i], most)
		most = at[i] - labelStep
	}
	var out, ours strings.Builder
	const right = chartWidth - chartRight
	for i, c := range byEnd {
		line := &out
		if c.class == "co" {
			line = &ours
		}
		fmt.Fprintf(line, `<path class="%s" d="%s"/><path class="k %s" d="M%d %sL%d %s"/><text class="n%s" x="%d" y="%s">%s</text>`, c.class,
			path(c.points, y), c.class, right+1, coordinate(y(float64(endOf(c)))), right+14, coordinate(at[i]), strings.TrimPrefix(c.class, "c"),
			right+18, coordinate(at[i]+4), escape(shortened(c.name, 21)))
	}
	return out.String() + ours.String()
}

func endOf(c curve) int64 { return int64(c.points[len(c.points)-1].Latency) }

func path(points []bench.Quantile, y func(float64) float64) string {
	var out strings.Builder
	for i, q := range points {
		mark := "L"
		if i == 0 {
			mark = "M"
		}
		out.WriteString(mark + coordinate(shareAt(q.Share)) + " " + coordinate(y(float64(q.Latency))))
	}
	return out.String()
}

// shareAt returns the position of a percentile on the axis: each further nine takes as much width as the one before.
func shareAt(share float64) float64 {
	first := -math.Log10(0.5)
	at := float64(lastShare)
	if share < 1 {
		at = min(-math.Log10(1-share), lastShare)
	}
	return chartLeft + (chartWidth-chartLeft-chartRight-2)*(at-first)/(lastShare-first)
}

// below and above are the nearest of 1, 2 and 5 times a power of ten.
func below(v float64) float64 { return roundStep(v) }

func above(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{2, 5, 10} {
		if m*power > v {
			return m * power
		}
	}
	return 20 * power
}

// latencyTicks are powers of ten, with 2 and 5 times them where there are few.
func latencyTicks(low, high float64) []float64 {
	steps := []float64{1}
	if high/low <= 1000 {
		steps = []float64{1, 2, 5}
	}
	var all []float64
	const sameness = 1.0001 // powers are not exact
	for power := math.Pow(10, math.Floor(math.Log10(low))); power <= high*sameness; power *= 10 {
		for _, m := range steps {
			if v := m * power; v*sameness >= low && v <= high*sameness {
				all = append(all, v)
			}
		}
	}
	return all
}

// described describes a chart of latencies in words, for screen readers.
func described(curves []curve) string {
	var all []string
	for _, c := range curves {
		text := c.name
		for _, q := range c.points {
			if q.Share == 0.5 || q.Share == 0.99 || q.Share == 1 {
				text += fmt.Sprintf(" %s %s", shareName(q.Share), durationText(float64(q.Latency)))
			}
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

func shareName(share float64) string {
	if share == 1 {
		return "max"
	}
	return "p" + strconv.FormatFloat(share*100, 'g', 4, 64)
}

func coordinate(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }
