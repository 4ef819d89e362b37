// Which services call which, drawn from the latest traces.

import { h, s, heading, badge, empty, code, setText, setAttr } from './dom.js';
import { api, state } from './live.js';
import { settings } from './settings.js';
import { span, count, lasting } from './format.js';
import { table } from './table.js';

const outside = 'callers';

// layers gives each service a column: behind all that call it, or that emit what it hears where nobody calls it. Circles are cut
// where they close.
function layers(names, all) {
  const called = new Set(all.filter(e => !e.events).map(e => e.to));
  const edges = all.filter(e => e.from !== e.to && (!e.events || !called.has(e.to))), heard = new Set(edges.map(e => e.to));
  const column = new Map(names.map(n => [n, 0])), open = new Set(), left = new Set(), forward = [];
  const walk = name => {
    open.add(name);
    for (const e of edges) {
      if (e.from !== name || open.has(e.to)) continue;
      forward.push(e);
      if (!left.has(e.to)) walk(e.to);
    }
    open.delete(name);
    left.add(name);
  };
  for (const n of [...names.filter(n => !heard.has(n)), ...names]) if (!left.has(n)) walk(n);
  for (let moved = true; moved;) {
    moved = false;
    for (const e of forward) if (column.get(e.to) <= column.get(e.from)) { column.set(e.to, column.get(e.from) + 1); moved = true; }
  }
  return column;
}

// arranged puts services into rows, each behind those that call it, with at most so many in one. An edge that passes a row has a lane
// there, between the services, which it shares with the others of its service. What belongs together comes side by side.
function arranged(names, edges, most) {
  const column = layers(names, edges), columns = [];
  for (const n of names) (columns[column.get(n)] ??= []).push(n);
  const kept = columns.filter(Boolean).flatMap(list => {
    const each = Math.ceil(list.length / Math.ceil(list.length / most));
    return list.flatMap((_, i) => i % each ? [] : [list.slice(i, i + each)]);
  });
  const rows = kept.map(() => []), seats = new Map();
  const seat = (key, row, name) => {
    if (!seats.has(key)) { seats.set(key, { name, row, before: [], after: [] }); rows[row].push(seats.get(key)); }
    return seats.get(key);
  };
  kept.forEach((list, row) => list.forEach(n => seat(n, row, n)));
  const ways = edges.filter(e => e.from !== e.to && seats.has(e.from) && seats.has(e.to)).map(edge => {
    const from = seats.get(edge.from), to = seats.get(edge.to), step = Math.sign(to.row - from.row), stops = [from];
    for (let row = from.row + step; step && row !== to.row; row += step) stops.push(seat([row, edge.from, edge.events, step].join(' '), row));
    stops.push(to);
    for (let i = 1; step && i < stops.length; i++) {
      const [a, b] = step > 0 ? [stops[i - 1], stops[i]] : [stops[i], stops[i - 1]];
      a.after.push(b);
      b.before.push(a);
    }
    return { edge, stops, step };
  });
  const number = row => row.forEach((x, i) => { x.at = (i + 0.5) / row.length; });
  rows.forEach(number);
  for (let turn = 0; turn < 8; turn++) {
    const side = turn % 2 ? 'after' : 'before';
    for (const row of turn % 2 ? rows.toReversed() : rows) {
      for (const x of row) x.wants = x[side].length ? x[side].reduce((sum, y) => sum + y.at, 0) / x[side].length : x.at;
      row.sort((a, b) => a.wants - b.wants);
      number(row);
    }
  }
  return { rows, ways };
}

export function picture() {
  const element = s('svg', { class: 'dependencies', role: 'img' }), box = h('div', { class: 'chart-box' }, element);
  const high = 42, room = 100; // what a name takes at least
  let width = 0, now = { names: [], edges: [] };
  function draw() {
    if (!width || !now.names.length) { element.replaceChildren(); setAttr(element, 'height', 0); return; }
    const { names, edges } = now, inOrder = edges.toSorted((a, b) => a.from + ' ' + a.to < b.from + ' ' + b.to ? -1 : 1); // their counts, by which they came, change
    let plan = arranged(names, inOrder, 10);
    const down = width < 700 || plan.rows.length * (room + 44) > width;
    if (down) plan = arranged(names, inOrder, Math.max(2, Math.floor(width / (width < 700 ? room : 150))));
    const { rows, ways } = plan, lanes = row => row.filter(x => !x.name).length, services = row => row.filter(x => x.name).length || 1;
    const lane = down ? Math.max(2, Math.min(10, ...rows.map(row => (width - 12 - 80 * services(row)) / lanes(row)))) : 18;
    const wide = down ? Math.min(124, ...rows.map(row => (width - 12 - lane * lanes(row)) / services(row) - 10)) : Math.min(170, width / rows.length - 44);
    const pitch = down ? 96 : width / rows.length, half = (down ? high : wide) / 2;
    const takes = x => x.name ? (down ? wide + 10 : high + 28) : lane, sizes = rows.map(row => row.reduce((sum, x) => sum + takes(x), 0));
    const across = down ? width : Math.max(168, ...sizes), height = down ? rows.length * pitch : across;
    setAttr(element, 'viewBox', `0 0 ${width} ${height}`);
    setAttr(element, 'height', height);
    rows.forEach((row, i) => {
      let v = (across - sizes[i]) / 2;
      for (const x of row) { x.u = (i + 0.5) * pitch; x.v = v + takes(x) / 2; v += takes(x); }
    });
    // Rows follow each other along u, and what is in a row along v.
    const point = (u, v) => (down ? [v, u] : [u, v]).map(n => n.toFixed(1)).join(' ');
    const curve = (a, b, bend) => `C${point(bend, a.v)} ${point(bend, b.v)} ${point(b.u, b.v)}`;
    const top = Math.max(...edges.map(e => e.count)), parts = [], labels = [], taken = [];
    for (const { edge: e, stops, step } of ways.toSorted((a, b) => b.edge.count - a.edge.count)) {
      const aside = step > 0 ? 0 : 9; // not on the edge that goes the other way
      let at = { u: stops[0].u + half * (step || 1), v: stops[0].v + aside }, from = at, path = 'M' + point(at.u, at.v);
      for (const x of stops.slice(1)) {
        from = at;
        at = { u: x.u - half * (step || -1), v: x.v + (x.name ? aside : 0) };
        path += curve(from, at, step ? (from.u + at.u) / 2 : at.u + 36);
        if (!x.name) { at = { u: x.u + half * step, v: x.v }; path += 'L' + point(at.u, at.v); }
      }
      parts.push(s('path', { class: 'edge' + (e.events ? ' events' : '') + (e.failed ? ' bad' : ''), d: path, 'stroke-width': (1.2 + 3.5 * e.count / top).toFixed(1) },
        s('title', { text: `${e.from} → ${e.to}: ${e.count} ${e.events ? 'events' : 'calls'}, ${e.failed} failed, ${span(e.took)} on average` })));
      // A count stands on the last part of its edge, where no other does. Those for which there is no place are in the list.
      const text = count(e.count), wideText = 7 * text.length + 8;
      const place = (step ? [0.5, 0.35, 0.65, 0.25, 0.75] : []).map(t => {
        const u = from.u + (at.u - from.u) * (1.5 * t - 1.5 * t * t + t ** 3), v = from.v + (at.v - from.v) * (3 * t * t - 2 * t ** 3);
        return down ? { x: v, y: u } : { x: u, y: v };
      }).find(p => taken.every(o => Math.abs(o.x - p.x) > (o.wide + wideText) / 2 || Math.abs(o.y - p.y) > 15));
      if (!place) continue;
      taken.push({ ...place, wide: wideText });
      labels.push(s('text', { class: 'axis', x: place.x, y: place.y + 4, 'text-anchor': 'middle', text }));
    }
    const fits = Math.floor(wide / (down ? 7 : 8.4));
    for (const x of rows.flat()) {
      if (!x.name) continue;
      const [left, right] = down ? [x.v, x.u] : [x.u, x.v], short = x.name.length > fits ? x.name.slice(0, Math.max(3, fits - 1)) + '…' : x.name;
      labels.push(s('g', { class: 'service' + (x.name === outside ? ' outside' : '') + (down ? ' small' : ''), transform: `translate(${left.toFixed(1)} ${right.toFixed(1)})` },
        s('rect', { x: -wide / 2, y: -high / 2, width: wide, height: high, rx: 9 }), s('text', { 'text-anchor': 'middle', y: 5, text: short }), s('title', { text: x.name })));
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
      setText(note, edges.length ? `From the spans of the last ${lasting(((state.look?.at || Date.now()) * 1000 - m.from) / 1e6)} that nodes hold` + (m.mute.length ? '; none from ' + m.mute.join(', ') : '') + '.' : '');
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
