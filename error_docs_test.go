package sabir_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
)

// errorsOf is the errors that a package has, in the order of their table.
type errorsOf struct {
	pkg  string // as programs write it
	file string
	all  []*sabir.Error
}

// runtimeErrors and channelErrors list the errors of error.go and channel/error.go in their order.
var runtimeErrors = errorsOf{"sabir", "error.go", []*sabir.Error{
	sabir.ErrActionNotFound, sabir.ErrServiceUnavailable, sabir.ErrGroupGone, sabir.ErrNodeState, sabir.ErrBadOption, sabir.ErrBadService,
	sabir.ErrBadName, sabir.ErrBadContract, sabir.ErrValidationFailed, sabir.ErrBadInput, sabir.ErrBadOutput, sabir.ErrInputTooLarge,
	sabir.ErrUnsupportedMediaType, sabir.ErrMethodNotAllowed, sabir.ErrWrongSite, sabir.ErrNotANode, sabir.ErrBadKey, sabir.ErrLinkLost,
	sabir.ErrNoCommonCodec, sabir.ErrJoinFailed, sabir.ErrTooManyCalls, sabir.ErrTooManyStreams, sabir.ErrMessageTooLarge,
	sabir.ErrHeadTooLarge, sabir.ErrTooMuchDeclared, sabir.ErrNotAnswered, sabir.ErrBadCompression, sabir.ErrDeadlineExceeded,
	sabir.ErrCanceled, sabir.ErrPanic, sabir.ErrHandlerFailed, sabir.ErrTooManyLevels, sabir.ErrTooManyAbandoned, sabir.ErrStreamWanted,
	sabir.ErrNoStream, sabir.ErrStreamEnded, sabir.ErrEventQueueFull, sabir.ErrRateLimited, sabir.ErrBulkheadFull, sabir.ErrBreakerOpen,
	sabir.ErrNoDescription,
}}

var channelErrors = errorsOf{"channel", "channel/error.go", []*sabir.Error{
	channel.ErrBadChannel, channel.ErrNoChannels, channel.ErrChannelAway, channel.ErrChannelFull, channel.ErrNotOffered, channel.ErrChannelFailed,
}}

// byName is the errors by the names that they go by on the wire.
func (e errorsOf) byName() map[string]*sabir.Error {
	named := make(map[string]*sabir.Error)
	for _, one := range e.all {
		named[one.Name] = one
	}
	return named
}

// docs parses the file: the wire name of each constant, and the comment of each variable.
func (e errorsOf) docs(t *testing.T) (names, comments map[string]string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), e.file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	names, comments = make(map[string]string), make(map[string]string)
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		name := spec.Names[0].Name
		if literal, ok := spec.Values[0].(*ast.BasicLit); ok && strings.HasPrefix(name, "name") {
			names[name], _ = strconv.Unquote(literal.Value)
		}
		if strings.HasPrefix(name, "Err") {
			comments[name] = strings.Join(strings.Fields(spec.Doc.Text()), " ")
		}
		return true
	})
	return names, comments
}

func TestEachErrorHasAVariableSpelledAsItsNameOnTheWire(t *testing.T) {
	names, _ := runtimeErrors.docs(t)
	for constant, name := range names {
		if constant != "name"+name {
			t.Errorf("the constant of %q is called %s", name, constant)
		}
		if runtimeErrors.byName()[name] == nil {
			t.Errorf("%q has no variable Err%s", name, name)
		}
	}
	for _, e := range []errorsOf{runtimeErrors, channelErrors} {
		_, comments := e.docs(t)
		named := e.byName()
		for name := range named {
			if comments["Err"+name] == "" {
				t.Errorf("%s: no variable Err%s has a comment", e.file, name)
			}
		}
		if len(comments) != len(named) {
			t.Errorf("%s has %d variables, and the list here %d", e.file, len(comments), len(named))
		}
	}
}

func TestTheRuntimeSendsANameWithOneCodeOnly(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	literal := regexp.MustCompile(`Code: (?:uint8\()?(Code\w+)\)?, Name: name(\w+)`)
	found := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range literal.FindAllStringSubmatch(string(text), -1) {
			found++
			if e := runtimeErrors.byName()[m[2]]; e == nil || "Code"+e.Code.String() != m[1] {
				t.Errorf("%s sends %s with %s, which its variable does not have: errors.Is would not find it", file, m[2], m[1])
			}
		}
	}
	if found < 40 {
		t.Errorf("found %d errors only: the pattern no longer fits the code", found)
	}
}

// TestTheTablesOfErrorsInTheDocsAreThoseOfTheCode holds the tables of docs/errors.md, which -update writes.
func TestTheTablesOfErrorsInTheDocsAreThoseOfTheCode(t *testing.T) {
	const path = "docs/errors.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := withTable(t, string(text), "codes", codeTable())
	want = withTable(t, want, "names", runtimeErrors.table(t))
	want = withTable(t, want, "channels", channelErrors.table(t))
	if want == string(text) {
		return
	}
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s is not what the code says: go test -run TestTheTablesOfErrors -update .", path)
}

func withTable(t *testing.T, text, mark, table string) string {
	t.Helper()
	before, rest, ok := strings.Cut(text, "<!-- "+mark+" -->\n")
	_, after, closed := strings.Cut(rest, "<!-- /"+mark+" -->")
	if !ok || !closed {
		t.Fatalf("docs/errors.md has no marks for the table of %s", mark)
	}
	return before + "<!-- " + mark + " -->\n" + table + "<!-- /" + mark + " -->" + after
}

func codeTable() string {
	table := "| code | gRPC | HTTP |\n|---|---|---|\n"
	for c := sabir.CodeCanceled; c <= sabir.CodeUnauthenticated; c++ {
		table += fmt.Sprintf("| `%s` | %d | %d |\n", c, c.GRPCStatus(), c.HTTPStatus())
	}
	return table
}

func (e errorsOf) table(t *testing.T) string {
	_, comments := e.docs(t)
	links := regexp.MustCompile(`\[([\w.]+)\]`)
	table := "| `" + e.pkg + ".Err…` | code | HTTP | retryable | when, and what to do |\n|---|---|---|---|---|\n"
	for _, one := range e.all {
		meaning := strings.TrimPrefix(comments["Err"+one.Name], "Err"+one.Name+": ")
		retryable := map[bool]string{true: "yes", false: "no"}[one.Retryable]
		table += fmt.Sprintf("| `%s` | %s | %d | %s | %s |\n", one.Name, one.Code, one.HTTPStatus(), retryable, links.ReplaceAllString(meaning, "`$1`"))
	}
	return table
}
