// A table whose rows stay in place while their figures change: sorted by a click on a heading, walked with the arrow keys,
// and on a narrow screen a list of cards.

import { h, setText, arrange } from './dom.js';

// columns: {key, label, num, value(row) to sort by, text(row) or draw(row, cell), wide, lead}
export function table({ caption, columns, key, sort, empty }) {
  let order = { ...sort }, rows = [], shown = new Map(), sortedAt = 0, sorts = 0;
  const heads = columns.map(c => h('th', { scope: 'col', class: c.num ? 'num' : '' },
    c.value ? h('button', { type: 'button', class: 'sort', onclick: () => sortBy(c.key) }, h('span', { text: c.label })) : h('span', { text: c.label })));
  const body = h('tbody', { onkeydown: walk });
  const choose = h('select', { onchange: () => { order = { key: choose.value, down: columns.find(c => c.key === choose.value).num }; draw(true); } },
    columns.filter(c => c.value).map(c => h('option', { value: c.key, text: c.label })));
  const grid = h('table', {}, h('caption', { class: 'hidden', text: caption }), h('thead', {}, h('tr', {}, heads)), body);
  const none = h('div', { class: 'none' });
  const element = h('div', { class: 'table' }, h('label', { class: 'sort-by' }, 'Sort by', choose), grid, none);

  function sortBy(name) {
    order = { key: name, down: order.key === name ? !order.down : Boolean(columns.find(c => c.key === name).num) };
    draw(true);
  }

  function compare(a, b) {
    const column = columns.find(c => c.key === order.key);
    const x = column.value(a), y = column.value(b);
    const by = typeof x === 'string' ? x.localeCompare(y) : x - y;
    return (order.down ? -by : by) || (key(a) < key(b) ? -1 : 1);
  }

  function makeRow() {
    const cells = columns.map((c, i) => h(i ? 'td' : 'th', { scope: i ? null : 'row', 'data-label': c.label, class: (c.num ? 'num ' : '') + (c.wide ? 'wide ' : '') + (c.kind || '') }));
    return { element: h('tr', {}, cells), cells };
  }

  // draw shows the rows. Their order changes every few seconds at most, and never under somebody's hands.
  function draw(now) {
    const busy = body.matches(':hover') || body.contains(document.activeElement);
    const known = rows.every(r => shown.has(key(r))) && rows.length === shown.size;
    const resort = now || !known || !busy && (sorts < 4 || performance.now() - sortedAt > 5000); // the first looks have few figures yet
    if (resort) {
      sortedAt = performance.now();
      sorts++;
      rows.sort(compare);
    }
    for (const r of rows) {
      let row = shown.get(key(r));
      if (!row) shown.set(key(r), row = makeRow());
      columns.forEach((c, i) => c.draw ? c.draw(r, row.cells[i]) : setText(row.cells[i], c.text(r)));
    }
    if (resort) {
      arrange(body, rows.map(r => shown.get(key(r)).element));
      for (const [k, row] of shown) if (row.element.parentNode !== body) shown.delete(k);
    }
    columns.forEach((c, i) => {
      if (order.key === c.key) heads[i].setAttribute('aria-sort', order.down ? 'descending' : 'ascending');
      else heads[i].removeAttribute('aria-sort');
    });
    choose.value = order.key;
    grid.hidden = !body.firstChild;
    element.firstChild.hidden = rows.length < 2;
    none.replaceChildren(...(rows.length ? [] : [empty()]));
  }

  function walk(e) {
    const step = { ArrowDown: 1, ArrowUp: -1, Home: -1e6, End: 1e6 }[e.key];
    if (!step || e.altKey || e.ctrlKey || e.metaKey) return;
    const all = [...body.rows], at = all.indexOf(e.target.closest('tr'));
    const to = all[Math.max(0, Math.min(all.length - 1, at + step))];
    const link = to && to.querySelector('a, button');
    if (link) { link.focus(); e.preventDefault(); }
  }

  return { element, update(list) { rows = [...list]; draw(false); }, first() { return body.querySelector('a, button'); } };
}

// filterBox is a search field that / jumps to.
export function filterBox(label, onchange, value = '') {
  const input = h('input', { type: 'search', class: 'filter', placeholder: label, 'aria-label': label, 'data-filter': true, value, autocomplete: 'off', spellcheck: 'false',
    oninput: () => onchange(input.value.trim()),
    onkeydown: e => { if (e.key === 'Escape') { if (input.value) { input.value = ''; onchange(''); } else input.blur(); } } });
  return h('span', { class: 'search' }, input, h('kbd', { text: '/', 'aria-hidden': 'true' }));
}
