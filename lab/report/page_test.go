package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/sabir-go/sabir/lab/bench"
)

// write returns the text that a writer makes of results.
func write(t *testing.T, writer func(io.Writer, *bench.Results) error, r *bench.Results) string {
	t.Helper()
	var out bytes.Buffer
	if err := writer(&out, r); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// must have all of the parts, in their order.
func must(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		_, rest, found := strings.Cut(text, part)
		if !found {
			t.Errorf("%q is not there, or not after the parts before it", part)
			continue
		}
		text = rest
	}
}

// checkPage fails unless tags are balanced, each id is there once, links within the page lead somewhere, nothing is loaded, and every
// chart is XML.
func checkPage(t *testing.T, page string) {
	t.Helper()
	ids, links := map[string]bool{}, map[string]bool{}
	var open []string
	void := []string{"meta", "br", "link", "img"}
	tokens := html.NewTokenizer(strings.NewReader(page))
	for {
		kind := tokens.Next()
		if kind == html.ErrorToken {
			if err := tokens.Err(); !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			break
		}
		token := tokens.Token()
		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken:
			for _, a := range token.Attr {
				switch a.Key {
				case "id":
					if ids[a.Val] {
						t.Errorf("the id %q is there twice", a.Val)
					}
					ids[a.Val] = true
				case "href":
					if target, within := strings.CutPrefix(a.Val, "#"); within {
						links[target] = true
					} else if a.Val != method {
						t.Errorf("a link to %q", a.Val)
					}
				case "src", "srcset", "onclick", "onload", "style":
					t.Errorf("%s has %s", token.Data, a.Key)
				}
			}
			if kind == html.StartTagToken && !slices.Contains(void, token.Data) {
				open = append(open, token.Data)
			}
		case html.EndTagToken:
			if len(open) == 0 || open[len(open)-1] != token.Data {
				t.Fatalf("</%s> within %v", token.Data, open)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("%v are never closed", open)
	}
	for link := range links {
		if !ids[link] {
			t.Errorf("a link leads to #%s, which is not there", link)
		}
	}
	for _, chart := range regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(page, -1) {
		checkChart(t, chart)
	}
}

// checkChart fails unless a chart is XML whose numbers are numbers.
func checkChart(t *testing.T, chart string) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(chart))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%v in %s", err, chart)
		}
		if start, ok := token.(xml.StartElement); ok {
			for _, a := range start.Attr {
				if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					t.Fatalf("%s has %s=%q", start.Name.Local, a.Name.Local, a.Value)
				}
			}
		}
	}
}

// checkTables fails unless all rows of every Markdown table have as many cells.
func checkTables(t *testing.T, markdown string) {
	t.Helper()
	cells := 0
	for line := range strings.Lines(markdown) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(line, "|") {
			cells = 0
			continue
		}
		plain := strings.ReplaceAll(strings.ReplaceAll(line, `\\`, ""), `\|`, "")
		if n := strings.Count(plain, "|"); cells == 0 {
			cells = n
		} else if n != cells {
			t.Errorf("%d bars in a table of %d: %s", n, cells, line)
		}
	}
}

func TestTheHeadSaysWhatWasMeasuredWhenAndOnWhat(t *testing.T) {
	r := resultsOf(rates(contender("", "Sabir", 2), contender("", "a", 1)))
	for _, text := range []string{write(t, HTML, r), write(t, Markdown, r)} {
		must(t, text, "22 November 2026, 13:05 UTC", "a processor, 2 cores", "Go 1.26, Node 20.1, Java 17, Perl 5", "5 of 1.00 s", "1 min 23 s: A seed 1 min 23 s")
		must(t, text, method)
	}
}

func TestQuickAndCutRunsSaySo(t *testing.T) {
	whole, part := resultsOf(), resultsOf()
	part.Quick, part.Cut = true, true
	for _, writer := range []func(io.Writer, *bench.Results) error{HTML, Markdown, Summary} {
		must(t, write(t, writer, part), "quick run", "ended before its end")
		if text := write(t, writer, whole); strings.Contains(text, "quick run") || strings.Contains(text, "before its end") {
			t.Error("a whole run is called quick or cut")
		}
	}
}

func TestEachFigureHasItsSpreadAndItsRatios(t *testing.T) {
	r := resultsOf(rates(contender("100 callers", "Sabir", 9800, 10000, 10200), contender("100 callers", "a", 5000, 5000, 5000), contender("100 callers", "raw", 40000, 40000, 40000)))
	must(t, write(t, HTML, r), "<h4>100 callers</h4>", "first 2.00x", `<tr class="o">`, "10\u202f000<small>9.80–10.2\u202fk</small>", "2.00x", "0.25x", `<tr class="p">`, `<tr class="l">`, "<i>limit</i>")
	must(t, write(t, Markdown, r), "#### 100 callers", "| contender | calls/s | x best peer | x limit |", "| **Sabir** | **10\u202f000 ±2%** | 2.00x | 0.25x |", "| a | 5\u202f000 | 1.00x | 0.12x |", "| *raw* (limit) |")
	var out strings.Builder
	if err := Text(&out, r.Seeds[0].Tables[0]); err != nil {
		t.Fatal(err)
	}
	must(t, out.String(), "-- 100 callers: Sabir is first, 2.00x (1.96x to 2.04x) of a, 0.25x of the limit (raw).", "Sabir         10 000  ±2%   2.00x    0.25x\n", "raw (limit)")
}

func TestLossesAreInWordsWithTheirCause(t *testing.T) {
	table := rates(contender("10 kB", "Sabir", 82000, 82000, 82000), contender("10 kB", "ProtoBuf", 100000, 100000, 100000), contender("1 kB", "Sabir", 2), contender("1 kB", "ProtoBuf", 1))
	table.Why = map[string]string{"10 kB": "It copies *twice*."}
	r := resultsOf(table)
	must(t, write(t, HTML, r), `id="behind"`, "10 kB</a>: Sabir 0.82x (0.82x to 0.82x) of ProtoBuf (82\u0020000/s against 100\u0020000/s).", "It copies <em>twice</em>.", `id="outages"`)
	must(t, write(t, Markdown, r), "## Where Sabir is below its best peer", "**10 kB: Sabir 0.82x (0.82x to 0.82x) of ProtoBuf (82 000/s against 100 000/s).** It copies *twice*.", "## What could not run")
}

func TestATablesCauseIsShownForGroupsWithoutTheirOwn(t *testing.T) {
	table := rates(contender("1 kB", "Sabir", 1), contender("1 kB", "a", 2), contender("2 kB", "Sabir", 2), contender("2 kB", "a", 1))
	table.Why = map[string]string{"": "It copies.", "1 kB": "It waits."}
	if page := write(t, HTML, resultsOf(table)); strings.Contains(page, "It copies") || strings.Count(page, "It waits") != 2 {
		t.Error("the group's own cause is not the only one, in the list and in its place")
	}
	delete(table.Why, "1 kB")
	if n := strings.Count(write(t, HTML, resultsOf(table)), "It copies"); n != 2 {
		t.Errorf("the table's cause is there %d times, in the list and in its place are right", n)
	}
}

func TestTheCauseOfALossIsNotShownWhereNothingIsLost(t *testing.T) {
	table := rates(contender("", "Sabir", 2), contender("", "a", 1))
	table.Why = map[string]string{"": "It copies."}
	for _, text := range []string{write(t, HTML, resultsOf(table)), write(t, Markdown, resultsOf(table))} {
		if strings.Contains(text, "It copies") {
			t.Error("a cause of what did not happen")
		}
		must(t, text, "No peer is better in any group that was compared.")
	}
}

func TestFailedRowsStayWithTheirReason(t *testing.T) {
	a := failed("", "gone", "the registry has it no more")
	a.Published = "12/s"
	half := failed("", "half", "it hung")
	half.Rounds = rounds(99)
	r := resultsOf(rates(contender("", "Sabir", 2), contender("", "a", 1), a, half))
	page := write(t, HTML, r)
	must(t, page, `id="outages"`, "gone", "the registry has it no more", "half", "it hung")
	must(t, page, `<td class="failed" colspan="2">did not run: the registry has it no more</td><td class="t">12/s</td>`, `did not run: it hung`)
	must(t, write(t, Markdown, r), "| gone | [Calls](#calls) | all rows | the registry has it no more |", "| gone | did not run: the registry has it no more |  | 12/s |")
	var out strings.Builder
	if err := Text(&out, r.Seeds[0].Tables[0]); err != nil {
		t.Fatal(err)
	}
	must(t, out.String(), "-- gone did not run: the registry has it no more\n", "-- half did not run: it hung\n")
}

func TestWhatFailsEverywhereForOneReasonIsOneOutage(t *testing.T) {
	all := outages(resultsOf(rates(failed("1", "a", "x"), failed("2", "a", "x"), failed("2", "b", "x"), failed("3", "a", "y")), rates(failed("1", "a", "x"))))
	var got []string
	for _, o := range all {
		got = append(got, o.Row+" "+o.Reason+" "+o.Where())
	}
	if want := []string{"a x 1; 2", "b x 2", "a y 3", "a x 1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	many := outage{Groups: make([]string, 5)}
	if many.Where() != "5 groups" {
		t.Errorf("got %q", many.Where())
	}
}

func TestNamesMeanOnlyThemselves(t *testing.T) {
	const name = "<b>&\"'|*_`[x](y)\n\x00~"
	row := contender(name, name, 1)
	row.Settings, row.Version, row.Published, row.Quantiles = name, name, name, quantiles(10)
	table := rates(contender(name, "Sabir", 2), row, failed(name, "other", name))
	table.Name, table.Title, table.Columns[0].Title = name, name, name
	r := resultsOf(table)
	r.Seeds[0].Name, r.Seeds[0].Title, r.Machine.Processor = name, name, name
	page := write(t, HTML, r)
	checkPage(t, page)
	if strings.Contains(page, "<b>&") || strings.Contains(page, "\x00") {
		t.Error("a name is not escaped in the page")
	}
	markdown := write(t, Markdown, r)
	checkTables(t, markdown)
	checkTables(t, write(t, Summary, r))
	must(t, markdown, "&lt;b>&amp;\"'\\|\\*\\_\\`\\[x](y) \\~")
	if strings.Contains(markdown, "<b>") {
		t.Error("a name is not escaped in Markdown")
	}
}

func TestGroupsOfLongTablesFold(t *testing.T) {
	var rows []bench.RowResult
	for group := range manyGroups + 1 {
		rows = append(rows, contender(string(rune('a'+group)), "Sabir", 2), contender(string(rune('a'+group)), "x", 1))
	}
	folds := func(rows []bench.RowResult) (all, open int) {
		page := write(t, HTML, resultsOf(rates(rows...)))
		return strings.Count(page, "<details id="), len(regexp.MustCompile(`<details id="[^"]*" open>`).FindAllString(page, -1))
	}
	if all, open := folds(rows); all != manyGroups+1 || open != 1 {
		t.Errorf("of %d groups %d fold, and %d are open", manyGroups+1, all, open)
	}
	if all, _ := folds(rows[2:]); all != 0 {
		t.Errorf("of %d groups %d fold", manyGroups, all)
	}
}

func TestTheSummaryHasTheFirstGroupsAndTheWorst(t *testing.T) {
	named := func(name string, rows ...bench.RowResult) bench.TableResult {
		table := rates(rows...)
		table.Title = name
		return table
	}
	text := write(t, Summary, resultsOf(
		named("alone", contender("", "Sabir", 1)),
		named("one", contender("g", "Sabir", 3e6), contender("g", "a", 1e6), contender("g", "raw", 9e6), contender("h", "Sabir", 1), contender("h", "a", 1)),
		named("two", contender("g", "Sabir", 1), contender("g", "a", 1)),
		named("three", contender("g", "Sabir", 5), contender("g", "a", 1)),
		named("four", contender("g", "Sabir", 1), contender("g", "a", 2))))
	want := "| A seed | one, g | **3.00\u202fM/s** | a 1.00\u202fM/s | 3.00x | 9.00\u202fM/s |\n" +
		"|  | two, g | **1.00/s** | a 1.00/s | 1.00x (tie) | – |\n" +
		"|  | four, g | **1.00/s** | a 2.00/s | 0.50x | – |\n"
	if !strings.HasSuffix(text, want) {
		t.Errorf("got\n%s\nwant at its end\n%s", text, want)
	}
}

func TestSettingsAreListedOnce(t *testing.T) {
	set := func(group, name, settings string) bench.RowResult {
		r := contender(group, name, 1)
		r.Settings = settings
		return r
	}
	text := write(t, Markdown, resultsOf(rates(set("1", "a", "unchanged"), set("2", "a", "unchanged"), set("1", "b", "one"), set("2", "b", "two"))))
	must(t, text, "Settings:\n\n- a: unchanged\n- b (1): one\n- b (2): two\n")
	if strings.Count(text, "unchanged") != 1 {
		t.Error("a setting is shown twice")
	}
}

func TestTheSameResultsMakeTheSameBytes(t *testing.T) {
	for _, writer := range []func(io.Writer, *bench.Results) error{HTML, Markdown, Summary} {
		once, again := write(t, writer, large()), write(t, writer, large())
		if once != again {
			t.Error("two pages of the same results differ")
		}
	}
}

func TestAWholeRunFitsAPage(t *testing.T) {
	page := write(t, HTML, large())
	checkPage(t, page)
	const most = 3 << 20
	if len(page) > most {
		t.Errorf("a page of 240 groups has %d bytes, at most %d are right", len(page), most)
	}
	t.Logf("a page of 240 groups: %d bytes, its Markdown: %d", len(page), len(write(t, Markdown, large())))
}

func TestChartsNeedNoTableToBeUnderstood(t *testing.T) {
	g := groupsOf(large().Seeds[0].Tables[0])[0]
	for _, chart := range []string{barChart(&g, "the name"), latencyChart(&g, "the name")} {
		checkChart(t, chart)
		must(t, chart, `role="img"`, "<title>the name</title>", "<desc>", "Sabir ", "</desc>")
	}
	must(t, latencyChart(&g, ""), "Sabir p50 ")
}

func TestAnAxisIsLogarithmicWhereFiguresAreFarApart(t *testing.T) {
	for _, c := range []struct {
		values      []float64
		logarithmic bool
	}{{[]float64{1, 50}, false}, {[]float64{1, 51}, true}, {[]float64{0, 50}, false}} {
		var rows []bench.RowResult
		for i, v := range c.values {
			rows = append(rows, contender("", string(rune('a'+i)), v))
		}
		g := groupsOf(rates(rows...))[0]
		if a, ok := axisOf(g.rows); !ok || a.logarithmic != c.logarithmic {
			t.Errorf("%v: logarithmic %v, %v", c.values, a.logarithmic, ok)
		}
		if said := strings.Contains(barsTitle(&g), "logarithmic"); said != c.logarithmic {
			t.Errorf("%v: its title is %q", c.values, barsTitle(&g))
		}
	}
}

func TestMarkdownOfDescriptions(t *testing.T) {
	for markdown, want := range map[string]string{
		"One `a<b` and *two words*.\n\nNext **bold**.": "<p>One <code>a&lt;b</code> and <em>two words</em>.</p><p>Next <strong>bold</strong>.</p>",
		"2 * 3 * 4":               "<p>2 * 3 * 4</p>",
		"`*a*` <script>":          "<p><code>*a*</code> &lt;script&gt;</p>",
		"  \n\n ":                 "",
		"an open ` and an open *": "<p>an open ` and an open *</p>",
	} {
		if got := paragraphs(markdown); got != want {
			t.Errorf("%q: got %s, want %s", markdown, got, want)
		}
	}
}

func TestAnchorsAreUnique(t *testing.T) {
	ids := anchors{}
	var got []string
	for _, name := range []string{"Calls, 100", "calls-100", "100", "", "Ä"} {
		got = append(got, ids.of(name))
	}
	if want := []string{"calls--100", "calls-100", "x100", "x", "x-2"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// checkAll writes results in every form, and checks each.
func checkAll(t *testing.T, r *bench.Results) {
	t.Helper()
	checkPage(t, write(t, HTML, r))
	checkTables(t, write(t, Markdown, r))
	checkTables(t, write(t, Summary, r))
	for _, s := range r.Seeds {
		for _, table := range s.Tables {
			if err := Text(io.Discard, table); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestAnyResultsCanBeWritten(t *testing.T) {
	noColumns := rates(contender("", "Sabir", 1), failed("", "a", "x"))
	noColumns.Columns = nil
	noFigures := rates(bench.RowResult{Name: "Sabir", Ours: true, Rounds: []bench.Round{{}}}, bench.RowResult{Name: "a"})
	noFigures.Columns = append(noFigures.Columns, bench.Column{Key: "p99", Title: "p99", Unit: "of its own"})
	latencies := rates(contender("", "Sabir", 1), contender("", "a", 2))
	latencies.Rows[0].Quantiles = []bench.Quantile{{Share: 0.5, Latency: 0}, {Share: math.NaN(), Latency: 5}, {Share: 0.5, Latency: 7}, {Share: 1, Latency: 7}}
	latencies.Rows[1].Quantiles = []bench.Quantile{{Share: 2, Latency: 1}, {Share: 0.99, Latency: math.MaxInt64}, {Share: 0.5, Latency: -1}, {Share: 0.6, Latency: 1}}
	for name, r := range map[string]*bench.Results{
		"nothing":            {},
		"an empty seed":      resultsOf(),
		"an empty table":     resultsOf(bench.TableResult{}),
		"no columns":         resultsOf(noColumns),
		"no figures":         resultsOf(noFigures),
		"odd latencies":      resultsOf(latencies),
		"zero":               resultsOf(rates(contender("", "Sabir", 0), contender("", "a", 0), contender("", "raw", 0))),
		"less, zero":         resultsOf(times(contender("", "Sabir", 0), contender("", "a", 1), contender("", "raw", 0))),
		"negative":           resultsOf(rates(contender("", "Sabir", -1), contender("", "a", 5, -7), contender("", "raw", 3))),
		"not a number":       resultsOf(rates(contender("", "Sabir", math.NaN()), contender("", "a", math.Inf(1)), contender("", "raw", math.Inf(-1), 1))),
		"huge and tiny":      resultsOf(rates(contender("", "Sabir", math.MaxFloat64), contender("", "a", math.SmallestNonzeroFloat64), contender("", "b", 1))),
		"the same name":      resultsOf(rates(contender("", "Sabir", 1), contender("", "a", 1)), rates(contender("", "Sabir", 1), contender("", "a", 1))),
		"all have failed":    resultsOf(rates(failed("", "Sabir", "x"), failed("", "a", "y"))),
		"negative durations": {Took: -time.Second, Duration: math.MinInt64, Seeds: []bench.SeedResult{{}}},
	} {
		t.Run(name, func(t *testing.T) { checkAll(t, r) })
	}
}

func FuzzAnyResultsCanBeWritten(f *testing.F) {
	f.Add("Sabir", "a group", "it *fails*", 1.0, 2.0, 0.5, int64(1000), true)
	f.Add("<&\"|", "", "", math.NaN(), 0.0, math.Inf(1), int64(-1), false)
	f.Add("\xff\x00", "a\n\nb", "`", -1.0, 1e308, 2.0, int64(math.MaxInt64), false)
	f.Fuzz(func(t *testing.T, name, group, words string, a, b, share float64, latency int64, less bool) {
		ours := contender(group, "Sabir", a, b)
		peer := contender(group, name, b, a)
		peer.Quantiles = append(quantiles(b), bench.Quantile{Share: share, Latency: time.Duration(latency)})
		ours.Quantiles = []bench.Quantile{{Share: 0.5, Latency: 1000}, {Share: share, Latency: time.Duration(latency)}}
		limit := contender(group, "raw", share)
		table := rates(ours, peer, limit, failed(group, name, words), contender(name, "Sabir", b), contender(name, words, a))
		table.Columns[0].Less = less
		table.Columns = append(table.Columns, bench.Column{Key: "rate", Title: name, Unit: bench.Unit(words)}, bench.Column{Key: "rate", Unit: bench.Bytes}, bench.Column{Key: "rate", Unit: bench.Duration})
		table.Name, table.Title = name, group
		table.Rows[0].Settings, table.Rows[1].Published, table.Rows[2].Version = words, words, name
		checkAll(t, resultsOf(table, table))
		checkPage(t, paragraphs(words))
	})
}
