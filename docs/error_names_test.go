package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	errorVariable = regexp.MustCompile(`\bErr[A-Z][A-Za-z]+`)
	namedError    = regexp.MustCompile("`(?:[a-z]+\\.)?(Err[A-Z][A-Za-z]+)`") // in a sentence: those of an example's code are its own
)

// A reader looks an error up by the name that a page gives it.
func TestEveryErrorThatAPageNamesExists(t *testing.T) {
	exists := make(map[string]bool)
	files, err := filepath.Glob("../api/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range errorVariable.FindAllString(string(text), -1) {
			exists[name] = true
		}
	}
	named := 0
	err = filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".md" || d.Name() == "CHANGELOG.md" || strings.Contains(path, "node_modules") { // the changelog has names that are gone
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range namedError.FindAllStringSubmatch(string(text), -1) {
			named++
			if name := found[1]; !exists[name] {
				t.Errorf("%s names %s, which no package has", path, name)
			}
		}
		return err
	})
	if err != nil || named < 50 {
		t.Errorf("%d errors are named, %v", named, err)
	}
}
