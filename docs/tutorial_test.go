package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheTutorialShowsAllOfItsServices reads what each chapter's package declares: a reader who copies the blocks of a chapter must have a service that
// compiles, but for the imports, which an editor adds. Programs are shown in part.
func TestTheTutorialShowsAllOfItsServices(t *testing.T) {
	files, err := filepath.Glob("../examples/tutorial/*/*.go")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_test.go") || parsed.Name.Name == "main" {
			continue
		}
		number, name, _ := strings.Cut(filepath.Base(filepath.Dir(file)), "-")
		chapter, err := os.ReadFile("tutorial/" + strings.TrimPrefix(number, "0") + "-" + name + ".md")
		if err != nil {
			t.Fatal(err)
		}
		for _, declared := range parsed.Decls {
			for _, name := range namesOf(declared) {
				if !strings.Contains(string(chapter), name) {
					t.Errorf("the chapter does not show %s of %s", name, file)
				}
			}
		}
	}
}

// namesOf lists the beginnings of a declaration, by which a chapter is searched.
func namesOf(declared ast.Decl) (names []string) {
	switch d := declared.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil {
			return []string{") " + d.Name.Name + "("}
		}
		return []string{"func " + d.Name.Name + "("}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, "type "+s.Name.Name+" ")
			case *ast.ValueSpec:
				for _, name := range s.Names {
					names = append(names, name.Name+" ")
				}
			}
		}
	}
	return names
}
