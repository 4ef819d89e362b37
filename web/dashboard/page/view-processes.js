// Processes: supervisors with those below them.

import { h, heading, badge, empty, code, icon, setText, arrange } from './dom.js';
import { api } from './live.js';
import { settings } from './settings.js';
import { count, lasting, plural, matches } from './format.js';
import { filterBox } from './table.js';

const kept = { filter: '', closed: new Set() };

export function processes() {
  const stop = new AbortController();
  const tree = h('div', { class: 'tree', role: 'tree', 'aria-label': 'Processes', onkeydown: walk });
  const note = h('div', {}), wrong = h('p', { class: 'wrong', role: 'alert' });
  const box = filterBox('Filter processes', text => { kept.filter = text; draw(); }, kept.filter);
  const element = h('div', { class: 'view' }, heading('Processes'), h('div', { class: 'bar' }, box,
    h('button', { type: 'button', text: 'Open all', onclick: () => { kept.closed.clear(); draw(); } }),
    h('button', { type: 'button', text: 'Close all', onclick: () => { for (const [id, r] of rows) if (r.item.getAttribute('aria-expanded') !== null) kept.closed.add(id); draw(); } })), wrong,
    h('section', { class: 'card flush' }, h('div', { class: 'tree-head', 'aria-hidden': 'true' }, h('span', { text: 'Process' }), h('span', { class: 'num', text: 'Waiting' }), h('span', { class: 'num', text: 'Restarts' }), h('span', { class: 'num', text: 'Age' })), tree, note));
  let answer = null, rows = new Map(), current = '', open = '';

  async function ask() {
    try { answer = await api('api/processes', undefined, stop.signal); wrong.textContent = ''; draw(); } catch (e) { if (e.name !== 'AbortError') wrong.textContent = e.message; }
  }

  const textOf = b => [b.name, b.id, b.behavior, b.pid, b.strategy].filter(Boolean).join(' ');
  const fits = b => !kept.filter || matches(kept.filter, textOf(b)) || (b.children || []).some(fits);

  // flat is the rows that are shown, from the top.
  function flat() {
    const list = [];
    const add = (b, level, path, at, of) => {
      if (!fits(b)) return;
      const id = path + '/' + (b.id || b.name || b.pid || at), kids = b.children || [], open = kept.filter || !kept.closed.has(id);
      list.push({ id, level, branch: b, parent: kids.length > 0, open, at, of });
      if (kids.length && open) kids.forEach((k, i) => add(k, level + 1, id, i + 1, kids.length));
      if (kids.length && open && b.unlisted) list.push({ id: id + '/…', level: level + 1, more: plural(b.unlisted, 'more process', 'more processes') });
    };
    for (const n of answer.nodes) {
      if (!n.answer) continue;
      const id = 'node ' + n.node, t = n.answer, open = kept.filter || !kept.closed.has(id), kids = [...t.trees, ...t.loose];
      if (kept.filter && !kids.some(fits)) continue;
      list.push({ id, level: 1, node: n.node, count: t.count, lost: t.lost, parent: kids.length > 0, open, at: 1, of: 1 });
      if (!open) continue;
      kids.forEach((b, i) => add(b, 2, id, i + 1, kids.length));
      if (t.more || t.moreLoose) list.push({ id: id + '/…', level: 2, more: plural((t.more || 0) + (t.moreLoose || 0), 'more process', 'more processes') });
    }
    return list;
  }

  function makeRow(id) {
    const r = { toggle: h('span', { class: 'toggle' }, icon('chevron')), name: h('b'), tags: h('span', { class: 'tags' }), sub: h('span', { class: 'sub muted' }), waiting: h('span', { class: 'num' }), restarts: h('span', { class: 'num' }), age: h('span', { class: 'num muted' }), detail: h('div', { class: 'detail' }) };
    r.bar = h('i');
    r.item = h('div', { role: 'treeitem', tabindex: '-1', onclick: e => { if (r.detail.contains(e.target)) return; focus(id); if (r.row.parent && (r.row.node || r.toggle.contains(e.target))) flip(id); else show(id); }, onfocus: () => { current = id; } },
      h('div', { class: 'tree-row' }, h('span', { class: 'tree-name' }, h('span', { class: 'pad' }), r.toggle, h('span', { class: 'names' }, r.name, r.tags, r.sub)), h('span', { class: 'num waiting' }, h('span', { class: 'mailbox', 'aria-hidden': 'true' }, r.bar), r.waiting), r.restarts, r.age), r.detail);
    r.pad = r.item.querySelector('.pad');
    return r;
  }

  function draw() {
    if (!answer) return;
    const list = flat(), there = new Set(list.map(x => x.id)), focused = tree.contains(document.activeElement);
    for (const [id, r] of rows) if (!there.has(id)) { r.item.remove(); rows.delete(id); }
    for (const x of list) {
      let r = rows.get(x.id);
      if (!r) rows.set(x.id, r = makeRow(x.id));
      r.row = x;
      fillRow(r, x);
    }
    arrange(tree, list.map(x => rows.get(x.id).item));
    while (current && !there.has(current)) current = current.slice(0, Math.max(0, current.lastIndexOf('/'))); // of a process that has ended, what was above it
    current ||= list[0]?.id || '';
    for (const [id, r] of rows) r.item.tabIndex = id === current ? 0 : -1;
    if (focused && !tree.contains(document.activeElement)) rows.get(current)?.item.focus({ preventScroll: true });
    const mute = answer.nodes.filter(n => !n.answer);
    const lines = [];
    if (!list.length) lines.push(kept.filter ? empty('Nothing matches “' + kept.filter + '”', 'Esc empties the filter.') :
      empty('No processes', h('span', {}, 'No node runs any. Give one a system: ', code('sabir.NewNode(system.Option(), …)'), ' and start processes in it.')));
    else if (mute.length) lines.push(h('p', { class: 'muted pad-text', text: 'Without processes: ' + mute.map(n => n.node + (n.why === 'none' ? '' : ' (' + n.why + ')')).join(', ') }));
    note.replaceChildren(...lines);
    element.querySelector('.tree-head').hidden = !list.length;
  }

  function fillRow(r, x) {
    const b = x.branch || {};
    r.pad.style.width = (x.level - 1) * 20 + 'px';
    r.item.setAttribute('aria-level', x.level);
    if (x.of) { r.item.setAttribute('aria-setsize', x.of); r.item.setAttribute('aria-posinset', x.at); }
    if (x.parent) r.item.setAttribute('aria-expanded', String(Boolean(x.open))); else r.item.removeAttribute('aria-expanded');
    r.toggle.classList.toggle('none', !x.parent);
    r.item.classList.toggle('is-node', Boolean(x.node));
    if (x.node) {
      setText(r.name, x.node);
      setText(r.sub, plural(x.count, 'process', 'processes'));
      return;
    }
    if (x.more) { setText(r.name, ''); setText(r.sub, x.more); return; }
    setText(r.name, b.name || b.id || b.behavior || b.pid || '?');
    const state = b.problem ? 'problem' : b.state && b.state !== 'running' ? b.state : '';
    const tags = [b.strategy, b.restart !== 'permanent' && b.restart, state].filter(Boolean).join();
    if (r.tags.dataset.now !== tags) { r.tags.dataset.now = tags; r.tags.replaceChildren(...(b.strategy ? [badge(b.strategy)] : []), ...(b.restart && b.restart !== 'permanent' ? [badge(b.restart)] : []), ...(state ? [badge(state, state === 'problem' ? 'bad' : 'warn')] : [])); }
    setText(r.sub, [b.behavior && (b.name || b.id) && b.behavior !== (b.name || b.id) ? b.behavior : '', b.pid && b.pid.split('/').pop()].filter(Boolean).join(' · '));
    setText(r.waiting, count(b.waiting || 0));
    // Mailboxes hold up to a million: what tells something is how many digits there are.
    r.bar.style.width = Math.min(100, 100 * Math.log10(1 + (b.waiting || 0)) / Math.log10(1 + (b.bound || 1e6))).toFixed(0) + '%';
    r.item.classList.toggle('busy', b.waiting > 100 || b.bound && b.waiting / b.bound > 0.5);
    setText(r.restarts, b.restarts ? count(b.restarts) : '–');
    r.restarts.classList.toggle('warn-text', Boolean(b.restarts));
    setText(r.age, b.age ? lasting(b.age / 1e9) : '–');
    r.detail.hidden = open !== x.id;
    if (open === x.id) {
      const facts = [['PID', b.pid], ['Name', b.name], ['Known to its supervisor as', b.id], ['Behaviour', b.behavior], ['Life', b.life], ['State', b.state], ['Restart', b.restart], ['Restarts', b.restarts ?? 0],
        ['Messages waiting', b.bound ? `${count(b.waiting)} of at most ${b.bound.toLocaleString('en').replaceAll(',', '\u202f')}` : count(b.waiting || 0)], ['Links', b.links ?? 0], ['Monitors of it', b.monitored ?? 0], ['Parent', b.parent], ['Problem', b.problem]].filter(([, v]) => v !== undefined && v !== '');
      const now = JSON.stringify(facts);
      if (r.detail.dataset.now !== now) { r.detail.dataset.now = now; r.detail.replaceChildren(h('dl', { class: 'facts' }, facts.map(([k, v]) => h('div', {}, h('dt', { text: k }), h('dd', { text: v }))))); }
    }
  }

  function focus(id) { current = id; for (const [i, r] of rows) r.item.tabIndex = i === id ? 0 : -1; rows.get(id)?.item.focus(); }
  function flip(id) { if (kept.closed.has(id)) kept.closed.delete(id); else kept.closed.add(id); draw(); }
  function show(id) { open = open === id ? '' : id; draw(); }

  function walk(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const list = [...rows.entries()].sort((a, b) => a[1].item.compareDocumentPosition(b[1].item) & 4 ? -1 : 1), at = list.findIndex(([id]) => id === current);
    if (at < 0) return;
    const [id, r] = list[at], x = r.row;
    const go = i => { const to = list[Math.max(0, Math.min(list.length - 1, i))]; if (to) focus(to[0]); };
    switch (e.key) {
      case 'ArrowDown': go(at + 1); break;
      case 'ArrowUp': go(at - 1); break;
      case 'Home': go(0); break;
      case 'End': go(list.length - 1); break;
      case 'ArrowRight': if (x.parent && !x.open) flip(id); else if (x.parent) go(at + 1); break;
      case 'ArrowLeft': if (x.parent && x.open) flip(id); else for (let i = at; i >= 0; i--) if (list[i][1].row.level < x.level) { go(i); break; } break;
      case 'Enter': case ' ': if (x.node) flip(id); else if (!x.more) show(id); break;
      default: return;
    }
    e.preventDefault();
    e.stopPropagation();
  }

  ask();
  const timer = setInterval(ask, Math.max(2, settings.refresh) * 1000);
  return { title: 'Processes', element, update(kind) { if (kind === 'hello') ask(); }, end() { clearInterval(timer); stop.abort(); } };
}
