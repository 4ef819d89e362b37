// The settings of the nodes, and where each is from.

import { h, heading, badge, empty, code, setText } from './dom.js';
import { api } from './live.js';
import { settings } from './settings.js';
import { matches, plural } from './format.js';
import { table, filterBox } from './table.js';

const kept = { filter: '', differ: false };

// merged is a row for each setting and value, with the nodes that have it.
function merged(nodes) {
  const rows = new Map(), values = new Map();
  for (const n of nodes) for (const v of n.answer || []) {
    const key = JSON.stringify([v.name, v.value, v.origin]);
    if (!rows.has(key)) rows.set(key, { ...v, key, nodes: [] });
    rows.get(key).nodes.push(n.node);
    if (!values.has(v.name)) values.set(v.name, []);
    values.get(v.name).push(v.value);
  }
  const asked = nodes.filter(n => n.answer).length;
  for (const r of rows.values()) r.differs = new Set(values.get(r.name)).size > 1 || values.get(r.name).length < asked;
  return [...rows.values()];
}

export function config() {
  const stop = new AbortController();
  let answer = null;
  const wrong = h('p', { class: 'wrong', role: 'alert' }), note = h('span', { class: 'muted' });
  const list = table({
    caption: 'Settings', key: v => v.key, sort: { key: 'name' },
    empty: () => answer && !answer.nodes.some(n => n.answer) ? empty('No settings', h('span', {}, 'No node reads its settings with package config: ', code('config.Load(config.Config{…})'), '.')) :
      empty('Nothing matches', kept.differ ? 'All nodes have the same.' : 'Esc empties the filter.'),
    columns: [
      { key: 'name', label: 'Setting', value: v => v.name, draw: (v, cell) => { if (!cell.firstChild) cell.append(h('span', { class: 'name mono', text: v.name })); } },
      { key: 'value', label: 'Value', kind: 'two', wide: true, value: v => v.value, draw: (v, cell) => { const now = v.value; if (cell.dataset.now !== now) { cell.dataset.now = now; cell.replaceChildren(v.value === '(hidden)' ? badge('hidden') : h('span', { class: 'mono', text: v.value || '–' })); } } },
      { key: 'origin', label: 'From', value: v => v.origin, text: v => v.origin },
      { key: 'nodes', label: 'Nodes', kind: 'two', value: v => v.nodes.join(), text: v => v.nodes.join(', ') },
    ],
  });
  const box = filterBox('Filter settings', text => { kept.filter = text; draw(); }, kept.filter);
  const differ = h('input', { type: 'checkbox', onchange: () => { kept.differ = differ.checked; draw(); } });
  differ.checked = kept.differ;
  const element = h('div', { class: 'view' }, heading('Configuration'), h('div', { class: 'bar' }, box, h('label', { class: 'check' }, differ, 'Only where nodes differ'), note), wrong, h('section', { class: 'card flush' }, list.element));
  function draw() {
    if (!answer) return;
    list.update(merged(answer.nodes).filter(v => (!kept.differ || v.differs) && matches(kept.filter, v.name, v.value, v.origin, ...v.nodes)));
    const silent = answer.nodes.filter(n => !n.answer).map(n => n.node);
    setText(note, silent.length && silent.length < answer.nodes.length ? 'none from ' + silent.join(', ') : answer.nodes.length > silent.length ? plural(answer.nodes.length - silent.length, 'node') : '');
  }
  async function ask() {
    try { answer = await api('api/config', undefined, stop.signal); setText(wrong, answer.nodes.filter(n => !n.answer && n.why !== 'none').map(n => n.node + ': ' + n.why).join('; ')); draw(); } catch (e) { if (e.name !== 'AbortError') setText(wrong, e.message); }
  }
  ask();
  const timer = setInterval(ask, Math.max(5, settings.refresh) * 1000);
  return { title: 'Configuration', element, update(kind) { if (kind === 'hello') ask(); }, end() { clearInterval(timer); stop.abort(); } };
}
