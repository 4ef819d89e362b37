package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sabir-go/sabir/lab/bench"
)

// Markdown writes results as GitHub's Markdown, without charts. It returns w's error.
func Markdown(w io.Writer, r *bench.Results) error {
	d := document{ids: anchors{}, tables: map[[2]string]string{}}
	for _, s := range r.Seeds { // links lead forward
		d.seeds = append(d.seeds, d.ids.of(titleOf(s.Name, s.Title)))
		for _, t := range s.Tables {
			d.tables[[2]string{s.Name, t.Name}] = d.ids.of(titleOf(t.Name, t.Title))
		}
	}
	d.head(r)
	d.overview(r)
	d.losses(r)
	d.uncertain(r)
	d.outages(r)
	for i, s := range r.Seeds {
		d.say("<a id=%q></a>\n\n## %s\n\n%s", d.seeds[i], md(titleOf(s.Title, s.Name)), strings.TrimSpace(s.About))
		for _, t := range s.Tables {
			d.table(s, t)
		}
	}
	_, err := io.WriteString(w, strings.TrimRight(d.text.String(), "\n")+"\n")
	return err
}

// document is a Markdown text that is being written.
type document struct {
	text   strings.Builder
	ids    anchors
	seeds  []string             // their marks
	tables map[[2]string]string // marks by the names of seed and table
}

// say adds a paragraph; one without words is left out.
func (d *document) say(format string, args ...any) {
	if text := strings.TrimSpace(fmt.Sprintf(format, args...)); text != "" {
		d.text.WriteString(text + "\n\n")
	}
}

// line adds a line to a list or a table.
func (d *document) line(text string) { d.text.WriteString(text + "\n") }

// cells adds a row to a table.
func (d *document) cells(cells ...string) { d.line("| " + strings.Join(cells, " | ") + " |") }

func (d *document) end() { d.text.WriteString("\n") }

// link to a table.
func (d *document) link(s bench.SeedResult, t bench.TableResult) string {
	return fmt.Sprintf("[%s](#%s)", md(titleOf(t.Title, t.Name)), d.tables[[2]string{s.Name, t.Name}])
}

func (d *document) head(r *bench.Results) {
	d.say("# Sabir beside its peers")
	for _, mark := range marks(r) {
		d.say("> **%s**", mark)
	}
	for _, f := range facts(r) {
		d.line("- " + f.Name + ": " + md(f.Value))
	}
	d.end()
	d.say("%s [The method in full](%s).", methodWords, method)
	d.say("## Contents")
	for i, s := range r.Seeds {
		var links []string
		for _, t := range s.Tables {
			links = append(links, d.link(s, t))
		}
		d.line(fmt.Sprintf("- [%s](#%s): %s", md(titleOf(s.Title, s.Name)), d.seeds[i], strings.Join(links, ", ")))
	}
	d.end()
}

func (d *document) overview(r *bench.Results) {
	var all tally
	for _, s := range r.Seeds {
		for _, t := range s.Tables {
			for _, g := range groupsOf(t) {
				all.add(&g)
			}
		}
	}
	d.say("## Overview\n\n%s The rows of a group do the same work; Sabir's first is compared with the best of its peers.", all.words())
	d.cells("report", "table", "first", "tied", "behind", "median ratio", "lowest ratio")
	d.line("|---|---|---:|---:|---:|---:|---|")
	for _, s := range r.Seeds {
		for _, t := range s.Tables {
			c := tallyOf(groupsOf(t))
			lost := fmt.Sprint(c.Lost())
			if c.Lost() > 0 {
				lost = "**" + lost + "**"
			}
			d.cells(md(titleOf(s.Title, s.Name)), d.link(s, t), fmt.Sprint(c.First), fmt.Sprint(c.Tied), lost, c.Median(), md(c.Worst()))
		}
	}
	d.end()
}

func (d *document) losses(r *bench.Results) {
	d.say("## Where Sabir is below its best peer")
	any := false
	for _, s := range r.Seeds {
		for _, t := range s.Tables {
			for _, g := range groupsOf(t) {
				if !g.below() {
					continue
				}
				any = true
				text := fmt.Sprintf("- %s, **%s: %s.**", d.link(s, t), md(labelOf(g.Name)), md(g.loss()))
				d.line(strings.TrimSpace(text + " " + oneLine(why(t, &g))))
			}
		}
	}
	if !any {
		d.say("No peer is better in any group that was compared.")
		return
	}
	d.end()
}

// uncertain lists the groups whose ratio is not known well.
func (d *document) uncertain(r *bench.Results) {
	begun := false
	for _, s := range r.Seeds {
		for _, t := range s.Tables {
			for _, g := range groupsOf(t) {
				if !g.uncertain() {
					continue
				}
				if !begun {
					d.say("## What is not known well\n\nThe rounds of these groups differ so much that the interval of their ratio is wider than %.0f %%.", (bench.Wide-1)*100)
					begun = true
				}
				d.line(fmt.Sprintf("- %s, %s: %s%s after %d rounds", d.link(s, t), md(labelOf(g.Name)), ratioText(g.ratio), g.around(), g.interval.Rounds))
			}
		}
	}
	d.end()
}

func (d *document) outages(r *bench.Results) {
	d.say("## What could not run")
	all := outages(r)
	if len(all) == 0 {
		d.say("All rows ran to their end.")
		return
	}
	d.cells("contender", "table", "groups", "reason")
	d.line("|---|---|---|---|")
	for _, o := range all {
		d.cells(md(o.Row), d.link(o.Seed, o.Table), md(o.Where()), md(o.Reason))
	}
	d.end()
}

func (d *document) table(s bench.SeedResult, t bench.TableResult) {
	groups := groupsOf(t)
	d.say("<a id=%q></a>\n\n### %s\n\n%s", d.tables[[2]string{s.Name, t.Name}], md(titleOf(t.Title, t.Name)), strings.TrimSpace(t.About))
	d.say("%s", tallyOf(groups).words())
	for i := range groups {
		d.group(t, &groups[i])
	}
	d.settings(t)
	d.say("%s", warmWords(t))
}

// warmWords say how long the rows of a table worked until their rates were flat.
func warmWords(t bench.TableResult) string {
	var shortest, longest bench.RowResult
	var growing []string
	for _, r := range t.Rows {
		if r.WarmedUp == 0 {
			continue
		}
		if shortest.WarmedUp == 0 || r.WarmedUp < shortest.WarmedUp {
			shortest = r
		}
		if r.WarmedUp > longest.WarmedUp {
			longest = r
		}
		if name := md(r.Name); r.NotFlat && !slices.Contains(growing, name) {
			growing = append(growing, name)
		}
	}
	if longest.WarmedUp == 0 {
		return ""
	}
	text := fmt.Sprintf("Warm-up: rates were flat after %s (%s) to %s (%s).", length(shortest.WarmedUp), md(shortest.Name), length(longest.WarmedUp), md(longest.Name))
	if len(growing) > 0 {
		text += " They still grew at the end of the time for it: " + strings.Join(growing, ", ") + "."
	}
	return text
}

func (d *document) group(t bench.TableResult, g *group) {
	if g.Name != "" {
		d.say("#### %s", md(g.Name))
	}
	words := md(g.words())
	if g.below() {
		words = "**" + words + "** " + oneLine(why(t, g))
	}
	d.say("%s", words)
	versions, published := false, false
	for _, r := range t.Rows {
		versions, published = versions || r.Version != "", published || r.Published != ""
	}
	header, rule := []string{"contender"}, "|---|"
	for i, c := range t.Columns {
		header, rule = append(header, md(c.Title)), rule+"---:|"
		if i > 0 {
			continue
		}
		if g.peer != nil {
			header, rule = append(header, "x best peer"), rule+"---:|"
		}
		if g.limit != nil {
			header, rule = append(header, "x limit"), rule+"---:|"
		}
	}
	figures := len(header)
	if versions {
		header, rule = append(header, "version"), rule+"---|"
	}
	if published {
		header, rule = append(header, "in the report then"), rule+"---|"
	}
	d.cells(header...)
	d.line(rule)
	for _, r := range g.rows {
		cells := markdownRow(t, g, &r)
		if r.Failure != "" { // in the first column, the others are empty
			cells = append([]string{md(r.Name)}, make([]string, figures-1)...)
			if figures > 1 {
				cells[1] = "did not run: " + md(r.Failure)
			}
		}
		if versions {
			cells = append(cells, md(r.Version))
		}
		if published {
			cells = append(cells, md(r.Published))
		}
		d.cells(cells...)
	}
	d.end()
}

// markdownRow is a row's name and figures.
func markdownRow(t bench.TableResult, g *group, r *row) []string {
	name := md(r.Name)
	switch {
	case r.Limit:
		name = "*" + name + "* (limit)"
	case r.Ours:
		name = "**" + name + "**"
	}
	cells := []string{name}
	for i, c := range t.Columns {
		text := missing
		if s, ok := spreadOf(r.RowResult, c.Key); ok {
			text = strings.TrimSpace(unbroken(md(marked(r.RowResult, figureText(c.Unit, s.Median)))) + " " + aroundText(s))
		}
		if r.Ours && i == 0 {
			text = "**" + text + "**"
		}
		cells = append(cells, text)
		if i == 0 && g.peer != nil {
			cells = append(cells, orMissing(ratioText(g.ratioOf(r, g.peer))))
		}
		if i == 0 && g.limit != nil {
			cells = append(cells, orMissing(ratioText(g.ratioOf(r, g.limit))))
		}
	}
	return cells
}

// settings lists the settings of a table's rows, each once; with the group where a row has different settings in groups.
func (d *document) settings(t bench.TableResult) {
	several := map[string]bool{}
	known := map[string]string{}
	for _, r := range t.Rows {
		if before, there := known[r.Name]; there && before != r.Settings {
			several[r.Name] = true
		}
		known[r.Name] = r.Settings
	}
	said := map[string]bool{}
	begun := false
	for _, r := range t.Rows {
		name := md(r.Name)
		if several[r.Name] {
			name += " (" + md(labelOf(r.Group)) + ")"
		}
		line := fmt.Sprintf("- %s: %s", name, md(r.Settings))
		if r.Settings == "" || said[line] {
			continue
		}
		if !begun {
			d.say("Settings:")
		}
		said[line], begun = true, true
		d.line(line)
	}
	if begun {
		d.end()
	}
}

// oneLine is Markdown without breaks.
func oneLine(markdown string) string { return strings.Join(strings.Fields(markdown), " ") }

// markers are characters that mean something in Markdown.
var markers = strings.NewReplacer("\\", "\\\\", "|", "\\|", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[", "<", "&lt;", "&", "&amp;", "~", "\\~")

// md makes a text mean only itself in Markdown, also in a table.
func md(text string) string { return markers.Replace(oneLine(printable(text))) }
