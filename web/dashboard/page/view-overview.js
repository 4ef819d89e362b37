// The cluster at a glance, and one node of it.

import { h, heading, tile, badge, empty, code, setText, setAttr } from './dom.js';
import { api, state, silentNodes, nodeOf, figuresOf } from './live.js';
import { rate, span, share, count, lasting, plural } from './format.js';
import { map, traffic } from './chart.js';
import { table } from './table.js';

const what = { none: 'serves no figures', off: 'counts nothing', silent: 'does not answer' };

// advice says why figures are missing, and what to do, and how calls are shared out.
export function advice() {
  const list = h('div', { class: 'advice', hidden: true });
  let said = '';
  return { element: list, update() {
    const by = silentNodes(), routes = state.look?.routes ?? [], text = JSON.stringify([by, routes]);
    if (text === said) return;
    said = text;
    const lines = [];
    if (by.none) lines.push(h('p', {}, h('b', { text: 'No rates from ' + by.none.join(', ') + '. ' }), 'Serve them there: ', code('sabir.Serve(tel.Stats())'), ', where tel is made by ', code('telemetry.New'), '.'));
    if (by.off) lines.push(h('p', {}, h('b', { text: by.off.join(', ') + ' counts nothing. ' }), 'Give ', code('telemetry.New'), ' a ', code('telemetry.Config{Metrics: true}'), '.'));
    if (by.silent) lines.push(h('p', {}, h('b', { text: by.silent.join(', ') + ' does not answer. ' }), 'It may be overloaded, or cut off.'));
    for (const r of routes) lines.push(h('p', {}, h('b', { text: 'Calls of ' + r.name + ' are shared out. ' }), r.shares.map(s => s.to + ' gets ' + s.percent + ' %').join(', ') + '.'));
    list.replaceChildren(...lines);
    list.hidden = !lines.length;
  } };
}

function meter() {
  const bar = h('i'), text = h('span', { class: 'num' });
  const element = h('span', { class: 'meter' }, h('span', { class: 'bar', 'aria-hidden': 'true' }, bar), text);
  return { element, set(x) { bar.style.width = (100 * Math.min(1, x)).toFixed(1) + '%'; setText(text, share(x)); } };
}

function drawNode(n, cell) {
  if (!cell.firstChild) cell.append(h('a', { href: '#/nodes/' + encodeURIComponent(n.id), text: n.id }), h('span', { class: 'tags' }));
  const tags = (n.self ? 'self ' : '') + (n.clientOnly ? 'client only' : '');
  if (cell.dataset.tags !== tags) { cell.dataset.tags = tags; cell.lastChild.replaceChildren(...(n.self ? [badge('this node')] : []), ...(n.clientOnly ? [badge('client only')] : [])); }
}

// missed is what a node that is not ready lacks: services that its own wait for or have lost, and checks.
function missed(n) {
  const names = [...new Set([...(n.unmet || []).map(d => 'no ' + d.on), ...(n.checks || []).filter(c => c.error).map(c => c.name)])];
  return names.slice(0, 3).join(', ') + (names.length > 3 ? ` and ${names.length - 3} more` : '');
}

function drawState(n, cell) {
  const text = n.telemetry === 'silent' ? 'no answer' : n.silent ? 'silent' : n.sick ? 'sick' : n.drained ? 'drained' : n.notReady && n.state === 'running' ? 'not ready' : n.state;
  if (!cell.firstChild) cell.append(h('span', { class: 'dotted' }), h('small'));
  setText(cell.firstChild, text);
  setText(cell.lastChild, missed(n));
  if (n.sick) setAttr(cell, 'title', 'no calls for a while: ' + n.sick.join('; ')); else if (n.notReady) setAttr(cell, 'title', n.notReady); else cell.removeAttribute('title');
  cell.firstChild.dataset.kind = text === 'running' ? 'good' : 'bad';
}

function drawCPU(n, cell) {
  if (!cell.meter) { cell.meter = meter(); cell.append(cell.meter.element); }
  cell.meter.set(n.cpu);
}

function rates(of, bad) {
  return (n, cell) => {
    setText(cell, n.telemetry || n.clientOnly ? '–' : rate(n[of]));
    if (n.telemetry) setAttr(cell, 'title', what[n.telemetry]); else cell.removeAttribute('title');
    cell.classList.toggle('bad', Boolean(bad) && n[of] > 0);
  };
}

// past is the last hour of the cluster, or of a node, which is there when the page opens, and the looks since, of which there is
// one a second. In its first half minute a cluster has no hour to show, so it shows those.
let shown = 'hour';
function past(node) {
  const stop = new AbortController(), chart = traffic(), note = h('span', { class: 'muted more' });
  let hour = [];
  const pick = (name, label) => h('button', { type: 'button', text: label, 'aria-pressed': String(shown === name), onclick: () => { shown = name; for (const b of choice.children) b.setAttribute('aria-pressed', String(b.textContent === label)); draw(); } });
  const choice = h('span', { class: 'choice small', role: 'group', 'aria-label': 'Time that is shown' }, pick('hour', 'Last hour'), pick('looks', 'Now'));
  const draw = () => { chart.update(node || shown === 'hour' && hour.length > 1 ? hour : state.history); };
  async function ask() {
    try {
      const answer = await api('api/history?node=' + encodeURIComponent(node || ''), undefined, stop.signal);
      hour = answer.points;
      setText(note, answer.mute.length ? 'none from ' + answer.mute.join(', ') : '');
      draw();
    } catch (e) { if (e.name !== 'AbortError') setText(note, e.message); }
  }
  ask();
  const timer = setInterval(ask, 10_000);
  const element = h('section', { class: 'card' }, h('div', { class: 'card-head' }, h('h2', { text: 'Traffic' }), node ? h('span', { class: 'muted more', text: 'the last hour' }) : choice), h('p', { class: 'legend' }, h('span', { class: 'key line-key', text: 'calls a second' }), h('span', { class: 'key bad-key', text: 'errors a second' }), note), chart.element);
  return { element, update: draw, end() { clearInterval(timer); stop.abort(); chart.end(); } };
}

export function overview() {
  const tiles = { rate: tile('Calls', '/s'), errors: tile('Errors', '/s'), active: tile('In flight'), nodes: tile('Nodes'), actions: tile('Actions') };
  const chart = past(), cluster = map(), tips = advice();
  const nodes = table({
    caption: 'Nodes of the cluster', key: n => n.id, sort: { key: 'id' },
    empty: () => empty('No node has answered yet', 'They are asked every second.'),
    columns: [
      { key: 'id', label: 'Node', value: n => n.id, draw: drawNode },
      { key: 'state', label: 'State', value: n => n.state, draw: drawState },
      { key: 'rate', label: 'Calls/s', num: true, value: n => n.rate, draw: rates('rate') },
      { key: 'errors', label: 'Errors/s', num: true, value: n => n.errors, draw: rates('errors', true) },
      { key: 'inFlight', label: 'In flight', num: true, value: n => n.inFlight, text: n => count(n.inFlight) },
      { key: 'cpu', label: 'CPU', num: true, value: n => n.cpu, draw: drawCPU, kind: 'cpu' },
      { key: 'rtt', label: 'Round trip', num: true, value: n => n.rtt, text: n => n.self ? '–' : span(n.rtt) },
      { key: 'services', label: 'Services', num: true, value: n => n.services, text: n => String(n.services) },
      { key: 'up', label: 'Up for', num: true, value: n => -Date.parse(n.since), text: n => lasting((state.look.at - Date.parse(n.since)) / 1000) }, // by the node's clock: a browser's may be wrong
    ],
  });
  const element = h('div', { class: 'view' }, heading('Overview'), tips.element,
    h('section', { class: 'tiles', 'aria-label': 'Figures' }, Object.values(tiles).map(t => t.element)),
    h('div', { class: 'split' },
      h('section', { class: 'card' }, h('h2', { text: 'Cluster' }), h('p', { class: 'legend' }, h('span', { class: 'key cpu-key', text: 'CPU around a node' }), h('span', { class: 'key link-key', text: 'link, with its round trip' })), cluster.element),
      chart.element),
    h('section', { class: 'card flush' }, h('h2', { text: 'Nodes' }), nodes.element));
  return {
    title: 'Overview', element,
    update(kind) {
      const look = state.look;
      if (!look) return;
      tips.update();
      const t = look.total, p99 = (look.actions || []).filter(a => a.name[0] !== '$' && a.rate > 0).sort((a, b) => b.p99 - a.p99)[0];
      const most = Math.max(0, ...state.history.map(p => p.rate));
      tiles.rate.set(rate(t.rate), most ? 'at most ' + rate(most) + ' lately' : 'none lately');
      tiles.errors.set(rate(t.errors), t.rate > 0 && t.errors > 0 ? share(t.errors / t.rate) + ' of calls' : 'none now', t.errors > 0 ? 'bad' : '');
      tiles.active.set(count(t.active), p99 ? 'slowest p99 ' + span(p99.p99) : '');
      const up = look.nodes.filter(n => n.state === 'running' && n.telemetry !== 'silent').length;
      tiles.nodes.set(count(look.nodes.length), up === look.nodes.length ? 'all running' : up + ' running', up === look.nodes.length ? '' : 'bad');
      const c = state.catalog;
      if (c) {
        const own = c.actions.filter(a => a.name[0] !== '$').length;
        tiles.actions.set(count(own), 'in ' + plural(c.services.filter(s => s.name[0] !== '$').length, 'service'));
      }
      cluster.update(look);
      chart.update();
      nodes.update(look.nodes);
      void kind;
    },
    end() { chart.end(); cluster.end(); },
  };
}

export function node(id) {
  const tiles = { rate: tile('Calls', '/s'), errors: tile('Errors', '/s'), active: tile('In flight'), cpu: tile('CPU') };
  const facts = h('dl', { class: 'facts' }), gone = h('div', { class: 'advice', hidden: true }, h('p', { text: 'This node is not in the cluster now. It is shown again when it is back.' }));
  const tips = advice(), chart = past(id);
  const services = table({
    caption: 'Services of ' + id, key: s => s.name, sort: { key: 'name' }, empty: () => empty('No services', 'This node offers nothing to others.'),
    columns: [
      { key: 'name', label: 'Service', value: s => s.name, draw: (s, cell) => { if (!cell.firstChild) cell.append(h('span', { class: 'name', text: s.name }), h('small', { text: s.description || '' })); } },
      { key: 'actions', label: 'Actions', value: s => s.actions.length, wide: true, draw: (s, cell) => {
        const text = s.actions.join();
        if (cell.dataset.text !== text) { cell.dataset.text = text; cell.replaceChildren(h('span', { class: 'links' }, s.actions.map(a => h('a', { href: '#/actions/' + encodeURIComponent(a), text: a.slice(s.name.length + 1) })))); }
      } },
      { key: 'rate', label: 'Calls/s, cluster', num: true, kind: 'two', value: s => s.rate, text: s => rate(s.rate) },
    ],
  });
  let said = '';
  const element = h('div', { class: 'view' }, heading(id, h('p', { class: 'crumbs' }, h('a', { href: '#/', text: 'Overview' }), ' / node')), gone, tips.element,
    h('section', { class: 'tiles', 'aria-label': 'Figures' }, Object.values(tiles).map(t => t.element)),
    h('section', { class: 'card' }, h('h2', { text: 'About' }), facts), chart.element,
    h('section', { class: 'card flush' }, h('h2', { text: 'Services' }), services.element));
  return {
    title: id, element,
    end() { chart.end(); },
    update() {
      if (!state.look) return;
      const n = nodeOf(id);
      gone.hidden = Boolean(n);
      if (!n) return;
      tips.update();
      const mute = Boolean(n.telemetry);
      tiles.rate.set(mute ? '–' : rate(n.rate), mute ? what[n.telemetry] : state.look.total.rate > 0 ? share(n.rate / state.look.total.rate) + ' of the cluster’s' : '');
      tiles.errors.set(mute ? '–' : rate(n.errors), n.rate > 0 ? share(n.errors / n.rate) + ' of its calls' : '', n.errors > 0 ? 'bad' : '');
      tiles.active.set(count(n.inFlight));
      tiles.cpu.set(share(n.cpu), 'of ' + plural(n.cpus, 'processor'));
      const list = [['State', n.state], ...(n.sick ? [['No calls of', n.sick.join('; ')]] : []), ...(n.notReady ? [['Not ready', n.notReady]] : []), ...(n.unmet || []).map(d => [d.service + ' depends on ' + d.on, d.problem]), ...(n.checks || []).map(c => ['Check ' + c.name + (c.service ? ' of ' + c.service : ''), c.error || 'passed in ' + span(c.took)]), ['Address', n.addr || 'none: others do not dial it'], ['Zone', n.zone || '–'], ['Host', n.host], ['Process', n.pid], ['Go', n.go],
        ['Since', new Date(n.since).toLocaleString()], ['Round trip', n.self ? 'this is the dashboard’s node' : span(n.rtt)]];
      const text = JSON.stringify(list);
      if (text !== said) { said = text; facts.replaceChildren(...list.map(([k, v]) => h('div', {}, h('dt', { text: k }), h('dd', { text: v })))); }
      const c = state.catalog;
      if (c) services.update(c.services.filter(s => s.nodes.includes(id)).map(s => {
        const own = c.actions.filter(a => a.service === s.name && a.nodes.includes(id)).map(a => a.name);
        return { ...s, actions: own, rate: own.reduce((sum, a) => sum + (figuresOf(a)?.rate || 0), 0) };
      }));
    },
  };
}
