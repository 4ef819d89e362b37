package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// returnedEmit finds an answer that goes back with the error of its event.
var returnedEmit = regexp.MustCompile(`(?m)^\s*return [^\n]+, (?:sabir\.)?(?:\w+\.)?(?:Emit|Broadcast)\([^\n]*`)

// A handler that returns the error of its event tells the caller that work failed which was done: the node of a listener that is killed in that
// moment is enough. Readers copy what examples, pages and sabir new write.
func TestNoExampleFailsACallByTheErrorOfItsEvent(t *testing.T) {
	looked := 0
	for _, root := range []string{"../examples", "../cmd/sabir", "../docs"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, ".tmpl") && !strings.HasSuffix(path, ".md") {
				return err
			}
			text, err := os.ReadFile(path)
			looked++
			for _, line := range returnedEmit.FindAllString(string(text), -1) {
				t.Errorf("%s: %s", path, strings.TrimSpace(line))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if looked < 50 {
		t.Errorf("only %d files were looked at", looked)
	}
}
