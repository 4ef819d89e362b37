package docs

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The pages of docs/reference are made of doc comments: go test ./docs -run TestTheReference -update writes them.

// described lists the folders of all public packages, whose options and settings the reference has, in the order of their names.
func described(t *testing.T) (folders []string) {
	t.Helper()
	files, err := filepath.Glob("../api/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no files in api", err)
	}
	for _, file := range files {
		folder := strings.ReplaceAll(strings.TrimSuffix(filepath.Base(file), ".txt"), "-", "/")
		if folder == "sabir" {
			folder = "."
		}
		folders = append(folders, folder)
	}
	slices.Sort(folders) // the root first
	return folders
}

// optionTypes tells options by the type that their functions return. structs is the folder of those that are structs, whose comments
// say that they are options, and of what.
var optionTypes = []struct{ where, pattern, structs, of string }{
	{"node (`sabir.NewNode`)", `\bNodeOption\b`, ".", "NewNode"},
	{"service (`sabir.NewService`)", `\bServiceOption\b`, ".", "services"},
	{"action, stream and contract", `\bActionOption\b`, ".", "actions"},
	{"event handler", `\bEventOption\b`, ".", "event handlers"},
	{"`sabir.Emit`", `\bEmitOption\b`, "-", ""},
	{"call", `\bCallOption\b`, "-", ""},
	{"`sabir.Join`", `^cluster\.Option$|^Option$|\bcluster\.Option\b`, "cluster", ""},
	{"`sabir.HTTP`", `\bHTTPOption\b`, "-", ""},
}

func parsePackage(t *testing.T, folder string) (*doc.Package, *token.FileSet) {
	t.Helper()
	set := token.NewFileSet()
	paths, err := filepath.Glob(filepath.Join("..", folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "_windows.go") || strings.HasSuffix(path, "_other.go") {
			continue
		}
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	p, err := doc.NewFromFiles(set, files, "github.com/sabir-go/sabir/"+folder)
	if err != nil {
		t.Fatal(err)
	}
	return p, set
}

func sourceText(set *token.FileSet, node any) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, set, node); err != nil {
		return err.Error()
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// functions is all exported functions of a package, those that go doc shows below a type too.
func functions(p *doc.Package) []*doc.Func {
	all := slices.Clone(p.Funcs)
	for _, t := range p.Types {
		all = append(all, t.Funcs...)
	}
	slices.SortFunc(all, func(a, b *doc.Func) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// field is a field of a struct, with its comments.
type field struct{ name, text string }

// fieldsOf lists the exported fields of a struct; none for another type.
func fieldsOf(typ *doc.Type) (list []field) {
	for _, spec := range typ.Decl.Specs {
		fields, ok := spec.(*ast.TypeSpec).Type.(*ast.StructType)
		if !ok {
			continue
		}
		for _, f := range fields.Fields.List {
			for _, name := range f.Names {
				if name.IsExported() {
					list = append(list, field{name.Name, f.Doc.Text() + " " + f.Comment.Text()})
				}
			}
		}
	}
	return list
}

// firstSentence is the first sentence of a doc comment, fit for a cell of a table.
func firstSentence(p *doc.Package, text string) string {
	return cell(p.Synopsis(strings.ReplaceAll(text, "\n", " ")))
}

func cell(text string) string {
	text = regexp.MustCompile(`\[([A-Za-z][\w.]*)\]`).ReplaceAllString(text, "`$1`")
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "|", "\\|")), " ")
}

func options(t *testing.T) string {
	var b strings.Builder
	b.WriteString("# Options\n\nEvery option, by where it goes, with the first sentence of its documentation. `go doc` has the rest, and [defaults](defaults.md) the numbers.\n" +
		"This page is made of doc comments (`go test ./docs -run TestTheReference -update`); a test compares it with the code.\n")
	for _, o := range optionTypes {
		pattern := regexp.MustCompile(o.pattern)
		var rows strings.Builder
		for _, folder := range described(t) {
			p, set := parsePackage(t, folder)
			if folder == o.structs {
				for _, option := range p.Types {
					if len(fieldsOf(option)) > 0 && strings.HasPrefix(option.Doc, option.Name+" is an option ") && strings.Contains(p.Synopsis(option.Doc), o.of) {
						fmt.Fprintf(&rows, "| `%s.%s{…}` | %s |\n", p.Name, option.Name, firstSentence(p, option.Doc))
						for _, field := range fieldsOf(option) {
							fmt.Fprintf(&rows, "| `%s.%s.%s` | %s |\n", p.Name, option.Name, field.name, firstSentence(p, field.text))
						}
					}
				}
			}
			for _, f := range functions(p) {
				results := f.Decl.Type.Results
				if f.Recv != "" || results == nil || len(results.List) != 1 {
					continue
				}
				result := sourceText(set, results.List[0].Type)
				if !pattern.MatchString(result) || o.where == "`sabir.Join`" && result == "Option" && folder != "cluster" {
					continue
				}
				parameters := strings.TrimPrefix(sourceText(set, &ast.FuncType{Params: f.Decl.Type.Params}), "func")
				fmt.Fprintf(&rows, "| `%s.%s%s` | %s |\n", p.Name, f.Name, strings.ReplaceAll(parameters, "|", "\\|"), firstSentence(p, f.Doc))
			}
		}
		if rows.Len() > 0 {
			fmt.Fprintf(&b, "\n## Options of a %s\n\n| option | what it does |\n|---|---|\n%s", o.where, rows.String())
		}
	}
	return strings.NewReplacer("Options of a `sabir", "Options of `sabir", "Options of a action", "Options of an action", "Options of a event", "Options of an event").Replace(b.String())
}

var byDefault = regexp.MustCompile(`(?s)\b(?:Default: |[Bb]y default,? )(.+?)(?:\.(?:\s|$)|$)`)

func defaults(t *testing.T) string {
	var b strings.Builder
	b.WriteString("# Defaults and limits\n\nEvery default that a doc comment states, by package. What has no default here is off, empty or zero until you set it.\n" +
		"This page is made of doc comments (`go test ./docs -run TestTheReference -update`); a test compares it with the code.\n")
	for _, folder := range described(t) {
		p, _ := parsePackage(t, folder)
		var rows strings.Builder
		row := func(name, text string) {
			if m := byDefault.FindStringSubmatch(text); m != nil {
				fmt.Fprintf(&rows, "| `%s` | %s |\n", name, cell(m[1]))
			}
		}
		for _, f := range functions(p) {
			row(p.Name+"."+f.Name, f.Doc)
		}
		for _, typ := range p.Types {
			for _, field := range fieldsOf(typ) {
				row(p.Name+"."+typ.Name+"."+field.name, field.text)
			}
		}
		if rows.Len() > 0 {
			fmt.Fprintf(&b, "\n## Package %s\n\n| setting | default |\n|---|---|\n%s", p.Name, rows.String())
		}
	}
	return b.String()
}

// packages is a table of all public packages with what to import.
func packages(t *testing.T) string {
	var b strings.Builder
	b.WriteString("# Packages\n\nThe guides call a package by its last word: `auth.JWT` is of `github.com/sabir-go/sabir/web/auth`. A program has what it imports, and no more.\n" +
		"This page is made of doc comments (`go test ./docs -run TestTheReference -update`); a test compares it with the code.\n\n| import | |\n|---|---|\n")
	for _, folder := range described(t) {
		p, _ := parsePackage(t, folder)
		text, _, _ := strings.Cut(strings.TrimPrefix(p.Doc, "Package "+p.Name+" "), "\n\n") // what follows may be code
		text = strings.TrimSuffix(strings.TrimSuffix(firstSentence(p, text), "."), ":")
		fmt.Fprintf(&b, "| `%s` | %s |\n", path.Join("github.com/sabir-go/sabir", folder), text)
	}
	return b.String()
}

func TestTheReferenceIsWhatTheCodeSays(t *testing.T) {
	for page, text := range map[string]string{"reference/options.md": options(t), "reference/defaults.md": defaults(t), "reference/packages.md": packages(t)} {
		if *update {
			if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := readFile(t, "docs/"+page); got != text {
			t.Errorf("docs/%s is older than the code: run go test ./docs -run TestTheReference -update. It lacks:\n%s\nand has too much:\n%s", page, without(text, got), without(got, text))
		}
		if n := strings.Count(text, "\n| `"); n < 40 {
			t.Errorf("docs/%s has %d rows", page, n)
		}
	}
}

// metric is a name of the telemetry package's metrics in its source.
var metric = regexp.MustCompile(`"((?:sabir|rpc\.(?:server|client)|messaging\.process)\.[a-z_.]+)", +(?:Unit: )?"`)

func TestThePageOfMetricsHasEachMetric(t *testing.T) {
	page, n := readFile(t, "docs/telemetry.md"), 0
	for _, file := range []string{"telemetry/produce.go", "telemetry/signals.go"} {
		for _, m := range metric.FindAllStringSubmatch(readFile(t, file), -1) {
			n++
			short := "`" + m[1][strings.LastIndex(m[1], "."):] + "`" // of a row with several names
			if !strings.Contains(page, "`"+m[1]+"`") && !strings.Contains(page, short) {
				t.Errorf("docs/telemetry.md lacks %s of %s", m[1], file)
			}
		}
	}
	if n < 25 {
		t.Errorf("%d metrics: the test looks in the wrong place", n)
	}
}
