package docs

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/anchor"
)

var (
	link    = regexp.MustCompile(`\]\(([^()\s]+(?:\([^()\s]*\)[^()\s]*)?)\)`)
	heading = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *$`)
	fenced  = regexp.MustCompile("(?ms)^[ \t]*```.*?^[ \t]*```[ \t]*$")
	inCode  = regexp.MustCompile("`[^`\n]*`")
)

// anchorsOf is the anchors of a page's headings as GitHub makes them.
func anchorsOf(text string) map[string]bool {
	anchors := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		anchors[anchorOf(m[1])] = true
	}
	return anchors
}

// anchorOf is the anchor of a heading in Markdown, which may have links in it.
func anchorOf(heading string) string {
	return anchor.Of(link.ReplaceAllString(strings.ReplaceAll(heading, "[", ""), ""))
}

func TestEveryLinkOfThePagesLeadsSomewhere(t *testing.T) {
	all := append(pages(t), "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "examples/README.md", "lab/README.md")
	n := 0
	for _, page := range all {
		text := inCode.ReplaceAllString(fenced.ReplaceAllString(readFile(t, page), ""), "")
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target, fragment, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			n++
			to := page
			if target != "" {
				to = path.Join(path.Dir(page), target)
			}
			info, err := os.Stat(filepath.Join("..", to))
			switch {
			case err != nil:
				t.Errorf("%s links to %s: there is no %s", page, m[1], to)
			case fragment == "" || info.IsDir() || !strings.HasSuffix(to, ".md"):
			case !anchorsOf(readFile(t, to))[fragment]:
				t.Errorf("%s links to %s: %s has no such heading", page, m[1], to)
			}
		}
	}
	t.Logf("%d links of %d pages", n, len(all))
}

func TestAnchorsAreThoseOfGitHub(t *testing.T) {
	for title, want := range map[string]string{
		"A first process":             "a-first-process",
		"`sabir top`, and more":       "sabir-top-and-more",
		"For [`sabir top`](cli.md)":   "for-sabir-top",
		"What is no request":          "what-is-no-request",
		"Streams: server, client (2)": "streams-server-client-2",
	} {
		if got := anchorOf(title); got != want {
			t.Errorf("%q: %q, want %q", title, got, want)
		}
	}
}

// Every page can be found: some other page links to it.
func TestEveryPageIsLinkedFromAnother(t *testing.T) {
	linked := map[string]bool{"README.md": true}
	for _, page := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(readFile(t, page), -1) {
			target, _, _ := strings.Cut(m[1], "#")
			if to := path.Join(path.Dir(page), target); to != page {
				linked[to] = true
			}
		}
	}
	for _, page := range pages(t) {
		if !linked[page] {
			t.Errorf("no page links to %s", page)
		}
	}
}
