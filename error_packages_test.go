package sabir

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
)

// packagesWithErrors have errors of their own, in the order of their table.
var packagesWithErrors = []string{
	"channel",
	"actor", "actor/supervise", "actor/app", "actor/cron", "actor/meta", "actor/grain", "internal/grainstore",
	"web/auth", "web/filter", "web/rest", "internal/httpstream", "web/dashboard", "telemetry",
}

// importedFor names the package that programs import for the errors of an internal one; "" for none.
var importedFor = map[string]string{"internal/grainstore": "actor/grain/store", "internal/httpstream": ""}

// packageError is an error as the code of a package declares it.
type packageError struct {
	variable, comment, code, name string
	retryable                     bool
}

// errorsOf returns the errors of a package. An error that is made anywhere else with a name in quotes fails the test.
func errorsOf(t *testing.T, dir string) (all []packageError) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no files, %v", dir, err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		declared := make(map[*ast.CallExpr]bool)
		for _, decl := range file.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok || group.Tok != token.VAR {
				continue
			}
			for _, spec := range group.Specs {
				value := spec.(*ast.ValueSpec)
				if len(value.Values) != 1 {
					continue
				}
				e, call := madeError(value.Values[0])
				if call == nil {
					continue
				}
				declared[call] = true
				doc := value.Doc
				if doc == nil {
					doc = group.Doc
				}
				e.variable, e.comment = value.Names[0].Name, strings.Join(strings.Fields(doc.Text()), " ")
				all = append(all, e)
			}
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if call, ok := node.(*ast.CallExpr); ok && !declared[call] && newErrorName(call) != "" {
				t.Errorf("%s makes an error with a name in quotes: give the name a variable", set.Position(call.Pos()))
			}
			return true
		})
	}
	return all
}

// madeError reads sabir.NewError(sabir.CodeX, "Name", …) with or without AsRetryable.
func madeError(value ast.Expr) (e packageError, call *ast.CallExpr) {
	call, ok := value.(*ast.CallExpr)
	if !ok {
		return e, nil
	}
	if method, ok := call.Fun.(*ast.SelectorExpr); ok && method.Sel.Name == "AsRetryable" {
		e.retryable = true
		if call, ok = method.X.(*ast.CallExpr); !ok {
			return e, nil
		}
	}
	if e.name = newErrorName(call); e.name == "" {
		return e, nil
	}
	if code, ok := call.Args[0].(*ast.SelectorExpr); ok {
		e.code = strings.TrimPrefix(code.Sel.Name, "Code")
	}
	return e, call
}

// newErrorName is the name in quotes of a call of sabir.NewError or sabir.Errorf; "" for another call.
func newErrorName(call *ast.CallExpr) string {
	function, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || function.Sel.Name != "NewError" && function.Sel.Name != "Errorf" || len(call.Args) < 2 {
		return ""
	}
	if pkg, ok := function.X.(*ast.Ident); !ok || pkg.Name != "sabir" {
		return ""
	}
	literal, ok := call.Args[1].(*ast.BasicLit)
	if !ok {
		return ""
	}
	name, _ := strconv.Unquote(literal.Value)
	return name
}

func TestEachErrorOfAPackageHasAVariableSpelledAsItsNameOnTheWire(t *testing.T) {
	found := 0
	for _, dir := range append([]string{"web", "policy", "actor/pool", "actor/actortest"}, packagesWithErrors...) {
		for _, e := range errorsOf(t, dir) {
			found++
			if e.variable != "Err"+e.name && e.variable != "err"+e.name {
				t.Errorf("%s: the error %q is called %s", dir, e.name, e.variable)
			}
			if !strings.HasPrefix(e.comment, e.variable) {
				t.Errorf("%s: %s has no comment", dir, e.variable)
			}
		}
	}
	if found < 60 {
		t.Errorf("found %d errors only: the pattern no longer fits the code", found)
	}
}

func packageErrorTable(t *testing.T) string {
	links := regexp.MustCompile(`\[([\w.]+)\]`)
	table := "| error | code | HTTP | retryable | when, and what to do |\n|---|---|---|---|---|\n"
	for _, dir := range packagesWithErrors {
		imported, internal := importedFor[dir]
		if !internal {
			imported = dir
		}
		golden, err := os.ReadFile(filepath.Join("api", strings.ReplaceAll(imported, "/", "-")+".txt"))
		if imported != "" && err != nil {
			t.Fatal(err)
		}
		for _, e := range errorsOf(t, dir) {
			if !strings.HasPrefix(e.comment, e.variable+": ") {
				continue // no program sees it
			}
			shown := imported[strings.LastIndex(imported, "/")+1:] + "." + e.variable
			if !strings.Contains(string(golden), "var "+e.variable+" ") {
				shown = e.name // those who call over HTTP, or read the log, see the name; no program has a reason to match it
			}
			var code Code
			if err := code.UnmarshalText([]byte(e.code)); err != nil {
				t.Fatal(err)
			}
			meaning := strings.TrimPrefix(e.comment, e.variable+": ")
			retryable := map[bool]string{true: "yes", false: "no"}[e.retryable]
			table += fmt.Sprintf("| `%s` | %s | %d | %s | %s |\n", shown, e.code, code.HTTPStatus(), retryable, links.ReplaceAllString(meaning, "`$1`"))
		}
	}
	return table
}
