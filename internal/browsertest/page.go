// Package browsertest lets tests use pages as users do, in a headless Chromium.
package browsertest

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
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

	"github.com/sabir-go/sabir/internal/brokers"
)

// stepTimeout bounds the time of a step and what follows from it. Where many packages are tested at once on few processors, all
// takes tens of times longer than by itself; where there is time, this costs none. After a failure there is less of it, so
// that a page that is broken as a whole is reported soon.
const (
	stepTimeout  = 3 * time.Minute
	shortTimeout = 15 * time.Second
)

// Page is a page in a Chromium of its own, and what it complained about. Its methods end the test where what they do, or
// wait for, cannot be done; they are for the test's goroutine.
type Page struct {
	tb      testing.TB
	ctx     context.Context
	timeout time.Duration

	mu       sync.Mutex
	wrong    []string
	forgiven [][]string
}

// Open starts a Chromium that ends with the test, with an empty page in it. What the page complains about until then (an
// exception, a warning in the console, a request that failed, a breach of its Content-Security-Policy) fails the test, unless
// [Page.Forgive] is called for it. The test is [brokers.Long], and without Chromium [brokers.NotTested].
func Open(tb testing.TB) *Page {
	tb.Helper()
	brokers.Long(tb)
	program := brokers.Program(tb, "chromium", "chromium")
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.WindowSize(1280, 900),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.WSURLReadTimeout(stepTimeout))
	all, cancelAll := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(all, chromedp.WithBrowserOption(chromedp.WithDialTimeout(stepTimeout)), chromedp.WithErrorf(driverSays))
	p := &Page{tb: tb, ctx: ctx, timeout: stepTimeout}
	tb.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // waits until it is gone
		cancel()
		cancelAll()
		for _, wrong := range p.complaints() {
			tb.Error(wrong)
		}
	})
	chromedp.ListenTarget(ctx, p.hear)
	if err := chromedp.Run(ctx); err != nil { // the browser runs as long as the context of the first run
		tb.Fatalf("%s does not start: %v", program, err)
	}
	p.Run(cdplog.Enable(), emulation.SetFocusEmulationEnabled(true))
	return p
}

// driverSays logs chromedp's own messages, without events that are newer than it is.
func driverSays(format string, args ...any) {
	if !strings.HasPrefix(format, "unhandled") {
		log.Printf("chromedp: "+format, args...)
	}
}

// hear keeps the complaints of the page: exceptions, errors in its log and requests that failed.
func (p *Page) hear(event any) {
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		p.complain("exception: " + e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
			var said []string
			for _, a := range e.Args {
				said = append(said, string(a.Value)+a.Description)
			}
			p.complain("console: " + strings.Join(said, " "))
		}
	case *cdplog.EventEntryAdded: // violations of the content security policy and failed requests are reported here
		if e.Entry.Level == cdplog.LevelError || e.Entry.Level == cdplog.LevelWarning {
			p.complain("log: " + e.Entry.Text + " " + e.Entry.URL)
		}
	}
}

func (p *Page) complain(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wrong = append(p.wrong, text)
}

// complaints returns the browser's complaints, without those that are forgiven.
func (p *Page) complaints() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.wrong), func(text string) bool {
		return slices.ContainsFunc(p.forgiven, func(words []string) bool {
			return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
		})
	})
}

// Forgive ignores complaints with all these words, whenever they come: those about requests that are meant to fail.
func (p *Page) Forgive(words ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forgiven = append(p.forgiven, words)
}

// Part is a part of a test, which has the page to itself meanwhile.
func (p *Page) Part(t *testing.T, name string, test func(t *testing.T)) {
	t.Run(name, func(t *testing.T) {
		whole := p.tb
		p.tb = t
		defer func() { p.tb = whole }()
		test(t)
	})
}

// Fail ends the test with what the page shows.
func (p *Page) Fail(format string, args ...any) {
	p.tb.Helper()
	p.timeout = shortTimeout
	p.tb.Fatalf("%s\n\nthe page complains: %q\nit shows:\n%s", fmt.Sprintf(format, args...), p.complaints(), p.Shows())
}

// Shows returns the text of the page, for the message of a failure.
func (p *Page) Shows() string {
	ctx, cancel := context.WithTimeout(p.ctx, shortTimeout)
	defer cancel()
	var text string
	err := chromedp.Run(ctx, chromedp.Evaluate(`(() => {
		const at = document.activeElement;
		const open = [...document.querySelectorAll('details[open]')].map(e => 'open: ' + e.innerText.slice(0, 3000));
		return [location.href, 'loaded: ' + document.readyState, 'status: ' + document.querySelector('#status')?.innerText,
			'focus: ' + at?.tagName + ' ' + (at?.id || at?.className || '') + ' ' + (at?.innerText || at?.value || '').slice(0, 80),
			...open, '', (document.querySelector('main') ?? document.body)?.innerText.slice(0, 3000)].join('\n');
	})()`, &text))
	if err != nil {
		return fmt.Sprintf("nothing: it does not answer: %v", err)
	}
	return text
}

// Run does steps.
func (p *Page) Run(steps ...chromedp.Action) {
	p.tb.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, p.timeout)
	defer cancel()
	if err := chromedp.Run(ctx, steps...); err != nil {
		p.Fail("%v", err)
	}
}

// Context is the page, for chromedp.ListenTarget.
func (p *Page) Context() context.Context { return p.ctx }

// Evaluate is a JavaScript expression's value.
func Evaluate[T any](p *Page, expression string) (value T) {
	p.tb.Helper()
	p.Run(chromedp.Evaluate(expression, &value))
	return value
}

// Until waits for an expression to be true, through navigations too.
func (p *Page) Until(expression string) {
	p.tb.Helper()
	if err := p.Comes(expression); err != nil {
		p.Fail("it did not come true: %s: %v", expression, err)
	}
}

// Comes waits for an expression to be true, and leaves it to the test what it means that it does not come. Its error is the
// page's: null has no such property, or it is false.
func (p *Page) Comes(expression string) error { return p.comes(expression, p.timeout) }

func (p *Page) comes(expression string, within time.Duration) error {
	ctx, cancel := context.WithTimeout(p.ctx, within)
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

// Again does something until it leads to what is wanted: a click goes to where something was, which may just be drawn anew, and
// of keys that belong together the second may come too late. Each time it waits longer.
func (p *Page) Again(wanted string, do func() error) {
	p.tb.Helper()
	end := time.Now().Add(p.timeout)
	for wait := 2 * time.Second; ; wait *= 2 {
		failed := do()
		err := p.comes(wanted, wait)
		if err == nil {
			return
		}
		if time.Now().After(end) {
			p.Fail("it did not come true, however often it was tried: %s: %v (the last try: %v)", wanted, err, failed)
		}
	}
}

// Click clicks at a selector until that leads to what is wanted. Where a click takes back what the one before did, it has to
// be what the page does at once.
func (p *Page) Click(selector, wanted string) {
	p.tb.Helper()
	p.Again(wanted, func() error {
		ctx, cancel := context.WithTimeout(p.ctx, p.timeout)
		defer cancel()
		return chromedp.Run(ctx, chromedp.Click(selector))
	})
}

// Press presses keys, as a keyboard does: a key that the page takes writes nothing. (chromedp's KeyEvent sends the letter in
// any case, and later: to what has the focus by then.)
func (p *Page) Press(keys string) {
	p.tb.Helper()
	for _, key := range keys {
		if key >= 0x7f || key < ' ' {
			p.Run(chromedp.KeyEvent(string(key)))
			continue
		}
		p.Run(input.DispatchKeyEvent(input.KeyDown).WithKey(string(key)).WithText(string(key)), input.DispatchKeyEvent(input.KeyUp).WithKey(string(key)))
	}
}

// Size sets the width and height of the window, in CSS pixels.
func (p *Page) Size(width, height int64) {
	p.tb.Helper()
	p.Run(emulation.SetDeviceMetricsOverride(width, height, 1, false))
}

// Prefers sets what the reader asked their system for, by the names of media features: "prefers-color-scheme", "dark". What
// is not given keeps its initial value.
func (p *Page) Prefers(namesAndValues ...string) {
	p.tb.Helper()
	var features []*emulation.MediaFeature
	for pair := range slices.Chunk(namesAndValues, 2) {
		features = append(features, &emulation.MediaFeature{Name: pair[0], Value: pair[1]})
	}
	p.Run(emulation.SetEmulatedMedia().WithFeatures(features))
}

// Shot writes a picture of the page for a visual check, to the folder that the environment's SABIR_SHOTS names; without
// it nothing is written.
func (p *Page) Shot(name string) {
	p.tb.Helper()
	dir := os.Getenv("SABIR_SHOTS")
	if dir == "" {
		return
	}
	var picture []byte
	p.Run(chromedp.CaptureScreenshot(&picture))
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644); err != nil {
		p.tb.Fatal(err)
	}
}
