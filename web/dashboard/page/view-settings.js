// What this browser remembers, and who is logged in.

import { h, heading } from './dom.js';
import { state, api, toLogin } from './live.js';
import { settings, set } from './settings.js';

export function settingsView() {
  const choices = (name, legend, list) => {
    const group = h('fieldset', { class: 'setting' }, h('legend', { text: legend }), list.map(([value, label, note]) => {
      const input = h('input', { type: 'radio', name, value: String(value), onchange: () => set(name, value) });
      return h('label', { class: 'radio' }, input, h('span', {}, label, note && h('small', { text: note })));
    }));
    return group;
  };
  const theme = choices('theme', 'Theme', [['system', 'As the system'], ['light', 'Light'], ['dark', 'Dark']]);
  const refresh = choices('refresh', 'Figures', [[0, 'As they come', 'each second, unless the node is set to another interval'], [2, 'Every 2 seconds'], [5, 'Every 5 seconds'], [15, 'Every 15 seconds', 'for slow connections and machines']]);
  const own = h('input', { type: 'checkbox', onchange: () => set('own', own.checked) });
  own.checked = settings.own;
  const about = h('dl', { class: 'facts' }), wrong = h('p', { class: 'wrong', role: 'alert' });
  const out = h('button', { type: 'button', text: 'Log out', hidden: true, onclick: async () => { try { await api('logout', ''); toLogin(); } catch (e) { wrong.textContent = e.message; } } });
  const element = h('div', { class: 'view narrow' }, heading('Settings'), h('section', { class: 'card' }, theme), h('section', { class: 'card' }, refresh),
    h('section', { class: 'card' }, h('fieldset', { class: 'setting' }, h('legend', { text: 'Lists' }), h('label', { class: 'radio' }, own, h('span', {}, 'Show the runtime’s own actions', h('small', { text: 'those whose names begin with $' }))))),
    h('section', { class: 'card' }, h('h2', { text: 'About' }), about, out, wrong),
    h('p', { class: 'muted more' }, 'Kept in this browser only. Press ', h('kbd', { text: '?' }), ' anywhere for the keys.'));
  return { title: 'Settings', element, update() {
    theme.querySelector(`[value=${settings.theme}]`).checked = true;
    refresh.querySelector(`[value="${settings.refresh}"]`).checked = true;
    if (!state.hello) return;
    out.hidden = !state.hello.login;
    const list = [['Node', state.hello.node], ['Looks', `every ${state.hello.every} s while somebody watches`], ['Calls', state.hello.readOnly ? 'off: the dashboard only shows' : 'on'], ['Access', state.hello.login ? 'with a key' : 'open: this machine only']];
    about.replaceChildren(...list.map(([k, v]) => h('div', {}, h('dt', { text: k }), h('dd', { text: v }))));
  } };
}
