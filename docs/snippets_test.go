package docs

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A block of code in README.md and docs/ names where it is from, after its language:
//
//	```go docs/services_test.go#service
//
// The name is that of a region of the file, between the comments "doc: service" and "end"; without a name it is the whole file,
// from its package clause on. The file is a test, or a program that has one, so the code of a page compiles, is formatted and
// runs. A script (docs/testdata/*.sh) is run by TestTheScriptsOfThePagesPrintWhatThePagesShow, and a block of the language text that names
// the region of a script is what the region printed. "sh commands" marks lines that call sabir, go or ./test, which a
// test of cmd/sabir reads. "go fragment" marks what cannot be code of its own: a signature, a tag.

// needSource is the languages whose blocks are code that can be wrong. Others are drawings, layouts of bytes, and settings of brokers that a
// test of their own reads.
var needSource = []string{"go", "sh", "console", "json", "ts", "yaml", "proto"}

// block is a fenced block of a page.
type block struct {
	page     string
	line     int // of its fence, from 1
	indent   string
	language string
	source   string // path#region, "fragment", or ""
	text     string
}

func (b block) where() string { return fmt.Sprintf("%s:%d", b.page, b.line) }

// pages is README.md and every page below docs, as paths from the root.
func pages(t *testing.T) []string {
	t.Helper()
	found := []string{"README.md"}
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".md") {
			found = append(found, "docs/"+filepath.ToSlash(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func readFile(t *testing.T, fromRoot string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", fromRoot))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

var fence = regexp.MustCompile("^([ \t]*)```(\\S*)[ \t]*(.*)$")

// blocksOf takes a page apart into its fenced blocks.
func blocksOf(page, text string) (blocks []block) {
	var open *block
	n := 0
	for line := range strings.Lines(text) {
		n++
		bare := strings.TrimSuffix(line, "\n")
		m := fence.FindStringSubmatch(bare)
		switch {
		case open == nil && m != nil:
			open = &block{page: page, line: n, indent: m[1], language: m[2], source: strings.TrimSpace(m[3])}
		case open != nil && m != nil && m[2] == "":
			blocks, open = append(blocks, *open), nil
		case open != nil:
			open.text += strings.TrimPrefix(line, open.indent)
		}
	}
	return blocks
}

var (
	regionBegin = regexp.MustCompile(`^\s*(?://|#) doc: ([a-z0-9-]+)$`)
	regionEnd   = regexp.MustCompile(`^\s*(?://|#) end$`)
)

// region is the lines of a file between the comments "doc: name" and "end", without their common indentation. Without a name it is
// the file from its package clause on. Comments that mark regions are left out.
func region(text, name string) (string, error) {
	var lines []string
	inside, found := name == "", name == ""
	for line := range strings.Lines(text) {
		bare := strings.TrimSuffix(line, "\n")
		switch m := regionBegin.FindStringSubmatch(bare); {
		case m != nil && m[1] == name:
			if found {
				return "", fmt.Errorf("it has two regions %q", name)
			}
			inside, found = true, true
		case m != nil:
		case regionEnd.MatchString(bare):
			inside = name == ""
		case inside:
			lines = append(lines, bare)
		}
	}
	if !found {
		return "", fmt.Errorf("it has no region %q", name)
	}
	if name == "" {
		if i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "package ") }); i > 0 {
			lines = lines[i:]
		}
	}
	return strings.Trim(dedented(lines), "\n") + "\n", nil
}

// dedented joins lines without the tabs that all of them begin with.
func dedented(lines []string) string {
	least := -1
	for _, l := range lines {
		if tabs := len(l) - len(strings.TrimLeft(l, "\t")); l != "" && (least < 0 || tabs < least) {
			least = tabs
		}
	}
	var b strings.Builder
	for _, l := range lines {
		if l != "" {
			l = l[least:]
		}
		b.WriteString(l + "\n")
	}
	return b.String()
}

// whole is the text that a block must have by its source.
func whole(t *testing.T, b block) (string, error) {
	path, name, _ := strings.Cut(b.source, "#")
	text, err := os.ReadFile(filepath.Join("..", path))
	if err != nil {
		return "", err
	}
	return region(strings.ReplaceAll(string(text), "\r\n", "\n"), name)
}

// readBy has the tests of files that lie elsewhere, each with what it names of them.
var readBy = map[string]struct{ test, names string }{
	"deploy/prometheus/prometheus.yml":                             {"telemetry/deploy_test.go", "prometheus.yml"},
	"examples/micro/gomicro/main.go":                               {"examples/micro/main_test.go", "gomicro"},
	"examples/dubbo/java/src/main/java/com/shop/OrderService.java": {"examples/dubbo/main_test.go", "src/main/java"},
}

// tested tells whether a source belongs to a test: it is one, a file of a package that has tests, or one below testdata that a test names.
func tested(path string) bool {
	if strings.HasSuffix(path, ".sh") {
		return filepath.ToSlash(filepath.Dir(path)) == "docs/testdata"
	}
	readers, name := filepath.Dir(path)+"/*_test.go", ""
	if folder, _, below := strings.Cut(path, "/testdata/"); below {
		readers, name = folder+"/*_test.go", filepath.Base(path)
	}
	if reader, there := readBy[path]; there {
		readers, name = reader.test, reader.names
	}
	tests, _ := filepath.Glob(filepath.Join("..", readers))
	for _, test := range tests {
		if text, err := os.ReadFile(test); err == nil && strings.Contains(string(text), name) {
			return true
		}
	}
	return strings.HasPrefix(path, "examples/start/") // testdata/start.sh runs these
}

func TestEveryBlockOfCodeComesFromATest(t *testing.T) {
	count := map[string]int{}
	for _, page := range pages(t) {
		text := readFile(t, page)
		var bare []string
		for _, b := range blocksOf(page, text) {
			count["blocks"]++
			if b.language == "" {
				t.Errorf("%s: say the language of this block; text, where it has none", b.where())
			}
			switch path, _, _ := strings.Cut(b.source, "#"); {
			case b.source == "commands" && b.language == "sh":
				count["commands"]++ // read by TestTheCommandsOnThePagesCanBeMeant of cmd/sabir
			case b.source == "fragment":
				count["fragments"]++
			case b.source != "" && b.language == "text":
				count["outputs of scripts"]++ // compared where the script runs
			case b.source != "":
				want, err := whole(t, b)
				switch {
				case err != nil:
					t.Errorf("%s: %s: %v", b.where(), b.source, err)
				case !tested(path):
					t.Errorf("%s: nothing tests %s", b.where(), path)
				case want != b.text && *update:
					text = strings.Replace(text, "```"+b.language+" "+b.source+"\n"+indented(b.text, b.indent), "```"+b.language+" "+b.source+"\n"+indented(want, b.indent), 1)
				case want != b.text:
					t.Errorf("%s is not as %s: change that, then run go test ./docs -run TestEveryBlock -update. The page has\n%s\nand the source\n%s", b.where(), b.source, b.text, want)
				}
				count[b.language+" from tests"]++
			case slices.Contains(needSource, b.language):
				bare = append(bare, fmt.Sprintf("line %d (%s)", b.line, b.language))
			default:
				count["drawings, layouts and settings"]++
			}
		}
		if len(bare) > 0 {
			t.Errorf("%s has %d blocks of code without a source: take each from a region of a test (```go docs/services_test.go#service), or mark it ```go fragment\n\t%s",
				page, len(bare), strings.Join(bare, ", "))
		}
		if *update && text != readFile(t, page) {
			if err := os.WriteFile(filepath.Join("..", page), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	names := make([]string, 0, len(count))
	for name, n := range count {
		names = append(names, fmt.Sprintf("%d %s", n, name))
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	t.Log(strings.Join(names, ", "))
}

func indented(text, by string) string {
	if by == "" {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line != "\n" {
			line = by + line
		}
		b.WriteString(line)
	}
	return b.String()
}

func TestARegionIsTheLinesBetweenItsComments(t *testing.T) {
	const file = "// Package x is.\npackage x\n\nfunc f() {\n\t// doc: one\n\tif a {\n\t\tb()\n\t}\n\t// end\n}\n"
	for name, want := range map[string]string{
		"one": "if a {\n\tb()\n}\n",
		"":    "package x\n\nfunc f() {\n\tif a {\n\t\tb()\n\t}\n}\n",
	} {
		if got, err := region(file, name); err != nil || got != want {
			t.Errorf("region %q is %q, %v; want %q", name, got, err, want)
		}
	}
	if _, err := region(file, "two"); err == nil {
		t.Error("there is a region two")
	}
}

func TestBlocksKnowTheirLanguageAndSource(t *testing.T) {
	got := blocksOf("p", "a\n```go x/y.go#r\ncode\n```\n- b\n\n  ```sh\n  run\n  ```\n")
	want := []block{{"p", 2, "", "go", "x/y.go#r", "code\n"}, {"p", 7, "  ", "sh", "", "run\n"}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
