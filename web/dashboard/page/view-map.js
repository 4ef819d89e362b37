// Which services call which, drawn from the latest traces.

import { h, s, heading, badge, empty, code, setText, setAttr } from './dom.js';
import { api } from './live.js';
import { settings } from './settings.js';
import { span, count, lasting } from './format.js';
import { table } from './table.js';

const outside = 'callers';

// layers gives each service a column: behind all that call it. Circles are cut where they close.
function layers(names, edges) {
  const column = new Map(names.map(n => [n, 0])), open = new Set();
  const place = (name, depth) => {
    if (open.has(name) || depth <= column.get(name) && depth) return;
    column.set(name, Math.max(depth, column.get(name)));
    open.add(name);
    for (const e of edges) if (e.from === name && e.to !== name && depth < 12) place(e.to, depth + 1);
    open.delete(name);
  };
  const heard = new Set(edges.filter(e => e.from !== e.to).map(e => e.to));
  for (const n of names) if (!heard.has(n)) place(n, 0);
  return column;
}

function picture() {
  const element = s('svg', { class: 'dependencies', role: 'img' }), box = h('div', { class: 'chart-box' }, element);
  let width = 0, now = { names: [], edges: [] };
  function draw() {
    if (!width || !now.names.length) { element.replaceChildren(); setAttr(element, 'height', 0); return; }
    const { names, edges } = now, column = layers(names, edges), columns = [];
    for (const n of names) (columns[column.get(n)] = columns[column.get(n)] || []).push(n);
    const kept = columns.filter(Boolean), down = width < 700, most = Math.max(...kept.map(c => c.length));
    const wide = down ? Math.min(124, (width - 12) / most - 10) : Math.min(170, (width - 20) / kept.length - 44), high = 42;
    const height = down ? kept.length * 104 : Math.max(2, most) * 84;
    setAttr(element, 'viewBox', `0 0 ${width} ${height}`);
    setAttr(element, 'height', height);
    const places = new Map();
    kept.forEach((list, i) => list.forEach((n, j) => {
      const along = (i + 0.5) / kept.length, across = (j + 0.5) / list.length;
      places.set(n, down ? { layer: i, x: width * across, y: height * along } : { layer: i, x: width * along, y: height * across });
    }));
    // detour is how far an edge bends so that it passes beside a service between its ends, not behind it. A curve comes to 3/4 of that.
    const detour = (a, b) => {
      const half = (down ? wide : high) / 2, side = down ? 'x' : 'y';
      for (let l = a.layer + 1; l < b.layer; l++) {
        const at = a[side] + (b[side] - a[side]) * (l - a.layer) / (b.layer - a.layer);
        if (kept[l].some(n => Math.abs(places.get(n)[side] - at) < half + 4)) return Math.min((down ? width : height) / kept[l].length / 2, half + 14) / 0.75;
      }
      return 0;
    };
    const top = Math.max(...edges.map(e => e.count)), parts = [], labels = [];
    for (const e of edges) {
      const a = places.get(e.from), b = places.get(e.to);
      if (!a || !b || e.from === e.to) continue;
      const back = down ? b.y <= a.y : b.x <= a.x, bend = back ? 60 : detour(a, b);
      const from = down ? { x: a.x, y: a.y + high / 2 * (back ? -1 : 1) } : { x: a.x + wide / 2 * (back ? -1 : 1), y: a.y };
      const to = down ? { x: b.x, y: b.y - high / 2 * (back ? -1 : 1) } : { x: b.x - wide / 2 * (back ? -1 : 1), y: b.y };
      const mid = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
      const path = down ? `M${from.x} ${from.y} C${from.x + bend} ${mid.y} ${to.x + bend} ${mid.y} ${to.x} ${to.y}` : `M${from.x} ${from.y} C${mid.x} ${from.y + bend} ${mid.x} ${to.y + bend} ${to.x} ${to.y}`;
      parts.push(s('path', { class: 'edge' + (e.events ? ' events' : '') + (e.failed ? ' bad' : ''), d: path, 'stroke-width': (1.2 + 3.5 * e.count / top).toFixed(1) },
        s('title', { text: `${e.from} → ${e.to}: ${e.count} ${e.events ? 'events' : 'calls'}, ${e.failed} failed, ${span(e.took)} on average` })));
      if (!down) labels.push(s('text', { class: 'axis', x: mid.x, y: mid.y + (bend ? 0.75 * bend + 15 : -5), 'text-anchor': 'middle', text: count(e.count) }));
    }
    for (const [n, p] of places) {
      const fits = Math.floor(wide / (down ? 6.4 : 8)), short = n.length > fits ? n.slice(0, Math.max(3, fits - 1)) + '…' : n;
      labels.push(s('g', { class: 'service' + (n === outside ? ' outside' : '') + (down ? ' small' : ''), transform: `translate(${p.x.toFixed(1)} ${p.y.toFixed(1)})` },
        s('rect', { x: -wide / 2, y: -high / 2, width: wide, height: high, rx: 9 }), s('text', { 'text-anchor': 'middle', y: 5, text: short }), s('title', { text: n })));
    }
    element.replaceChildren(...parts, ...labels);
    setAttr(element, 'aria-label', 'Services and what they call: ' + edges.map(e => `${e.from} to ${e.to}`).join(', '));
  }
  const size = new ResizeObserver(() => { width = Math.floor(box.clientWidth); draw(); });
  size.observe(box);
  return { element: box, update(names, edges) { const next = { names, edges }; if (JSON.stringify(next) === JSON.stringify(now)) return; now = next; draw(); }, end: () => size.disconnect() };
}

export function dependencies() {
  const stop = new AbortController(), drawing = picture();
  const wrong = h('p', { class: 'wrong', role: 'alert' }), note = h('p', { class: 'lead' }), none = h('div', { hidden: true });
  const list = table({
    caption: 'Services that call each other', key: e => e.from + ' ' + e.to + ' ' + Boolean(e.events), sort: { key: 'count', down: true }, empty: () => h('span', {}),
    columns: [
      { key: 'from', label: 'From', value: e => e.from, draw: (e, cell) => { if (!cell.firstChild) cell.append(h('span', { class: 'name', text: e.from })); } },
      { key: 'to', label: 'To', value: e => e.to, text: e => e.to },
      { key: 'kind', label: 'By', value: e => e.events ? 1 : 0, draw: (e, cell) => { if (!cell.firstChild) cell.append(badge(e.events ? 'events' : 'calls')); } },
      { key: 'names', label: 'What', kind: 'two', wide: true, value: e => e.names.join(), text: e => e.names.join(', ') },
      { key: 'count', label: 'Count', num: true, value: e => e.count, text: e => count(e.count) },
      { key: 'failed', label: 'Failed', num: true, value: e => e.failed, draw: (e, cell) => { setText(cell, count(e.failed)); cell.classList.toggle('bad', e.failed > 0); } },
      { key: 'took', label: 'On average', num: true, value: e => e.took, text: e => span(e.took) },
    ],
  });
  const card = h('section', { class: 'card' }, h('p', { class: 'legend' }, h('span', { class: 'key line-key', text: 'calls' }), h('span', { class: 'key event-key', text: 'events' }), h('span', { class: 'key bad-key', text: 'some failed' })), drawing.element);
  const rows = h('section', { class: 'card flush' }, list.element);
  const element = h('div', { class: 'view' }, heading('Map', note), wrong, none, card, rows);
  async function ask() {
    try {
      const m = await api('api/dependencies', undefined, stop.signal);
      setText(wrong, '');
      const edges = m.edges.map(e => ({ ...e, from: e.from || outside })), names = [...(edges.some(e => e.from === outside) ? [outside] : []), ...m.services];
      setText(note, edges.length ? `From the spans of the last ${lasting((Date.now() * 1000 - m.from) / 1e6)} that nodes hold` + (m.mute.length ? '; none from ' + m.mute.join(', ') : '') + '.' : '');
      none.replaceChildren(...(edges.length ? [] : [m.answered.length ? empty('No traffic yet', 'The map is drawn as soon as services are called.') :
        empty('No traces', h('span', {}, 'The map is made of spans. Keep the last of a node, and serve them: ', code('dashboard.Traces(4096)'), '.'))]));
      card.hidden = rows.hidden = !edges.length;
      none.hidden = Boolean(edges.length);
      drawing.update(names, edges);
      list.update(edges);
    } catch (e) { if (e.name !== 'AbortError') setText(wrong, e.message); }
  }
  ask();
  const timer = setInterval(ask, Math.max(3, settings.refresh) * 1000);
  return { title: 'Map', element, update(kind) { if (kind === 'hello') ask(); }, end() { clearInterval(timer); stop.abort(); drawing.end(); } };
}
