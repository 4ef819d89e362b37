//go:build !race

// A browser takes long to build and to run, and nothing of it runs in this process.

package dashboard

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/grain"
	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/secret"
)

// hiddenEdges lists the edges of the map whose middle is behind a service.
const hiddenEdges = `[...document.querySelectorAll('.edge')].flatMap(e => {
	const middle = e.getPointAtLength(e.getTotalLength() / 2);
	return [...document.querySelectorAll('g.service')].filter(g => {
		const at = g.transform.baseVal[0].matrix, box = g.querySelector('rect').getBBox();
		return Math.abs(middle.x - at.e) < box.width / 2 && Math.abs(middle.y - at.f) < box.height / 2;
	}).map(g => e.textContent + ' passes behind ' + g.textContent);
})`

// TestThePageInABrowser looks at all views of a cluster of three nodes with Chromium, and uses them.
func TestThePageInABrowser(t *testing.T) {
	w := openWorld(t)
	b := openBrowser(t, w.urls[0])
	w.customers(50)

	views := []struct{ name, path, shows string }{
		{"overview", "", `document.querySelectorAll('.map .dot').length === 3 && document.querySelectorAll('tbody tr').length === 3 && parseFloat(document.querySelector('.tile .v').innerText) > 0 && document.querySelector('.chart .line')`},
		{"node", "nodes/shop-2", `document.querySelector('.facts dd')?.innerText === 'running' && [...document.querySelectorAll('.name')].some(e => e.innerText === 'stock')`},
		{"actions", "actions", `[...document.querySelectorAll('tbody tr')].some(r => r.innerText.includes('orders.create') && parseFloat(r.cells[1].innerText) > 0 && /s$/.test(r.cells[2].nextSibling.innerText))`},
		{"action", "actions/orders.create", `document.querySelectorAll('.chart .bar').length > 0 && document.querySelector('.schema')?.innerText.includes('user_id') && document.querySelector('.call form')`},
		{"events", "events", `[...document.querySelectorAll('.line b')].some(e => e.innerText === 'order.created')`},
		{"processes", "processes", `[...document.querySelectorAll('[role=treeitem]')].some(e => e.innerText.includes('inbox') && e.innerText.includes('16'))`},
		{"traces", "traces", `[...document.querySelectorAll('tbody a')].some(a => a.innerText === 'orders.create')`},
		{"map", "map", `document.querySelectorAll('.service').length > 3 && document.querySelectorAll('.edge').length > 3 && [...document.querySelectorAll('tbody tr')].some(r => r.innerText.includes('stock.reserve'))`},
		{"channels", "channels", `[...document.querySelectorAll('tbody tr')].some(r => r.innerText.includes('shop.invoices.dead')) && document.querySelector('tbody a')`},
		{"dead letters", "channels/shop-1%2Fshop.invoices.dead", `document.querySelector('.choose')?.innerText.includes('the bank refused the card')`},
		{"health", "health", `document.querySelector('.lead')?.innerText === 'Nothing is wrong.' && document.querySelector('main').innerText.includes('closed.') && document.querySelector('main').innerText.includes('channels')`},
		{"configuration", "config", `document.querySelector('main').innerText.includes('config.Load')`},
		{"settings", "settings", `document.querySelector('.facts')?.innerText.includes('shop-1') && document.querySelector('[name=theme]:checked')?.value === 'system'`},
	}
	b.Size(1400, 900)
	for _, v := range views {
		b.Part(t, "the view shows its data: "+v.name, func(t *testing.T) {
			b.view(v.path)
			b.Until(v.shows)
			for _, theme := range []string{"light", "dark"} {
				b.dark(theme == "dark")
				b.Shot(v.name + " 1400 " + theme)
			}
		})
	}
	for _, theme := range []string{"light", "dark"} {
		for _, v := range views {
			b.Part(t, "nothing is too wide for a phone, in "+theme+": "+v.name, func(t *testing.T) {
				b.Size(390, 844)
				b.dark(theme == "dark")
				b.view(v.path)
				b.Until(v.shows)
				if err := b.Comes("document.scrollingElement.scrollWidth <= 390"); err != nil {
					t.Errorf("the page is %v px wide: %v", evaluate[float64](b, "document.scrollingElement.scrollWidth"), evaluate[[]string](b, `[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.tagName + '.' + e.getAttribute('class'))`))
				}
				b.Shot(v.name + " 390 " + theme)
				for _, low := range evaluate[[]string](b, contrasts) {
					t.Errorf("in %s: %s", theme, low)
				}
			})
		}
	}
	for _, width := range []int64{390, 1280} {
		b.Part(t, fmt.Sprintf("on the map no call passes behind a service that it does not reach, at %d", width), func(t *testing.T) {
			b.Size(width, 900)
			b.view("map")
			b.Until(`[...document.querySelectorAll('.edge title')].some(e => e.textContent.startsWith('orders → users'))`)
			for _, hidden := range evaluate[[]string](b, hiddenEdges) {
				t.Error(hidden)
			}
		})
	}
	b.Size(1280, 900)
	b.dark(false)

	b.Part(t, "a trace is shown as a waterfall, its spans in each other", func(t *testing.T) {
		b.Again(`document.querySelectorAll('.falls .fall-bar').length > 2`, func() error { // a trace is held for a while only
			b.view("traces")
			b.Until(`(() => {
				const row = [...document.querySelectorAll('tbody tr')].find(r => r.querySelector('a').textContent === 'orders.create' && Number(r.cells[3].textContent) > 2);
				row?.querySelector('a').click();
				return row;
			})()`)
			return nil
		})
		b.Forgive("api/trace?id=", "404")
		b.Click(`.falls .line`, `document.querySelector('.falls .payload').innerText.includes('orders.create')`)
		b.Until(`['Input', 'Output'].every(k => document.querySelector('.falls .payload section[aria-label="' + k + ' of orders.create"] .json'))`)
		b.Shot("trace 1280 light")
	})
	b.Part(t, "what was logged in a request stands beside its trace", func(t *testing.T) {
		b.Again(`[...document.querySelectorAll('.log-line')].some(l => l.innerText.includes('a warning') && l.innerText.includes('shop-1') && l.innerText.includes('ledger.lose'))`, func() error {
			if _, err := sabir.CallJSON(t.Context(), w.nodes[0], "ledger.lose", nil); err == nil {
				return errors.New("the books were not lost")
			}
			b.view("traces")
			b.Until(`(() => {
				const row = [...document.querySelectorAll('tbody tr')].find(r => r.querySelector('a').textContent === 'ledger.lose');
				row?.querySelector('a').click();
				return row;
			})()`)
			return nil
		})
		b.Shot("log 1280 light")
		b.Size(390, 844)
		b.Shot("log 390 light")
		b.Size(1280, 900)
	})
	b.Part(t, "a dead letter is looked at, replayed by itself, and deleted with the others", func(t *testing.T) {
		b.view("channels/shop-1%2Fshop.invoices.dead")
		b.Click(`.choose .line`, `document.querySelector('.payload .json')?.innerText.includes('order_id')`)
		b.Click(`.choose input`, `!document.querySelector('.bar button').disabled`)
		b.Click(`.bar button`, `document.querySelector('#say').innerText === '1 replayed'`)
		b.Click(`.bar button:nth-child(4)`, `document.querySelector('dialog[open]')?.innerText.includes('Delete all dead letters of shop.invoices.dead?')`)
		b.Until(`document.activeElement.innerText === 'Keep'`) // Enter alone deletes nothing
		b.Click(`dialog[open] .primary`, `/^\d+ deleted$/.test(document.querySelector('#say').innerText)`)
		b.Until(`['BUTTON', 'H1'].includes(document.activeElement.tagName)`) // the button that had it, or where that has nothing left to do the title
	})
	b.Part(t, "the last hour is there when the page opens, and what is seen now is one choice away", func(t *testing.T) {
		b.anew("")
		b.Until(`document.querySelector('.choice [aria-pressed=true]')?.innerText === 'Last hour'`)
		b.Click(`.choice button:nth-child(2)`, `document.querySelector('.choice [aria-pressed=true]').innerText === 'Now' && document.querySelectorAll('.chart .line').length > 1`)
	})
	b.Part(t, "figures change while one looks", func(t *testing.T) {
		b.view("actions/users.get")
		b.Until(`/in all/.test(document.querySelector('.tile .note').innerText)`)
		before := evaluate[string](b, `document.querySelector('.tile .note').innerText`)
		b.Until(fmt.Sprintf(`document.querySelector('.tile .note').innerText !== %q`, before))
	})
	b.Part(t, "an event is shown with its payload as soon as it passes, as text", func(t *testing.T) {
		b.view("events")
		b.Until(`document.querySelector('.line')`) // which goes, since it is no evil event
		b.Run(chromedp.SetValue(`[data-filter]`, "evil.*"), chromedp.Focus(`[data-filter]`), chromedp.KeyEvent(kb.Enter))
		b.Until(`document.querySelector('.empty')?.innerText.includes('evil.*')`)
		var emitting sync.WaitGroup
		emitting.Go(func() { // again and again, since the stream may just be opening
			for t.Context().Err() == nil {
				if err := sabir.Emit(t.Context(), w.nodes[2], "evil.twin", map[string]any{"html": "<img src=x onerror=alert(1)>", "id": uint64(18446744073709551615)}); err != nil && t.Context().Err() == nil {
					t.Logf("emitted while the page changed what it listens to: %v", err)
				}
				select {
				case <-t.Context().Done():
				case <-time.After(100 * time.Millisecond):
				}
			}
		})
		t.Cleanup(emitting.Wait) // t.Context() has ended then
		b.Click(`.line`, `document.querySelector('.line[aria-expanded=true]')`)
		b.Until(`document.querySelector('.payload .json')?.innerText.includes('<img src=x onerror=alert(1)>') && document.querySelector('.payload .json').innerText.includes('18446744073709551615')`)
		b.Until(`document.querySelector('[aria-pressed=true]')?.innerText.includes('Go on')`) // what one reads stays
		if n := evaluate[int](b, `document.querySelectorAll('main img').length`); n != 0 {
			t.Error("the payload became part of the page")
		}
		b.Run(chromedp.SetValue(`[data-filter]`, "a.*b"), chromedp.Focus(`[data-filter]`), chromedp.KeyEvent(kb.Enter))
		b.Until(`document.querySelector('.wrong').innerText.includes('inside a word')`)
		b.Forgive("events?pattern=a.*b", "400")
	})
	b.Part(t, "the form calls an action, with all digits", func(t *testing.T) {
		b.view("actions/ledger.book")
		b.Until(`document.querySelector('.call form input')`)
		b.Click(`.send .primary`, `document.querySelector('.call .wrong').innerText.includes('“id” is missing')`)
		b.Run(chromedp.SendKeys(`.call input`, "x1"))
		b.Click(`.send .primary`, `document.querySelector('.call .wrong').innerText.includes('whole number')`)
		b.Run(chromedp.Evaluate(`document.querySelector('.call input').value = ''`, nil), chromedp.SendKeys(`.call input`, "9007199254740993"),
			chromedp.SendKeys(`.item input`, "cash"), chromedp.KeyEvent(kb.Enter))
		b.Until(`document.querySelector('.answer .badge')?.innerText === '200'`)
		b.Until(`document.querySelector('.answer .json').innerText.includes('9007199254740993') && document.querySelector('.answer .json').innerText.includes('"lines": 1') && document.querySelector('.answer .json').innerText.includes('<b>debit</b>')`)
	})
	b.Part(t, "the editor calls an action, and shows what it was refused for", func(t *testing.T) {
		b.Run(chromedp.Evaluate(`[...document.querySelectorAll('.call .choice button')].find(x => x.innerText === 'JSON').click()`, nil))
		b.Until(`document.querySelector('.call textarea').value.includes('9007199254740993')`)
		b.Run(chromedp.SetValue(`.call textarea`, `{"id": 0, "kind": "neither", "lines": []}`), chromedp.Focus(`.call textarea`), chromedp.KeyEvent("\r", chromedp.KeyModifiers(2)))
		b.Until(`/^4\d\d$/.test(document.querySelector('.answer .badge')?.innerText) && document.querySelector('.answer').innerText.includes('kind')`)
		b.Run(chromedp.SetValue(`.call textarea`, `{`))
		b.Click(`.send .primary`, `document.querySelector('.call .wrong').innerText.includes('no JSON')`)
	})
	b.Part(t, "the errors of an action are listed", func(t *testing.T) {
		b.Again(`document.querySelector('.lines')?.innerText.includes('BooksLost')`, func() error { // what nodes answer is kept for a second
			b.view("actions")
			_, err := sabir.CallJSON(t.Context(), w.nodes[0], "ledger.lose", nil)
			b.view("actions/ledger.lose")
			return err
		})
	})
	b.Part(t, "keys alone are enough", func(t *testing.T) {
		b.anew("")
		b.Until(`document.querySelectorAll('tbody tr').length === 3`)
		b.Press(kb.Tab)
		b.Until(`document.activeElement.className === 'skip' && document.activeElement.getBoundingClientRect().top >= 0`)
		b.Press(kb.Enter)
		b.Until(`document.activeElement.id === 'main'`)
		b.Press("?")
		b.Until(`document.querySelector('dialog').open`)
		b.Press(kb.Escape)
		b.Until(`!document.querySelector('dialog').open`)
		for _, to := range []struct{ keys, hash string }{{"ga", "#/actions"}, {"ge", "#/events"}, {"gp", "#/processes"}, {"gt", "#/traces"}, {"gs", "#/settings"}, {"go", "#/"}, {"ga", "#/actions"}} {
			b.Again(fmt.Sprintf(`location.hash === %q && document.activeElement.tagName === 'H1'`, to.hash), func() error { // within 1.5 seconds
				b.Press(to.keys)
				return nil
			})
		}
		b.Until(`document.querySelectorAll('tbody tr').length > 3`)
		b.Press(kb.ArrowDown)
		b.Until(`document.activeElement === document.querySelector('tbody a')`)
		b.Press(kb.ArrowDown)
		b.Until(`document.activeElement === document.querySelectorAll('tbody tr')[1].querySelector('a') && getComputedStyle(document.activeElement).outlineStyle === 'solid'`)
		b.Press(kb.End)
		b.Until(`document.activeElement === [...document.querySelectorAll('tbody tr')].at(-1).querySelector('a')`)
		b.Press("/")
		b.Until(`document.activeElement.matches('[data-filter]')`)
		b.Press("orders.create")
		b.Until(`document.querySelectorAll('tbody tr').length === 1`)
		b.Press(kb.Escape)
		b.Until(`document.querySelectorAll('tbody tr').length > 3`)
	})
	b.Part(t, "the tree of processes is walked with the arrows", func(t *testing.T) {
		b.view("processes")
		b.Until(`document.querySelectorAll('[role=treeitem]').length > 9`)
		b.Press(kb.ArrowDown)
		b.Press(kb.ArrowDown)
		b.Until(`document.activeElement.innerText.includes('couriers')`)
		b.Press(kb.ArrowLeft)
		b.Press(kb.ArrowDown)
		b.Until(`document.activeElement.innerText.includes('office')`)
		b.Press(kb.ArrowLeft)
		b.Until(`document.activeElement.getAttribute('aria-expanded') === 'false' && ![...document.querySelectorAll('[role=treeitem]')].some(e => e.innerText.includes('inbox'))`)
		b.Press(kb.ArrowRight)
		b.Until(`[...document.querySelectorAll('[role=treeitem]')].some(e => e.innerText.includes('inbox'))`)
		b.Press(kb.Enter)
		b.Until(`document.activeElement.querySelector('.detail').innerText.includes('rest-for-one') || document.activeElement.querySelector('.detail').innerText.includes('supervisor')`)
	})
	b.Part(t, "the theme follows the system, and the user against it", func(t *testing.T) {
		background := `getComputedStyle(document.documentElement).backgroundColor`
		b.dark(true)
		b.view("settings")
		b.Until(background + ` === 'rgb(15, 19, 25)'`)
		b.Click(`[name=theme][value=light]`, background+` === 'rgb(245, 246, 248)'`)
		b.anew("")
		b.Until(background + ` === 'rgb(245, 246, 248)'`)
		b.Click(`#theme-button`, background+` === 'rgb(15, 19, 25)'`)
		b.Run(chromedp.Evaluate(`localStorage.clear()`, nil))
		b.dark(false)
	})
	b.Part(t, "nothing moves for those who asked for it", func(t *testing.T) {
		b.Prefers("prefers-reduced-motion", "reduce")
		b.view("traces")
		b.Until(`document.querySelector('tbody a')`)
		if n := evaluate[int](b, `[...document.querySelectorAll('*')].filter(e => getComputedStyle(e).transitionDuration !== '0s' || getComputedStyle(e).animationName !== 'none').length`); n != 0 {
			t.Errorf("%d elements move", n)
		}
		b.dark(false)
	})
}

// contrasts finds text whose contrast with what is behind it is under 4.5 to 1 (WCAG 2.2, 1.4.3).
const contrasts = `(() => {
	const parse = c => { const m = c.match(/[\d.]+/g); return m ? m.map(Number) : [0, 0, 0, 0]; };
	const light = c => { const [r, g, b] = c.map(v => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const behind = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0.99) return c.slice(0, 3); } return [255, 255, 255]; };
	const found = new Set();
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let t; t = walk.nextNode();) {
		const e = t.parentElement;
		if (!t.data.trim() || e.closest('svg, dialog, .hidden, .skip, noscript, option') || !e.getClientRects().length) continue;
		const a = light(parse(getComputedStyle(e).color).slice(0, 3)), b = light(behind(e));
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (ratio < 4.5) found.add(e.tagName + '.' + e.className + ' has ' + ratio.toFixed(2));
	}
	return [...found];
})()`

// TestTheLoginInABrowser goes from a deep link to the login and back, and out again.
func TestTheLoginInABrowser(t *testing.T) {
	n := openNode(t, sabir.HTTP(":0", At("/dashboard", Config{Key: secret.New(goodKey)})))
	b := openBrowser(t, "http://"+n.HTTPAddr()+"/dashboard")
	b.Size(390, 844)
	b.view("actions/ledger.book")
	b.Until(`location.pathname === '/dashboard/login' && document.activeElement.id === 'key' && document.forms[0].getAttribute('action') === 'login#/actions/ledger.book'`)
	if err := b.Comes("document.scrollingElement.scrollWidth <= 390"); err != nil {
		t.Errorf("the page is %v px wide", evaluate[float64](b, "document.scrollingElement.scrollWidth"))
	}
	b.Run(chromedp.SendKeys("#key", "wrong"+kb.Enter))
	b.Until(`document.querySelector('#wrong').innerText === 'That is not the key.'`)
	b.Run(chromedp.SendKeys("#key", goodKey+kb.Enter))
	b.Until(`location.hash === '#/actions/ledger.book' && document.querySelector('h1').innerText === 'ledger.book'`)
	if cookies := evaluate[string](b, "document.cookie"); strings.Contains(cookies, cookieName) {
		t.Error("scripts can read the session's cookie")
	}
	b.Run(chromedp.Evaluate(`location.hash = '#/settings'`, nil))
	b.Until(`[...document.querySelectorAll('button')].some(x => x.innerText === 'Log out' && !x.hidden)`)
	b.Run(chromedp.Evaluate(`[...document.querySelectorAll('button')].find(x => x.innerText === 'Log out').click()`, nil))
	b.Until(`location.pathname === '/dashboard/login'`)
	b.anew("")
	b.Until(`location.pathname === '/dashboard/login'`)
}

// TestEmptyAndReadOnlyViewsSayWhatToDo looks at a node that has nothing to show.
func TestEmptyAndReadOnlyViewsSayWhatToDo(t *testing.T) {
	n := openNode(t, sabir.HTTP(":0", At("/dashboard", Config{ReadOnly: true})))
	b := openBrowser(t, "http://"+n.HTTPAddr()+"/dashboard")
	for path, says := range map[string]string{
		"":                                  "tel.Stats()",
		"processes":                         "system.Option()",
		"grains":                            "grain.Config{…}, kind",
		"traces":                            "ring.Service()",
		"events":                            "sabir emit",
		"actions/ledger.book":               "ReadOnly of dashboard.Config",
		"actions/no.such":                   "No node offers this action",
		"nodes/n9":                          "not in the cluster",
		"traces/" + strings.Repeat("0", 32): "no node holds that trace",
		"map":                               "dashboard.Traces",
		"channels":                          "channel.Broker",
		"health":                            "policy.Breaker",
		"config":                            "config.Load",
	} {
		b.view(path)
		b.Until(fmt.Sprintf(`document.querySelector('main').innerText.includes(%q)`, says))
	}
	b.Forgive("api/action?name=no.such", "404")
	b.Forgive("api/trace?id=", "404")
}

// TestGrainsInABrowser looks for some of the grains of a node.
func TestGrainsInABrowser(t *testing.T) {
	system := actor.NewSystem(actor.Config{})
	n := openNode(t, sabir.HTTP(":0", At("/dashboard")), system.Option(), grain.New(system, grain.Config{Store: store.Memory()}, baskets).Option())
	for i := range 42 {
		_, err := grain.Call[int](t.Context(), system, baskets.Key(fmt.Sprint("u-", i+1)), letter{"rope"})
		must(t, err)
	}
	b := openBrowser(t, "http://"+n.HTTPAddr()+"/dashboard")
	all := `document.querySelectorAll('tbody tr').length === 42 && document.querySelector('.lead').innerText === '42 grains are active on 1 node.' && document.querySelector('select').innerText.includes('basket (42)')`
	b.Size(1400, 900)
	b.view("grains")
	b.Until(all)
	for _, theme := range []string{"light", "dark"} {
		b.dark(theme == "dark")
		b.Size(1400, 900)
		b.Shot("grains 1400 " + theme)
		b.Size(390, 844)
		if err := b.Comes("document.scrollingElement.scrollWidth <= 390"); err != nil {
			t.Errorf("in %s the page is %v px wide", theme, evaluate[float64](b, "document.scrollingElement.scrollWidth"))
		}
		b.Shot("grains 390 " + theme)
		for _, low := range evaluate[[]string](b, contrasts) {
			t.Errorf("in %s: %s", theme, low)
		}
	}
	b.Run(chromedp.SendKeys(`[data-filter]`, "u-3"))
	b.Until(`document.querySelectorAll('tbody tr').length === 11`) // u-3, and u-30 to u-39
	b.Run(chromedp.SendKeys(`[data-filter]`, "x"))
	b.Until(`document.querySelector('.empty')?.innerText.includes('No active grain matches')`)
	b.Press(kb.Escape)
	b.Until(all)
}

// TestThePageComesBackWithItsNode stops a node and starts another at its address.
func TestThePageComesBackWithItsNode(t *testing.T) {
	address, err := brokers.FreeAddress("tcp") // which no other socket is given while no node is there
	must(t, err)
	n := openNode(t, sabir.HTTP(address, At("/dashboard")))
	b := openBrowser(t, "http://"+address+"/dashboard")
	b.Forgive("net::ERR_") // while no node is there
	b.view("")
	b.Until(`document.querySelector('#status').dataset.kind === 'live'`)
	must(t, n.Stop(t.Context()))
	b.Until(`document.querySelector('#status').dataset.kind !== 'live' && document.body.classList.contains('stale')`)
	again := sabir.NewNode(sabir.NodeID("n2"), quiet, sabir.HTTP(address, At("/dashboard")))
	must(t, again.Start(t.Context()))
	defer func() { must(t, again.Stop(t.Context())) }()
	b.Until(`document.querySelector('#status').dataset.kind === 'live' && document.querySelector('#where').innerText === 'n2'`)
}
