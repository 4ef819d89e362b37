// Events as they pass.

import { h, heading, empty, icon, say, setText } from './dom.js';
import { api } from './live.js';
import { clock, bytes, count, json } from './format.js';

const most = 300;
const kept = { pattern: '**' };

export function events() {
  let stream = null, listed = kept.pattern, paused = false, held = [], shown = 0, missed = 0, seen = 0, timer = 0, ended = false;
  const rows = h('div', { class: 'rows events', onkeydown: walk });
  const none = h('div', {}), note = h('span', { class: 'muted', role: 'status' });
  const wrong = h('p', { class: 'wrong', role: 'alert' });
  const input = h('input', { type: 'search', class: 'filter', 'data-filter': true, value: kept.pattern, 'aria-label': 'Pattern of event names', spellcheck: 'false', autocomplete: 'off', placeholder: 'order.*' });
  const pauseText = h('span', { text: 'Pause' }), pauseIcon = h('span', { class: 'swap' }, icon('pause'));
  const pauseButton = h('button', { type: 'button', 'aria-pressed': 'false', onclick: pause }, pauseIcon, pauseText);
  const clear = h('button', { type: 'button', text: 'Clear', onclick: forget });
  const element = h('div', { class: 'view' }, heading('Events'),
    h('form', { class: 'bar', onsubmit: e => { e.preventDefault(); start(input.value.trim() || '**'); } }, h('span', { class: 'search' }, input, h('kbd', { text: '/', 'aria-hidden': 'true' })), h('button', { type: 'submit', text: 'Show' }), pauseButton, clear, note), wrong,
    h('section', { class: 'card flush' }, none, rows),
    h('p', { class: 'muted more' }, 'In a pattern, ', h('code', { text: '*' }), ' is one word and ', h('code', { text: '**' }), ' one or more. While this page is open, emitters wait until this node has each event too.'));

  function start(pattern) {
    kept.pattern = pattern;
    wrong.textContent = '';
    clearTimeout(timer);
    stream?.close();
    stream = new EventSource('api/events?pattern=' + encodeURIComponent(pattern));
    stream.addEventListener('events', e => take(JSON.parse(e.data)));
    stream.addEventListener('listening', () => {
      wrong.textContent = '';
      if (listed !== pattern) { listed = pattern; forget(); } // what is listed is what the pattern says
      tell();
    });
    stream.onerror = () => { if (stream.readyState === EventSource.CLOSED) refused(pattern); };
    tell();
  }

  function forget() {
    rows.replaceChildren();
    held = [];
    missed = 0;
    seen = 0;
    tell();
  }

  // refused finds out why there is no stream: the pattern is wrong, or the node is not there.
  async function refused(pattern) {
    const stop = new AbortController();
    try { await api('api/events?pattern=' + encodeURIComponent(pattern), undefined, stop.signal); } catch (e) {
      if (ended) return;
      if (e.cause) wrong.textContent = e.message;
      if (e.cause?.status === 400) return;
    }
    timer = setTimeout(() => { if (!ended) start(kept.pattern); }, 2000);
  }

  function take(batch) {
    missed += batch.missed;
    seen += batch.events?.length || 0;
    if (paused) {
      held.push(...batch.events || []);
      if (held.length > most) held.splice(0, held.length - most);
    } else for (const e of batch.events || []) add(e);
    tell();
  }

  function add(e) {
    const id = 'e' + ++shown;
    const body = h('div', { class: 'payload', id, hidden: true });
    const line = h('button', { type: 'button', class: 'line', 'aria-expanded': 'false', 'aria-controls': id, onclick: () => {
      const open = line.getAttribute('aria-expanded') === 'true';
      line.setAttribute('aria-expanded', String(!open));
      if (!body.firstChild) body.append(...details(e));
      body.hidden = open;
      if (!open && !paused) pause(); // so that it stays where it is read
    } }, icon('chevron'), h('time', { text: clock(e.at, true) }), h('b', { text: e.event }), h('span', { class: 'peek', text: (e.payload || e.cut || '').slice(0, 160) }), h('span', { class: 'size num', text: bytes(e.size) }));
    rows.prepend(h('div', { class: 'event' }, line, body));
    while (rows.children.length > most && rows.lastChild !== document.activeElement?.closest('.event')) rows.lastChild.remove();
  }

  function details(e) {
    const facts = [['Emitted by', e.from], ['Node', e.node], ['Sent to', e.broadcast ? 'every handler' : e.groups ? 'the groups ' + e.groups.join(', ') : ''], ['Request', e.request], ['Size', bytes(e.size)]].filter(([, v]) => v);
    return [h('p', { class: 'muted' }, facts.map(([k, v]) => h('span', { class: 'fact' }, k + ' ', h('b', { text: v })))), e.payload ? json(e.payload) : h('div', {}, h('p', { class: 'muted', text: 'Too long to show; it begins:' }), h('pre', { class: 'json', tabindex: 0, text: e.cut }))];
  }

  function tell() {
    setText(note, `${count(seen)} seen` + (missed ? `, ${count(missed)} more were too many to show` : '') + (paused ? ` · paused, ${count(held.length)} wait` : ''));
    none.replaceChildren(...(rows.children.length ? [] : [empty('No event has passed yet', `Waiting for ${kept.pattern === '**' ? 'any event' : kept.pattern}. They are shown from now on; emit one with: sabir emit user.created '{"id":1}'`)]));
  }

  function pause() {
    paused = !paused;
    pauseButton.setAttribute('aria-pressed', String(paused));
    setText(pauseText, paused ? 'Go on' : 'Pause');
    pauseIcon.replaceChildren(icon(paused ? 'play' : 'pause'));
    if (!paused) { for (const e of held) add(e); held = []; }
    say(paused ? 'Paused' : 'Goes on');
    tell();
  }

  function walk(e) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (!step || e.target.className !== 'line') return;
    const all = [...rows.querySelectorAll('.line')], to = all[all.indexOf(e.target) + step];
    if (to) { to.focus(); e.preventDefault(); }
  }

  // A page that was left is kept for a while, in which nobody sees its events.
  const left = () => stream.close(), back = e => { if (e.persisted) start(kept.pattern); };
  addEventListener('pagehide', left);
  addEventListener('pageshow', back);
  start(kept.pattern);
  return { title: 'Events', element, key(e) { if (e.key !== ' ' || e.target.tagName === 'BUTTON' || e.target.tagName === 'A') return false; pause(); return true; }, end() { ended = true; clearTimeout(timer); removeEventListener('pagehide', left); removeEventListener('pageshow', back); stream.close(); } };
}
