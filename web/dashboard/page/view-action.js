// One action: what it does now, what it takes and gives, and a form to call it.

import { h, heading, tile, badge, empty, code, say, setText, arrange } from './dom.js';
import { state, api, figuresOf, entryOf } from './live.js';
import { rate, span, count, share, json, bytes, clock, plural } from './format.js';
import { histogram } from './chart.js';
import { makeForm, schemaTable, sample } from './form.js';

export function action(name) {
  const stop = new AbortController();
  const tiles = { rate: tile('Calls', '/s'), errors: tile('Errors', '/s'), p50: tile('p50'), p99: tile('p99'), active: tile('In flight') };
  const tags = h('p', { class: 'tags' }), about = h('p', { class: 'lead' });
  const gone = h('div', { class: 'advice', hidden: true }, h('p', { text: 'No node offers this action now. It is shown again when one does.' }));
  const bars = histogram();
  let recent = true, took = null;
  const choice = [['Last 10 looks', true], ['Since the start', false]].map(([text, value]) => h('button', { type: 'button', text, 'aria-pressed': String(value === recent), onclick: e => {
    recent = value;
    for (const b of e.target.parentNode.children) b.setAttribute('aria-pressed', String(b === e.target));
    drawBars();
  } }));
  const perNode = h('p', { class: 'muted per-node' });
  const latency = h('section', { class: 'card' }, h('div', { class: 'card-head' }, h('h2', { text: 'Latency' }), h('div', { class: 'choice small', role: 'group', 'aria-label': 'Calls that are shown' }, choice)), bars.element, perNode);
  const caller = h('section', { class: 'card call', 'aria-labelledby': 'call-title' }, h('h2', { id: 'call-title', text: 'Call' }), h('p', { class: 'muted', text: 'Loading what it takes …' }));
  const schemas = h('div', { class: 'schemas' }), failures = h('section', { class: 'card flush' }, h('h2', { text: 'Recent errors' }), h('div', {}));
  const element = h('div', { class: 'view' }, heading(name, h('p', { class: 'crumbs' }, h('a', { href: '#/actions', text: 'Actions' }), ' / action'), about, tags), gone,
    h('section', { class: 'tiles', 'aria-label': 'Figures' }, Object.values(tiles).map(t => t.element)),
    h('div', { class: 'split call-split' }, caller, h('div', { class: 'column' }, latency, failures)), schemas);

  function drawBars() {
    if (!took) return;
    bars.update(took.bounds, recent ? took.recent : took.all);
    const nodes = Object.entries(took.perNode).sort();
    setText(perNode, nodes.length ? nodes.map(([id, n]) => `${id} ${rate(n)}/s`).join(' · ') : '\u00a0');
  }

  async function ask() {
    try { took = await api('api/latency?action=' + encodeURIComponent(name), undefined, stop.signal); drawBars(); } catch { /* the status shows it */ }
  }

  const bad = new Map(), badList = h('ul', { class: 'lines rows' }); // by their traces
  async function askErrors() {
    const at = failures.lastChild;
    let list;
    try { list = await api('api/traces', undefined, stop.signal); } catch { return; }
    if (!list.answered.length) {
      at.replaceChildren(empty('No traces to read errors from', h('span', {}, 'Keep the last spans with ', code('ring := dashboard.Traces(4096)'), ', give it to ', code('telemetry.Config{Traces: ring}'), ' and serve ', code('ring.Service()'), '.')));
      return;
    }
    const newest = list.traces.filter(t => (t.failed || t.error) && t.names.includes(name)).slice(0, 8);
    for (const key of bad.keys()) if (!newest.some(t => t.trace === key)) bad.delete(key);
    for (const t of newest) if (!bad.has(t.trace)) bad.set(t.trace, h('li', {}, h('a', { href: '#/traces/' + t.trace }, h('time', { text: clock(t.start / 1000, true) }), h('b', { class: 'bad', text: t.error || 'failed' }), h('span', { class: 'grow muted', text: 'in ' + t.name }), h('span', { class: 'num', text: span(t.took) }))));
    arrange(badList, newest.map(t => bad.get(t.trace)));
    arrange(at, [badList.firstChild ? badList : empty('No errors lately', 'Of the traces that the rings still hold, none of this action failed.')]);
  }

  async function load() {
    let page = { why: '' };
    try { page = await api('api/action?name=' + encodeURIComponent(name), undefined, stop.signal); } catch (e) { if (e.name === 'AbortError') return; page.why = e.message; }
    const has = Boolean(page.schemas), nothing = { type: 'object', properties: {} };
    const takes = has ? page.schemas.in || nothing : undefined, gives = has ? page.schemas.out || nothing : undefined;
    const defs = page.schemas?.$defs || {};
    const entry = entryOf(name);
    caller.replaceChildren(h('h2', { id: 'call-title', text: 'Call' }), callForm(entry, takes, defs));
    schemas.replaceChildren(
      ...[['Takes', takes, entry?.in], ['Gives', gives, entry?.out]].map(([title, schema, type]) => h('section', { class: 'card flush' },
        h('h2', {}, title, type && h('code', { class: 'type', text: type })),
        has ? schemaTable(schema, defs) : empty('No schema', h('span', {}, page.why || 'The node does not tell it.', type ? ' Its Go type is ' : '', type && code(type))))));
  }

  function callForm(entry, schema, defs) {
    if (state.hello?.readOnly) return empty('Calls are off', h('span', {}, 'This dashboard was made with ', code('ReadOnly of dashboard.Config'), '.'));
    if (!entry) return empty('It cannot be called now', 'No node offers it.');
    if (entry.visibility !== 'public') return empty('It cannot be called from here', `It is ${entry.visibility}; the dashboard calls public actions only.`);
    if (entry.stream) return empty('It is a stream', h('span', {}, 'Open it from a terminal: ', code('sabir stream ' + name)));
    const form = schema ? makeForm(schema, defs) : null;
    const text = h('textarea', { class: 'code', rows: 9, spellcheck: 'false', 'aria-label': 'Input as JSON', autocapitalize: 'off' });
    text.value = schema ? sample(schema, defs) : '{}';
    const fields = h('div', { class: 'fields' }, form ? form.element : text);
    let asForm = Boolean(form);
    const wrong = h('p', { class: 'wrong', role: 'alert' });
    const modes = form && h('div', { class: 'choice small', role: 'group', 'aria-label': 'Input' }, [['Form', true], ['JSON', false]].map(([label, value]) => h('button', { type: 'button', text: label, 'aria-pressed': String(value), onclick: e => {
      if (value === asForm) return;
      asForm = value;
      for (const b of e.target.parentNode.children) b.setAttribute('aria-pressed', String(b === e.target));
      if (!value) { const now = form.read(true); if (now.text) text.value = now.text; }
      fields.replaceChildren(value ? form.element : text);
      wrong.textContent = '';
    } })));
    const where = h('select', { id: 'call-node', 'aria-label': 'Node' }, h('option', { value: '', text: 'any node' }), entry.nodes.map(id => h('option', { value: id, text: id })));
    const button = h('button', { type: 'submit', class: 'primary' }, 'Call');
    const answer = h('div', { class: 'answer', 'aria-live': 'polite' });
    let running = null;
    async function send() {
      if (running) return;
      const input = asForm ? form.read() : { text: text.value.trim() || '{}' };
      if (!input.error && !asForm) { try { JSON.parse(input.text); } catch (e) { input.error = 'This is no JSON: ' + e.message; } }
      wrong.textContent = input.error || '';
      if (input.error) return;
      running = new AbortController();
      stop.signal.addEventListener('abort', () => running?.abort());
      setText(button, 'Calling …');
      try {
        const result = await api('api/call', `{"action":${JSON.stringify(name)},"node":${JSON.stringify(where.value)},"input":${input.text}}`, running.signal);
        answer.replaceChildren(...drawAnswer(result));
        say('Status ' + result.status);
      } catch (e) {
        if (e.name !== 'AbortError') answer.replaceChildren(h('p', { class: 'wrong', text: e.message }));
      }
      running = null;
      setText(button, 'Call');
      setTimeout(askErrors, 1500);
    }
    return h('form', { novalidate: true, onsubmit: e => { e.preventDefault(); send(); }, onkeydown: e => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) { e.preventDefault(); send(); } } },
      modes, fields, wrong, h('div', { class: 'bar send' }, button, h('span', { class: 'muted' }, 'on '), where, h('span', { class: 'hint muted' }, h('kbd', { text: 'Ctrl' }), ' ', h('kbd', { text: 'Enter' }))), answer);
  }

  function drawAnswer(a) {
    const good = a.status < 300;
    const head = h('p', { class: 'answer-head' }, badge(String(a.status), good ? 'good' : a.status < 500 ? 'warn' : 'bad'), h('b', { text: good ? 'OK' : a.problem?.name || 'failed' }),
      h('span', { class: 'muted', text: span(a.took) + (a.size ? ' · ' + bytes(a.size) : '') + ' · request ' + a.request }));
    const rest = [];
    if (a.problem) {
      rest.push(h('p', { class: 'detail', text: a.problem.detail }));
      if (a.problem.data) rest.push(json(JSON.stringify(a.problem.data)));
    } else if (a.truncated) rest.push(h('p', { class: 'muted', text: 'Too long to show; it begins:' }), h('pre', { class: 'json', tabindex: 0, text: a.truncated }));
    else rest.push(json(a.output || 'null'));
    return [head, ...rest];
  }

  const asking = setInterval(ask, 2000), errors = setInterval(askErrors, 10000);
  askErrors();
  let loaded = '', first = true;
  return {
    title: name, element,
    update() {
      const f = figuresOf(name), entry = entryOf(name);
      if (state.look && first) { first = false; ask(); }
      if (state.catalog) {
        gone.hidden = Boolean(entry);
        if (entry) {
          setText(about, entry.description || '');
          const now = [entry.visibility, entry.stream ? 'stream' : '', ...entry.nodes].join();
          if (tags.dataset.now !== now) { tags.dataset.now = now; tags.replaceChildren(badge(entry.visibility, entry.visibility === 'public' ? 'good' : ''), ...(entry.stream ? [badge('stream')] : []), ...entry.nodes.map(id => h('a', { class: 'badge link', href: '#/nodes/' + encodeURIComponent(id), text: id }))); }
        }
        const offered = JSON.stringify(entry || null) + Boolean(state.hello?.readOnly);
        if (loaded !== offered && !caller.contains(document.activeElement)) { loaded = offered; load(); }
      }
      if (!f) return;
      tiles.rate.set(rate(f.rate), count(f.calls) + ' in all');
      tiles.errors.set(rate(f.errors), f.calls ? share(f.failed / f.calls) + ' in all' : '', f.errors > 0 ? 'bad' : '');
      tiles.p50.set(span(f.p50), 'p95 ' + span(f.p95));
      tiles.p99.set(span(f.p99), 'last 10 looks');
      tiles.active.set(count(f.active), 'on ' + plural(f.nodes, 'node'));
    },
    end() { clearInterval(asking); clearInterval(errors); stop.abort(); bars.end(); },
  };
}
