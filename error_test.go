package sabir

import (
	"encoding/json"
	"errors"
	"flag"
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
	"unicode/utf8"
)

// errorDocs parses error.go: the wire name of each constant, and the comment of each variable.
func errorDocs(t *testing.T) (names, comments map[string]string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "error.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	names, comments = make(map[string]string), make(map[string]string)
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		constant := spec.Names[0].Name
		switch value := spec.Values[0].(type) {
		case *ast.BasicLit:
			if strings.HasPrefix(constant, "name") {
				names[constant], _ = strconv.Unquote(value.Value)
			}
		case *ast.SelectorExpr: // of package errname, which spells its constants as their values
			names[constant] = value.Sel.Name
		}
		if strings.HasPrefix(constant, "Err") || strings.HasPrefix(constant, "err") {
			comments[constant] = strings.Join(strings.Fields(spec.Doc.Text()), " ")
		}
		return true
	})
	return names, comments
}

// builtinErrors lists the errors above in their order.
var builtinErrors = [...]*Error{
	ErrActionNotFound, ErrServiceUnavailable, errGroupGone, errNodeState, errBadOption, errBadService, errBadName,
	errBadContract, ErrValidationFailed, ErrBadInput, errBadOutput, errInputTooLarge, errUnsupportedMediaType,
	errMethodNotAllowed, errCrossOrigin, ErrCallerRefused, errNotANode, errBadKey, ErrLinkLost, errNoCommonCodec, errJoinFailed,
	ErrTooManyCalls, ErrNoQuorum, errTooManyStreams,
	ErrMessageTooLarge, errHeadTooLarge, errTooMuchDeclared, errNotAnswered, errBadCompression, ErrDeadlineExceeded,
	ErrCanceled, ErrPanic, ErrHandlerFailed, errTooManyLevels, errTooManyAbandoned, errStreamWanted, errNoStream,
	errStreamEnded, errStreamTooSlow, errEventQueueFull, ErrRateLimited, errBulkheadFull, ErrBreakerOpen, errNoDescription,
}

// errorVariables are the variables of the runtime's errors by the name they go by on the wire.
func errorVariables() map[string]*Error {
	all := make(map[string]*Error)
	for _, e := range builtinErrors {
		all[e.Name] = e
	}
	return all
}

func TestEachErrorOfTheRuntimeHasAVariableSpelledAsItsNameOnTheWire(t *testing.T) {
	names, comments := errorDocs(t)
	variables := errorVariables()
	for constant, name := range names {
		if constant != "name"+name {
			t.Errorf("the constant of %q is called %s", name, constant)
		}
		if comments["Err"+name] == "" && comments["err"+name] == "" || variables[name] == nil {
			t.Errorf("%q has no variable Err%s with a comment", name, name)
		}
	}
	if len(names) != len(comments) || len(names) != len(variables) {
		t.Errorf("%d names, %d variables, %d of them in the list of built-in errors", len(names), len(comments), len(variables))
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
			if e := errorVariables()[m[2]]; e == nil || "Code"+e.Code.String() != m[1] {
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
	want := withTable(t, withTable(t, string(text), "codes", codeTable()), "names", errorTable(t))
	want = withTable(t, want, "packages", packageErrorTable(t))
	if want == string(text) {
		return
	}
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s is not what error.go says: go test -run TestTheTablesOfErrors -update .", path)
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
	for c := CodeCanceled; int(c) < len(codes); c++ {
		table += fmt.Sprintf("| `%s` | %d | %d |\n", c, c.GRPCStatus(), c.HTTPStatus())
	}
	return table
}

func errorTable(t *testing.T) string {
	_, comments := errorDocs(t)
	links := regexp.MustCompile(`\[([\w.]+)\]`)
	table := "| error | code | HTTP | retryable | when, and what to do |\n|---|---|---|---|---|\n"
	for _, e := range builtinErrors {
		shown, comment := "sabir.Err"+e.Name, comments["Err"+e.Name]
		if comment == "" {
			shown, comment = e.Name, comments["err"+e.Name] // no program has a reason to match it
		}
		_, meaning, _ := strings.Cut(comment, ": ")
		retryable := map[bool]string{true: "yes", false: "no"}[e.Retryable]
		table += fmt.Sprintf("| `%s` | %s | %d | %s | %s |\n", shown, e.Code, e.HTTPStatus(), retryable, links.ReplaceAllString(meaning, "`$1`"))
	}
	return table
}

func TestAnErrorOfAnAuthorIsRetryableOnlyWhereItSaysSo(t *testing.T) {
	for c := CodeCanceled; int(c) < len(codes); c++ {
		e := NewError(c, "Mine", "")
		if e.Retryable || Errorf(c, "Mine", "x").Retryable {
			t.Errorf("%v is retryable by its code", c)
		}
		if !e.AsRetryable().Retryable || e.Retryable {
			t.Errorf("%v: AsRetryable does not return a retryable copy", c)
		}
	}
}

func TestNoErrorCarriesCodeOK(t *testing.T) {
	func() {
		defer func() {
			if v := fmt.Sprint(recover()); !strings.Contains(v, "Mine") || !strings.Contains(v, "CodeOK") {
				t.Errorf("NewError with CodeOK panicked with %s", v)
			}
		}()
		NewError(CodeOK, "Mine", "")
	}()
	own := &Error{Name: "Mine", Message: "no code given"}
	if e := AsError(own); e.Code != CodeUnknown || e.Name != "Mine" || !errors.Is(e, own) {
		t.Errorf("an error without a code becomes %+v", e)
	}
}

func TestAnErrorSurvivesJSON(t *testing.T) {
	type shortage struct{ Left int }
	sentinel := NewError(CodeUnavailable, "OutOfStock", "not enough").AsRetryable()
	e := sentinel.WithData(shortage{3})
	e.Node = "n1"
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var got Error
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(&got, sentinel) || got.Error() != e.Error() || !got.Retryable || got.Node != "n1" {
		t.Fatalf("got %+v", got)
	}
	if data, err := DataAs[shortage](&got); err != nil || data.Left != 3 {
		t.Fatalf("data %+v, %v", data, err)
	}
	if data, err := DataAs[shortage](e); err != nil || data.Left != 3 {
		t.Fatalf("data before the wire %+v, %v", data, err)
	}
	if sentinel.Data != nil || sentinel.Node != "" {
		t.Fatal("the variable was changed")
	}
}

func TestErrorsMatchByCodeAndName(t *testing.T) {
	e := NewError(CodeNotFound, "NoUser", "no user 7")
	for want, target := range map[error]bool{
		NewError(CodeNotFound, "NoUser", "another text"): true, NewError(CodeNotFound, "NoOrder", ""): false, NewError(CodeInternal, "NoUser", ""): false,
	} {
		if errors.Is(e, want) != target {
			t.Errorf("%v: %v", want, !target)
		}
	}
	wrapped := Errorf(CodeInternal, "Storage", "reading user 7: %w", os.ErrNotExist)
	if !errors.Is(wrapped, os.ErrNotExist) || wrapped.Error() != "Storage: reading user 7: file does not exist" {
		t.Errorf("got %v", wrapped)
	}
}

// Formats of text, JSON above all, could not carry such an error to its caller.
func TestTheTextOfAnErrorIsUTF8(t *testing.T) {
	for about, err := range map[string]error{
		"an *Error": NewError(CodeNotFound, "No\xe9", "caf\xe9"), "a plain error": errors.New("caf\xe9"),
		"a wrapped one": fmt.Errorf("caf\xe9: %w", ErrTooManyCalls),
	} {
		e := AsError(err)
		if !utf8.ValidString(e.Name+e.Message) || !strings.HasPrefix(e.Message, "caf\ufffd") || !errors.Is(e, err) {
			t.Errorf("%s: %q %q", about, e.Name, e.Message)
		}
	}
}

func TestUnknownCodesAreHarmless(t *testing.T) {
	c := Code(99)
	if c.String() != "Code(99)" || c.HTTPStatus() != 500 || c.GRPCStatus() != 2 || NewError(c, "X", "").Retryable {
		t.Errorf("got %v %d %d", c, c.HTTPStatus(), c.GRPCStatus())
	}
	if err := c.UnmarshalText([]byte("Nonsense")); err == nil {
		t.Error("read a code that is not there")
	}
}

func FuzzConversionBetweenShapes(f *testing.F) {
	f.Add(`{"a":1,"b":[{"c":"x"}],"d":null}`)
	f.Add(`[1,2,"x"]`)
	f.Add(`"\ud800"`)
	type shape struct {
		A int64            `json:"a"`
		B []map[string]any `json:"b,omitempty"` // else [] would be one level more than the text had
		D *shape           `json:"d"`
	}
	f.Add(strings.Repeat(`{"d":`, 127) + "{}" + strings.Repeat("}", 127))
	f.Fuzz(func(t *testing.T, text string) {
		var value any
		if decodeJSON([]byte(text), &value) != nil {
			return
		}
		var typed shape
		if convertValue(&typed, value) != nil {
			return
		}
		var again shape
		if err := convertInto(&again, &typed); err != nil {
			t.Fatal(err)
		}
		var loose map[string]any
		if err := convertInto(&loose, &typed); err != nil {
			t.Fatalf("%+v has no loose form: %v", typed, err)
		}
		var back shape
		if err := convertInto(&back, &loose); err != nil {
			t.Fatalf("%v does not come back: %v", loose, err)
		}
	})
}

func TestTheNameOfAWrappedErrorStandsOnceBeforeItsMessage(t *testing.T) {
	out := NewError(CodeFailedPrecondition, "OutOfStock", "not enough in stock")
	for _, one := range []struct {
		name    string
		err     error
		message string
	}{
		{"more behind", fmt.Errorf("%w: of lamps", out), "not enough in stock: of lamps"},
		{"more before", fmt.Errorf("ordering lamps: %w", out), "ordering lamps: OutOfStock: not enough in stock"},
		{"both", fmt.Errorf("ordering: %w", fmt.Errorf("%w: of lamps", out)), "ordering: OutOfStock: not enough in stock: of lamps"},
	} {
		e := AsError(one.err)
		if e.Name != "OutOfStock" || e.Message != one.message || !errors.Is(e, out) {
			t.Errorf("%s: %q of %q", one.name, e.Message, e.Name)
		}
		if again := AsError(e); again.Message != one.message {
			t.Errorf("%s: %q, read again", one.name, again.Message)
		}
	}
}
