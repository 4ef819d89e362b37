package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/sabir-go/sabir/lab/bench"
)

// strip shows the ratios of a table's groups as dots, on one scale for all tables.
type strip struct{ low, high float64 }

// ratiosOf is the strip that holds all ratios, and 1x.
func ratiosOf(r *bench.Results) strip {
	s := strip{0.8, 1.25}
	for _, seed := range r.Seeds {
		for _, t := range seed.Tables {
			for _, g := range groupsOf(t) {
				if g.ratio > 0 {
					s.low, s.high = min(s.low, g.ratio), max(s.high, g.ratio)
				}
			}
		}
	}
	const farthest = 100 // what is beyond stands at the end
	return strip{max(s.low, 1.0/farthest), min(s.high, farthest)}
}

func (s strip) place(ratio float64) string {
	const margin = 0.04
	return percent(margin + (1-2*margin)*clamp(math.Log(ratio/s.low)/math.Log(s.high/s.low)))
}

func (s strip) draw(groups []group) string {
	var out strings.Builder
	for i := range groups {
		if g := &groups[i]; g.ratio > 0 {
			fmt.Fprintf(&out, `<circle class="%s" cx="%s" cy="9" r="4"/>`, g.verdict.class(), s.place(g.ratio))
		}
	}
	if out.Len() == 0 {
		return ""
	}
	one := s.place(1)
	return fmt.Sprintf(`<svg class="strip" aria-hidden="true" width="100%%" height="18"><line x1="%s" x2="%s" y2="18"/>%s</svg>`, one, one, out.String())
}
