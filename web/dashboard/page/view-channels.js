// Durable channels, and the dead letters of one.

import { h, heading, badge, empty, code, setText, say, arrange } from './dom.js';
import { api, state } from './live.js';
import { settings } from './settings.js';
import { count, bytes, plural, matches, json, clock } from './format.js';
import { table, filterBox } from './table.js';

const kept = { filter: '' };

// merged is each channel once, as the first node that uses it describes it, with the names of those that do. A broker in memory is
// each process's own.
function merged(nodes) {
  const all = new Map();
  for (const n of nodes) for (const c of n.answer || []) {
    const key = (c.broker.startsWith('mem:') ? n.node : c.broker) + ' ' + c.name, known = all.get(key);
    if (known) known.nodes.push(n.node); else all.set(key, { ...c, key, nodes: [n.node] });
  }
  return [...all.values()];
}

const total = (c, of) => (c.groups || []).reduce((sum, g) => sum + (g[of] || 0), 0);

export function channels() {
  const stop = new AbortController();
  let answer = null;
  const wrong = h('p', { class: 'wrong', role: 'alert' });
  const list = table({
    caption: 'Durable channels', key: c => c.key, sort: { key: 'name' },
    empty: () => kept.filter ? empty('Nothing matches “' + kept.filter + '”', 'Esc empties the filter.') :
      empty('No channels', h('span', {}, 'No node uses a broker for durable channels. Give one with ', code('channel.Broker("nats://…")'), '.')),
    columns: [
      { key: 'name', label: 'Channel', value: c => c.name, draw: (c, cell) => {
        if (!cell.firstChild) cell.append(c.dead ? h('a', { href: '#/channels/' + encodeURIComponent(c.nodes[0] + '/' + c.name), text: c.name }) : h('span', { class: 'name', text: c.name }), h('small', { class: 'muted', text: c.broker }));
      } },
      { key: 'kind', label: 'Holds', kind: 'two', value: c => c.dead ? 1 : 0, draw: (c, cell) => { const now = c.dead + ' ' + c.kept; if (cell.dataset.now !== now) { cell.dataset.now = now; cell.replaceChildren(c.dead ? badge('dead letters', c.kept ? 'bad' : '') : badge('messages')); } } },
      { key: 'kept', label: 'Kept', num: true, value: c => c.kept, text: c => count(c.kept) + (c.bytes ? ' · ' + bytes(c.bytes) : '') },
      { key: 'groups', label: 'Groups', kind: 'two', value: c => (c.groups || []).length, text: c => (c.groups || []).map(g => g.name).join(', ') || '–' },
      { key: 'waiting', label: 'Waiting', num: true, value: c => total(c, 'waiting'), text: c => count(total(c, 'waiting')) },
      { key: 'inFlight', label: 'In flight', num: true, value: c => total(c, 'in_flight'), text: c => count(total(c, 'in_flight')) },
      { key: 'delayed', label: 'Come again', num: true, value: c => total(c, 'delayed'), text: c => count(total(c, 'delayed')) },
      { key: 'nodes', label: 'Used by', kind: 'two', value: c => c.nodes.join(), text: c => c.nodes.join(', ') },
    ],
  });
  const box = filterBox('Filter channels', text => { kept.filter = text; draw(); }, kept.filter);
  const element = h('div', { class: 'view' }, heading('Channels'), h('div', { class: 'bar' }, box), wrong, h('section', { class: 'card flush' }, list.element));

  function draw() {
    if (answer) list.update(merged(answer.nodes).filter(c => matches(kept.filter, c.name, ...c.nodes, ...(c.groups || []).map(g => g.name))));
  }
  async function ask() {
    try { answer = await api('api/channels', undefined, stop.signal); setText(wrong, answer.nodes.filter(n => !n.answer && n.why !== 'none').map(n => n.node + ': ' + n.why).join('; ')); draw(); } catch (e) { if (e.name !== 'AbortError') setText(wrong, e.message); }
  }
  ask();
  const timer = setInterval(ask, Math.max(2, settings.refresh) * 1000);
  return { title: 'Channels', element, update(kind) { if (kind === 'hello') ask(); }, end() { clearInterval(timer); stop.abort(); } };
}

// deadLetters is the dead letters of a channel, as a node that uses it lists them: "node-1/shop.orders.dead".
export function deadLetters(path) {
  const slash = path.indexOf('/'), node = path.slice(0, slash), channel = path.slice(slash + 1);
  const stop = new AbortController(), chosen = new Set();
  const wrong = h('p', { class: 'wrong', role: 'alert' }), body = h('div', { class: 'rows', onkeydown: walk });
  const rows = new Map(); // by their keys: what one reads stays as it is while others come and go
  let letters = [], busy = false, shown = 0;
  const act = (what, label, all) => h('button', { type: 'button', text: label, onclick: () => settle(what, all) });
  const replay = act('replay', 'Replay chosen'), remove = act('delete', 'Delete chosen'), replayAll = act('replay', 'Replay all', true), removeAll = act('delete', 'Delete all', true);
  const buttons = h('div', { class: 'bar' }, replay, remove, replayAll, removeAll);
  const sure = h('dialog', { 'aria-labelledby': 'sure' });
  const title = heading(channel, h('p', { class: 'crumbs' }, h('a', { href: '#/channels', text: 'Channels' }), ' / dead letters'), h('p', { class: 'lead', text: 'Messages that were given up, the oldest 100 first.' }));
  const element = h('div', { class: 'view' }, title, buttons, wrong, h('section', { class: 'card flush' }, body), sure);

  function draw() {
    for (const key of chosen) if (!letters.some(l => l.key === key)) chosen.delete(key);
    const at = document.activeElement;
    replay.disabled = remove.disabled = !chosen.size;
    replayAll.disabled = removeAll.disabled = !letters.length;
    if (at.disabled && buttons.contains(at)) title.querySelector('h1').focus(); // what is disabled loses the focus
    buttons.hidden = Boolean(state.hello?.readOnly);
  }

  function fill() {
    for (const key of rows.keys()) if (!letters.some(l => l.key === key)) rows.delete(key);
    for (const l of letters) if (!rows.has(l.key)) rows.set(l.key, makeRow(l));
    arrange(body, letters.length ? letters.map(l => rows.get(l.key)) : [empty('No dead letters', 'Every message was handled, or comes again.')]);
    draw();
  }

  function makeRow(l) {
    const dead = l.dead || {}, id = 'l' + ++shown, detail = h('div', { class: 'payload', id, hidden: true });
    const box = h('input', { type: 'checkbox', 'aria-label': 'choose ' + l.key, onchange: () => { if (box.checked) chosen.add(l.key); else chosen.delete(l.key); draw(); } });
    box.checked = chosen.has(l.key);
    const line = h('button', { type: 'button', class: 'line letter', 'aria-expanded': 'false', 'aria-controls': id, onclick: () => {
      const open = line.getAttribute('aria-expanded') === 'true';
      line.setAttribute('aria-expanded', String(!open));
      if (!detail.firstChild) detail.append(h('dl', { class: 'facts' }, [['Key', l.key], ['Message', l.id], ['From', dead.channel], ['Group', dead.group], ['Attempts', dead.attempts], ['Codec', l.codec], ...Object.entries(l.attributes || {})].filter(([, v]) => v !== undefined && v !== '').map(([k, v]) => h('div', {}, h('dt', { text: k }), h('dd', { text: v })))), h('p', { text: dead.reason || '' }), json(l.data));
      detail.hidden = open;
    } }, h('b', { text: dead.reason || 'published here' }), h('span', { class: 'muted', text: [dead.time && clock(Date.parse(dead.time)), dead.channel, dead.attempts && plural(dead.attempts, 'attempt')].filter(Boolean).join(' · ') }));
    return h('div', { class: 'event' }, h('div', { class: 'choose' }, !state.hello?.readOnly && box, line), detail);
  }

  async function ask() {
    try {
      const list = await api(`api/dead-letters?node=${encodeURIComponent(node)}&channel=${encodeURIComponent(channel)}`, undefined, stop.signal) || [];
      setText(wrong, '');
      if (JSON.stringify(list) === JSON.stringify(letters) && body.firstChild) return; // what one reads stays
      letters = list;
      fill();
    } catch (e) { if (e.name !== 'AbortError') setText(wrong, e.message); }
  }

  // settle asks once more before something is gone for good.
  function settle(what, all) {
    const n = all ? 'all dead letters' : plural(chosen.size, 'dead letter');
    if (what === 'replay') { run(what, all); return; }
    sure.replaceChildren(h('h2', { id: 'sure', text: `Delete ${n} of ${channel}?` }), h('p', { text: 'They cannot be had back.' }), h('div', { class: 'bar' },
      h('button', { type: 'button', class: 'primary', text: 'Delete', onclick: () => { sure.close(); run(what, all); } }), h('button', { type: 'button', text: 'Keep', autofocus: true, onclick: () => sure.close() })));
    sure.showModal();
  }

  async function run(what, all) {
    if (busy) return;
    busy = true;
    try {
      const done = await api('api/settle', JSON.stringify({ do: what, node, channel, all: Boolean(all), keys: all ? [] : [...chosen] }), stop.signal);
      say(`${done.count} ${what === 'replay' ? 'replayed' : 'deleted'}`);
      chosen.clear();
      setTimeout(ask, 1100); // answers are kept for a second
    } catch (e) { if (e.name !== 'AbortError') setText(wrong, e.message); }
    busy = false;
    draw();
  }

  function walk(e) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (!step || !e.target.matches('.line')) return;
    const all = [...body.querySelectorAll('.line')], to = all[all.indexOf(e.target) + step];
    if (to) { to.focus(); e.preventDefault(); }
  }

  ask();
  const timer = setInterval(ask, Math.max(5, settings.refresh) * 1000);
  return { title: channel, element, update(kind) { if (kind === 'hello') { ask(); draw(); } }, end() { clearInterval(timer); stop.abort(); sure.close(); } };
}
