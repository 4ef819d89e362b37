package sabir_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// walked is the packages that the walks in doc.go pass, by the names that they have there.
var walked = map[string]string{"": ".", "wire": "internal/wire", "mesh": "internal/mesh", "channel": "channel", "engine": "internal/engine"}

func TestEachFunctionOfTheWalksExists(t *testing.T) {
	doc, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	functions := make(map[string]bool)
	for name, dir := range walked {
		addFunctions(t, functions, name, dir)
	}
	walks, names := 0, 0
	_, text, _ := strings.Cut(doc.Doc.Text(), "five walks")
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "# Walk: ") {
			walks++
		}
		entry, found := strings.CutPrefix(line, "\t")
		if !found {
			continue
		}
		names++
		if name := strings.Fields(entry)[0]; !functions[name] {
			t.Errorf("there is no function %s", name)
		}
	}
	if walks != 5 || names < 5*walks {
		t.Errorf("doc.go has %d walks with %d functions", walks, names)
	}
}

// addFunctions adds the functions and methods of a package: "Call", "handler.call", "wire.Link.Call".
func addFunctions(t *testing.T, to map[string]bool, name, dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	if name != "" {
		name += "."
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declared := range parsed.Decls {
			if fn, ok := declared.(*ast.FuncDecl); ok {
				to[name+receiverOf(fn)+fn.Name.Name] = true
			}
		}
	}
}

// receiverOf is the type that the method is of, with a dot behind it; "" for a function.
func receiverOf(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return ""
	}
	var name string
	ast.Inspect(fn.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name // the first: what follows are type parameters
		}
		return true
	})
	return name + "."
}
