package sabir

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
)

// rows reads the cells of a marked table in docs/errors.md, by their first.
func rows(t *testing.T, mark string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "<!-- "+mark+" -->")
	table, _, _ = strings.Cut(table, "<!-- /"+mark+" -->")
	all := make(map[string][]string)
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(line, "|\n "), "|")
		for i := range cells {
			cells[i] = strings.Trim(cells[i], " `")
		}
		if strings.HasPrefix(strings.TrimSpace(line), "| `") {
			all[cells[0]] = cells
		}
	}
	return all
}

func TestTheTableOfCodesInTheDocsIsTheOneInUse(t *testing.T) {
	table := rows(t, "codes")
	if len(table) != len(codes)-1 {
		t.Errorf("%d codes in the docs, %d in use", len(table), len(codes)-1)
	}
	for c := CodeCanceled; int(c) < len(codes); c++ {
		retryable := map[bool]string{true: "yes", false: "no"}[codes[c].retryable]
		want := fmt.Sprint([]string{c.String(), strconv.Itoa(c.GRPCStatus()), strconv.Itoa(c.HTTPStatus()), retryable})
		if got := fmt.Sprint(table[c.String()]); got != want {
			t.Errorf("docs have %s, in use is %s", got, want)
		}
	}
}

func TestTheTableOfBuiltInErrorsInTheDocsIsComplete(t *testing.T) {
	table := rows(t, "names")
	file, err := parser.ParseFile(token.NewFileSet(), "error.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "name") || len(spec.Values) == 0 {
			return true
		}
		found++
		name, _ := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		row := table[name]
		if row == nil {
			t.Errorf("%s is not in docs/errors.md", name)
			return true
		}
		var code Code
		if err := code.UnmarshalText([]byte(row[1])); err != nil {
			t.Error(err)
		}
		if got := strconv.Itoa(NewError(code, name, "").HTTPStatus()); got != row[2] {
			t.Errorf("%s: docs say HTTP %s, it is %s", name, row[2], got)
		}
		return true
	})
	if found != len(table) {
		t.Errorf("%d built-in errors, %d in the docs", found, len(table))
	}
}

func TestAnErrorSurvivesJSON(t *testing.T) {
	type shortage struct{ Left int }
	sentinel := NewError(CodeUnavailable, "OutOfStock", "not enough")
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
