package browsertest

import (
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// maxTabs bounds how often Tab is pressed on one page.
const maxTabs = 400

// KeyboardFaults goes through the page with Tab, from its beginning until the focus comes around, and returns what somebody without
// a mouse would miss: controls that Tab does not reach, that have no name, that look the same with the focus as without it, and
// that something else covers while they have it.
func (p *Page) KeyboardFaults() []string {
	p.tb.Helper()
	p.Run(chromedp.Evaluate(keyboard, nil), chromedp.Evaluate(`keyboard.begin()`, nil))
	var faults []string
	for range maxTabs {
		p.Run(pressTab(0))
		at := Evaluate[string](p, `keyboard.step()`)
		if at == "around" {
			return append(faults, Evaluate[[]string](p, `keyboard.missed()`)...)
		}
		if at != "" {
			faults = append(faults, strings.Split(at, "\n")...)
		}
	}
	return append(faults, fmt.Sprintf("the focus did not come around with %d times Tab", maxTabs))
}

// Tab presses Tab so many times; less than none goes backwards.
func (p *Page) Tab(times int) {
	p.tb.Helper()
	for range max(times, -times) {
		if times < 0 {
			p.Run(pressTab(input.ModifierShift))
		} else {
			p.Run(pressTab(0))
		}
	}
}

func pressTab(with input.Modifier) chromedp.Action {
	key := func(kind input.KeyType) chromedp.Action {
		return input.DispatchKeyEvent(kind).WithKey("Tab").WithCode("Tab").WithWindowsVirtualKeyCode(9).WithModifiers(with)
	}
	return chromedp.Tasks{key(input.KeyRawDown), key(input.KeyUp)}
}

// keyboard looks at the control that has the focus, between the keys. A control that the page has drawn anew since the beginning is
// not missed.
const keyboard = `window.keyboard = (() => {
	const controls = 'a[href], area[href], button, input, select, textarea, summary, [tabindex]';
	const been = new WeakSet();
	let all = [], first = null, faults = [];
	const says = e => (e.tagName + ' ' + (e.id || e.getAttribute('class') || '') + ' "' + (e.innerText || e.value || '').trim().slice(0, 40) + '"').toLowerCase();
	const name = e => e.getAttribute('aria-label') || [...e.labels ?? []].map(l => l.innerText).join('') || e.innerText?.trim() || e.title || e.querySelector('title')?.textContent ||
		(e.getAttribute('aria-labelledby') ?? '').split(' ').map(id => document.getElementById(id)?.innerText ?? '').join('').trim();
	const reached = e => e.tabIndex >= 0 && !e.disabled && e.type !== 'hidden' && !e.closest('[inert]') && e.checkVisibility({ visibilityProperty: true }) &&
		!(e.type === 'radio' && !e.checked && document.querySelector('input[type=radio][name="' + e.name + '"]:checked')) && // arrows go between radio buttons
		!(e.tagName === 'SUMMARY' && e.parentElement.tagName !== 'DETAILS');
	const looks = e => [e, e.parentElement, ...e.querySelectorAll('*')].map(x => { const s = getComputedStyle(x); return [s.outlineStyle, s.outlineColor, s.outlineWidth, s.boxShadow, s.borderColor, s.backgroundColor, s.stroke].join(); }).join(';');
	// A control's own parts and its label do not cover it. Of one that is higher than the page, such as a long table, what is on the page counts.
	const seen = e => [...e.getClientRects()].some(r => [[.5, .5], [.1, .5], [.9, .5], [.5, .2], [.5, .8]].some(([x, y]) => {
		const top = r.height > innerHeight ? Math.max(r.top, 0) : r.top, bottom = r.height > innerHeight ? Math.min(r.bottom, innerHeight) : r.bottom;
		const hit = document.elementFromPoint(r.left + r.width * x, top + (bottom - top) * y);
		return hit && (e.contains(hit) || [...e.labels ?? []].some(l => l.contains(hit)));
	}));
	return {
		begin() {
			document.body.tabIndex = -1;
			document.body.focus(); // from where the next Tab goes to the first control
			document.body.removeAttribute('tabindex');
			scrollTo(0, 0);
			all = [...document.querySelectorAll(controls)].filter(reached);
			first = null;
		},
		step() {
			const e = document.activeElement;
			if (!e || e === document.body || e === document.documentElement || e === first) return first ? 'around' : '';
			first ??= e;
			if (been.has(e)) return '';
			been.add(e);
			const faults = [];
			if (!name(e)) faults.push('no name: ' + says(e));
			if (!seen(e)) faults.push('covered, or not to be seen: ' + says(e));
			const on = looks(e);
			e.blur();
			const off = looks(e);
			e.focus({ preventScroll: true });
			if (on === off) faults.push('looks the same without the focus: ' + says(e));
			return faults.join('\n');
		},
		missed: () => all.filter(e => e.isConnected && reached(e) && !been.has(e)).map(e => 'not reached by Tab: ' + says(e)),
	};
})()`
