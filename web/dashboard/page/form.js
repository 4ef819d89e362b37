// JSON Schemas (draft 2020-12) as tables to read and as forms to fill in.

import { h, icon, empty } from './dom.js';

// resolve follows references. A schema that only refers to itself is any value.
function resolve(schema, defs) {
  for (let i = 0; schema && schema.$ref && i < 10; i++) {
    const to = defs[schema.$ref.replace('#/$defs/', '')];
    schema = to ? { ...to, description: schema.description || to.description } : {};
  }
  return schema || {};
}

const typesOf = schema => [].concat(schema.type || []);
const typeOf = schema => typesOf(schema).find(t => t !== 'null') || (schema.properties ? 'object' : schema.enum ? 'string' : '');
const nullable = schema => typesOf(schema).includes('null');

// plain takes apart what may be null: anyOf a type and null.
function plain(schema, defs) {
  schema = resolve(schema, defs);
  const choices = (schema.anyOf || []).filter(one => one.type !== 'null');
  if (schema.anyOf && choices.length === 1) return { ...resolve(choices[0], defs), description: schema.description || choices[0].description };
  return schema;
}

function typeName(schema, defs) {
  const raw = schema;
  schema = plain(schema, defs);
  const t = typeOf(schema), named = raw.$ref ? raw.$ref.replace('#/$defs/', '') : '';
  if (t === 'array') return 'list of ' + typeName(schema.items || {}, defs);
  if (t === 'object' && schema.additionalProperties && !schema.properties) return 'map of ' + typeName(schema.additionalProperties, defs);
  return (named || (t === 'integer' && /^u?int\d/.test(schema.format || '') ? schema.format : t) || 'any value') + (nullable(schema) ? ' or null' : '');
}

function rulesOf(schema) {
  const rules = [];
  const add = (name, value) => { if (value !== undefined && value !== null && value !== '') rules.push(name + value); };
  if (!/^u?int|^double$|^float$/.test(schema.format || '')) add('', schema.format);
  if (schema.enum) rules.push('one of ' + schema.enum.map(v => JSON.stringify(v)).join(', '));
  add('≥ ', schema.minimum);
  add('≤ ', schema.maximum);
  add('> ', schema.exclusiveMinimum);
  add('< ', schema.exclusiveMaximum);
  const sizes = (low, high, what) => {
    const word = n => n === 1 ? what.slice(0, -1) : what;
    if (schema.enum) return;
    if (low !== undefined && low === high) rules.push(`${low} ${word(low)}`);
    else if (low !== undefined && high !== undefined) rules.push(`${low} to ${high} ${what}`);
    else if (low !== undefined) rules.push(`at least ${low} ${word(low)}`);
    else if (high !== undefined) rules.push(`at most ${high} ${word(high)}`);
  };
  sizes(schema.minLength, schema.maxLength, 'characters');
  sizes(schema.minItems, schema.maxItems, 'items');
  sizes(schema.minProperties, schema.maxProperties, 'members');
  add('matches ', schema.pattern);
  if (schema.uniqueItems) rules.push('no item twice');
  if (schema.contentEncoding) rules.push(schema.contentEncoding);
  if (schema.default !== undefined) rules.push('without it ' + JSON.stringify(schema.default));
  for (const r of schema['x-rules'] || []) rules.push(r);
  return rules;
}

const deepest = 5, mostRows = 200;

// schemaTable is one row for each member, those of members indented.
export function schemaTable(schema, defs) {
  const rows = [];
  const row = (name, one, required, depth) => {
    const p = plain(one, defs), rules = rulesOf(p);
    const first = h('th', { scope: 'row', 'data-label': 'Member' }, h('span', { class: 'indent d' + depth }, h('code', { text: name }), required && h('span', { class: 'required', title: 'required', text: 'required' })));
    rows.push(h('tr', {}, first, h('td', { 'data-label': 'Type' }, h('span', { class: 'type', text: typeName(one, defs) })), h('td', { 'data-label': 'Rules' }, rules.length ? rules.map(r => h('span', { class: 'rule', text: r })) : '–'),
      h('td', { 'data-label': 'About', class: 'wide' }, p.description || '–')));
  };
  const walk = (one, depth, trail) => {
    const p = plain(one, defs);
    if (depth > deepest || rows.length > mostRows) return;
    for (const [name, member] of Object.entries(p.properties || {})) {
      row(name, member, (p.required || []).includes(name), depth);
      let inner = member, innerPlain = plain(member, defs);
      while (typeOf(innerPlain) === 'array' || innerPlain.additionalProperties && !innerPlain.properties) {
        inner = innerPlain.items || innerPlain.additionalProperties || {};
        innerPlain = plain(inner, defs);
      }
      if (!inner.$ref || !trail.includes(inner.$ref)) walk(inner, depth + 1, [...trail, inner.$ref]);
    }
  };
  const top = plain(schema, defs);
  if (!schema || typeOf(top) === 'object' && !Object.keys(top.properties || {}).length && !top.additionalProperties) return empty('Nothing', 'An empty object, {}.');
  let inner = schema;
  if (!top.properties) {
    row('(value)', schema, false, 0);
    let p = top;
    while (typeOf(p) === 'array' || p.additionalProperties && !p.properties) { inner = p.items || p.additionalProperties || {}; p = plain(inner, defs); }
    walk(inner, 1, [inner.$ref]);
  } else walk(schema, 0, [schema.$ref]);
  return h('div', { class: 'table schema' }, h('table', {}, h('thead', {}, h('tr', {}, ['Member', 'Type', 'Rules', 'About'].map(t => h('th', { scope: 'col', text: t })))), h('tbody', {}, rows)));
}

// sample is a value that a schema takes, as JSON to start from.
export function sample(schema, defs) {
  const make = (one, depth) => {
    const p = plain(one, defs);
    if (p.examples?.length) return p.examples[0];
    if (p.default !== undefined) return p.default;
    if (p.enum) return p.enum[0];
    switch (typeOf(p)) {
      case 'object': return depth > 4 ? {} : Object.fromEntries(Object.entries(p.properties || {}).filter(([name]) => depth < 1 || (p.required || []).includes(name)).map(([name, m]) => [name, make(m, depth + 1)]));
      case 'array': return p.minItems && depth < 4 ? [make(p.items || {}, depth + 1)] : [];
      case 'integer': case 'number': return Number(p.minimum ?? 0);
      case 'boolean': return false;
      case 'string': return p.format === 'date-time' ? new Date().toISOString() : '';
    }
    return null;
  };
  return JSON.stringify(make(schema, 0), null, 2);
}

let ids = 0;

// makeForm makes fields of a schema. read() gives {text} as JSON or {error}; numbers keep the digits that were typed.
export function makeForm(schema, defs) {
  const top = plain(schema, defs);
  const fields = typeOf(top) === 'object' && top.properties ? members(top, 0) : value(schema, '', true, 0);
  if (fields.empty) return { element: h('p', { class: 'muted', text: 'It takes nothing.' }), read: () => ({ text: '{}' }) };

  return { element: fields.element, read(lenient) {
    const bad = [];
    const text = fields.read(bad);
    if (bad.length && !lenient) { bad[0].focus(); return { error: bad[0].problem }; }
    return { text: lenient ? pretty(text ?? '{}') : text ?? '{}' };
  } };

  function pretty(text) {
    try { return JSON.stringify(JSON.parse(text)) === text ? JSON.stringify(JSON.parse(text), null, 2) : text; } catch { return text; }
  }

  function members(p, depth) {
    const list = Object.entries(p.properties).map(([name, member]) => [name, value(member, name, (p.required || []).includes(name), depth)]);
    return { empty: !list.length, element: h('div', { class: 'members' }, list.map(([, f]) => f.element)), read(bad) {
      const parts = [];
      for (const [name, f] of list) {
        const text = f.read(bad);
        if (text !== undefined) parts.push(JSON.stringify(name) + ':' + text);
      }
      return '{' + parts.join(',') + '}';
    }, isSet: () => list.some(([, f]) => f.isSet()) };
  }

  function value(raw, name, required, depth) {
    const p = plain(raw, defs), t = typeOf(p);
    if (p.enum) return choice(p, name, required, p.enum.map(v => [JSON.stringify(v), String(v)]));
    if (t === 'boolean') return choice(p, name, required, [['true', 'true'], ['false', 'false']]);
    if (t === 'object' && p.properties && depth < 4) return group(p, name, required, depth);
    if (t === 'array' && depth < 4 && p.items) return repeated(p, name, required, depth);
    if (t === 'integer' || t === 'number') return line(raw, p, name, required, text => /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text) && (t === 'number' || /^-?\d+$/.test(text)) ? [text] : [undefined, t === 'integer' ? 'a whole number' : 'a number']);
    if (t === 'string') return line(raw, p, name, required, text => [JSON.stringify(text)]);
    return area(raw, p, name, required);
  }

  function labelled(id, p, raw, name, required, input) {
    const rules = rulesOf(p).slice(0, 3).join(' · ');
    const note = [p.description, rules].filter(Boolean).join(' — ');
    if (note) input.setAttribute('aria-describedby', id + 'n');
    return h('div', { class: 'field' }, name && h('label', { for: id }, h('span', { class: 'field-name', text: name }), required && h('span', { class: 'required', text: 'required' }), h('span', { class: 'type', text: typeName(raw, defs) })),
      input, note && h('small', { id: id + 'n', text: note }));
  }

  function refuse(input, bad, text) {
    input.setAttribute('aria-invalid', 'true');
    input.problem = text;
    bad.push(input);
  }

  function line(raw, p, name, required, parse) {
    const id = 'f' + ++ids, numeric = typeOf(p) !== 'string';
    const input = h('input', { id, type: 'text', inputmode: numeric ? 'decimal' : null, autocomplete: 'off', spellcheck: 'false', autocapitalize: 'off', 'aria-label': name ? null : 'Value',
      placeholder: p.examples?.length ? String(p.examples[0]) : p.format === 'date-time' ? '2026-01-31T12:00:00Z' : null, oninput: () => input.removeAttribute('aria-invalid') });
    if (p.default !== undefined) input.value = String(p.default);
    return { element: labelled(id, p, raw, name, required, input), isSet: () => input.value !== '', read(bad) {
      const text = numeric ? input.value.trim() : input.value;
      if (text === '' && !(required && !numeric)) {
        if (required) refuse(input, bad, `“${name}” is missing.`);
        return undefined;
      }
      const [out, wanted] = parse(text);
      if (out === undefined) refuse(input, bad, `“${name}” has to be ${wanted}.`);
      return out;
    } };
  }

  function choice(p, name, required, options) {
    const id = 'f' + ++ids;
    const input = h('select', { id, 'aria-label': name ? null : 'Value' }, !required && h('option', { value: '', text: '(left out)' }), options.map(([v, text]) => h('option', { value: v, text })));
    if (p.default !== undefined) input.value = JSON.stringify(p.default);
    return { element: labelled(id, p, p, name, required, input), isSet: () => input.value !== '', read: () => input.value || undefined };
  }

  function area(raw, p, name, required) {
    const id = 'f' + ++ids;
    const input = h('textarea', { id, class: 'code', rows: 3, spellcheck: 'false', placeholder: 'JSON', 'aria-label': name ? null : 'Value', oninput: () => input.removeAttribute('aria-invalid') });
    return { element: labelled(id, p, raw, name, required, input), isSet: () => input.value.trim() !== '', read(bad) {
      const text = input.value.trim();
      if (text === '') { if (required) refuse(input, bad, `“${name}” is missing.`); return undefined; }
      try { JSON.parse(text); } catch { refuse(input, bad, `“${name}” is no JSON.`); }
      return text;
    } };
  }

  function group(p, name, required, depth) {
    const inner = members(p, depth + 1);
    if (!name) return inner;
    return { element: h('fieldset', {}, h('legend', {}, h('span', { class: 'field-name', text: name }), required && h('span', { class: 'required', text: 'required' })), p.description && h('small', { text: p.description }), inner.element),
      isSet: inner.isSet, read: bad => !required && !inner.isSet() ? undefined : inner.read(bad) };
  }

  function repeated(p, name, required, depth) {
    const items = [], holder = h('div', { class: 'items' });
    const add = focus => {
      const f = value(p.items, '', true, depth + 1);
      const remove = h('button', { type: 'button', class: 'icon', 'aria-label': 'Remove this item', onclick: () => { items.splice(items.indexOf(f), 1); row.remove(); more.focus(); } }, icon('cross'));
      const row = h('div', { class: 'item' }, f.element, remove);
      items.push(f);
      holder.append(row);
      if (focus) row.querySelector('input, select, textarea')?.focus();
    };
    const more = h('button', { type: 'button', class: 'quiet', onclick: () => add(true) }, icon('plus'), 'Add to ' + (name || 'the list'));
    if (p.minItems || required) add(false);
    return { element: h('fieldset', {}, h('legend', {}, h('span', { class: 'field-name', text: name || 'list' }), required && h('span', { class: 'required', text: 'required' }), h('span', { class: 'type', text: typeName(p, defs) })), holder, more),
      isSet: () => items.some(f => f.isSet()), read: bad => !required && !items.length ? undefined : '[' + items.map(f => f.read(bad) ?? 'null').join(',') + ']' };
  }
}
