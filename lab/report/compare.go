package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/table"
)

// Two rounds or one say little: their interval is taken to be wider by so much on both sides.
const (
	fewRounds = 3
	fewWider  = 1.25
)

// ratioWords say how rows are compared.
const ratioWords = "A ratio is the median of the ratios of rounds, in which rows are measured one soon after the other, with its 95 % bootstrap interval. " +
	"Sabir is first where the whole interval is above 1x, behind where it is below, and else it is a tie."

// row is a row with its figure in the first column, which ranks it.
type row struct {
	bench.RowResult
	figure table.Spread
	known  bool // it has that figure, and did not fail
}

// verdict is the result of comparing Sabir with the best of its peers in a group.
type verdict int

const (
	none   verdict = iota // nothing to compare: no row of Sabir, or no peer with a figure
	first                 // better than every peer
	tied                  // the interval of the ratio has 1x in it
	behind                // worse than the best peer
	absent                // Sabir has no figure where a peer has one
)

// group is the rows that did the same work, best first: contenders, contenders that failed, then the limits in the same order.
// ours is the first of Sabir's rows, peer the best row that is neither Sabir's nor a limit, limit the best limit; each is nil
// where there is none with a figure.
type group struct {
	Name              string
	column            bench.Column
	rows              []row
	ours, peer, limit *row
	verdict           verdict
	reason            string  // why Sabir is absent
	ratio             float64 // Sabir to the best peer, more than 1 is better; NaN where there is none
	interval          table.Ratio
}

// groupsOf compares the rows of each group, in the order in which groups first appear.
func groupsOf(t bench.TableResult) []group {
	var all []group
	var column bench.Column
	if len(t.Columns) > 0 {
		column = t.Columns[0]
	}
	byName := map[string]int{}
	for _, r := range t.Rows {
		i, there := byName[r.Group]
		if !there {
			i = len(all)
			byName[r.Group] = i
			all = append(all, group{Name: r.Group, column: column})
		}
		ranked := row{RowResult: r}
		if r.Failure == "" {
			ranked.figure, ranked.known = spreadOf(r, column.Key)
		}
		all[i].rows = append(all[i].rows, ranked)
	}
	for i := range all {
		all[i].judge()
	}
	return all
}

// spreadOf a row's figure; ok is false where it has none, or one that is no number.
func spreadOf(r bench.RowResult, key string) (s table.Spread, ok bool) {
	s, ok = r.Spread(key)
	for _, v := range []float64{s.Median, s.Min, s.Max} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return table.Spread{}, false
		}
	}
	return s, ok
}

// judge ranks the rows and sets what follows from that.
func (g *group) judge() {
	ours := slices.IndexFunc(g.rows, func(r row) bool { return r.Ours && !r.Limit })
	oursName := ""
	if ours >= 0 {
		oursName, g.reason = g.rows[ours].Name, g.rows[ours].Failure
	}
	slices.SortStableFunc(g.rows, g.order)
	for i := range g.rows {
		switch r := &g.rows[i]; {
		case !r.known:
		case r.Limit && g.limit == nil:
			g.limit = r
		case r.Ours && g.ours == nil && r.Name == oursName:
			g.ours = r
		case !r.Limit && !r.Ours && g.peer == nil:
			g.peer = r
		}
	}
	g.ratio = math.NaN()
	switch {
	case ours < 0 || g.peer == nil:
		return
	case g.ours == nil:
		g.verdict = absent
		return
	}
	g.ratio = g.ratioOf(g.ours, g.peer)
	g.interval = g.column.Ratio(g.ours.RowResult, g.peer.RowResult)
	if g.interval.Rounds < fewRounds {
		g.interval.Low, g.interval.High = g.interval.Low/fewWider, g.interval.High*fewWider
	}
	switch {
	case math.IsNaN(g.ratio): // one of them is zero
		g.verdict = []verdict{first, tied, behind}[1+g.rank(*g.ours, *g.peer)]
	case g.interval.Low > 1:
		g.verdict = first
	case g.interval.High < 1:
		g.verdict = behind
	default:
		g.verdict = tied
	}
}

// order puts limits after contenders, what has no figure after what has one, and the better before the worse.
func (g *group) order(a, b row) int {
	return cmp.Or(truth(a.Limit)-truth(b.Limit), truth(!a.known)-truth(!b.known), g.rank(a, b))
}

func (g *group) rank(a, b row) int {
	if g.column.Less {
		return cmp.Compare(a.figure.Median, b.figure.Median)
	}
	return cmp.Compare(b.figure.Median, a.figure.Median)
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// ratioOf says how many times better one row is than another by the first column; NaN where that has no answer.
func (g *group) ratioOf(a, b *row) float64 {
	if a == nil || b == nil || !a.known || !b.known {
		return math.NaN()
	}
	if r := g.column.Ratio(a.RowResult, b.RowResult); r.Rounds > 0 {
		return r.Median
	}
	return math.NaN()
}

// around is the interval of the ratio in words, "(1.19x to 1.31x)"; "" where it is known from few rounds.
func (g *group) around() string {
	if math.IsNaN(g.ratio) || g.interval.Rounds < fewRounds {
		return ""
	}
	return fmt.Sprintf(" (%s to %s)", ratioText(g.interval.Low), ratioText(g.interval.High))
}

// uncertain says that the rounds differ too much for the ratio to be known well.
func (g *group) uncertain() bool {
	return !math.IsNaN(g.ratio) && g.interval.Rounds >= fewRounds && g.interval.Width() > bench.Wide
}

// words are the verdict as a sentence.
func (g *group) words() string {
	switch g.verdict {
	case first:
		return "Sabir is first, " + g.against() + "."
	case tied:
		return "A tie: Sabir " + g.against() + "."
	case behind:
		return "Sabir is behind, " + g.against() + "."
	case absent:
		if g.reason == "" {
			return "Sabir has no figure here; the best peer is " + g.peer.Name + "."
		}
		return "Sabir has no figure here: " + g.reason + "."
	}
	return "There is nothing to compare."
}

// against is Sabir's ratio to the best peer, and to the limit.
func (g *group) against() string {
	text := "beside " + g.peer.Name
	if ratio := ratioText(g.ratio); ratio != "" {
		text = ratio + g.around() + " of " + g.peer.Name
	}
	if ratio := ratioText(g.ratioOf(g.ours, g.limit)); ratio != "" {
		text += ", " + ratio + " of the limit (" + g.limit.Name + ")"
	}
	return text
}

// loss describes a lost comparison with both figures: "Sabir 0.82x of ProtoBuf (1 230 000/s against 1 500 000/s)".
func (g *group) loss() string {
	if g.verdict == absent {
		return strings.TrimSuffix(g.words(), ".")
	}
	text := "Sabir beside " + g.peer.Name
	if ratio := ratioText(g.ratio); ratio != "" {
		text = "Sabir " + ratio + g.around() + " of " + g.peer.Name
	}
	if g.verdict == tied {
		text = "a tie, " + text
	}
	return fmt.Sprintf("%s (%s against %s)", text, g.inWords(g.ours), g.inWords(g.peer))
}

// inWords is a row's first figure with what it counts.
func (g *group) inWords(r *row) string {
	text := marked(r.RowResult, figureText(g.column.Unit, r.figure.Median))
	if g.column.Unit == bench.PerSecond {
		return text + perSecond
	}
	return text
}

// tally counts how Sabir stands in some groups.
type tally struct {
	First, Tied, Behind, Absent, None int
	ratios                            []float64
	worst                             *group // of the lowest ratio; nil where there is none
}

// tallyOf a table's groups.
func tallyOf(groups []group) (t tally) {
	for i := range groups {
		t.add(&groups[i])
	}
	return t
}

func (t *tally) add(g *group) {
	switch g.verdict {
	case first:
		t.First++
	case tied:
		t.Tied++
	case behind:
		t.Behind++
	case absent:
		t.Absent++
	default:
		t.None++
		return
	}
	if math.IsNaN(g.ratio) {
		return
	}
	t.ratios = append(t.ratios, g.ratio)
	if t.worst == nil || g.ratio < t.worst.ratio {
		t.worst = g
	}
}

// Compared is the number of groups in which Sabir was compared with a peer.
func (t tally) Compared() int { return t.First + t.Tied + t.Behind + t.Absent }

// Lost is the number of groups in which a peer is better, or Sabir has no figure.
func (t tally) Lost() int { return t.Behind + t.Absent }

// Median of the ratios to the best peer, in words.
func (t tally) Median() string {
	if len(t.ratios) == 0 {
		return ""
	}
	return ratioText(table.SpreadOf(t.ratios).Median)
}

// Worst is the lowest ratio, in words, and its group.
func (t tally) Worst() string {
	if t.worst == nil {
		return ""
	}
	return ratioText(t.worst.ratio) + ", " + labelOf(t.worst.Name)
}

// words are the tally as a sentence.
func (t tally) words() string {
	n := t.Compared()
	if n == 0 {
		return "No group has both Sabir and a peer."
	}
	var all []string
	for _, part := range []struct {
		count int
		text  string
	}{{t.First, "is first in"}, {t.Tied, "ties with the best peer in"}, {t.Behind, "is behind in"}, {t.Absent, "has no figure in"}} {
		switch {
		case part.count == 0:
		case part.count == n && n == 1:
			all = append(all, part.text+" the one group")
		case part.count == n:
			all = append(all, fmt.Sprintf("%s all %d groups", part.text, n))
		default:
			all = append(all, fmt.Sprintf("%s %d", part.text, part.count))
		}
	}
	text := "Sabir " + all[0]
	if len(all) > 1 {
		last := len(all) - 1
		text = fmt.Sprintf("Of %d groups, Sabir %s and %s", n, strings.Join(all[:last], ", "), all[last])
	}
	if median := t.Median(); median != "" && n > 1 {
		text += "; the median ratio to the best peer is " + median
	}
	return text + "."
}

// below says that Sabir is not as good as the best peer in a group, by more than the rounds differ or by less.
func (g *group) below() bool { return g.verdict == behind || g.verdict == absent || g.ratio < 1 }

// why says why Sabir is below the best peer in a group; "" where it is not, or nobody has said.
func why(t bench.TableResult, g *group) string {
	if !g.below() {
		return ""
	}
	if text := t.Why[g.Name]; text != "" {
		return text
	}
	return t.Why[""]
}
