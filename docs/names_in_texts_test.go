package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// nameInText finds a name of Go with its package, as errors and logs tell it: "sabir.Limits sets it".
var nameInText = regexp.MustCompile(`(?:^|[^\w/.$-])([a-z]+)\.([A-Z]\w+)`)

// A reader looks for what an error tells to use.
func TestEveryNameThatAnErrorTellsToUseExists(t *testing.T) {
	exists := map[string]map[string]bool{} // the names of each package, by the last element of its path
	declared := regexp.MustCompile(`(?m)^(?:func|type|var|const) (\w+)`)
	files, err := filepath.Glob("../api/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		last := name[strings.LastIndexByte(name, '-')+1:]
		if exists[last] == nil {
			exists[last] = map[string]bool{}
		}
		for _, found := range declared.FindAllStringSubmatch(string(text), -1) {
			exists[last][found[1]] = true
		}
	}
	delete(exists, "json") // mostly the one of the standard library
	names := 0
	err = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "lab" || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
				for _, found := range nameInText.FindAllStringSubmatch(text.Value[1:len(text.Value)-1], -1) {
					api := exists[found[1]]
					if api == nil || found[0] == "sabir.Link" { // which is a service of gRPC
						continue
					}
					names++
					if !api[found[2]] {
						t.Errorf("%s: %s names %s.%s, which is not there", path, text.Value, found[1], found[2])
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil || names < 100 {
		t.Errorf("%d names are in texts, %v", names, err)
	}
}
