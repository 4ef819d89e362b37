// Grains that are active: of each kind, with their keys. The nodes search, since one may have millions.

import { h, heading, badge, empty, code, setText } from './dom.js';
import { api } from './live.js';
import { settings } from './settings.js';
import { count, plural } from './format.js';
import { table, filterBox } from './table.js';

const kept = { match: '', kind: '' };

export function grains() {
  const stop = new AbortController();
  let answer = null, asked = 0;
  const wrong = h('p', { class: 'wrong', role: 'alert' }), note = h('p', { class: 'lead' }), more = h('p', { class: 'muted pad-text' });
  const kinds = h('select', { 'aria-label': 'Kind', hidden: true, onchange: () => { kept.kind = kinds.value; ask(); } });
  const list = table({
    caption: 'Active grains', key: g => g.node + ' ' + g.kind + ' ' + g.key, sort: { key: 'key' },
    empty: () => !answer?.some(n => n.answer) ? empty('No grains', h('span', {}, 'No node serves any. Give one a kind: ', code('grain.New(system, grain.Config{…}, kind)'), '.')) :
      kept.match || kept.kind ? empty('No active grain matches', 'One that rests is not listed; the next call activates it.') : empty('No grain is active', 'The first call of one activates it.'),
    columns: [
      { key: 'key', label: 'Key', value: g => g.key, text: g => g.key },
      { key: 'kind', label: 'Kind', kind: 'two', value: g => g.kind, draw: (g, cell) => { if (!cell.firstChild) cell.append(badge(g.kind)); } },
      { key: 'node', label: 'Node', kind: 'two', value: g => g.node, draw: (g, cell) => { if (!cell.firstChild) cell.append(h('a', { href: '#/nodes/' + encodeURIComponent(g.node), text: g.node })); } },
      { key: 'pid', label: 'Process', kind: 'two', value: g => g.pid, text: g => g.pid.split('/').pop() },
      { key: 'waiting', label: 'Waiting', num: true, value: g => g.waiting, text: g => count(g.waiting) },
    ],
  });
  let typing;
  const box = filterBox('Part of a key', text => { kept.match = text; clearTimeout(typing); typing = setTimeout(ask, 250); }, kept.match);
  const element = h('div', { class: 'view' }, heading('Grains', note), h('div', { class: 'bar' }, box, kinds), wrong, h('section', { class: 'card flush' }, list.element, more));

  function draw() {
    const there = answer.filter(n => n.answer), counts = new Map();
    for (const n of there) for (const k of n.answer.kinds) counts.set(k.kind, (counts.get(k.kind) || 0) + k.active);
    const all = [...counts].sort(([a], [b]) => a < b ? -1 : 1), total = all.reduce((sum, [, n]) => sum + n, 0);
    if (kept.kind && !counts.has(kept.kind)) all.push([kept.kind, 0]);
    const now = JSON.stringify(all);
    if (kinds.dataset.now !== now) { kinds.dataset.now = now; kinds.replaceChildren(h('option', { value: '', text: 'All kinds' }), ...all.map(([kind, n]) => h('option', { value: kind, text: `${kind} (${count(n)})` }))); }
    kinds.value = kept.kind;
    kinds.hidden = !all.length;
    setText(note, there.length ? plural(total, 'grain is', 'grains are') + ' active on ' + plural(there.length, 'node') + '.' : '');
    list.update(there.flatMap(n => n.answer.grains.map(g => ({ ...g, node: n.node }))));
    const left = there.reduce((sum, n) => sum + n.answer.more, 0), silent = answer.filter(n => !n.answer && n.why !== 'none').map(n => n.node + ' (' + n.why + ')');
    setText(more, [left && plural(left, 'more matches', 'more match') + ': search by a part of the key.', silent.length && 'Without an answer: ' + silent.join(', ')].filter(Boolean).join(' '));
    more.hidden = !more.textContent;
  }

  async function ask() {
    const mine = ++asked;
    try {
      const got = await api(`api/grains?kind=${encodeURIComponent(kept.kind)}&match=${encodeURIComponent(kept.match)}`, undefined, stop.signal);
      if (mine !== asked) return; // something else is searched for by now
      answer = got.nodes;
      setText(wrong, '');
      draw();
    } catch (e) { if (e.name !== 'AbortError' && mine === asked) setText(wrong, e.message); }
  }
  ask();
  const timer = setInterval(ask, Math.max(2, settings.refresh) * 1000);
  return { title: 'Grains', element, update(kind) { if (kind === 'hello') ask(); }, end() { clearInterval(timer); clearTimeout(typing); stop.abort(); } };
}
