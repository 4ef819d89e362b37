// The shell: which view is shown, the keys, the theme, and whether the node is there.

import { h, icon, say } from './dom.js';
import { state, listen, connect } from './live.js';
import { settings, set, isDark } from './settings.js';
import { overview, node } from './view-overview.js';
import { actions } from './view-actions.js';
import { action } from './view-action.js';
import { events } from './view-events.js';
import { processes } from './view-processes.js';
import { grains } from './view-grains.js';
import { traces, trace } from './view-traces.js';
import { dependencies } from './view-map.js';
import { channels, deadLetters } from './view-channels.js';
import { health } from './view-health.js';
import { config } from './view-config.js';
import { settingsView } from './view-settings.js';

const places = [
  { name: 'overview', path: '', label: 'Overview', key: 'o', view: overview },
  { name: 'map', path: 'map', label: 'Map', key: 'm', view: dependencies },
  { name: 'actions', path: 'actions', label: 'Actions', key: 'a', view: actions, one: action },
  { name: 'events', path: 'events', label: 'Events', key: 'e', view: events },
  { name: 'channels', path: 'channels', label: 'Channels', key: 'c', view: channels, one: deadLetters },
  { name: 'processes', path: 'processes', label: 'Processes', key: 'p', view: processes },
  { name: 'grains', path: 'grains', label: 'Grains', key: 'r', view: grains },
  { name: 'traces', path: 'traces', label: 'Traces', key: 't', view: traces, one: trace },
  { name: 'health', path: 'health', label: 'Health', key: 'h', view: health },
  { name: 'config', path: 'config', label: 'Configuration', key: 'f', view: config },
  { name: 'settings', path: 'settings', label: 'Settings', key: 's', view: settingsView },
];

const main = document.getElementById('main');
const nav = document.getElementById('nav');
let current = null, lastHash = null;

for (const p of places) {
  nav.append(h('a', { href: '#/' + p.path, title: `${p.label} (g ${p.key})`, 'data-name': p.name }, icon(p.name), h('span', { text: p.label })));
}
// A browser does not scroll to a link of which two pixels can be seen at the edge of a phone's bar.
nav.addEventListener('focusin', e => e.target.scrollIntoView({ block: 'nearest', inline: 'nearest' }));

// show draws the view that the address names: #/actions/users.get?filter
function show() {
  if (location.hash === lastHash) return;
  const first = lastHash === null;
  lastHash = location.hash;
  const [first_, ...rest] = location.hash.replace(/^#\/?/, '').split('/');
  let rest_ = '';
  try { rest_ = decodeURIComponent(rest.join('/')); } catch { /* a broken address shows the list */ }
  let place = places.find(p => p.path === first_) || places[0];
  let make = place.view;
  if (rest_ && place.one) make = place.one;
  if (first_ === 'nodes' && rest_) { place = places[0]; make = node; }
  if (current && current.end) current.end();
  current = make(rest_);
  main.replaceChildren(current.element);
  for (const a of nav.children) {
    if (a.dataset.name !== place.name) { a.removeAttribute('aria-current'); continue; }
    a.setAttribute('aria-current', 'page');
    nav.scrollLeft = a.offsetLeft - (nav.clientWidth - a.offsetWidth) / 2; // where the bar is wider than a phone
  }
  document.title = current.title + ' · Sabir';
  current.update?.('look');
  scrollTo(0, 0);
  if (!first) main.querySelector('h1')?.focus({ preventScroll: true });
}
addEventListener('hashchange', show);

document.querySelector('.skip').addEventListener('click', e => {
  e.preventDefault(); // the fragment is the view's
  main.focus();
});

const statusText = { connecting: 'Connecting', live: 'Live', lost: 'Reconnecting', stopping: 'Node stops' };
listen(kind => {
  if (kind === 'status') {
    const at = document.getElementById('status');
    at.dataset.kind = state.status;
    at.lastChild.textContent = statusText[state.status];
    document.body.classList.toggle('stale', state.status === 'lost' || state.status === 'stopping');
  }
  if (kind === 'hello') document.getElementById('where').textContent = state.hello.node;
  current?.update?.(kind);
});

document.getElementById('theme-button').addEventListener('click', () => {
  set('theme', isDark() ? 'light' : 'dark');
  say(isDark() ? 'Dark' : 'Light');
  current?.update?.('settings');
});

const keys = document.getElementById('keys');
const shortcuts = [
  ['?', 'show these keys'], ['/', 'filter what is listed'], ['g', 'then a letter: go to a view'],
  ...places.map(p => ['g ' + p.key, p.label.toLowerCase()]),
  ['↑ ↓', 'walk through a list'], ['Home End', 'its first and last row'], ['← →', 'close and open a branch'], ['Enter', 'open'],
  ['Space', 'pause events or traces'], ['Ctrl Enter', 'call the action'], ['b', 'back'], ['Esc', 'close, or empty the filter'],
];
keys.append(h('h2', { id: 'keys-title', text: 'Keys' }),
  h('dl', { class: 'keys' }, shortcuts.map(([k, what]) => [h('dt', {}, k.split(' ').map(one => h('kbd', { text: one }))), h('dd', { text: what })])),
  h('button', { type: 'button', class: 'primary', text: 'Close', onclick: () => keys.close() }));
document.getElementById('keys-button').addEventListener('click', () => keys.showModal());

const writes = e => e.matches('input, textarea, select, [contenteditable]');
let going = 0;
addEventListener('keydown', e => {
  if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector('dialog[open]') || writes(e.target)) return;
  if (going && performance.now() - going < 1500) {
    going = 0;
    const to = places.find(p => p.key === e.key);
    if (to) { location.hash = '#/' + to.path; e.preventDefault(); }
    return;
  }
  switch (e.key) {
    case '?': keys.showModal(); break;
    case 'g': going = performance.now(); break;
    case 'b': history.back(); break;
    case '/': {
      const box = main.querySelector('[data-filter]');
      if (!box) return;
      box.focus();
      box.select();
      break;
    }
    case 'ArrowDown': {
      if (document.activeElement !== document.body && document.activeElement !== main && document.activeElement.tagName !== 'H1') return;
      const one = main.querySelector('tbody a, tbody button, [role=treeitem], .rows button');
      if (!one) return;
      one.focus();
      break;
    }
    default:
      if (!current?.key?.(e)) return;
  }
  e.preventDefault();
});

void settings;
show();
connect();
