package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/sabir-go/sabir/lab/bench"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

//go:embed page.js
var pageJS string

var pageTemplate = template.Must(template.New("page").Parse(pageHTML))

// manyGroups is the number of a table's groups above which each can be folded, and only the first is open.
const manyGroups = 6

// HTML writes results as one page that loads nothing: styles, charts and a few lines of script are in it. It returns w's error.
func HTML(w io.Writer, r *bench.Results) error { return pageTemplate.Execute(w, pageOf(r)) }

// page and the types below it are the data of page.html, as text.
type page struct {
	CSS          template.CSS
	JS           template.JS
	Marks        []string
	Facts        []fact
	Method       string
	MethodURL    string
	Tally        tally
	Words        string
	Seeds        []pageSeed
	Behind       []pageLoss
	BehindGroups int
	Outages      []pageOutage
}

type pageSeed struct {
	ID, Title, Took string
	About           template.HTML
	Tally           tally
	Tables          []pageTable
}

type pageTable struct {
	ID, Title  string
	About, Why template.HTML
	Tally      tally
	Words      string
	Strip      template.HTML
	Fold       bool
	Groups     []pageGroup
}

type pageGroup struct {
	ID, Name, Label, Class, Badge, Words string
	Open                                 bool
	Why, Bars, Latencies                 template.HTML
	BarsTitle                            string
	Columns                              []pageColumn
	Peer, Limit, Published               bool
	Rows                                 []pageRow
}

type pageColumn struct {
	Title string
	Ranks bool
}

type pageRow struct {
	Name, Version, Settings, Published, Class, Failure string
	Limit                                              bool
	Cells                                              []pageCell
	Peer, ToLimit                                      string
	Span                                               int // the columns that a failure takes
}

type pageCell struct{ Text, Range string }

type pageLoss struct {
	TableID, Seed, Table string
	Groups               []pageLossGroup
	Why                  template.HTML // of the groups that have none of their own
}

type pageLossGroup struct {
	ID, Label, Text string
	Why             template.HTML
}

type pageOutage struct{ TableID, Table, Row, Where, Reason string }

// pageOf prepares all texts of the page.
func pageOf(r *bench.Results) page {
	ids := anchors{}
	for _, own := range []string{"main", "overview", "behind", "outages", "method"} {
		ids.of(own)
	}
	p := page{CSS: template.CSS(pageCSS), JS: template.JS(pageJS), Marks: marks(r), Facts: facts(r), Method: methodWords, MethodURL: method}
	tables := map[[2]string]string{}
	all := ratiosOf(r)
	for _, s := range r.Seeds {
		seed := pageSeed{ID: ids.of(titleOf(s.Name, s.Title)), Title: titleOf(s.Title, s.Name), Took: length(s.Took), About: template.HTML(paragraphs(s.About))}
		for _, t := range s.Tables {
			groups := groupsOf(t)
			pt := pageTableOf(t, groups, ids, all)
			tables[[2]string{s.Name, t.Name}] = pt.ID
			seed.Tables = append(seed.Tables, pt)
			for i := range groups {
				seed.Tally.add(&groups[i])
				p.Tally.add(&groups[i])
			}
			if loss := lossOf(t, groups, pt); len(loss.Groups) > 0 {
				loss.Seed = seed.Title
				p.Behind = append(p.Behind, loss)
				p.BehindGroups += len(loss.Groups)
			}
		}
		p.Seeds = append(p.Seeds, seed)
	}
	p.Words = p.Tally.words()
	for _, o := range outages(r) {
		p.Outages = append(p.Outages, pageOutage{tables[[2]string{o.Seed.Name, o.Table.Name}], titleOf(o.Table.Title, o.Table.Name), o.Row, o.Where(), o.Reason})
	}
	return p
}

func pageTableOf(t bench.TableResult, groups []group, ids anchors, all strip) pageTable {
	title := titleOf(t.Title, t.Name)
	pt := pageTable{ID: ids.of(titleOf(t.Name, t.Title)), Title: title, About: template.HTML(paragraphs(t.About)), Tally: tallyOf(groups), Fold: len(groups) > manyGroups,
		Strip: template.HTML(all.draw(groups))}
	pt.Words = pt.Tally.words()
	published := false
	for _, r := range t.Rows {
		published = published || r.Published != ""
	}
	for i := range groups {
		g := &groups[i]
		pg := pageGroup{ID: ids.of(pt.ID + "-" + titleOf(g.Name, "all")), Name: g.Name, Label: title, Class: g.verdict.class(), Badge: g.badge(), Words: g.words(), Open: i == 0,
			Peer: g.peer != nil, Limit: g.limit != nil, Published: published}
		if g.Name != "" {
			pg.Label += ", " + g.Name
		}
		if g.below() {
			pg.Why = template.HTML(paragraphs(t.Why[g.Name]))
			if g.Name == "" {
				pg.Why = "" // the table's
			}
		}
		for i, c := range t.Columns {
			pg.Columns = append(pg.Columns, pageColumn{c.Title, i == 0})
		}
		for _, r := range g.rows {
			pg.Rows = append(pg.Rows, pageRowOf(t, g, r))
		}
		if len(t.Columns) > 0 {
			pg.BarsTitle = barsTitle(g)
			pg.Bars = template.HTML(barChart(g, pg.Label+": "+pg.BarsTitle))
			pg.Latencies = template.HTML(latencyChart(g, pg.Label+": latency by percentile"))
		}
		pt.Groups = append(pt.Groups, pg)
	}
	pt.Why = lossOf(t, groups, pt).Why
	return pt
}

// barsTitle returns the title of the bars: their figure, and which direction is better.
func barsTitle(g *group) string {
	text := g.column.Title + ": more is better"
	if g.column.Less {
		text = g.column.Title + ": less is better"
	}
	if a, ok := axisOf(g.rows); ok && a.logarithmic {
		text += "; the scale is logarithmic"
	}
	return text
}

func pageRowOf(t bench.TableResult, g *group, r row) pageRow {
	pr := pageRow{Name: r.Name, Version: r.Version, Settings: r.Settings, Published: r.Published, Class: kindOf(r.RowResult), Limit: r.Limit, Failure: r.Failure}
	if r.Failure != "" {
		pr.Span = len(t.Columns) + truth(g.peer != nil) + truth(g.limit != nil)
		return pr
	}
	for _, c := range t.Columns {
		cell := pageCell{Text: missing}
		if s, ok := spreadOf(r.RowResult, c.Key); ok {
			cell = pageCell{unbroken(marked(r.RowResult, figureText(c.Unit, s.Median))), unbroken(rangeText(c.Unit, s))}
		}
		pr.Cells = append(pr.Cells, cell)
	}
	pr.Peer, pr.ToLimit = orMissing(ratioText(g.ratioOf(&r, g.peer))), orMissing(ratioText(g.ratioOf(&r, g.limit)))
	return pr
}

func orMissing(text string) string {
	if text == "" {
		return missing
	}
	return text
}

// lossOf a table's groups in which Sabir is below its best peer.
func lossOf(t bench.TableResult, groups []group, pt pageTable) pageLoss {
	loss := pageLoss{TableID: pt.ID, Table: pt.Title}
	for i := range groups {
		g := &groups[i]
		if !g.below() {
			continue
		}
		own := t.Why[g.Name]
		if own == "" || g.Name == "" {
			own, loss.Why = "", template.HTML(paragraphs(t.Why[""]))
		}
		loss.Groups = append(loss.Groups, pageLossGroup{pt.Groups[i].ID, labelOf(g.Name), g.loss(), template.HTML(inline(own))})
	}
	return loss
}

// class is the verdict's style.
func (v verdict) class() string {
	return [...]string{none: "", first: "first", tied: "tied", behind: "behind", absent: "behind"}[v]
}

// badge is the verdict in two words.
func (g *group) badge() string {
	return strings.TrimSpace(g.verdict.word() + " " + ratioText(g.ratio))
}

func (v verdict) word() string {
	return [...]string{none: "", first: "first", tied: "tie", behind: "behind", absent: "no figure"}[v]
}

// anchors are the marks in a page that links lead to, each once.
type anchors map[string]bool

func (a anchors) of(name string) string {
	text := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			return r
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, name), "-")
	if text == "" || text[0] < 'a' {
		text = "x" + text
	}
	id := text
	for n := 2; a[id]; n++ {
		id = fmt.Sprintf("%s-%d", text, n)
	}
	a[id] = true
	return id
}
