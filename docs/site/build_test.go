package main

import (
	"os"
	"os/exec"
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
	pages, err := pagesOf("..", "main")
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

// repositoryOf makes a repository whose tags have these pages.
func repositoryOf(t *testing.T, tags []string, pages map[string]map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		c := exec.Command("git", append([]string{"-C", folder, "-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"}, args...)...)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	git("init", "-q")
	for _, tag := range tags {
		if err := os.RemoveAll(filepath.Join(folder, "docs")); err != nil {
			t.Fatal(err)
		}
		for name, text := range pages[tag] {
			if err := write(folder, "docs/"+name, []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		git("add", "-A")
		git("commit", "-q", "-m", tag)
		git("tag", tag)
	}
	return folder
}

func TestEachVersionHasItsPagesAndLinksToTheSamePageOfTheOthers(t *testing.T) {
	folder := repositoryOf(t, []string{"v0.1.0", "v0.2.0"}, map[string]map[string]string{
		"v0.1.0": {"README.md": "# Sabir\n\nOld.\n", "start/one.md": "# One\n\nOld, see [the code](../../node.go).\n"},
		"v0.2.0": {"README.md": "# Sabir\n\nNew.\n", "start/one.md": "# One\n\nNew.\n", "two.md": "# Two\n\nNew.\n"},
	})
	out := t.TempDir()
	if n, err := build(filepath.Join(folder, "docs"), out, "v0.2.0", "v0.1.0"); err != nil || n != 3 {
		t.Fatalf("%d pages, %v", n, err)
	}
	pages := files(t, out)
	for name, wants := range map[string][]string{
		"start/one.html":        {"New.", `href="../start/one.html" aria-current="true">main`, `href="../v0.1.0/start/one.html">v0.1.0`, "/edit/main/docs/start/one.md"},
		"two.html":              {`href="v0.2.0/two.html">v0.2.0`, `href="v0.1.0/index.html">v0.1.0`},
		"v0.1.0/start/one.html": {"Old, see", `href="../../start/one.html">main`, `href="../../v0.1.0/start/one.html" aria-current="true">`, "/blob/v0.1.0/node.go", "These are the pages of v0.1.0", "noindex"},
	} {
		for _, want := range wants {
			if !strings.Contains(pages[name], want) {
				t.Errorf("%s has no %s:\n%s", name, want, pages[name])
			}
		}
	}
	if strings.Contains(pages["v0.1.0/start/one.html"], "Edit this page") {
		t.Error("a page of a release can be edited")
	}
}

func TestReleasedIsTheLastOfEachMinorVersion(t *testing.T) {
	got := strings.Join(released([]string{"v0.1.0", "v0.1.10", "v0.1.9", "v0.2.0-rc.1", "v1.0.0", "lab/v0.1.0", "v0.2.0"}), " ")
	if got != "v1.0.0 v0.2.0 v0.1.10" {
		t.Errorf("got %s", got)
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
