package openapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/sabir-go/sabir/brokers"
	"github.com/sabir-go/sabir/web/api"
	"github.com/sabir-go/sabir/web/openapi"
)

// patience is how long a test with a browser may take. Where many packages are tested at once, on few processors, all takes
// tens of times longer than by itself; where there is time, this costs none.
const patience = 3 * time.Minute

// seen is a request that the page sent.
type seen struct{ method, url, header, body string }

// browse opens the page of the shop in a browser. What the page sends elsewhere comes out of the channel. Errors in the
// page's console, such as a breach of its Content-Security-Policy, fail the test.
func browse(t *testing.T) (ctx context.Context, site string, calls <-chan seen) {
	t.Helper()
	brokers.Slow(t)
	chromium := program(t, "chromium", "chromium")
	a, sent := shop(t), make(chan seen, 16)
	a.Servers = nil
	mux := http.NewServeMux()
	page := openapi.Page("/docs", func() api.API { return a })
	mux.Handle("/docs", page)
	mux.Handle("/docs/", page)
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent <- seen{r.Method, r.URL.String(), r.Header.Get("X-Tenant") + r.Header.Get("Authorization"), string(body)}
		if r.Header.Get("Accept") == "text/event-stream" {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "id: 1\ndata: {\"text\":\"hello\"}\n\nevent: end\ndata: {}\n\n")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"score":9007199254740993}`)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)

	alloc, stopAlloc := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox, chromedp.Flag("disable-dev-shm-usage", true), chromedp.WSURLReadTimeout(patience))...)
	browser, stop := chromedp.NewContext(alloc, chromedp.WithBrowserOption(chromedp.WithDialTimeout(patience)), chromedp.WithErrorf(driverSays))
	ctx, cancel := context.WithTimeout(browser, patience)
	var mu sync.Mutex
	var wrong []string
	complain := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		wrong = append(wrong, fmt.Sprintf(format, args...))
	}
	t.Cleanup(func() {
		chromedp.Cancel(browser) // waits until it is gone
		cancel()
		stop()
		stopAlloc()
		mu.Lock()
		defer mu.Unlock()
		for _, w := range wrong {
			t.Error(w)
		}
	})
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *cdplog.EventEntryAdded:
			if e.Entry.Level == cdplog.LevelError {
				complain("the browser's log: %s %s", e.Entry.Text, e.Entry.URL)
			}
		case *runtime.EventExceptionThrown:
			complain("the page threw: %s", e.ExceptionDetails.Error())
		}
	})
	if err := chromedp.Run(browser); err != nil { // the browser lives as long as the context of the first run
		t.Fatalf("%s does not start: %v", chromium, err)
	}
	do(t, ctx, chromedp.EmulateViewport(1280, 900), prefers("light"), chromedp.Navigate(server.URL+"/docs"), chromedp.WaitVisible("details.action"))
	return ctx, server.URL, sent
}

// prefers is what the reader asked their system for: light or dark, and no moving pages, which clicks would miss.
func prefers(scheme string) chromedp.Action {
	return emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}})
}

// driverSays logs what chromedp says of itself, without events that are newer than it is.
func driverSays(format string, args ...any) {
	if !strings.HasPrefix(format, "unhandled") {
		log.Printf("chromedp: "+format, args...)
	}
}

// program finds a program, or says which Debian package has it.
func program(t *testing.T, name, debian string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		brokers.NotTested(t, "%s was not found (Debian package %s)", name, debian)
	}
	return path
}

func do(t *testing.T, ctx context.Context, actions ...chromedp.Action) {
	t.Helper()
	if err := chromedp.Run(ctx, actions...); err != nil {
		t.Fatalf("%v\n%s", err, shown(ctx))
	}
}

// shown is what the page shows, for who reads of a failure.
func shown(ctx context.Context) string {
	if ctx.Err() != nil { // the time of the test is over, but not that of the browser
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
		defer cancel()
		ctx = late
	}
	var text string
	err := chromedp.Run(ctx, chromedp.Evaluate(`(() => {
		const at = document.activeElement;
		return ['at ' + location.href, 'loaded: ' + document.readyState, 'searched for: ' + document.getElementById('search')?.value, 'the focus is on ' + at?.tagName + ' ' + (at?.id || at?.textContent || '').slice(0, 80),
			'said to be wrong: ' + JSON.stringify([...document.querySelectorAll('p.bad')].map((p) => p.textContent).filter(Boolean)),
			'open: ' + JSON.stringify([...document.querySelectorAll('details.action[open]')].map((d) => d.innerText.slice(0, 3000))),
			'the page: ' + document.body.innerText.slice(0, 1000)].join('\n');
	})()`, &text))
	if err != nil {
		return fmt.Sprintf("the page does not answer: %v", err)
	}
	return "the page shows:\n" + text
}

// comes waits for an expression to be true.
func comes(t *testing.T, ctx context.Context, expression string) {
	t.Helper()
	if err := trueWithin(ctx, expression, patience); err != nil {
		t.Fatalf("it did not come true: %s: %v\n%s", expression, err, shown(ctx))
	}
}

// trueWithin waits so long for an expression to be true. Its error is the page's: null has no such property, or it is false.
func trueWithin(ctx context.Context, expression string, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	last := errors.New("the page did not answer")
	for {
		var failed string
		err := chromedp.Run(ctx, chromedp.Evaluate("(() => { try { return Boolean("+expression+") ? '' : 'it is false' } catch (e) { return String(e) } })()", &failed))
		switch {
		case err == nil && failed == "":
			return nil
		case err == nil:
			last = errors.New(failed)
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

// click clicks until that leads to what is wanted, an expression: a click goes to where something was, which may have moved
// meanwhile. Where a click takes back what the one before did, it has to be what the page does at once.
func click(t *testing.T, ctx context.Context, selector, wanted string) {
	t.Helper()
	for wait := 2 * time.Second; ; wait *= 2 {
		clicked := chromedp.Run(ctx, chromedp.Click(selector))
		err := trueWithin(ctx, wanted, wait)
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("clicks on %s did not lead to %s: %v (the last click: %v)\n%s", selector, wanted, err, clicked, shown(ctx))
		}
	}
}

// shot writes a picture for people to look at, where the environment says to.
func shot(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	dir := os.Getenv("SABIR_SHOTS")
	if dir == "" {
		return
	}
	var picture []byte
	do(t, ctx, chromedp.CaptureScreenshot(&picture))
	if err := os.WriteFile(filepath.Join(dir, "openapi-"+name+".png"), picture, 0o644); err != nil {
		t.Fatal(err)
	}
}

// evaluate is what an expression is in the page.
func evaluate[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	var v T
	do(t, ctx, chromedp.Evaluate(expression, &v))
	return v
}

func next(t *testing.T, ctx context.Context, calls <-chan seen) seen {
	t.Helper()
	select {
	case s := <-calls:
		return s
	case <-ctx.Done():
		t.Fatalf("the page sent nothing\n%s", shown(ctx))
	}
	return seen{}
}

// open opens an action and its form.
func open(t *testing.T, ctx context.Context, name string) string {
	t.Helper()
	view := fmt.Sprintf("details[id=%q]", name)
	do(t, ctx, chromedp.Evaluate(fmt.Sprintf("location.hash = %q", name), nil), chromedp.WaitVisible(view+" .try"))
	click(t, ctx, view+" .try > summary", fmt.Sprintf("document.querySelector(%q).open", view+" .try"))
	do(t, ctx, chromedp.WaitVisible(view+" .try button.go"))
	return view
}

// send sends an action's form, once.
func send(t *testing.T, ctx context.Context, view string) {
	t.Helper()
	click(t, ctx, view+" button.go", fmt.Sprintf(`((form) => form.querySelector("button.go").disabled || form.querySelector("[aria-live]").childElementCount || form.querySelector("p.bad").textContent)(document.querySelector(%q))`, view+" .try"))
}

// slash and enter are the keys as a keyboard sends them: the letter comes only where nobody took the key. (chromedp's
// KeyEvent sends it in any case, and later: to what has the focus by then.)
func slash() chromedp.Action { return input.DispatchKeyEvent(input.KeyDown).WithKey("/").WithText("/") }

func enter() chromedp.Action {
	return chromedp.Tasks{
		input.DispatchKeyEvent(input.KeyDown).WithKey("Enter").WithCode("Enter").WithWindowsVirtualKeyCode(13).WithText("\r"),
		input.DispatchKeyEvent(input.KeyUp).WithKey("Enter").WithCode("Enter").WithWindowsVirtualKeyCode(13),
	}
}

func TestPageIsUsedByKeyboard(t *testing.T) {
	ctx, _, _ := browse(t)
	do(t, ctx, slash(), chromedp.KeyEvent("remove"))
	comes(t, ctx, `document.getElementById("found").textContent === "1 of 11 actions"`)
	comes(t, ctx, `document.getElementById("search").value === "remove"`)
	shot(t, ctx, "search")
	do(t, ctx, chromedp.KeyEvent(kb.ArrowDown), enter(), chromedp.WaitVisible(`details[id="users.remove"] .try`))
	comes(t, ctx, `document.activeElement.parentElement.id === "users.remove"`)
	do(t, ctx, slash(), chromedp.KeyEvent(kb.Escape))
	comes(t, ctx, `document.activeElement.id === "search" && document.getElementById("search").value === ""`)
}

func TestFormSendsWhatWasFilledIn(t *testing.T) {
	ctx, _, calls := browse(t)
	view := open(t, ctx, "users.list") // filled with its example
	send(t, ctx, view)
	if got, want := next(t, ctx, calls), (seen{"GET", "/api/users?tag=first&tag=new&page=2", "acme", ""}); got != want {
		t.Errorf("the page sent %v, want %v", got, want)
	}
	do(t, ctx, chromedp.WaitVisible(view+" .good"))
	comes(t, ctx, fmt.Sprintf(`document.querySelector(%q).innerText.includes("9007199254740993")`, view+" [aria-live] pre")) // all digits
	shot(t, ctx, "sent")

	view = open(t, ctx, "users.create")
	do(t, ctx, chromedp.SendKeys(view+" fieldset input[type=password]", "a key"))
	send(t, ctx, view)
	got := next(t, ctx, calls)
	if got.method != "POST" || got.url != "/api/users" || got.header != "Bearer a key" {
		t.Errorf("the page sent %v\n%s", got, shown(ctx))
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(got.body), &body); err != nil || body["role"] != "guest" || body["address"] != nil {
		t.Errorf("the body is %s (%v)", got.body, err)
	}
	shot(t, ctx, "create")
	if text := evaluate[string](t, ctx, `document.body.innerText`); strings.Contains(text, "a key") || !strings.Contains(text, "Bearer YOUR-KEY") {
		t.Errorf("the key is shown, or the code does not say where it goes\n%s", shown(ctx))
	}
	if kept := evaluate[string](t, ctx, `JSON.stringify([localStorage.length, sessionStorage.length, document.cookie])`); kept != `[0,0,""]` {
		t.Errorf("the page keeps %s", kept)
	}
}

func TestFormShowsWhatIsWrongBeforeItSends(t *testing.T) {
	ctx, _, calls := browse(t)
	view := open(t, ctx, "users.get")
	do(t, ctx, chromedp.SetValue(view+" input[inputmode=numeric]", "one"))
	send(t, ctx, view)
	do(t, ctx, chromedp.WaitVisible(view+" p.bad:not(:empty)"))
	if got := evaluate[string](t, ctx, fmt.Sprintf("document.querySelector(%q).textContent", view+" p.bad")); got != `id: want a number, got "one"` {
		t.Errorf("the page says %q\n%s", got, shown(ctx))
	}
	if len(calls) > 0 {
		t.Errorf("the page sent it all the same: %v", <-calls)
	}
}

func TestStreamsAreShownAsTheyCome(t *testing.T) {
	ctx, _, calls := browse(t)
	view := open(t, ctx, "chat.join")
	send(t, ctx, view)
	next(t, ctx, calls)
	comes(t, ctx, fmt.Sprintf(`document.querySelector(%q).textContent.includes("event: end")`, view+" pre[aria-label]"))
	shot(t, ctx, "stream")
}

func TestPageFitsAPhone(t *testing.T) {
	ctx, _, _ := browse(t)
	do(t, ctx, chromedp.EmulateViewport(390, 844), prefers("dark"))
	shot(t, ctx, "phone")
	for _, name := range []string{"users.get", "users.create", "users.list", "files.read", "catalog.tree"} {
		open(t, ctx, name)
		if trueWithin(ctx, "document.documentElement.scrollWidth <= 390", patience/3) != nil {
			t.Errorf("with %s open the page is %d pixels wide: %v", name, evaluate[int](t, ctx, "document.documentElement.scrollWidth"),
				evaluate[[]string](t, ctx, `[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.tagName + "." + e.className)`))
		}
		shot(t, ctx, "phone-"+name)
	}
	if color := evaluate[string](t, ctx, "getComputedStyle(document.body).backgroundColor"); color != "rgb(20, 23, 27)" {
		t.Errorf("in the dark the paper is %s", color)
	}
	do(t, ctx, chromedp.EmulateViewport(1280, 900), chromedp.Evaluate(`location.hash = "users.get"`, nil))
	shot(t, ctx, "dark")
}

func TestEveryActionCanBeShown(t *testing.T) {
	ctx, _, _ := browse(t)
	for _, a := range shop(t).Actions {
		view := open(t, ctx, a.Name)
		if text := evaluate[string](t, ctx, fmt.Sprintf("document.querySelector(%q).innerText", view)); strings.Contains(text, "[object") || strings.Contains(text, "undefined") {
			t.Errorf("%s shows what is no text: %s", a.Name, text)
		}
	}
}

func TestControlsHaveNames(t *testing.T) {
	ctx, _, _ := browse(t)
	open(t, ctx, "users.create")
	open(t, ctx, "users.avatar")
	nameless := evaluate[[]string](t, ctx, `[...document.querySelectorAll("input, select, textarea, button")].filter((c) => !c.labels?.length && !c.getAttribute("aria-label") && !c.textContent.trim()).map((c) => c.outerHTML)`)
	if len(nameless) > 0 {
		t.Errorf("controls without a name: %v", nameless)
	}
	twice := evaluate[[]string](t, ctx, `[...document.querySelectorAll("[id]")].map((e) => e.id).filter((id, i, all) => all.indexOf(id) !== i)`)
	if len(twice) > 0 {
		t.Errorf("ids that are there twice: %v", twice)
	}
}
