package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	target = regexp.MustCompile(` (?:href|src)="([^"]+)"`)
	ids    = regexp.MustCompile(` id="([^"]+)"`)
)

func buildForTest(t *testing.T) string {
	t.Helper()
	out := t.TempDir()
	n, err := build("..", out)
	if err != nil {
		t.Fatal(err)
	}
	if n < 50 {
		t.Fatalf("%d pages", n)
	}
	return out
}

// files is the HTML pages of the site, by their paths from its root.
func files(t *testing.T, out string) map[string]string {
	t.Helper()
	pages := map[string]string{}
	err := filepath.WalkDir(out, func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(file) != ".html" {
			return err
		}
		text, err := os.ReadFile(file)
		rel, _ := filepath.Rel(out, file)
		pages[filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

func TestNoLinkOfTheSiteIsBroken(t *testing.T) {
	out := buildForTest(t)
	pages, links := files(t, out), 0
	for name, text := range pages {
		for _, m := range target.FindAllStringSubmatch(text, -1) {
			link, fragment, _ := strings.Cut(m[1], "#")
			if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
				continue
			}
			links++
			to := name
			if link != "" {
				to = path.Join(path.Dir(name), link)
			}
			if _, err := os.Stat(filepath.Join(out, filepath.FromSlash(to))); err != nil {
				t.Errorf("%s links to %s, which is not there", name, m[1])
				continue
			}
			if fragment == "" {
				continue
			}
			there := false
			for _, id := range ids.FindAllStringSubmatch(pages[to], -1) {
				there = there || id[1] == fragment
			}
			if !there {
				t.Errorf("%s links to %s: no such heading", name, m[1])
			}
		}
	}
	t.Logf("%d links of %d pages", links, len(pages))
}

func TestEachPageIsInTheSidebarAndHasItsMarkdown(t *testing.T) {
	out := buildForTest(t)
	home, err := os.ReadFile(filepath.Join(out, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile(filepath.Join(out, "llms.txt"))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := pagesOf("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		if strings.Count(string(home), `<li><a href="`+p.URL()+`"`) != 1 {
			t.Errorf("%s is not once in the sidebar", p.Name)
		}
		if !strings.Contains(string(list), "]("+p.Name+".md)") {
			t.Errorf("%s is not in llms.txt", p.Name)
		}
		if _, err := os.Stat(filepath.Join(out, filepath.FromSlash(p.Name+".md"))); err != nil {
			t.Error(err)
		}
		if p.Title == "" || p.Summary == "" {
			t.Errorf("%s has the title %q and the first paragraph %q", p.Name, p.Title, p.Summary)
		}
	}
}

func TestGoIsColoredAndNothingIsLost(t *testing.T) {
	const code = "// a <b>\nfunc f() string { return \"<x>\" + 1 }\n"
	got := colorGo(code)
	for _, want := range []string{`<i class="c">// a &lt;b&gt;</i>`, `<i class="k">func</i>`, `<i class="s">&#34;&lt;x&gt;&#34;</i>`, `<i class="n">1</i>`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if plain := regexp.MustCompile(`</?i[^>]*>`).ReplaceAllString(got, ""); plain != "// a &lt;b&gt;\nfunc f() string { return &#34;&lt;x&gt;&#34; + 1 }\n" {
		t.Errorf("%q", plain)
	}
}
