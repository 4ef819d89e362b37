package actor

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
var walkStep = regexp.MustCompile(`(?m)^\s+\d+\. ([A-Za-z]+(?:\.[A-Za-z]+)?) `)

func TestTheFunctionsOfTheWalkExist(t *testing.T) {
	doc, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	steps := walkStep.FindAllStringSubmatch(doc.Doc.Text(), -1)
	if len(steps) < 20 {
		t.Fatalf("the walk has %d steps", len(steps))
	}
	declared := functionsIn(t, ".")
	for _, step := range steps {
		if !declared[step[1]] {
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
