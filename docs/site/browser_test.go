//go:build !race

// A browser takes long to build and to run, and nothing of it runs in this process.

package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/sabir-go/sabir/internal/browsertest"
)

// site is the site in a browser.
type site struct {
	*browsertest.Page
	url string
}

func browse(t *testing.T) *site {
	t.Helper()
	server := httptest.NewServer(http.FileServer(http.Dir(buildForTest(t))))
	t.Cleanup(server.Close)
	s := &site{browsertest.Open(t), server.URL}
	s.Forgive("favicon.ico", "404")
	return s
}

// view opens a page at a width, in the light or the dark.
func (s *site) view(name string, width int64, scheme string) {
	s.Size(width, 844)
	s.Prefers("prefers-color-scheme", scheme)
	s.Run(chromedp.Navigate(s.url + "/" + name))
}

func TestEveryControlOfAPageIsReachedByTabAndSeen(t *testing.T) {
	s := browse(t)
	for _, width := range []int64{1400, 390} {
		for _, name := range []string{"index.html", "services.html", "reference/options.html"} {
			s.view(name, width, map[int64]string{1400: "light", 390: "dark"}[width])
			for _, fault := range s.KeyboardFaults() {
				t.Errorf("%s at %d: %s", name, width, fault)
			}
		}
	}
	s.Click("#menu", `document.querySelector("#nav.open")`)
	s.Shot("site menu")
	for _, fault := range s.KeyboardFaults() {
		t.Errorf("with the menu open: %s", fault)
	}
}

func TestTheFirstTabSkipsToTheText(t *testing.T) {
	s := browse(t)
	s.view("index.html", 1400, "light")
	s.Tab(1)
	s.Press(kb.Enter)
	s.Until(`document.activeElement.id === "main"`)
}

func TestEscapeLeadsBackToWhereOneCameFrom(t *testing.T) {
	s := browse(t)
	s.view("index.html", 390, "light")
	s.Press("/retry")
	s.Until(`document.querySelectorAll("#found a").length > 3 && document.getElementById("said").textContent.endsWith(" found")`)
	s.Press(kb.ArrowDown + kb.ArrowDown)
	s.Until(`document.activeElement === document.querySelectorAll("#found a")[1]`)
	s.Press(kb.Escape)
	s.Until(`document.activeElement.id === "q" && document.getElementById("found").hidden`)
	s.Click("#menu", `document.querySelector("#nav.open")`)
	s.Run(chromedp.Focus("#nav summary"))
	s.Press(kb.Escape)
	s.Until(`document.activeElement.id === "menu" && !document.querySelector("#nav.open") && !document.getElementById("main").inert`)
}

func TestPagesFitAPhone(t *testing.T) {
	s := browse(t)
	for _, name := range []string{"index.html", "reference/cli.html", "reference/options.html", "tests.html", "concepts/index.html"} {
		s.view(name, 390, "dark")
		if s.Comes("document.scrollingElement.scrollWidth <= 390") != nil {
			t.Errorf("%s is %d pixels wide", name, browsertest.Evaluate[int](s.Page, "document.scrollingElement.scrollWidth"))
		}
		s.Shot("site phone " + strings.ReplaceAll(name, "/", "-"))
	}
	s.Press("/retry")
	s.Until(`document.querySelectorAll("#found a").length > 3`)
	s.Shot("site phone search")
	s.Until(`(box => box.left >= 0 && box.right <= innerWidth)(document.getElementById("found").getBoundingClientRect())`)
}

func TestNamesInTablesAreBrokenAtTheirSpacesOnly(t *testing.T) {
	s := browse(t)
	s.view("reference/options.html", 1400, "dark")
	s.Shot("site options")
	broken := browsertest.Evaluate[[]string](s.Page, `[...document.querySelectorAll("td code")].filter(c => c.getClientRects().length > c.textContent.trim().split(/[\s.(-]+/).length).map(c => c.textContent)`)
	if len(broken) > 0 {
		t.Errorf("%q", broken)
	}
}
