// The one stream of looks that all views read.

import { settings } from './settings.js';

export const state = { status: 'connecting', hello: null, look: null, catalog: null, history: [], rates: new Map() };

const kept = 120; // looks of history
const listeners = new Set();
let stream = null, timer = 0, lastShown = 0, held = false, heard = 0;

export function listen(fn) {
  listeners.add(fn);
  return () => listeners.delete(fn);
}

function tell(kind) {
  for (const fn of [...listeners]) fn(kind);
}

function setStatus(status) {
  if (state.status === status) return;
  state.status = status;
  tell('status');
}

// api asks the dashboard; an error has the problem document as its cause.
export async function api(path, body, signal) {
  const options = { headers: {}, signal, credentials: 'same-origin' };
  if (body !== undefined) {
    options.method = 'POST';
    options.headers = { 'Content-Type': 'application/json', 'X-Sabir-Dashboard': '1' };
    options.body = body;
  }
  let answer;
  try {
    answer = await fetch(path, options);
  } catch (e) {
    if (e.name === 'AbortError') throw e;
    throw new Error('The node does not answer. It may be restarting; this page tries again by itself.');
  }
  if (answer.status === 401) {
    toLogin();
    throw new Error('The session has ended.');
  }
  if (answer.status === 204) return null;
  const text = await answer.text();
  let value;
  try { value = JSON.parse(text); } catch { throw new Error('The answer cannot be read (' + answer.status + ').'); }
  if (!answer.ok) throw new Error(value.detail || value.title, { cause: value });
  return value;
}

export function toLogin() {
  location.replace('login' + location.hash);
}

function keep(look) {
  state.look = look;
  const points = state.history;
  if (look.rated && (!points.length || points[points.length - 1].at < look.total.at)) points.push(look.total);
  if (points.length > kept) points.shift();
  const there = new Set();
  for (const a of look.actions || []) {
    there.add(a.name);
    let list = state.rates.get(a.name);
    if (!list) state.rates.set(a.name, list = []);
    if (look.rated) list.push(a.rate);
    if (list.length > 60) list.shift();
  }
  for (const name of state.rates.keys()) if (!there.has(name)) state.rates.delete(name);
}

// show tells the views, no oftener than the settings say.
function show() {
  const wait = settings.refresh * 1000 - 200 - (performance.now() - lastShown);
  if (settings.refresh && wait > 0 && lastShown) {
    if (!held) { held = true; setTimeout(() => { held = false; show(); }, wait); }
    return;
  }
  lastShown = performance.now();
  tell('look');
}

// A browser has six connections to a node for all of its pages, and keeps those that one has left for a while. So a page has its
// stream while it is seen.
document.addEventListener('visibilitychange', connect);

export function connect() {
  clearTimeout(timer);
  if (stream) stream.close();
  if (document.hidden) return;
  heard = performance.now();
  stream = new EventSource('api/stream');
  const on = (kind, fn) => stream.addEventListener(kind, e => { heard = performance.now(); fn(JSON.parse(e.data)); });
  on('hello', hello => {
    if (state.hello && state.hello.version !== hello.version) { location.reload(); return; }
    state.hello = hello;
    if (hello.history.length > state.history.length) state.history = hello.history;
    setStatus('live');
    tell('hello');
  });
  on('look', look => { setStatus('live'); keep(look); show(); });
  on('catalog', catalog => { state.catalog = catalog; tell('catalog'); });
  on('stopping', () => setStatus('stopping'));
  on('logout', toLogin);
  stream.onerror = () => {
    setStatus(state.status === 'stopping' ? 'stopping' : 'lost');
    if (stream.readyState === EventSource.CLOSED) retry();
  };
}

// A network that is gone ends no stream: what stands there would pass for what is. A look comes at every interval and takes a second or two.
setInterval(() => {
  if (!document.hidden && performance.now() - heard > 10000 + 3000 * (state.hello?.every ?? 0)) {
    setStatus('lost');
    connect();
  }
}, 2000);

// retry is for what the browser does not try again by itself: an answer that is no stream. It may be a session's end.
async function retry() {
  try { await api('api/latency?action='); } catch { /* it shows in the status */ }
  timer = setTimeout(connect, 1500);
}

// The newest figures of one action, and what the cluster says of it.
export const figuresOf = name => (state.look && state.look.actions || []).find(a => a.name === name);
export const entryOf = name => (state.catalog && state.catalog.actions || []).find(a => a.name === name);
export const nodeOf = id => (state.look && state.look.nodes || []).find(n => n.id === id);

// silentNodes is the nodes without figures, by what is the matter.
export function silentNodes() {
  const by = {};
  for (const n of state.look ? state.look.nodes : []) if (n.telemetry) (by[n.telemetry] = by[n.telemetry] || []).push(n.id);
  return by;
}
