package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Tests are named in security.md as folder and function: `web/auth.TestX`.
func TestThePromisesOfThePageHaveTheirTests(t *testing.T) {
	page, err := os.ReadFile("security.md")
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string]string{} // the tests of a folder, all in one text
	for _, match := range regexp.MustCompile("`([a-z0-9/]*)\\.((?:Test|Fuzz)\\w+)`").FindAllStringSubmatch(string(page), -1) {
		folder, test := match[1], match[2]
		text, read := declared[folder]
		if !read {
			text = testsOf(t, folder)
			declared[folder] = text
		}
		if !strings.Contains(text, "\nfunc "+test+"(") {
			t.Errorf("docs/security.md names %s, which folder %q does not have", test, folder)
		}
	}
}

func testsOf(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}
