// All actions, or all services, with what they do.

import { h, heading, badge, empty, code, setText } from './dom.js';
import { state } from './live.js';
import { settings, set } from './settings.js';
import { rate, span, count, share, matches } from './format.js';
import { spark } from './chart.js';
import { table, filterBox } from './table.js';
import { advice } from './view-overview.js';

const kept = { filter: '', services: false };

function drawName(a, cell) {
  if (!cell.firstChild) cell.append(h('a', { href: '#/actions/' + encodeURIComponent(a.name), text: a.name }), h('span', { class: 'tags' }), h('small', { text: a.description || '' }));
  const tags = (a.stream ? 'stream ' : '') + a.visibility;
  if (cell.dataset.tags !== tags) {
    cell.dataset.tags = tags;
    cell.children[1].replaceChildren(...(a.stream ? [badge('stream')] : []), ...(a.visibility !== 'public' ? [badge(a.visibility)] : []));
  }
}

function drawRate(a, cell) {
  if (!cell.spark) { cell.spark = spark(); cell.append(cell.spark.element, h('span')); }
  cell.spark.update(state.rates.get(a.name) || []);
  setText(cell.lastChild, a.figures ? rate(a.rate) : '–');
}

export function actions() {
  const none = () => kept.filter
    ? empty('Nothing matches “' + kept.filter + '”', 'Esc empties the filter.')
    : empty('No actions yet', h('span', {}, 'Serve a service: ', code('sabir.Handle(service, "get", get)')));
  const dash = (a, text) => a.figures ? text : '–';
  const list = table({
    caption: 'Actions', key: a => a.name, sort: { key: 'rate', down: true }, empty: none,
    columns: [
      { key: 'name', label: 'Action', value: a => a.name, draw: drawName },
      { key: 'rate', label: 'Calls/s', num: true, value: a => a.rate, draw: drawRate, kind: 'sparked' },
      { key: 'errors', label: 'Errors/s', num: true, value: a => a.errors, draw: (a, cell) => {
        setText(cell, dash(a, rate(a.errors)));
        cell.classList.toggle('bad', a.errors > 0);
        cell.title = a.calls ? `${count(a.failed)} of ${count(a.calls)} calls failed in all (${share(a.failed / a.calls)})` : '';
      } },
      { key: 'p50', label: 'p50', num: true, value: a => a.p50, text: a => dash(a, span(a.p50)) },
      { key: 'p95', label: 'p95', num: true, value: a => a.p95, text: a => dash(a, span(a.p95)) },
      { key: 'p99', label: 'p99', num: true, value: a => a.p99, text: a => dash(a, span(a.p99)) },
      { key: 'active', label: 'In flight', num: true, value: a => a.active, text: a => dash(a, count(a.active)) },
      { key: 'nodes', label: 'Nodes', num: true, value: a => a.nodes.length, draw: (a, cell) => { setText(cell, String(a.nodes.length)); cell.title = a.nodes.join(', '); } },
    ],
  });
  const services = table({
    caption: 'Services', key: s => s.name, sort: { key: 'rate', down: true }, empty: none,
    columns: [
      { key: 'name', label: 'Service', value: s => s.name, draw: (s, cell) => { if (!cell.firstChild) cell.append(h('a', { href: '#/actions', text: s.name, onclick: () => { show(false); setFilter(s.name + '.'); } }), h('small', { text: s.description || '' })); } },
      { key: 'actions', label: 'Actions', num: true, value: s => s.actions, text: s => String(s.actions) },
      { key: 'rate', label: 'Calls/s', num: true, value: s => s.rate, text: s => rate(s.rate) },
      { key: 'errors', label: 'Errors/s', num: true, value: s => s.errors, draw: (s, cell) => { setText(cell, rate(s.errors)); cell.classList.toggle('bad', s.errors > 0); } },
      { key: 'active', label: 'In flight', num: true, value: s => s.active, text: s => count(s.active) },
      { key: 'nodes', label: 'On nodes', kind: 'two', value: s => s.nodes.join(), text: s => s.nodes.join(', ') },
      { key: 'events', label: 'Listens to', kind: 'two', value: s => (s.events || []).join(), text: s => (s.events || []).join(', ') || '–' },
    ],
  });
  const tips = advice(), more = h('p', { class: 'muted more', hidden: true });
  const box = filterBox('Filter actions', text => { kept.filter = text; update(); }, kept.filter);
  const own = h('input', { type: 'checkbox', onchange: () => { set('own', own.checked); update(); } });
  own.checked = settings.own;
  const pick = (text, value) => h('button', { type: 'button', text, onclick: () => show(value) });
  const choice = [pick('Actions', false), pick('Services', true)];
  const holder = h('section', { class: 'card flush' });
  const element = h('div', { class: 'view' }, heading('Actions'), tips.element,
    h('div', { class: 'bar' }, h('div', { class: 'choice', role: 'group', 'aria-label': 'List' }, choice), box, h('label', { class: 'check' }, own, 'Runtime’s own')), holder, more);

  function setFilter(text) {
    kept.filter = text;
    box.querySelector('input').value = text;
    update();
  }

  function show(value) {
    kept.services = value;
    choice.forEach((b, i) => b.setAttribute('aria-pressed', String(value === Boolean(i))));
    holder.replaceChildren(value ? services.element : list.element);
    update();
  }

  function update() {
    const c = state.catalog;
    if (!c) return;
    tips.update();
    const by = new Map((state.look?.actions || []).map(a => [a.name, a]));
    const zero = { rate: 0, errors: 0, p50: 0, p95: 0, p99: 0, active: 0, calls: 0, failed: 0 };
    const all = c.actions.filter(a => settings.own || a.name[0] !== '$').map(a => ({ ...zero, ...by.get(a.name), ...a, figures: by.has(a.name) || !silent(a) }));
    if (!kept.services) list.update(all.filter(a => matches(kept.filter, a.name, a.description || '')));
    else services.update(c.services.filter(s => (settings.own || s.name[0] !== '$') && matches(kept.filter, s.name, s.description || '')).map(s => {
      const mine = all.filter(a => a.service === s.name), sum = of => mine.reduce((n, a) => n + a[of], 0);
      return { ...s, actions: mine.length, rate: sum('rate'), errors: sum('errors'), active: sum('active') };
    }));
    more.hidden = !c.more;
    setText(more, c.more ? `${count(c.more)} more actions are not listed.` : '');
  }

  // silent tells whether no node that offers the action tells figures.
  const silent = a => a.nodes.every(id => state.look?.nodes.find(n => n.id === id)?.telemetry);

  show(kept.services);
  return { title: 'Actions', element, update };
}
