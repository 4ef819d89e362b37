package docs

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var fuzzed = flag.String("fuzzed", "", "with -update: a file with lines of ./test fuzz, whose executions are added to fuzzing.md")

const fuzzingHead = `# Fuzzing

Every decoder has a fuzz test: what reads bytes of clients, peers, brokers, stores and files. ` + "`./test`" + ` runs those of the native
format and of links for 20 s, ` + "`./test nightly`" + ` each of the others for a second too, and [the workflow fuzz](../.github/workflows/fuzz.yml) runs all of them for hours each night and keeps the corpus. One
package for a time of your own: ` + "`FUZZ_SECONDS=600 ./test fuzz internal/native`" + `.

A finding is an input below ` + "`testdata/fuzz`" + ` of its package, which ` + "`go test`" + ` runs from then on. The executions are those of runs that somebody has
added by

` + "```sh commands" + `
./test fuzz internal/native | tee fuzz.log
go test ./docs -run Fuzzers -update -fuzzed "$PWD/fuzz.log"
` + "```" + `

This page is written by that command, and a test holds it against the code: a fuzz test that is not here, or a package that decodes and has
none, is noticed.

| package | fuzz test | executions so far |
|---|---|---|
`

// unfuzzed has the packages that decode without a fuzz test of their own, and the reason.
var unfuzzed = map[string]string{
	"cmd/sabir/scaffold":          "the go.mod of the user's own folder",
	"internal/codectest":          "part of tests",
	"internal/transporttest":      "part of tests",
	"internal/schemes":            "fuzzed by package transport, whose addresses it reads",
	"codec":                       "hands over to the codecs",
	"internal/conformance/matrix": "output of this project's own tests",
	"transport/mem":               "copies bytes within the process",
	"internal/simulation":         "numbers of steps on the command line of its own tests",
	"internal/document":           "no format of its own: codec/cbor and codec/msgpack are fuzzed through it",
}

// decoder is the name of a function that makes something of bytes or text.
var decoder = regexp.MustCompile(`^(?:[pP]arse|[dD]ecode|[uU]nmarshal|read)(?:[A-Z]|$)`)

// decodes reports whether a function is a decoder: it takes bytes, a text or a reader and may fail.
func decodes(f *ast.FuncDecl) bool {
	if !decoder.MatchString(f.Name.Name) || f.Body == nil || f.Type.Results == nil {
		return false
	}
	takes, fails := false, false
	for _, p := range f.Type.Params.List {
		switch typeText(p.Type) {
		case "string", "[]byte", "io.Reader", "*bufio.Reader":
			takes = true
		}
	}
	for _, r := range f.Type.Results.List {
		fails = fails || typeText(r.Type) == "error"
	}
	return takes && fails
}

func typeText(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return typeText(e.X) + "." + e.Sel.Name
	case *ast.StarExpr:
		return "*" + typeText(e.X)
	case *ast.ArrayType:
		return "[]" + typeText(e.Elt)
	}
	return ""
}

// fuzzersAndDecoders returns the fuzz tests of each package, and a decoder of each package that has one.
func fuzzersAndDecoders(t *testing.T) (fuzzers map[string][]string, decoders map[string]string) {
	t.Helper()
	fuzzers, decoders = map[string][]string{}, map[string]string{}
	err := filepath.WalkDir("..", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && file != ".." && (name == "testdata" || name == "lab" || name == "node_modules" || strings.HasPrefix(name, ".")) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder := strings.TrimPrefix(strings.TrimPrefix(path.Dir(filepath.ToSlash(file)), ".."), "/")
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			switch {
			case !ok:
			case strings.HasSuffix(name, "_test.go") && strings.HasPrefix(f.Name.Name, "Fuzz"):
				fuzzers[folder] = append(fuzzers[folder], f.Name.Name)
			case !strings.HasSuffix(name, "_test.go") && decodes(f):
				decoders[folder] = f.Name.Name
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return fuzzers, decoders
}

func TestEveryPackageThatDecodesHasAFuzzTest(t *testing.T) {
	fuzzers, decoders := fuzzersAndDecoders(t)
	for folder, function := range decoders {
		if len(fuzzers[folder]) == 0 && unfuzzed[folder] == "" {
			t.Errorf("%s has the decoder %s and no fuzz test; add one, or say in unfuzzed why it needs none", folder, function)
		}
	}
	for folder := range unfuzzed {
		if decoders[folder] == "" || len(fuzzers[folder]) > 0 {
			t.Errorf("%s need not be in unfuzzed", folder)
		}
	}
	if len(decoders) < 20 {
		t.Errorf("only %d packages with decoders were found: the test looks in the wrong place", len(decoders))
	}
}

var (
	fuzzingRow = regexp.MustCompile("(?m)^\\| \\[(.*)\\]\\(.*\\) \\| `(Fuzz\\w+)` \\| ([0-9,]+) \\|$")
	fuzzedLine = regexp.MustCompile(`(?m)^(\S+) (Fuzz\w+): .*execs: (\d+)`)
)

func TestThePageListsAllFuzzers(t *testing.T) {
	const page = "fuzzing.md"
	text, err := os.ReadFile(page)
	if err != nil && !*update {
		t.Fatal(err)
	}
	executions := map[string]uint64{}
	for _, row := range fuzzingRow.FindAllStringSubmatch(string(text), -1) {
		executions[row[1]+" "+row[2]], _ = strconv.ParseUint(strings.ReplaceAll(row[3], ",", ""), 10, 64)
	}
	if *update && *fuzzed != "" {
		log, err := os.ReadFile(*fuzzed)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range fuzzedLine.FindAllStringSubmatch(string(log), -1) {
			more, _ := strconv.ParseUint(line[3], 10, 64)
			executions[line[1]+" "+line[2]] += more
		}
	}
	var b strings.Builder
	b.WriteString(fuzzingHead)
	fuzzers, _ := fuzzersAndDecoders(t)
	for _, folder := range slices.Sorted(maps.Keys(fuzzers)) {
		name := folder
		if name == "" {
			name = "."
		}
		for _, fuzzer := range slices.Sorted(slices.Values(fuzzers[folder])) {
			fmt.Fprintf(&b, "| [%s](../%s) | `%s` | %s |\n", name, folder, fuzzer, grouped(executions[name+" "+fuzzer]))
		}
	}
	if *update {
		if err := os.WriteFile(page, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(text) != b.String() {
		t.Errorf("docs/%s does not list the fuzz tests that there are: run go test ./docs -run Fuzzers -update. It lacks:\n%s\nand has too much:\n%s",
			page, without(b.String(), string(text)), without(string(text), b.String()))
	}
}

// grouped writes a number with commas between groups of three digits.
func grouped(n uint64) string {
	text := strconv.FormatUint(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
