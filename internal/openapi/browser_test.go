package openapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/browsertest"
	"github.com/sabir-go/sabir/internal/openapi"
)

// seen is a request that the page sent.
type seen struct{ method, url, header, body string }

// docs is the page of the shop in a browser.
type docs struct {
	*browsertest.Page
	t     *testing.T
	calls chan seen // what the page sends elsewhere
}

func browse(t *testing.T) *docs {
	t.Helper()
	brokers.Slow(t)
	a := shop(t)
	a.Servers = nil
	d := &docs{Page: browsertest.Open(t), t: t, calls: make(chan seen, 16)}
	mux := http.NewServeMux()
	page := openapi.Page("/docs", func() api.API { return a })
	mux.Handle("/docs", page)
	mux.Handle("/docs/", page)
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		d.calls <- seen{r.Method, r.URL.String(), r.Header.Get("X-Tenant") + r.Header.Get("Authorization"), string(body)}
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
	d.prefer("light")
	d.Run(chromedp.Navigate(server.URL+"/docs"), chromedp.WaitVisible("details.action"))
	return d
}

// prefer sets the reader's color scheme, light or dark, and reduced motion, since clicks would miss elements that move.
func (d *docs) prefer(scheme string) {
	d.Prefers("prefers-color-scheme", scheme, "prefers-reduced-motion", "reduce")
}

// next is the next request that the page sends.
func (d *docs) next() seen {
	d.t.Helper()
	select {
	case s := <-d.calls:
		return s
	case <-time.After(time.Minute):
		d.Fail("the page sent nothing")
	}
	return seen{}
}

// open opens an action and its form.
func (d *docs) open(name string) string {
	d.t.Helper()
	view := fmt.Sprintf("details[id=%q]", name)
	d.Run(chromedp.Evaluate(fmt.Sprintf("location.hash = %q", name), nil), chromedp.WaitVisible(view+" .try"))
	d.Click(view+" .try > summary", fmt.Sprintf("document.querySelector(%q).open", view+" .try"))
	d.Run(chromedp.WaitVisible(view + " .try button.go"))
	return view
}

// send sends an action's form, once.
func (d *docs) send(view string) {
	d.t.Helper()
	d.Click(view+" button.go", fmt.Sprintf(`((form) => form.querySelector("button.go").disabled || form.querySelector("[aria-live]").childElementCount || form.querySelector("p.bad").textContent)(document.querySelector(%q))`, view+" .try"))
}

// enter is the key as a keyboard sends it.
func enter() chromedp.Action {
	return chromedp.Tasks{
		input.DispatchKeyEvent(input.KeyDown).WithKey("Enter").WithCode("Enter").WithWindowsVirtualKeyCode(13).WithText("\r"),
		input.DispatchKeyEvent(input.KeyUp).WithKey("Enter").WithCode("Enter").WithWindowsVirtualKeyCode(13),
	}
}

func TestPageIsUsedByKeyboard(t *testing.T) {
	d := browse(t)
	d.Press("/remove")
	d.Until(`document.getElementById("found").textContent === "1 of 11 actions"`)
	d.Until(`document.getElementById("search").value === "remove"`)
	d.Shot("openapi-search")
	d.Run(chromedp.KeyEvent(kb.ArrowDown), enter(), chromedp.WaitVisible(`details[id="users.remove"] .try`))
	d.Until(`document.activeElement.parentElement.id === "users.remove"`)
	d.Press("/" + kb.Escape)
	d.Until(`document.activeElement.id === "search" && document.getElementById("search").value === ""`)
}

func TestFormSendsWhatWasFilledIn(t *testing.T) {
	d := browse(t)
	view := d.open("users.list") // filled with its example
	d.send(view)
	if got, want := d.next(), (seen{"GET", "/api/users?tag=first&tag=new&page=2", "acme", ""}); got != want {
		t.Errorf("the page sent %v, want %v", got, want)
	}
	d.Run(chromedp.WaitVisible(view + " .good"))
	d.Until(fmt.Sprintf(`document.querySelector(%q).innerText.includes("9007199254740993")`, view+" [aria-live] pre")) // all digits
	d.Shot("openapi-sent")

	view = d.open("users.create")
	d.Run(chromedp.SendKeys(view+" fieldset input[type=password]", "a key"))
	d.send(view)
	got := d.next()
	if got.method != "POST" || got.url != "/api/users" || got.header != "Bearer a key" {
		t.Errorf("the page sent %v\n%s", got, d.Shows())
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(got.body), &body); err != nil || body["role"] != "guest" || body["address"] != nil {
		t.Errorf("the body is %s (%v)", got.body, err)
	}
	d.Shot("openapi-create")
	if text := browsertest.Evaluate[string](d.Page, `document.body.innerText`); strings.Contains(text, "a key") || !strings.Contains(text, "Bearer YOUR-KEY") {
		t.Errorf("the key is shown, or the code does not say where it goes\n%s", d.Shows())
	}
	if kept := browsertest.Evaluate[string](d.Page, `JSON.stringify([localStorage.length, sessionStorage.length, document.cookie])`); kept != `[0,0,""]` {
		t.Errorf("the page keeps %s", kept)
	}
}

func TestFormShowsWhatIsWrongBeforeItSends(t *testing.T) {
	d := browse(t)
	view := d.open("users.get")
	d.Run(chromedp.SetValue(view+" input[inputmode=numeric]", "one"))
	d.send(view)
	d.Run(chromedp.WaitVisible(view + " p.bad:not(:empty)"))
	if got := browsertest.Evaluate[string](d.Page, fmt.Sprintf("document.querySelector(%q).textContent", view+" p.bad")); got != `id: want a number, got "one"` {
		t.Errorf("the page says %q\n%s", got, d.Shows())
	}
	if len(d.calls) > 0 {
		t.Errorf("the page sent it all the same: %v", <-d.calls)
	}
}

func TestStreamsAreShownAsTheyCome(t *testing.T) {
	d := browse(t)
	view := d.open("chat.join")
	d.send(view)
	d.next()
	d.Until(fmt.Sprintf(`document.querySelector(%q).textContent.includes("event: end")`, view+" pre[aria-label]"))
	d.Shot("openapi-stream")
}

func TestPageFitsAPhone(t *testing.T) {
	d := browse(t)
	d.Size(390, 844)
	d.prefer("dark")
	d.Shot("openapi-phone")
	for _, name := range []string{"users.get", "users.create", "users.list", "files.read", "catalog.tree"} {
		d.open(name)
		if d.Comes("document.documentElement.scrollWidth <= 390") != nil {
			t.Errorf("with %s open the page is %d pixels wide: %v", name, browsertest.Evaluate[int](d.Page, "document.documentElement.scrollWidth"),
				browsertest.Evaluate[[]string](d.Page, `[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.tagName + "." + e.className)`))
		}
		d.Shot("openapi-phone-" + name)
	}
	if color := browsertest.Evaluate[string](d.Page, "getComputedStyle(document.body).backgroundColor"); color != "rgb(20, 23, 27)" {
		t.Errorf("in the dark the paper is %s", color)
	}
	d.Size(1280, 900)
	d.Run(chromedp.Evaluate(`location.hash = "users.get"`, nil))
	d.Shot("openapi-dark")
}

func TestEveryActionCanBeShown(t *testing.T) {
	d := browse(t)
	for _, a := range shop(t).Actions {
		view := d.open(a.Name)
		if text := browsertest.Evaluate[string](d.Page, fmt.Sprintf("document.querySelector(%q).innerText", view)); strings.Contains(text, "[object") || strings.Contains(text, "undefined") {
			t.Errorf("%s shows what is no text: %s", a.Name, text)
		}
	}
}

func TestEveryControlIsReachedByTabAndSeen(t *testing.T) {
	d := browse(t)
	d.open("users.create")
	for _, page := range []struct {
		width  int64
		scheme string
	}{{1400, "light"}, {390, "dark"}} { // in this order: only a narrow page has a button for the list of actions
		d.Size(page.width, 844)
		d.prefer(page.scheme)
		d.Shot("openapi-keyboard-" + page.scheme)
		for _, fault := range d.KeyboardFaults() {
			t.Errorf("at %d: %s", page.width, fault)
		}
	}
	d.Click("#menu", `document.querySelector("nav.open")`)
	for _, fault := range d.KeyboardFaults() {
		t.Errorf("with the list of actions open: %s", fault)
	}
}

func TestControlsHaveNames(t *testing.T) {
	d := browse(t)
	d.open("users.create")
	d.open("users.avatar")
	nameless := browsertest.Evaluate[[]string](d.Page, `[...document.querySelectorAll("input, select, textarea, button")].filter((c) => !c.labels?.length && !c.getAttribute("aria-label") && !c.textContent.trim()).map((c) => c.outerHTML)`)
	if len(nameless) > 0 {
		t.Errorf("controls without a name: %v", nameless)
	}
	twice := browsertest.Evaluate[[]string](d.Page, `[...document.querySelectorAll("[id]")].map((e) => e.id).filter((id, i, all) => all.indexOf(id) !== i)`)
	if len(twice) > 0 {
		t.Errorf("ids that are there twice: %v", twice)
	}
}
