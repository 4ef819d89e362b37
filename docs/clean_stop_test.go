package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// fatalRun matches a program whose stop in order ends with status 1, since Run returns nil then and log.Fatal does not ask.
var fatalRun = regexp.MustCompile(`Fatal\(.*\.Run\((ctx|context\.)`)

func TestNoExampleEndsAStopInOrderAsAFailure(t *testing.T) {
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "testdata" || entry.Name() == "dist") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".md") && !strings.HasSuffix(path, "example_test.go") && filepath.Base(path) != "doc.go" && filepath.Base(path) != "main.go" {
			return nil
		}
		text, err := os.ReadFile(path)
		if line := fatalRun.Find(text); line != nil {
			t.Errorf("%s: %s…: write if err := node.Run(ctx); err != nil { log.Fatal(err) }", path, line)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
