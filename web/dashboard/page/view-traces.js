// Traces of recent calls, and one of them as a waterfall.

import { h, s, heading, badge, empty, code, icon, setText } from './dom.js';
import { api } from './live.js';
import { settings } from './settings.js';
import { span, clock, matches, count, json } from './format.js';
import { table, filterBox } from './table.js';

const kept = { filter: '', failed: false };

export function traces() {
  const stop = new AbortController();
  let answer = null, paused = false;
  const wrong = h('p', { class: 'wrong', role: 'alert' }), holder = h('section', { class: 'card flush' }), note = h('span', { class: 'muted' });
  const setup = () => empty('No traces', h('span', {}, 'Keep the last spans of a node and serve them: ', code('ring := dashboard.Traces(4096)'), ', ', code('telemetry.New(telemetry.Config{Traces: ring})'), ', ', code('sabir.Serve(ring.Service())'), '.'));
  const list = table({
    caption: 'Traces', key: t => t.trace, sort: { key: 'start', down: true },
    empty: () => answer && !answer.answered.length ? setup() : kept.filter || kept.failed ? empty('No trace matches', 'Esc empties the filter.') : empty('No calls yet', 'Traces show up as soon as something is called.'),
    columns: [
      { key: 'name', label: 'Trace', value: t => t.name, draw: (t, cell) => { if (!cell.firstChild) cell.append(h('a', { href: '#/traces/' + t.trace, text: t.name }), h('small', { class: 'mono', text: t.trace.slice(0, 16) })); } },
      { key: 'start', label: 'At', num: true, kind: 'two', value: t => t.start, text: t => clock(t.start / 1000, true) },
      { key: 'took', label: 'Took', num: true, value: t => t.took, text: t => span(t.took) },
      { key: 'spans', label: 'Spans', num: true, value: t => t.spans, text: t => String(t.spans) },
      { key: 'nodes', label: 'Nodes', kind: 'two', value: t => t.nodes.join(), text: t => t.nodes.join(', ') },
      { key: 'error', label: 'Outcome', kind: 'two', value: t => t.error || '', draw: (t, cell) => { const now = (t.error || '') + t.failed; if (cell.dataset.now !== now) { cell.dataset.now = now; cell.replaceChildren(t.error ? badge(t.error, t.failed ? 'bad' : 'warn') : badge('ok', 'good')); } } },
    ],
  });
  const box = filterBox('Filter traces', text => { kept.filter = text; draw(); }, kept.filter);
  const failed = h('input', { type: 'checkbox', onchange: () => { kept.failed = failed.checked; draw(); } });
  failed.checked = kept.failed;
  const hold = h('button', { type: 'button', 'aria-pressed': 'false', text: 'Pause', onclick: () => { paused = !paused; hold.setAttribute('aria-pressed', String(paused)); setText(hold, paused ? 'Go on' : 'Pause'); if (!paused) ask(); } });
  const element = h('div', { class: 'view' }, heading('Traces'), h('div', { class: 'bar' }, box, h('label', { class: 'check' }, failed, 'Errors only'), hold, note), wrong, holder);
  holder.append(list.element);

  function draw() {
    if (!answer) return;
    list.update(answer.traces.filter(t => (!kept.failed || t.error) && matches(kept.filter, t.trace, t.error || '', ...t.names, ...t.nodes)));
    setText(note, answer.answered.length && answer.mute.length ? 'none from ' + answer.mute.join(', ') : answer.answered.length ? 'the latest ' + count(answer.traces.length) : '');
  }

  async function ask() {
    if (paused) return;
    try { answer = await api('api/traces', undefined, stop.signal); wrong.textContent = ''; draw(); } catch (e) { if (e.name !== 'AbortError') wrong.textContent = e.message; }
  }
  ask();
  const timer = setInterval(ask, Math.max(2, settings.refresh) * 1000);
  return { title: 'Traces', element, update(kind) { if (kind === 'hello') ask(); }, key(e) { if (e.key !== ' ' || e.target.tagName === 'BUTTON' || e.target.tagName === 'A') return false; hold.click(); return true; }, end() { clearInterval(timer); stop.abort(); } };
}

// ordered puts spans below those that they are part of, by their start. One whose parent is not held is a root.
function ordered(spans) {
  const ids = new Set(spans.map(x => x.id)), below = new Map(), list = [];
  for (const x of spans) { const at = ids.has(x.parent) ? x.parent : ''; if (!below.has(at)) below.set(at, []); below.get(at).push(x); }
  const add = (id, depth) => { for (const x of below.get(id) || []) { list.push({ ...x, depth }); if (depth < 40) add(x.id, depth + 1); } };
  add('', 0);
  return list;
}

export function trace(id) {
  const stop = new AbortController();
  const body = h('section', { class: 'card flush' }, h('p', { class: 'muted pad-text', text: 'Loading …' })), facts = h('p', { class: 'lead' });
  const title = heading('Trace', h('p', { class: 'crumbs' }, h('a', { href: '#/traces', text: 'Traces' }), ' / ', h('span', { class: 'mono', text: id.slice(0, 16) })), facts);
  const log = h('div', { class: 'rows log' });
  const element = h('div', { class: 'view' }, title, body, h('section', { class: 'card flush' }, h('h2', { text: 'Log' }), log));

  // drawLog shows what was logged in the calls of the trace, on whichever node.
  function drawLog(lines, from, nodes) {
    if (!lines.length) {
      log.replaceChildren(empty('Nothing was logged in this trace', h('span', {}, 'Or it is not kept: give the node’s log to the ring with ', code('ring.LogHandler(…)'), '.')));
      return;
    }
    log.replaceChildren(...lines.map(l => h('div', { class: 'log-line' }, h('span', { class: 'num', text: '+' + span(Math.max(0.01, l.at / 1000 - from)), title: new Date(l.at / 1e6).toISOString() }),
      badge(l.level.toLowerCase(), { ERROR: 'bad', WARN: 'warn' }[l.level.split(/[+-]/)[0]]),
      h('span', { class: 'fall-node' }, h('i', { class: 'n' + Math.max(0, nodes.indexOf(l.node)) % 5 }), h('span', { text: l.node || '–' })),
      h('span', { class: 'said' }, h('b', { text: l.message }), (l.fields || []).map(f => h('span', { class: 'fact muted' }, h('span', { text: f.name + ' ' }), h('b', { text: f.value })))))));
  }

  function draw({ spans, lines }) {
    const list = ordered(spans), from = Math.min(...list.map(x => x.start)), until = Math.max(...list.map(x => x.start + x.took)), all = Math.max(1, until - from);
    const nodes = [...new Set(list.map(x => x.node))], failed = list.filter(x => x.failed).length;
    setText(title.querySelector('h1'), list[0].name);
    setText(facts, `${span(all)} · ${list.length} ${list.length === 1 ? 'span' : 'spans'} on ${nodes.join(', ')} · began ${clock(from / 1000, true)}` + (failed ? ` · ${failed} failed` : ''));
    drawLog(lines || [], from, nodes);
    const ticks = [0, 0.25, 0.5, 0.75, 1];
    const rows = list.map((x, i) => {
      const left = 100 * (x.start - from) / all, wide = Math.max(0.4, 100 * x.took / all), detail = h('div', { class: 'payload', id: 's' + i, hidden: true });
      const picture = s('svg', { class: 'fall', height: 22, role: 'img', 'aria-label': `from ${span(x.start - from) === '–' ? 'the start' : span(x.start - from)}, for ${span(x.took)}` },
        ticks.map(t => s('line', { class: 'grid', x1: 100 * t + '%', x2: 100 * t + '%', y1: 0, y2: 22 })),
        s('rect', { class: 'fall-bar ' + (x.failed ? 'bad' : x.error ? 'warn' : 'n' + nodes.indexOf(x.node) % 5), x: Math.min(left, 99.6) + '%', width: wide + '%', y: 5, height: 12, rx: 2.5 }));
      const line = h('button', { type: 'button', class: 'line', 'aria-expanded': 'false', 'aria-controls': 's' + i, onclick: () => {
        const open = line.getAttribute('aria-expanded') === 'true';
        line.setAttribute('aria-expanded', String(!open));
        if (!detail.firstChild) detail.append(...details(x));
        detail.hidden = open;
      } }, h('span', { class: 'fall-name' }, h('span', { class: 'pad' }), icon('chevron'), h('b', { text: x.name }), x.error && badge(x.error, x.failed ? 'bad' : 'warn')), h('span', { class: 'fall-node' }, h('i', { class: 'n' + nodes.indexOf(x.node) % 5 }), h('span', { text: x.node }), h('span', { class: 'kind', text: x.kind })), picture, h('span', { class: 'num', text: span(x.took) }));
      line.querySelector('.pad').style.width = Math.min(x.depth, 12) * 14 + 'px';
      return h('div', { class: 'event' }, line, detail);
    });
    const axis = s('svg', { class: 'fall', height: 22, 'aria-hidden': 'true' }, ticks.map((t, i) => s('text', { class: 'axis', x: 100 * t + '%', y: 15, 'text-anchor': i === 0 ? 'start' : i === 4 ? 'end' : 'middle', text: t ? span(all * t) : '0' })));
    body.replaceChildren(h('div', { class: 'fall-head', 'aria-hidden': 'true' }, h('span', { text: 'Span' }), h('span', { text: 'Node' }), axis, h('span', { class: 'num', text: 'Took' })), h('div', { class: 'rows falls', onkeydown: walk }, rows));
  }

  function details(x) {
    const { 'sabir.input': input, 'sabir.output': output, ...others } = x.details || {};
    const list = [['Span', x.id], ['Parent', x.parent], ['Node', x.node], ['Kind', x.kind], ['Start', clock(x.start / 1000, true)], ...Object.entries(others)].filter(([, v]) => v);
    return [h('dl', { class: 'facts' }, list.map(([k, v]) => h('div', {}, h('dt', { text: k }), h('dd', { text: v })))),
      ...[['Input', input], ['Output', output]].filter(([, v]) => v).map(([k, v]) => h('section', { class: 'value', 'aria-label': k + ' of ' + x.name }, h('h3', { text: k }), v.endsWith('…') ? h('pre', { class: 'json', tabindex: 0, text: v }) : json(v))),
      ...(x.events || []).map(e => h('div', { class: 'span-event' }, h('b', { text: e.name }), h('span', { class: 'muted', text: ' after ' + span(e.at) }), h('dl', { class: 'facts' }, Object.entries(e.details || {}).map(([k, v]) => h('div', { class: v.length > 80 ? 'long' : '' }, h('dt', { text: k }), h('dd', { class: v.includes('\n') ? 'pre' : '', text: v })))))),
      ...(x.name.includes(' ') ? [] : [h('p', {}, h('a', { href: '#/actions/' + encodeURIComponent(x.name), text: 'Open ' + x.name }))])];
  }

  function walk(e) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (!step || !e.target.matches('.line')) return;
    const all = [...body.querySelectorAll('.line')], to = all[all.indexOf(e.target) + step];
    if (to) { to.focus(); e.preventDefault(); }
  }

  (async () => {
    try { draw(await api('api/trace?id=' + encodeURIComponent(id), undefined, stop.signal)); } catch (e) {
      if (e.name !== 'AbortError') body.replaceChildren(empty('This trace cannot be shown', e.message, h('a', { href: '#/traces', text: 'All traces' })));
    }
  })();
  return { title: 'Trace', element, end() { stop.abort(); } };
}
