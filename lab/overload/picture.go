package overload

import (
	"bytes"
	"fmt"
	"math"
	"time"
)

const (
	width, height                         = 640, 320
	marginLeft, marginRight               = 60, 20
	marginTop, marginBottom               = 20, 70
	plotWidth, plotHeight         float64 = width - marginLeft - marginRight, height - marginTop - marginBottom
	lowestOffered, highestOffered         = 0.5, 10.0
)

var colours = []string{"#0b74c4", "#d9730d"}

// draw draws the curves as an SVG: what was answered in time, over what was asked for, both in capacities.
func draw(curves []Curve, deadline time.Duration) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="Answers in time, of what was asked for">`+"\n", width, height)
	b.WriteString(`<style>text{font:12px system-ui,sans-serif;fill:#333}.grid{stroke:#ccc}.ideal{stroke:#888;stroke-dasharray:4 4;fill:none}` +
		`@media(prefers-color-scheme:dark){text{fill:#ddd}.grid{stroke:#444}}</style>` + "\n")
	for _, share := range []float64{0, 0.25, 0.5, 0.75, 1} {
		y := yOf(share)
		fmt.Fprintf(&b, `<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text x="%d" y="%.1f" text-anchor="end">%.0f %%</text>`+"\n",
			marginLeft, width-marginRight, y, y, marginLeft-8, y+4, 100*share)
	}
	for _, offered := range []float64{0.5, 1, 2, 3, 5, 10} {
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">%gx</text>`+"\n", xOf(offered), height-marginBottom+18, offered)
	}
	fmt.Fprintf(&b, `<polyline class="ideal" points="%.1f,%.1f %.1f,%.1f %.1f,%.1f"/>`+"\n", xOf(lowestOffered), yOf(lowestOffered), xOf(1), yOf(1), xOf(highestOffered), yOf(1))
	for i, c := range curves {
		colour := colours[i%len(colours)]
		fmt.Fprintf(&b, `<polyline fill="none" stroke-width="2.5" stroke="%s" points="`, colour)
		for _, l := range c.Loads {
			fmt.Fprintf(&b, "%.1f,%.1f ", xOf(l.Offered), yOf(l.Goodput))
		}
		fmt.Fprintf(&b, `"/><text x="%d" y="%d" style="fill:%s">the action %s; capacity %.0f/s</text>`+"\n", marginLeft, height-marginBottom+36+16*i, colour, c.Name, c.Capacity)
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">asked for, in capacities; deadlines of %v; one processor</text>`+"\n</svg>\n", width-marginRight, height-4, deadline)
	return b.Bytes()
}

func xOf(offered float64) float64 {
	return marginLeft + plotWidth*math.Log(offered/lowestOffered)/math.Log(highestOffered/lowestOffered)
}

func yOf(share float64) float64 { return marginTop + plotHeight*(1-min(share, 1.05)) }
