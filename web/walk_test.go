package web

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// walkStep is a line of a numbered list in doc.go that begins with the name of a function.
var walkStep = regexp.MustCompile(`(?m)^\s+\d+\. ([A-Za-z0-9]+(?:\.[A-Za-z]+)*) `)

func TestTheFunctionsOfTheWalkExist(t *testing.T) {
	doc, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	steps := walkStep.FindAllStringSubmatch(doc.Doc.Text(), -1)
	if len(steps) < 20 {
		t.Fatalf("the walk has %d steps", len(steps))
	}
	declared := map[string]map[string]bool{"": functionsIn(t, ".")}
	for pkg, dir := range map[string]string{"http1": "../internal/http1", "bind": "../internal/bind", "sabir": ".."} {
		declared[pkg] = functionsIn(t, dir)
	}
	for _, step := range steps {
		pkg, name, found := strings.Cut(step[1], ".")
		if !found || declared[pkg] == nil {
			pkg, name = "", step[1]
		}
		if !declared[pkg][name] {
			t.Errorf("doc.go names %s, which is not declared", step[1])
		}
	}
}

// functionsIn lists the functions of a package, and its methods as Type.method.
func functionsIn(t *testing.T, dir string) map[string]bool {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				names[receiver(f)+f.Name.Name] = true
			}
		}
	}
	return names
}

func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	of := f.Recv.List[0].Type
	if p, ok := of.(*ast.StarExpr); ok {
		of = p.X
	}
	switch generic := of.(type) {
	case *ast.IndexExpr:
		of = generic.X
	case *ast.IndexListExpr:
		of = generic.X
	}
	return of.(*ast.Ident).Name + "."
}
