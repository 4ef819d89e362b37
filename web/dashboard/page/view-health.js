// What is not well: nodes that get no calls of an action, breakers that are not closed, services that wait for others, checks that fail.

import { h, heading, badge, empty, code, setText } from './dom.js';
import { api, state } from './live.js';
import { settings } from './settings.js';
import { clock, plural } from './format.js';
import { table } from './table.js';

const nodeLink = id => h('a', { href: '#/nodes/' + encodeURIComponent(id), text: id });
const linked = of => (row, cell) => { if (!cell.firstChild) cell.append(nodeLink(row[of])); };
const time = t => t && !t.startsWith('0001') ? clock(Date.parse(t)) : '–';

export function health() {
  const stop = new AbortController();
  const wrong = h('p', { class: 'wrong', role: 'alert' }), note = h('p', { class: 'lead' });
  const ejected = table({
    caption: 'Nodes without calls of an action', key: l => l.node + ' ' + l.action + ' ' + l.by, sort: { key: 'node' },
    empty: () => empty('No node is left out', 'A node that answers an action worse than the others gets no calls of it for a while.'),
    columns: [
      { key: 'node', label: 'Node', value: l => l.node, draw: linked('node') },
      { key: 'action', label: 'Action', value: l => l.action, text: l => l.action },
      { key: 'by', label: 'Left out by', value: l => l.by, text: l => l.by },
      { key: 'reason', label: 'Why', kind: 'two', wide: true, value: l => l.reason || '', text: l => l.reason || '–' },
      { key: 'until', label: 'Tried again at', num: true, value: l => l.until || '', text: l => time(l.until) },
      { key: 'times', label: 'Times', num: true, value: l => l.times, text: l => String(l.times) },
    ],
  });
  let answered = [], broken = [], closed = 0;
  const breakers = table({
    caption: 'Breakers that are not closed', key: b => b.node + ' ' + b.action, sort: { key: 'node' },
    empty: () => answered.length ? empty('No breaker is open', closed ? plural(closed, 'breaker is', 'breakers are') + ' closed.' : 'No call has passed a breaker yet.') :
      empty('No node tells of its breakers', h('span', {}, 'Serve their states: ', code('policy.Breaker{States: &states}'), ', ', code('sabir.Serve(states.Service())'), '.')),
    columns: [
      { key: 'node', label: 'Node', value: b => b.node, draw: linked('node') },
      { key: 'action', label: 'Action', value: b => b.action, text: b => b.action },
      { key: 'state', label: 'State', value: b => b.state, draw: (b, cell) => { if (cell.dataset.now !== b.state) { cell.dataset.now = b.state; cell.replaceChildren(badge(b.state, b.state === 'open' ? 'bad' : 'warn')); } } },
    ],
  });
  const missing = table({
    caption: 'Services that depend on what no node offers', key: d => d.node + ' ' + d.service + ' ' + d.on, sort: { key: 'node' },
    empty: () => empty('No service waits for another one', h('span', {}, 'A service names those that it needs with ', code('sabir.DependsOn'), '.')),
    columns: [
      { key: 'node', label: 'Node', value: d => d.node, draw: linked('node') },
      { key: 'service', label: 'Service', value: d => d.service, text: d => d.service },
      { key: 'on', label: 'Depends on', value: d => d.on, text: d => d.on },
      { key: 'problem', label: 'Why', kind: 'two', wide: true, value: d => d.problem, text: d => d.problem },
    ],
  });
  const checks = table({
    caption: 'Checks of readiness', key: c => c.node + ' ' + c.name + ' ' + (c.service || ''), sort: { key: 'failed', down: true },
    empty: () => empty('No checks', h('span', {}, 'A service adds one with ', code('sabir.Ready("db", db.PingContext)'), '.')),
    columns: [
      { key: 'node', label: 'Node', value: c => c.node, draw: linked('node') },
      { key: 'name', label: 'Check', value: c => c.name, text: c => c.name + (c.service ? ' of ' + c.service : '') },
      { key: 'failed', label: 'Outcome', value: c => c.error ? 1 : 0, draw: (c, cell) => { const now = c.error || ''; if (cell.dataset.now !== now) { cell.dataset.now = now; cell.replaceChildren(c.error ? badge('fails', 'bad') : badge('passed', 'good')); } } },
      { key: 'error', label: 'Why', kind: 'two', wide: true, value: c => c.error || '', text: c => c.error || '–' },
    ],
  });
  const element = h('div', { class: 'view' }, heading('Health', note), wrong,
    h('section', { class: 'card flush' }, h('h2', { text: 'Nodes without calls' }), ejected.element),
    h('section', { class: 'card flush' }, h('h2', { text: 'Breakers' }), breakers.element),
    h('section', { class: 'card flush' }, h('h2', { text: 'Dependencies' }), missing.element),
    h('section', { class: 'card flush' }, h('h2', { text: 'Checks of readiness' }), checks.element));
  function draw() {
    const look = state.look;
    if (!look) return;
    const left = look.leftOut || [], unmet = look.nodes.flatMap(n => (n.unmet || []).map(d => ({ ...d, node: n.id }))), all = look.nodes.flatMap(n => (n.checks || []).map(c => ({ ...c, node: n.id }))), failing = all.filter(c => c.error);
    ejected.update([...left]);
    breakers.update([...broken]);
    missing.update(unmet);
    checks.update(all);
    const bad = [left.length && plural(left.length, 'action is', 'actions are') + ' left out', broken.length && plural(broken.length, 'breaker is', 'breakers are') + ' not closed', unmet.length && plural(unmet.length, 'dependency is', 'dependencies are') + ' missing', failing.length && plural(failing.length, 'check fails', 'checks fail')].filter(Boolean);
    setText(note, bad.length ? bad.join(', ') + '.' : 'Nothing is wrong.');
  }
  async function ask() {
    try {
      const answer = await api('api/breakers', undefined, stop.signal);
      answered = answer.nodes.filter(n => n.answer);
      const every = answered.flatMap(n => n.answer.map(b => ({ ...b, node: n.node })));
      broken = every.filter(b => b.state !== 'closed');
      closed = every.length - broken.length;
      setText(wrong, '');
      draw();
    } catch (e) { if (e.name !== 'AbortError') setText(wrong, e.message); }
  }
  ask();
  const timer = setInterval(ask, Math.max(2, settings.refresh) * 1000);
  return { title: 'Health', element, update(kind) { if (kind === 'hello') ask(); draw(); }, end() { clearInterval(timer); stop.abort(); } };
}
