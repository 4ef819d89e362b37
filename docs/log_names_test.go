package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// One thing has one name in all lines of the log, so that a search for a request finds all of them.
var otherNames = map[string]string{
	"request": "request_id", "took": "duration_ms", "elapsed": "duration_ms", "latency": "duration_ms", "duration": "duration_ms",
	"trace": "trace_id", "span": "span_id", "addr": "address", "err": "error", "svc": "service",
}

var logName = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

// logMethods have a message, and the names and values that follow it, at this place.
var logMethods = map[string]int{"Debug": 0, "Info": 0, "Warn": 0, "Error": 0, "DebugContext": 1, "InfoContext": 1, "WarnContext": 1, "ErrorContext": 1,
	"Log": 2, "LogAttrs": 2}

func TestOneThingHasOneNameInTheLog(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "lab" || d.Name() == "testdata" || d.Name() == "examples"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, key := range logNames(file) {
			seen++
			name, err := strconv.Unquote(key.Value)
			if err != nil {
				return err
			}
			if instead := otherNames[name]; instead != "" {
				t.Errorf("%s: the log has %q: want %q", files.Position(key.Pos()), name, instead)
			} else if !logName.MatchString(name) {
				t.Errorf("%s: the log has %q: want small letters, digits and _", files.Position(key.Pos()), name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 200 {
		t.Errorf("only %d names were found", seen)
	}
}

// logNames finds the names of what log/slog is given.
func logNames(file *ast.File) (list []*ast.BasicLit) {
	text := func(e ast.Expr) *ast.BasicLit {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			return lit
		}
		return nil
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if all, ok := n.(*ast.CompositeLit); ok && isAnyList(all) { // names and values that a call is given later
			for i := 0; i+1 < len(all.Elts); i += 2 {
				if lit := text(all.Elts[i]); lit != nil {
					list = append(list, lit)
				}
			}
		}
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		method, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		from, ok := method.X.(*ast.Ident)
		if ok && from.Name == "slog" && len(call.Args) >= 2 {
			if _, line := logMethods[method.Sel.Name]; !line && text(call.Args[0]) != nil {
				list = append(list, text(call.Args[0])) // slog.String("name", …) and its like
			}
		}
		at, ok := logMethods[method.Sel.Name]
		if !ok || len(call.Args) < at+3 || text(call.Args[at]) == nil {
			return true
		}
		for i := at + 1; i+1 < len(call.Args); i += 2 {
			lit := text(call.Args[i])
			if lit == nil {
				break // an attribute, or a list of them
			}
			list = append(list, lit)
		}
		return true
	})
	return list
}

// isAnyList reports whether a literal is an []any.
func isAnyList(l *ast.CompositeLit) bool {
	list, ok := l.Type.(*ast.ArrayType)
	if !ok {
		return false
	}
	element, ok := list.Elt.(*ast.Ident)
	return ok && element.Name == "any"
}
