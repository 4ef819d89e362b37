// Making elements. Text is always text: nothing that comes from a node is ever read as HTML.

const svgNS = 'http://www.w3.org/2000/svg';

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (name === 'text') node.textContent = value;
    else if (name === 'value') node.value = value;
    else node.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children.flat(9)) if (child !== null && child !== undefined && child !== false) node.append(child);
  return node;
}

export const h = (tag, props, ...children) => fill(document.createElement(tag), props, children);
export const s = (tag, props, ...children) => fill(document.createElementNS(svgNS, tag), props, children);

// setText touches the page only where something changed.
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// arrange makes rows the children of their parent, in this order. Those that are in their place are not touched. The one that
// has the focus keeps it, and where it is no longer among them it stays until the focus has gone elsewhere.
export function arrange(parent, rows) {
  const at = document.activeElement, wanted = new Set(rows);
  for (const row of [...parent.children]) if (!wanted.has(row) && !row.contains(at)) row.remove();
  let next = parent.firstChild;
  for (const row of rows) {
    while (next && !wanted.has(next)) next = next.nextSibling;
    if (row === next) next = next.nextSibling; else parent.insertBefore(row, next);
  }
  if (document.activeElement !== at && parent.contains(at)) at.focus({ preventScroll: true }); // a row that is moved loses it
}

export function setAttr(node, name, value) {
  if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

// An icon is the path of a 20 × 20 drawing.
const icons = {
  overview: 'M10 3.2 3.5 14.8h13zM10 3.2h.01M3.5 14.8h.01M16.5 14.8h.01',
  actions: 'M3 5h14M3 10h9M3 15h5M15.5 9.5 13 13.6h4l-2.5 4',
  events: 'M3 10h3l2.2-5.5 3.6 11L14 10h3',
  processes: 'M10 3v4M10 7H5v4M10 7h5v4M3.5 11h3v4h-3zM13.500 11h3v4h-3zM8.500 2.500h3v3h-3z',
  grains: 'M10 3l3 1.700v3.500l-3 1.700-3-1.700V4.700zM6.500 10l3 1.700v3.500l-3 1.700-3-1.700v-3.500zM13.500 10l3 1.700v3.500l-3 1.700-3-1.700v-3.500z',
  traces: 'M3 5h8M6 10h8M10 15h7',
  map: 'M3 8.500h4v3H3zM13 3.500h4v3h-4zM13 13.500h4v3h-4zM7 10h3V5h3M10 10v5h3',
  channels: 'M3.500 5h13v10h-13zM3.500 5.500l6.500 5 6.500-5',
  health: 'M10 16S3.500 12 3.500 7.800A3.300 3.300 0 0 1 10 6.500a3.300 3.300 0 0 1 6.500 1.300C16.500 12 10 16 10 16z',
  config: 'M5 3.500h7l3.500 3.500v9.500H5zM8 10h5M8 13h5',
  settings: 'M3 6h8M15 6h2M3 14h2M9 14h8M13 4v4M7 12v4',
  chevron: 'M7.500 5l5 5-5 5',
  search: 'M9 14.500a5.500 5.500 0 1 0 0-11 5.500 5.500 0 0 0 0 11zM13 13l4 4',
  pause: 'M7 5v10M13 5v10',
  play: 'M7 4.500v11l8.500-5.500z',
  plus: 'M10 4.500v11M4.500 10h11',
  cross: 'M5.500 5.500l9 9M14.500 5.500l-9 9',
};
export const icon = name => s('svg', { viewBox: '0 0 20 20', class: 'i', 'aria-hidden': 'true' }, s('path', { d: icons[name] }));

export const badge = (text, kind) => h('span', { class: 'badge ' + (kind || ''), text });

// An empty state says what there would be and what to do for it.
export const empty = (title, ...lines) => h('div', { class: 'empty' }, h('strong', { text: title }), lines.map(line => h('p', {}, line)));
export const code = text => h('code', { text });

export function heading(title, ...rest) {
  return h('header', { class: 'head' }, h('h1', { text: title, tabindex: '-1' }), rest);
}

export function tile(label, unit) {
  const value = h('span', { class: 'v', text: '–' });
  const note = h('span', { class: 'note', text: '\u00a0' });
  const element = h('div', { class: 'tile' }, h('span', { class: 'l', text: label }), h('span', { class: 'row' }, value, unit && h('span', { class: 'u', text: unit })), note);
  return { element, set(text, more, kind) { setText(value, text); setText(note, more || '\u00a0'); element.dataset.kind = kind || ''; } };
}

let sayTimer;
// say tells screen readers what happened.
export function say(text) {
  const at = document.getElementById('say');
  at.textContent = '';
  clearTimeout(sayTimer);
  sayTimer = setTimeout(() => { at.textContent = text; }, 50);
}
