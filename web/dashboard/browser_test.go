//go:build !race

// A browser takes long to build and to run, and nothing of it runs in this process.

package dashboard

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/sabir-go/sabir/internal/browsertest"
)

// browser is the dashboard in a browser.
type browser struct {
	*browsertest.Page
	url    string // of the dashboard
	opened bool
}

func openBrowser(tb testing.TB, url string) *browser {
	tb.Helper()
	return &browser{Page: browsertest.Open(tb), url: url}
}

// view opens a view by its address: the first time with the page, then within it.
func (b *browser) view(path string) {
	if b.opened {
		b.Run(chromedp.Evaluate(fmt.Sprintf(`((to) => {
			if (location.hash === to) return;
			document.querySelector('main > *')?.setAttribute('data-before', ''); // until the page knows it
			location.hash = to;
		})(%q)`, "#/"+path), nil))
		b.Until(`!document.querySelector('[data-before]')`)
		return
	}
	b.opened = true
	b.Run(chromedp.Navigate(b.url + "/#/" + path))
}

// anew opens a view with the page, as a link from elsewhere does.
func (b *browser) anew(path string) {
	b.opened = true
	b.Run(chromedp.Navigate("about:blank"), chromedp.Navigate(b.url+"/#/"+path))
}

// dark sets what the system prefers.
func (b *browser) dark(on bool) {
	b.Prefers("prefers-color-scheme", map[bool]string{true: "dark", false: "light"}[on])
}

func evaluate[T any](b *browser, expression string) T {
	return browsertest.Evaluate[T](b.Page, expression)
}
