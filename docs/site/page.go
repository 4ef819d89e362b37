package main

import (
	"bytes"
	"html"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	goldhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/sabir-go/sabir/internal/anchor"
)

// repository is where links lead that leave docs.
const repository = "https://github.com/sabir-go/sabir"

// page is one page of docs.
type page struct {
	Name     string // path below docs, without .md: "start/1-install"
	Title    string
	Summary  string // its first paragraph, as text
	Markdown []byte
	HTML     []byte
	Headings []heading
	Text     string // all of its words, for the search

	version string // where links lead that leave docs: a tag, or "main"
}

type heading struct {
	ID, Title string
	Level     int
}

// URL is the page's address from the root of the site.
func (p *page) URL() string { return address(p.Name) }

// address is the file of a page: README becomes index.
func address(name string) string {
	if path.Base(name) == "README" {
		return path.Join(path.Dir(name), "index.html")
	}
	return name + ".html"
}

// Up leads from the page to the root of the site: "", or "../".
func (p *page) Up() string { return strings.Repeat("../", strings.Count(p.Name, "/")) }

// pagesOf reads every page below a folder, in the order of their names, README first.
func pagesOf(folder, version string) (pages []*page, err error) {
	err = filepath.WalkDir(folder, func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".md") {
			return err
		}
		rel, err := filepath.Rel(folder, file)
		if err != nil {
			return err
		}
		markdown, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		p := &page{Name: strings.TrimSuffix(filepath.ToSlash(rel), ".md"), Markdown: markdown, version: version}
		if err := p.render(); err != nil {
			return err
		}
		pages = append(pages, p)
		return nil
	})
	return pages, err
}

// render makes the page's HTML, and takes from it what the sidebar and the search need.
func (p *page) render() error {
	md := goldmark.New(
		goldmark.WithExtensions(extension.GFM),
		goldmark.WithRendererOptions(goldhtml.WithUnsafe(), renderer.WithNodeRenderers(util.Prioritized(codeBlocks{}, 100))))
	context := parser.NewContext(parser.WithIDs(githubIDs{}))
	doc := md.Parser().Parse(text.NewReader(p.Markdown), parser.WithContext(context))
	var words strings.Builder
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			if n.Type() == ast.TypeBlock {
				words.WriteByte(' ')
			}
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			title := plain(n, p.Markdown)
			id := anchor.Of(title)
			n.SetAttributeString("id", []byte(id))
			if p.Title == "" {
				p.Title = title
			} else {
				p.Headings = append(p.Headings, heading{id, title, n.Level})
			}
		case *ast.Paragraph:
			if p.Summary == "" && p.Title != "" {
				p.Summary = plain(n, p.Markdown)
			}
		case *ast.Link:
			n.Destination = []byte(p.resolve(string(n.Destination)))
		case *ast.Text:
			words.Write(n.Segment.Value(p.Markdown))
			words.WriteByte(' ')
		case *ast.FencedCodeBlock:
			for i := range n.Lines().Len() {
				line := n.Lines().At(i)
				words.Write(line.Value(p.Markdown))
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return err
	}
	p.Text = strings.Join(strings.Fields(words.String()), " ")
	var b bytes.Buffer
	if err := md.Renderer().Render(&b, p.Markdown, doc); err != nil {
		return err
	}
	p.HTML = wideTables.ReplaceAll(b.Bytes(), []byte(`<div class="table">$0</div>`))
	return nil
}

var wideTables = regexp.MustCompile(`(?s)<table>.*?</table>`)

// resolve makes a link between Markdown files one between pages. What is not below docs is in the repository.
func (p *page) resolve(link string) string {
	target, fragment, _ := strings.Cut(link, "#")
	if fragment != "" {
		fragment = "#" + fragment
	}
	if target == "" || strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
		return link
	}
	full := path.Join("docs", path.Dir(p.Name), target)
	below, inside := strings.CutPrefix(full, "docs/")
	if !inside {
		return repository + "/blob/" + p.version + "/" + full + fragment
	}
	if name, ok := strings.CutSuffix(below, ".md"); ok {
		return p.Up() + address(name) + fragment
	}
	if strings.HasSuffix(below, ".svg") {
		return link
	}
	return repository + "/blob/" + p.version + "/" + full + fragment
}

// plain is the text of a node without its marks.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(source))
			if t.SoftLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// githubIDs leaves the ids of headings to render.
type githubIDs struct{}

func (githubIDs) Generate([]byte, ast.NodeKind) []byte { return nil }
func (githubIDs) Put([]byte)                           {}

// codeBlocks writes fenced blocks with their language, and Go in colours.
type codeBlocks struct{}

func (codeBlocks) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		block := n.(*ast.FencedCodeBlock)
		language := string(block.Language(source))
		var code strings.Builder
		for i := range block.Lines().Len() {
			line := block.Lines().At(i)
			code.Write(line.Value(source))
		}
		colored := html.EscapeString(code.String())
		if language == "go" {
			colored = colorGo(code.String())
		}
		_, err := w.WriteString(`<pre class="` + html.EscapeString(language) + `"><code>` + colored + "</code></pre>\n")
		return ast.WalkSkipChildren, err
	})
}
