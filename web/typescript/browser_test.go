package typescript

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	cdplog "github.com/chromedp/cdproto/log"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/sabir-go/sabir/brokers"
)

// patience is how long a test with a browser may take. Where many packages are tested at once, on few processors, all takes
// tens of times longer than by itself; where there is time, this costs none.
const patience = 3 * time.Minute

// The page has a policy that allows scripts of its own site and nothing else: no inline ones, no eval. The checks are those
// that Node runs.
func TestInABrowserUnderAStrictPolicyTheClientDoesWhatItMust(t *testing.T) {
	brokers.Slow(t)
	dir := emitted(t)
	chromium := program(t, "chromium", "chromium")
	server, s := startShop(t, os.DirFS(dir))
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox, chromedp.Flag("disable-dev-shm-usage", true), chromedp.WSURLReadTimeout(patience))
	allocated, stopBrowser := chromedp.NewExecAllocator(context.Background(), options...)
	defer stopBrowser()
	browser, stopPage := chromedp.NewContext(allocated, chromedp.WithBrowserOption(chromedp.WithDialTimeout(patience)))
	defer stopPage()
	defer chromedp.Cancel(browser) // waits until it is gone
	ctx, cancel := context.WithTimeout(browser, patience)
	defer cancel()
	breaches := make(chan string, 100)
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *cdpruntime.EventExceptionThrown:
			t.Errorf("the page threw: %s", e.ExceptionDetails.Error())
		case *cdplog.EventEntryAdded:
			if e.Entry.Source == cdplog.SourceSecurity {
				breaches <- e.Entry.Text
			}
		}
	})
	if err := chromedp.Run(browser); err != nil { // the browser lives as long as the context of the first run
		t.Fatalf("%s does not start: %v", chromium, err)
	}
	var lines string
	err := chromedp.Run(ctx,
		chromedp.Navigate(server.URL+"/site/index.html"),
		chromedp.Poll(`document.querySelector("#state")?.textContent === "done"`, nil, chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(patience)),
		chromedp.Text("#lines", &lines))
	judge(t, "\n"+lines, err)
	if err != nil {
		return
	}
	select {
	case text := <-breaches:
		if len(breaches) > 0 || !strings.Contains(text, "TrustedScript") {
			t.Errorf("the page broke its policy otherwise than by the eval that it tries: %s, and %d more times", text, len(breaches))
		}
	case <-ctx.Done():
		t.Error("the eval that the page tries broke no policy")
	}
	s.expectLeft("/clock/wait", "/log/tail", "/events")
}
