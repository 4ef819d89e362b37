package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

const (
	width, height = 840, 330
	left, right   = 150, 810 // of the curves
	top           = 64
	row           = 70 // of a node
	curve         = 50
)

const style = `
text{font:15px ui-sans-serif,system-ui,sans-serif;fill:#1f2328}
.m{font-family:ui-monospace,monospace}.s{font-size:13px;fill:#59636e}.b{font-weight:600}
.bg{fill:#fff;stroke:#d1d9e0}.base{stroke:#d1d9e0}.c{fill:#0969da}.k{stroke:#cf222e;stroke-width:2}.kt{fill:#cf222e}.ok{fill:#1a7f37}
@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.s{fill:#9198a1}.bg{fill:#0d1117;stroke:#3d444d}.base{stroke:#3d444d}.c{fill:#4493f8}.k{stroke:#f85149}.kt{fill:#f85149}.ok{fill:#3fb950}}
`

// draw makes an animation of a run that plays in the time that the run took, holds its last picture for three seconds, and begins again.
func draw(r run) []byte {
	var b bytes.Buffer
	played := float64(len(r.Samples)*r.Interval) / 1000
	total := played + 3
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="Three nodes under load. One is killed with kill -9. %s calls, %d failed.">`,
		width, height, thousands(r.Calls), r.Failed)
	fmt.Fprintf(&b, "\n<style>%s</style>\n", strings.ReplaceAll(style, "\n", ""))
	fmt.Fprintf(&b, `<rect class="bg" x=".5" y=".5" width="%d" height="%d" rx="8"/>`+"\n", width-1, height-1)
	fmt.Fprintf(&b, `<text x="20" y="34" class="b">calls a second, by the node that answered</text><text x="%d" y="34" class="s" text-anchor="end">%d callers, %s</text>`+"\n", right, r.Callers, r.Machine)

	step := float64(right-left) / float64(len(r.Samples))
	most := 1
	for _, sample := range r.Samples {
		most = max(most, slices.Max(sample))
	}
	fmt.Fprintf(&b, `<clipPath id="r"><rect x="%d" y="0" width="%d" height="%d"><animate attributeName="width" values="0;%d;%d" keyTimes="0;%.4f;1" dur="%gs" repeatCount="indefinite"/></rect></clipPath>`+"\n",
		left, right-left, height, right-left, right-left, played/total, total)
	for n, name := range r.Nodes {
		base := top + n*row + curve
		fmt.Fprintf(&b, `<text x="20" y="%d" class="m">node %s</text>`, base-16, name)
		fmt.Fprintf(&b, `<line class="base" x1="%d" y1="%d" x2="%d" y2="%d"/>`, left, base, right, base)
		fmt.Fprintf(&b, `<path class="c" clip-path="url(#r)" d="M%d %d`, left, base)
		for i, sample := range r.Samples {
			y := float64(base) - float64(sample[n])/float64(most)*curve
			fmt.Fprintf(&b, "L%.1f %.1fL%.1f %.1f", left+float64(i)*step, y, left+float64(i+1)*step, y)
		}
		fmt.Fprintf(&b, `L%d %dZ"/>`+"\n", right, base)
	}

	killed := float64(r.KilledAt*r.Interval) / 1000 / total
	x, y := left+float64(r.KilledAt)*step, top+r.Killed*row
	appear := func(at float64) string {
		return fmt.Sprintf(`<animate attributeName="opacity" values="0;1" keyTimes="0;%.4f" calcMode="discrete" dur="%gs" repeatCount="indefinite"/>`, at, total)
	}
	fmt.Fprintf(&b, `<g><line class="k" x1="%.1f" y1="%d" x2="%.1f" y2="%d"/><text class="m b kt" x="%.1f" y="%d">kill -9</text>%s</g>`+"\n",
		x, y-4, x, y+curve+4, x+8, y+12, appear(killed))

	// The counter shows each fifth sample, and the last.
	calls := 0
	const foot = top + 3*row + 28
	for i, sample := range r.Samples {
		for _, n := range sample {
			calls += n
		}
		last := i == len(r.Samples)-1
		if (i+1)%5 != 0 && !last {
			continue
		}
		from, to := float64(i+1)*float64(r.Interval)/1000/total, float64(i+6)*float64(r.Interval)/1000/total
		visible := fmt.Sprintf(`<animate attributeName="opacity" values="0;1;0" keyTimes="0;%.4f;%.4f" calcMode="discrete" dur="%gs" repeatCount="indefinite"/>`, from, to, total)
		opacity := ` opacity="0"`
		if last {
			visible, opacity = appear(from), ""
		}
		fmt.Fprintf(&b, `<g%s><text class="m" x="20" y="%d">%s calls answered</text>%s</g>`+"\n", opacity, foot, thousands(calls), visible)
	}
	fmt.Fprintf(&b, `<text class="m b ok" x="%d" y="%d" text-anchor="end">failed %d</text>`+"\n</svg>\n", right, foot, r.Failed)
	return b.Bytes()
}

// thousands writes a number with a comma after each three digits.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
