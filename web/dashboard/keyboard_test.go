//go:build !race

package dashboard

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
)

// TestEveryControlIsReachedByTabAndSeen goes through the views of a cluster in which nothing happens, so that none changes meanwhile.
func TestEveryControlIsReachedByTabAndSeen(t *testing.T) {
	w := openWorld(t)
	b := openBrowser(t, w.urls[0])
	if _, err := sabir.CallJSON(t.Context(), w.nodes[0], "ledger.lose", nil); err == nil {
		t.Error("the books were not lost")
	}
	for path, shows := range map[string]string{
		"":                    `document.querySelectorAll('.map .dot').length === 3 && document.querySelectorAll('tbody tr').length === 3`,
		"actions":             `document.querySelector('tbody tr')`,
		"actions/ledger.book": `document.querySelector('.call form')`,
		"events":              `document.querySelector('.empty')`,
		"processes":           `document.querySelectorAll('[role=treeitem]').length > 9`,
		"traces":              `[...document.querySelectorAll('tbody a')].some(a => a.innerText === 'ledger.lose')`,
		"settings":            `document.querySelector('[name=theme]:checked')`,
	} {
		for width, theme := range map[int64]string{1400: "light", 390: "dark"} {
			b.Size(width, 844)
			b.dark(theme == "dark")
			b.view(path)
			b.Until(shows)
			for _, fault := range b.KeyboardFaults() {
				t.Errorf("#/%s at %d: %s", path, width, fault)
			}
		}
	}
}

// module evaluates a program in the page that uses one of the page's modules, and waits for what it returns.
func (b *browser) module(name, program string) string {
	b.Run(chromedp.Evaluate(fmt.Sprintf(`window.said = undefined; import('./%s').then(%s).then(x => { window.said = x }, e => { window.said = String(e) })`, name, program), nil))
	b.Until(`window.said !== undefined`)
	return evaluate[string](b, `window.said`)
}

func TestARowKeepsTheFocusWhileOthersComeAndGo(t *testing.T) {
	b := openBoardInBrowser(t)
	got := b.module("table.js", `({ table }) => {
		const list = table({ caption: 'Letters', key: x => x, sort: { key: 'x' }, empty: () => '',
			columns: [{ key: 'x', label: 'X', value: x => x, draw: (x, cell) => { if (!cell.firstChild) { const a = document.createElement('a'); a.href = '#/' + x; a.textContent = x; cell.append(a); } } }] });
		document.getElementById('main').replaceChildren(list.element);
		const rows = () => [...list.element.querySelectorAll('tbody a')].map(a => a.textContent + (a === document.activeElement ? '!' : '')).join('');
		const said = [];
		list.update(['b', 'd', 'f']);
		list.element.querySelectorAll('tbody a')[1].focus();
		for (const now of [['a', 'b', 'c', 'd'], ['e', 'd'], ['a', 'z'], []]) { list.update(now); said.push(rows()); }
		document.activeElement.blur();
		list.update(['a']);
		return [...said, rows()].join(' ');
	}`)
	if want := "abcd! d!e d!az d! a"; got != want { // the row that went stays until the focus is elsewhere
		t.Errorf("the rows were %q, want %q", got, want)
	}
}

func TestTheFieldsOfAListHaveNames(t *testing.T) {
	b := openBoardInBrowser(t)
	got := b.module("form.js", `({ makeForm }) => {
		const list = items => makeForm({ type: 'object', properties: { list: { type: 'array', minItems: 1, items } } }, {}).element;
		document.getElementById('main').replaceChildren(...[{ enum: ['a', 'b'] }, { type: 'boolean' }, { type: 'string' }, {}].map(list));
		return [...document.querySelectorAll('main :is(input, select, textarea)')].map(e => e.getAttribute('aria-label')).join(' ');
	}`)
	if got != "Value Value Value Value" {
		t.Errorf("the fields are named %q", got)
	}
}

func TestAKeyDoesNothingBehindADialog(t *testing.T) {
	b := openBoardInBrowser(t)
	b.Run(chromedp.Evaluate(`location.hash = '#/settings'; document.body.append(Object.assign(document.createElement('dialog'), { id: 'asks', innerText: 'Sure?' })); document.getElementById('asks').showModal()`, nil))
	b.Until(`document.querySelector('h1').innerText === 'Settings'`)
	b.Press("b?")
	b.Press("ga")
	if got := evaluate[string](b, `location.hash + document.querySelectorAll('dialog[open]').length`); got != "#/settings1" {
		t.Errorf("the page is at %s", got)
	}
}

func TestTheFocusGoesToTheSupervisorOfAProcessThatEnds(t *testing.T) {
	w := openWorld(t)
	lone, err := desks.Spec(nil, actor.SpawnConfig{Name: "lone"}).Start(w.system)
	must(t, err)
	b := openBrowser(t, w.urls[0])
	b.view("processes")
	b.Until(`[...document.querySelectorAll('[role=treeitem]')].find(e => e.querySelector('b').innerText === 'lone')?.focus() ?? document.activeElement.role === 'treeitem'`)
	must(t, actor.Send(w.system, lone, fall{}))
	b.Until(`![...document.querySelectorAll('[role=treeitem] b')].some(e => e.innerText === 'lone')`)
	b.Until(`document.activeElement.querySelector('b')?.innerText === 'shop-1'`)
}

// openBoardInBrowser shows the dashboard of one node.
func openBoardInBrowser(t *testing.T) *browser {
	n := openNode(t, sabir.HTTP(":0", At("/dashboard")))
	b := openBrowser(t, "http://"+n.HTTPAddr()+"/dashboard")
	b.view("")
	b.Until(`document.querySelector('#status').dataset.kind === 'live'`)
	return b
}

func TestTheNameOfANodeOnTheMapHasWhatIsSeenOfIt(t *testing.T) {
	n := openNode(t, sabir.HTTP(":0", At("/dashboard")))
	b := openBrowser(t, "http://"+n.HTTPAddr()+"/dashboard")
	b.anew("")
	b.Until(`document.querySelector('.map .dot .dot-label')?.textContent`)
	said := evaluate[string](b, `document.querySelector('.map .dot').getAttribute('aria-label')`)
	if seen := evaluate[string](b, `[...document.querySelectorAll('.map .dot text')].map(t => t.textContent).join(' ')`); !strings.HasPrefix(said, seen) {
		t.Errorf("a reader hears %q where others see %q", said, seen)
	}
}
