//go:build !race

// A browser takes long to build and to run, and nothing of it runs in this process.

package dashboard

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/sabir-go/sabir/brokers"
)

// patience is how long a step may take, and what it leads to. Where many packages are tested at once, on few processors, all
// takes tens of times longer than by itself; where there is time, this costs none. After a failure there is less of it, so
// that a page that is broken as a whole is told of soon.
const (
	patience     = 2 * time.Minute
	lessPatience = 15 * time.Second
)

// browser is a page in a headless Chromium, and what it complained about.
type browser struct {
	tb  testing.TB
	ctx context.Context
	url string // of the dashboard

	opened   bool
	patience time.Duration

	mu       sync.Mutex
	wrong    []string
	forgiven [][]string
}

// openBrowser starts a Chromium of its own, that ends with the test.
func openBrowser(tb testing.TB, url string) *browser {
	tb.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		brokers.NotTested(tb, "there is no chromium: apt-get install chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.WindowSize(1280, 900), chromedp.Flag("disable-dev-shm-usage", true), chromedp.WSURLReadTimeout(patience))
	all, cancelAll := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(all, chromedp.WithBrowserOption(chromedp.WithDialTimeout(patience)), chromedp.WithErrorf(driverSays))
	b := &browser{tb: tb, ctx: ctx, url: url, patience: patience}
	tb.Cleanup(func() {
		_ = chromedp.Cancel(ctx)
		cancel()
		cancelAll()
	})
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			b.complain("exception: " + e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
				var said []string
				for _, a := range e.Args {
					said = append(said, string(a.Value)+a.Description)
				}
				b.complain("console: " + strings.Join(said, " "))
			}
		case *cdplog.EventEntryAdded: // violations of the content security policy and failed requests are told here
			if e.Entry.Level == cdplog.LevelError || e.Entry.Level == cdplog.LevelWarning {
				b.complain("log: " + e.Entry.Text + " " + e.Entry.URL)
			}
		}
	})
	if err := chromedp.Run(ctx); err != nil { // the browser lives as long as the context of the first run
		tb.Fatalf("%s does not start: %v", program, err)
	}
	b.run(cdplog.Enable(), emulation.SetFocusEmulationEnabled(true))
	return b
}

// driverSays logs what chromedp says of itself, without events that are newer than it is.
func driverSays(format string, args ...any) {
	if !strings.HasPrefix(format, "unhandled") {
		log.Printf("chromedp: "+format, args...)
	}
}

// part is a part of a test, which has the browser to itself meanwhile.
func (b *browser) part(t *testing.T, name string, test func(t *testing.T)) {
	t.Run(name, func(t *testing.T) {
		whole := b.tb
		b.tb = t
		defer func() { b.tb = whole }()
		test(t)
	})
}

func (b *browser) complain(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wrong = append(b.wrong, text)
}

// complaints is all that was complained about, but for what was forgiven.
func (b *browser) complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(b.wrong), func(text string) bool {
		return slices.ContainsFunc(b.forgiven, func(words []string) bool {
			return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
		})
	})
}

// forgive is for requests that are meant to fail: complaints with all these words, which may come later than the answer.
func (b *browser) forgive(words ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forgiven = append(b.forgiven, words)
}

// fail ends the test with what the page shows.
func (b *browser) fail(format string, args ...any) {
	b.tb.Helper()
	b.patience = lessPatience
	ctx, cancel := context.WithTimeout(b.ctx, lessPatience)
	defer cancel()
	var shows string
	err := chromedp.Run(ctx, chromedp.Evaluate(`(() => {
		const at = document.activeElement;
		return [location.href, 'loaded: ' + document.readyState, 'status: ' + document.querySelector('#status')?.innerText,
			'focus: ' + at?.tagName + ' ' + (at?.id || at?.className || '') + ' ' + (at?.innerText || at?.value || '').slice(0, 80),
			'', (document.querySelector('main') ?? document.body)?.innerText.slice(0, 3000)].join('\n');
	})()`, &shows))
	if err != nil {
		shows = fmt.Sprintf("nothing: it does not answer: %v", err)
	}
	b.tb.Fatalf("%s\n\nthe browser's complaints: %q\nthe page shows:\n%s", fmt.Sprintf(format, args...), b.complaints(), shows)
}

// run does steps.
func (b *browser) run(steps ...chromedp.Action) {
	b.tb.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, b.patience)
	defer cancel()
	if err := chromedp.Run(ctx, steps...); err != nil {
		b.fail("%v", err)
	}
}

// evaluate is a JavaScript expression's value.
func evaluate[T any](b *browser, expression string) (value T) {
	b.tb.Helper()
	b.run(chromedp.Evaluate(expression, &value))
	return value
}

// until waits for an expression to be true, through navigations too.
func (b *browser) until(expression string) {
	b.tb.Helper()
	if err := b.comes(expression, b.patience); err != nil {
		b.fail("it did not come true: %s: %v", expression, err)
	}
}

// comes waits so long for an expression to be true. Its error is the page's: null has no such property, or it is false.
func (b *browser) comes(expression string, within time.Duration) error {
	ctx, cancel := context.WithTimeout(b.ctx, within)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	last := fmt.Errorf("the page did not answer within %v", within)
	for {
		var seen string
		err := chromedp.Run(ctx, chromedp.Evaluate("(() => { try { return Boolean("+expression+") ? '' : 'it is false' } catch (e) { return String(e) } })()", &seen))
		switch {
		case err == nil && seen == "":
			return nil
		case err == nil:
			last = errors.New(seen)
		case ctx.Err() == nil:
			last = err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return last
		}
	}
}

// again does something until it leads to what is wanted: a click goes to where something was, which may just be drawn anew, and
// of keys that belong together the second may come too late. Each time it waits longer.
func (b *browser) again(wanted string, do func() error) {
	b.tb.Helper()
	end := time.Now().Add(b.patience)
	for wait := 2 * time.Second; ; wait *= 2 {
		failed := do()
		err := b.comes(wanted, wait)
		if err == nil {
			return
		}
		if time.Now().After(end) {
			b.fail("it did not come true, however often it was tried: %s: %v (the last try: %v)", wanted, err, failed)
		}
	}
}

// click clicks at a selector until that leads to what is wanted. Where a click takes back what the one before did, it has to
// be what the page does at once.
func (b *browser) click(selector, wanted string) {
	b.tb.Helper()
	b.again(wanted, func() error {
		ctx, cancel := context.WithTimeout(b.ctx, b.patience)
		defer cancel()
		return chromedp.Run(ctx, chromedp.Click(selector))
	})
}

// view opens a view by its address: the first time with the page, then within it.
func (b *browser) view(path string) {
	b.tb.Helper()
	if b.opened {
		b.run(chromedp.Evaluate(fmt.Sprintf(`((to) => {
			if (location.hash === to) return;
			document.querySelector('main > *')?.setAttribute('data-before', ''); // until the page has heard of it
			location.hash = to;
		})(%q)`, "#/"+path), nil))
		b.until(`!document.querySelector('[data-before]')`)
		return
	}
	b.opened = true
	b.run(chromedp.Navigate(b.url + "/#/" + path))
}

// anew opens a view with the page, as a link from elsewhere does.
func (b *browser) anew(path string) {
	b.tb.Helper()
	b.opened = true
	b.run(chromedp.Navigate("about:blank"), chromedp.Navigate(b.url+"/#/"+path))
}

// dark sets what the system prefers.
func (b *browser) dark(on bool) {
	b.tb.Helper()
	theme := map[bool]string{true: "dark", false: "light"}[on]
	b.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}))
}

// size sets the width and height of the window.
func (b *browser) size(width, height int64) {
	b.tb.Helper()
	b.run(emulation.SetDeviceMetricsOverride(width, height, 1, false))
}

// press presses keys, as a keyboard does: a key that the page takes writes nothing.
func (b *browser) press(keys string) {
	b.tb.Helper()
	for _, key := range keys {
		if key >= 0x7f || key < ' ' {
			b.run(chromedp.KeyEvent(string(key)))
			continue
		}
		b.run(input.DispatchKeyEvent(input.KeyDown).WithKey(string(key)).WithText(string(key)), input.DispatchKeyEvent(input.KeyUp).WithKey(string(key)))
	}
}
