package typescript

import (
	"os"
	"strings"
	"testing"
	"time"

	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/chromedp"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/browsertest"
)

// The page has a policy that allows scripts of its own site and nothing else: no inline ones, no eval. The checks are those
// that Node runs.
func TestInABrowserUnderAStrictPolicyTheClientDoesWhatItMust(t *testing.T) {
	brokers.Slow(t)
	dir := emitted(t)
	server, s := startShop(t, os.DirFS(dir))
	page := browsertest.Open(t)
	page.Forgive("log: ") // requests that are meant to fail, and the breach of the policy that is looked at below
	breaches := make(chan string, 100)
	chromedp.ListenTarget(page.Context(), func(event any) {
		if e, ok := event.(*cdplog.EventEntryAdded); ok && e.Entry.Source == cdplog.SourceSecurity {
			breaches <- e.Entry.Text
		}
	})
	page.Run(chromedp.Navigate(server.URL + "/site/index.html"))
	page.Until(`document.querySelector("#state").textContent === "done"`)
	judge(t, "\n"+browsertest.Evaluate[string](page, `document.querySelector("#lines").innerText`), nil)
	select {
	case text := <-breaches:
		if len(breaches) > 0 || !strings.Contains(text, "TrustedScript") {
			t.Errorf("the page broke its policy otherwise than by the eval that it tries: %s, and %d more times", text, len(breaches))
		}
	case <-time.After(time.Minute):
		t.Error("the eval that the page tries broke no policy")
	}
	s.expectLeft("/clock/wait", "/log/tail", "/events")
}
