// Fields to fill in, made from a schema. Each control has read(), which gives a value, undefined for none, or throws an
// Error that says what is wrong.
import { h, id } from "./dom.js";
import { Digits, parse, stringify } from "./json.js";
import { isBytes, kind, nullable, plain, rules, typeText } from "./schema.js";

const labelled = (name, required, control, hint, wide) => {
  const hintID = hint && id();
  if (hint) control.setAttribute("aria-describedby", hintID);
  control.id ||= id();
  if (required) control.setAttribute("aria-required", "true");
  return h("div", { class: "field" }, h("label", { for: control.id }, name, required && [" ", h("span", { class: "must" }, "required")]), control, hint && h("span", { class: "hint", id: hintID }, hint));
};

const numeral = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$/;

function scalar(name, s, type) {
  return (text) => {
    if (type === "boolean") return text === "true";
    if (type === "integer" || type === "number") {
      if (!numeral.test(text.trim())) throw new Error(`${name}: want a number, got "${text}"`);
      return new Digits(text.trim());
    }
    return text;
  };
}

// A control for a value: { el, read, write }.
export function control(name, schema, required, depth = 0) {
  const s = plain(schema);
  const type = kind(s);
  const hint = [typeText(schema), ...rules(schema.$ref ? schema : s)].join("; ");
  if (s.properties && depth < 3) return group(name, s, required, depth);
  if (type === "boolean" || s.enum) return choice(name, s, type, required, hint);
  if (type === "array" && ["string", "integer", "number"].includes(kind(plain(s.items))) && !isBytes(s.items)) return lines(name, s, required, hint);
  if (type === "string" || type === "integer" || type === "number") return line(name, s, type, required, hint, nullable(schema));
  return free(name, required, hint);
}

function line(name, s, type, required, hint, mayBeNull) {
  const input = h("input", { type: s.writeOnly ? "password" : "text", autocomplete: "off", spellcheck: "false", inputmode: type === "integer" ? "numeric" : type === "number" ? "decimal" : null, placeholder: s.format === "date-time" ? "2026-01-31T12:00:00Z" : null });
  const to = scalar(name, s, type);
  return {
    el: labelled(name, required, input, hint),
    read: () => (input.value === "" ? (required && type === "string" && !mayBeNull ? "" : undefined) : to(input.value)),
    write: (v) => { input.value = v == null ? "" : typeof v === "string" ? v : stringify(v); },
  };
}

function choice(name, s, type, required, hint) {
  const values = s.enum ?? [true, false];
  const select = h("select", null, h("option", { value: "" }, "—"), values.map((v, i) => h("option", { value: i }, String(v?.text ?? v))));
  return {
    el: labelled(name, required, select, hint),
    read: () => (select.value === "" ? undefined : values[select.value]),
    write: (v) => { const i = values.findIndex((x) => stringify(x) === stringify(v)); select.value = i < 0 ? "" : i; },
  };
}

function lines(name, s, required, hint) {
  const area = h("textarea", { rows: 2, spellcheck: "false" });
  const to = scalar(name, s.items, kind(plain(s.items)));
  return {
    el: labelled(name, required, area, `${hint}; one on each line`),
    read: () => { const list = area.value.split("\n").filter((l) => l !== ""); return list.length || required ? list.map(to) : undefined; },
    write: (v) => { area.value = (v ?? []).map((x) => (typeof x === "string" ? x : stringify(x))).join("\n"); },
  };
}

// Anything else is typed as JSON.
function free(name, required, hint) {
  const area = h("textarea", { rows: 3, spellcheck: "false" });
  return {
    el: labelled(name, required, area, `${hint}; as JSON`),
    read: () => {
      if (!area.value.trim()) return undefined;
      try { return parse(area.value); } catch (e) { throw new Error(`${name}: ${e.message}`); }
    },
    write: (v) => { area.value = v === undefined ? "" : stringify(v, "  "); },
  };
}

function group(name, s, required, depth) {
  const parts = Object.entries(s.properties).map(([key, p]) => [key, control(key, p, s.required?.includes(key), depth + 1)]);
  const el = h(depth ? "fieldset" : "div", null, depth ? h("legend", null, name, required && [" ", h("span", { class: "must" }, "required")]) : null, parts.map(([, c]) => c.el));
  return {
    el,
    read: () => {
      const v = {};
      for (const [key, c] of parts) { const x = c.read(); if (x !== undefined) v[key] = x; }
      const empty = Object.values(v).every((x) => x === "" || (Array.isArray(x) && !x.length));
      return depth && !required && empty ? undefined : v;
    },
    write: (v) => { for (const [key, c] of parts) c.write(v?.[key] ?? undefined); },
  };
}
