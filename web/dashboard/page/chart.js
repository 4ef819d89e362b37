// Drawings. Each is a picture with a text for those who do not see it.

import { s, h, setAttr, setText } from './dom.js';
import { rate, span, count, clock } from './format.js';

// spark is a small line of the latest rates.
export function spark(width = 84, height = 22) {
  const line = s('polyline', { class: 'line' });
  const element = s('svg', { class: 'spark', viewBox: `0 0 ${width} ${height}`, width, height, 'aria-hidden': 'true' }, line);
  return { element, update(values, most = 60) {
    const top = Math.max(...values, 1e-9), step = width / (most - 1), from = most - values.length;
    if (values.length < 3) values = [];
    setAttr(line, 'points', values.map((v, i) => `${((from + i) * step).toFixed(1)},${(height - 2 - v / top * (height - 4)).toFixed(1)}`).join(' '));
  } };
}

// nice rounds a top value up to one that people like on an axis.
function nice(top) {
  const unit = 10 ** Math.floor(Math.log10(top));
  return [1, 2, 2.5, 5, 10].map(f => f * unit).find(v => v >= top * 0.999);
}

// traffic is calls and errors a second over the last looks.
export function traffic() {
  let height = 190;
  const element = s('svg', { class: 'chart', role: 'img', height });
  const box = h('div', { class: 'chart-box' }, element);
  const seen = { width: 0, history: [] };
  const pad = { left: 44, right: 8, top: 12, bottom: 24 };
  function draw() {
    const { width, history } = seen;
    if (!width) return;
    height = innerWidth > 1080 ? 320 : 190;
    setAttr(element, 'height', height);
    setAttr(element, 'viewBox', `0 0 ${width} ${height}`);
    const top = nice(Math.max(1, ...history.map(p => p.rate))), most = Math.max(30, history.length);
    const x = i => pad.left + (width - pad.left - pad.right) * (most - history.length + i) / (most - 1);
    const y = v => height - pad.bottom - (height - pad.top - pad.bottom) * Math.min(1, v / top);
    const parts = [];
    for (const f of [0, 0.5, 1]) {
      parts.push(s('line', { class: 'grid', x1: pad.left, x2: width - pad.right, y1: y(top * f), y2: y(top * f) }),
        s('text', { class: 'axis', x: pad.left - 8, y: y(top * f) + 4, 'text-anchor': 'end', text: rate(top * f) }));
    }
    if (history.length > 1) {
      const line = of => history.map((p, i) => `${x(i).toFixed(1)},${y(p[of]).toFixed(1)}`).join(' ');
      parts.push(s('polygon', { class: 'area', points: `${x(0).toFixed(1)},${y(0)} ${line('rate')} ${x(history.length - 1).toFixed(1)},${y(0)}` }),
        s('polyline', { class: 'line', points: line('rate') }), s('polyline', { class: 'line bad', points: line('errors') }));
      parts.push(s('text', { class: 'axis', x: Math.max(pad.left, Math.min(x(0), width - 140)), y: height - 7, text: clock(history[0].at) }));
    }
    const last = history[history.length - 1];
    if (last) parts.push(s('text', { class: 'axis', x: width - pad.right, y: height - 7, 'text-anchor': 'end', text: clock(last.at) }));
    element.replaceChildren(...parts);
    setAttr(element, 'aria-label', last ? `Calls a second from ${clock(history[0].at)} to ${clock(last.at)}: now ${rate(last.rate)}, at most ${rate(Math.max(...history.map(p => p.rate)))}; errors now ${rate(last.errors)}` : 'No figures yet');
  }
  const size = new ResizeObserver(() => { seen.width = Math.floor(box.clientWidth); draw(); });
  size.observe(box);
  return { element: box, update(history) { seen.history = history; draw(); }, end: () => size.disconnect() };
}

function quantile(bounds, buckets, all, q) {
  let below = 0;
  for (const [i, n] of buckets.entries()) {
    if (n && below + n >= q * all) return i < bounds.length ? (i ? bounds[i - 1] : 0) + (bounds[i] - (i ? bounds[i - 1] : 0)) * (q * all - below) / n : bounds[i - 1];
    below += n;
  }
  return 0;
}

// histogram is how many calls took how long: one bar for each of the node's buckets, from the first with calls to the last.
export function histogram(height = 220) {
  const element = s('svg', { class: 'chart', role: 'img', height });
  const box = h('div', { class: 'chart-box' }, element);
  const seen = { width: 0, bounds: [], buckets: [] };
  const pad = { left: 44, right: 12, top: 26, bottom: 28 };
  function draw() {
    const { width, bounds, buckets } = seen;
    if (!width) return;
    setAttr(element, 'viewBox', `0 0 ${width} ${height}`);
    const all = buckets.reduce((a, b) => a + b, 0);
    const empty = !all;
    let first = buckets.findIndex(n => n > 0), last = buckets.findLastIndex(n => n > 0);
    if (empty) { first = 0; last = Math.min(9, buckets.length - 1); }
    first = Math.max(0, first - 1);
    last = Math.min(buckets.length - 1, last + 1);
    while (last - first < 7 && (first > 0 || last < buckets.length - 1)) { if (first > 0) first--; if (last < buckets.length - 1) last++; }
    const n = Math.max(1, last - first + 1), wide = (width - pad.left - pad.right) / n;
    // Calls are whole, and the line in the middle says a whole number too.
    const top = 2 * nice(Math.ceil(Math.max(2, ...buckets) / 2)), base = height - pad.bottom;
    const y = v => base - (base - pad.top) * v / top;
    const parts = [];
    for (const f of [0, 0.5, 1]) {
      parts.push(s('line', { class: 'grid', x1: pad.left, x2: width - pad.right, y1: y(top * f), y2: y(top * f) }),
        s('text', { class: 'axis', x: pad.left - 8, y: y(top * f) + 4, 'text-anchor': 'end', text: count(top * f) }));
    }
    const every = Math.ceil(n / Math.max(2, Math.floor((width - pad.left) / 76)));
    for (let i = first; i <= last; i++) {
      const x = pad.left + (i - first) * wide;
      const range = i < bounds.length ? `${i ? span(bounds[i - 1] * 1e6) : '0'} to ${span(bounds[i] * 1e6)}` : `over ${span(bounds[bounds.length - 1] * 1e6)}`;
      if (buckets[i]) parts.push(s('rect', { class: 'bar', x: x + 1, width: Math.max(1, wide - 2), y: Math.min(y(buckets[i]), base - 1.5), height: Math.max(1.5, base - y(buckets[i])), rx: Math.min(2, wide / 4) },
        s('title', { text: `${range}: ${count(buckets[i])} calls` })));
      if (i < bounds.length && i < last && (i - first) % every === every - 1) parts.push(s('line', { class: 'tick', x1: x + wide, x2: x + wide, y1: base, y2: base + 4 }),
        s('text', { class: 'axis', x: x + wide, y: base + 18, 'text-anchor': 'middle', text: span(bounds[i] * 1e6) }));
    }
    const said = [];
    let right = -1e9;
    for (const [name, q] of all ? [['p50', 0.5], ['p95', 0.95], ['p99', 0.99]] : []) {
      const at = quantile(bounds, buckets, all, q);
      said.push(`${name} ${span(at * 1e6)}`);
      let i = bounds.findIndex(b => at <= b);
      if (i < 0) i = bounds.length - 1;
      const from = i ? bounds[i - 1] : 0;
      const x = pad.left + (i - first + (at - from) / (bounds[i] - from)) * wide;
      parts.push(s('line', { class: 'mark', x1: x, x2: x, y1: pad.top - 6, y2: base }));
      if (x - right > 36) { parts.push(s('text', { class: 'axis strong', x, y: pad.top - 11, 'text-anchor': 'middle', text: name })); right = x; }
    }
    if (empty) parts.push(s('text', { class: 'axis', x: (width + pad.left) / 2, y: height / 2, 'text-anchor': 'middle', text: 'no calls in this time' }));
    element.replaceChildren(...parts);
    setAttr(element, 'aria-label', all ? `How long ${count(all)} calls took: ${said.join(', ')}` : 'No calls');
  }
  const size = new ResizeObserver(() => { seen.width = Math.floor(box.clientWidth); draw(); });
  size.observe(box);
  return { element: box, update(bounds, buckets) { seen.bounds = bounds; seen.buckets = buckets; draw(); }, end: () => size.disconnect() };
}

// sharedEnd is what all names end with, such as a domain, from one of its marks on.
function sharedEnd(names) {
  let length = 0;
  while (names.length > 1 && names.every(n => n.length > length + 1 && n.at(-1 - length) === names[0].at(-1 - length))) length++;
  const end = length ? names[0].slice(-length) : '';
  return end.slice(Math.max(0, end.search(/[^\p{L}\p{N}]|$/u)));
}

// shorten cuts a name to so many letters, where it does not differ from others if possible.
function shorten(name, letters, end) {
  if (name.length <= letters) return name;
  const own = name.slice(0, name.length - end.length), after = end ? '…' : '';
  return own.length < letters ? own + after : '…' + own.slice(2 - letters) + after;
}

// map is the cluster: nodes around a centre, lines where they are linked. Where there is no room for that, nodes stand in rows without
// lines: those of many nodes, each of which is linked with all others, tell nothing.
export function map(onpick) {
  const lines = s('g'), dots = s('g');
  const element = s('svg', { class: 'map', role: 'group', 'aria-label': 'Map of the cluster' }, lines, dots);
  const box = h('div', { class: 'chart-box map-box' }, element);
  let width = 0, shape = '', letters = 0, nodes = [], links = [];
  const drawn = new Map(), drawnLinks = new Map();

  function layout() {
    const n = nodes.length, narrow = width < 560;
    const inRows = n > Math.max(2, Math.min(7, Math.floor(width / 85))), inRow = Math.ceil(n / Math.ceil(n / Math.max(2, Math.floor(width / 96))));
    const r = inRows ? 25 : narrow ? 31 : 38;
    const cell = { wide: width / inRow, high: 2 * r + 48 };
    const height = inRows ? Math.ceil(n / inRow) * cell.high : n <= 1 ? 220 : n === 2 ? 240 : narrow ? 300 : n > 4 ? 380 : 320;
    letters = inRows ? Math.floor((cell.wide - 8) / 8.2) : n < 3 ? 20 : Math.min(20, Math.floor(width / 25));
    setAttr(element, 'viewBox', `0 0 ${width} ${height}`);
    setAttr(element, 'height', height);
    setAttr(element, 'class', 'map' + (inRows ? ' in-rows' : ''));
    const rx = Math.max(0, Math.min(width / 2 - r - 44, n <= 3 ? 240 : 330)), ry = height / 2 - r - 34;
    const focused = [...drawn].find(([, d]) => d.g === document.activeElement)?.[0];
    lines.replaceChildren();
    dots.replaceChildren();
    drawn.clear();
    drawnLinks.clear();
    const places = new Map();
    const spots = nodes.map((_, i) => {
      if (inRows) return { x: (i % inRow + 0.5) * cell.wide - width / 2, y: Math.floor(i / inRow) * cell.high };
      const angle = n === 2 ? Math.PI * (1 - i) : -Math.PI / 2 + 2 * Math.PI * i / n;
      return n === 1 ? { x: 0, y: 0 } : { x: rx * Math.cos(angle), y: (n === 3 ? 1.12 : 1) * ry * Math.sin(angle) };
    });
    // The links of a node in the upper half go down, so that its label stands above it. The others have theirs below.
    const above = spots.map(p => !inRows && p.y < -1);
    // The middle of what is drawn, labels included, comes to the middle of the picture.
    const ys = spots.map(p => p.y), middle = (Math.min(...ys) - r - (above.some(Boolean) ? 30 : 9) + Math.max(...ys) + r + 30) / 2;
    nodes.forEach((node, i) => {
      const x = width / 2 + spots[i].x, y = height / 2 + spots[i].y - middle;
      places.set(node.id, { x, y });
      const around = 2 * Math.PI * (r + 5);
      const d = { value: s('text', { class: 'dot-value', 'text-anchor': 'middle', y: 1 }), unit: s('text', { class: 'dot-unit', 'text-anchor': 'middle', y: 16 }),
        arc: s('circle', { class: 'cpu', r: r + 5, 'stroke-dasharray': `0 ${around}`, transform: 'rotate(-90)' }), around,
        label: s('text', { class: 'dot-label', 'text-anchor': 'middle', y: above[i] ? -r - 16 : r + 24 }) };
      d.g = s('a', { href: '#/nodes/' + encodeURIComponent(node.id), transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`, class: 'dot', onclick: onpick },
        s('circle', { class: 'halo', r: r + 9 }), s('circle', { class: 'cpu-track', r: r + 5 }), d.arc, s('circle', { class: 'disc', r }), d.value, d.unit, d.label, s('title', { text: node.id }));
      dots.append(d.g);
      drawn.set(node.id, d);
    });
    const few = nodes.length <= 6 && !narrow || nodes.length <= 3;
    for (const l of inRows ? [] : links) {
      const a = places.get(l.a), b = places.get(l.b);
      if (!a || !b) continue;
      lines.append(s('line', { class: 'link', x1: a.x, y1: a.y, x2: b.x, y2: b.y }));
      if (!few) continue;
      const f = 0.5, x = a.x + (b.x - a.x) * f, y = a.y + (b.y - a.y) * f;
      const text = s('text', { class: 'link-label', x, y: y + 4, 'text-anchor': 'middle' });
      lines.append(s('rect', { class: 'link-back', x: x - 29, y: y - 10, width: 58, height: 20, rx: 10 }), text);
      drawnLinks.set(l.a + '\n' + l.b, text);
    }
    drawn.get(focused)?.g.focus({ preventScroll: true });
  }

  function draw() {
    if (!width) return;
    const now = width + '|' + nodes.map(n => n.id).join() + '|' + links.map(l => l.a + l.b).join();
    if (now !== shape) { shape = now; layout(); }
    const end = sharedEnd(nodes.map(n => n.id));
    for (const n of nodes) {
      const d = drawn.get(n.id), short = shorten(n.id, letters, end);
      const quiet = n.telemetry || n.clientOnly;
      const value = quiet ? '–' : rate(n.rate), unit = quiet ? (n.clientOnly ? 'client only' : 'no rates') : 'calls/s';
      setText(d.value, value);
      setText(d.unit, unit);
      setText(d.label, short);
      setAttr(d.arc, 'stroke-dasharray', `${(Math.min(1, n.cpu) * d.around).toFixed(1)} ${d.around.toFixed(1)}`);
      setAttr(d.g, 'class', 'dot' + (n.clientOnly ? ' client-only' : '') + (n.state !== 'running' || n.telemetry === 'silent' ? ' bad' : '') + (n.errors > 0 ? ' errors' : '') + (n.self ? ' self' : ''));
      // What is seen comes first, for those who say it to their computer (WCAG 2.5.3).
      setAttr(d.g, 'aria-label', `${value} ${unit} ${short}: node ${n.id}, ${n.state}, ${quiet ? '' : rate(n.errors) + ' errors a second, '}CPU ${Math.round(n.cpu * 100)} %`);
    }
    for (const l of links) {
      const text = drawnLinks.get(l.a + '\n' + l.b);
      if (text) setText(text, l.rtt ? span(l.rtt) : 'linked');
    }
  }
  const size = new ResizeObserver(() => { width = Math.floor(box.clientWidth); draw(); });
  size.observe(box);
  return { element: box, update(look) { nodes = look.nodes; links = look.links || []; draw(); }, end: () => size.disconnect() };
}
