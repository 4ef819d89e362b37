// Schemas as tables for people.
import { h, inline } from "./dom.js";

let types = {};
export const useTypes = (all) => { types = all ?? {}; };

const unescape = (s) => { try { return decodeURIComponent(s); } catch { return s; } };
export const refName = (s) => unescape(s.$ref.slice("#/$defs/".length)).replaceAll("~1", "/").replaceAll("~0", "~");

// A schema behind its references.
export function resolve(s) {
  for (let i = 0; s?.$ref && i < 8; i++) s = types[refName(s)];
  return s ?? {};
}

const kinds = (s) => [s?.type ?? []].flat();
export const kind = (s) => kinds(s).find((t) => t !== "null") ?? "";

// The one form of a value that may be null, or the schema itself.
export function plain(s) {
  s = resolve(s);
  const rest = s.anyOf?.filter((a) => kind(a) || a.$ref || a.anyOf);
  return rest?.length === 1 && rest.length < s.anyOf.length ? plain(rest[0]) : s;
}

export const nullable = (s) => { s = resolve(s); return kinds(s).includes("null") || !!s.anyOf?.some((a) => kinds(a).join() === "null"); };
export const isBytes = (s) => resolve(s).contentEncoding === "base64";

// What a schema is, in a few words: "User[]", "integer int64", "string or null".
export function typeText(s) {
  if (!s) return "nothing";
  if (s.$ref) return refName(s);
  if (s.anyOf) return s.anyOf.map(typeText).join(" or ");
  const names = kinds(s).map((t) => {
    if (t === "array") return s.items?.anyOf ? `(${typeText(s.items)})[]` : `${typeText(s.items ?? {})}[]`;
    if (t === "object" && s.additionalProperties) return `map of ${typeText(s.additionalProperties)}`;
    if (t === "string" && s.contentEncoding) return `bytes (${s.contentEncoding})`;
    return s.format && t !== "null" ? `${t} ${s.format}` : t;
  });
  return names.join(" or ") || ("const" in s ? JSON.stringify(s.const) : "anything");
}

const span = (min, max, unit) => (min != null && max != null ? (min === max ? `${min} ${unit}` : `${min} to ${max} ${unit}`) : min != null ? `at least ${min} ${unit}` : max != null ? `at most ${max} ${unit}` : "");
const show = (v) => (typeof v === "string" ? v || '""' : v?.text ?? JSON.stringify(v));

// The rules of a schema, each in a few words.
export function rules(s) {
  s = s?.$ref ? {} : s ?? {};
  return [
    s.enum && `one of ${s.enum.map(show).join(", ")}`,
    "const" in s && `always ${show(s.const)}`,
    span(s.minLength, s.maxLength, "characters"), span(s.minItems, s.maxItems, "items"), span(s.minProperties, s.maxProperties, "members"),
    s.minimum != null && `≥ ${show(s.minimum)}`, s.exclusiveMinimum != null && `> ${show(s.exclusiveMinimum)}`,
    s.maximum != null && `≤ ${show(s.maximum)}`, s.exclusiveMaximum != null && `< ${show(s.exclusiveMaximum)}`,
    s.pattern && `matches ${s.pattern}`, s.uniqueItems && "no item twice", s.default !== undefined && `default ${show(s.default)}`,
    s.writeOnly && "never sent back", ...(s["x-rules"] ?? []),
    s.items && rules(s.items).length && `each: ${rules(s.items).join(", ")}`,
    s.additionalProperties && rules(s.additionalProperties).length && `each: ${rules(s.additionalProperties).join(", ")}`,
  ].filter(Boolean);
}

// The object inside lists, maps and null, if there is one with members of its own.
function inner(s) {
  for (let i = 0; i < 8; i++) {
    s = plain(s);
    if (s.properties) return s;
    s = s.items ?? s.additionalProperties;
    if (!s) return null;
  }
  return null;
}

// A table of a value's members; a line for what has none. Of inputs it says which are required, of outputs which may be missing.
export function table(s, caption, output) {
  const at = inner(s);
  const named = at ? Object.entries(at.properties) : [];
  const head = h("thead", null, h("tr", null, ["Field", "Type", "Rules"].map((t) => h("th", { scope: "col" }, t))));
  const body = h("tbody");
  for (const [name, p] of named) body.append(...rows(name, p, at.required?.includes(name), output));
  const about = [!s?.$ref || plain(s) !== at ? h("code", null, typeText(s)) : null, rules(s).map((r) => h("span", { class: "rule" }, " ", r))];
  const said = s?.$ref && resolve(s).description;
  if (!named.length) return h("p", null, about, said ? [" ", inline(said)] : "");
  return h("div", null, said && h("p", { class: "quiet" }, inline(said)), about[0] && h("p", null, about),
    h("table", { class: "fields" }, h("caption", { class: "hidden" }, caption), head, body));
}

function rows(name, p, required, output) {
  const said = p.description ?? (p.$ref && resolve(p).description);
  const list = [h("tr", null,
    h("td", null, h("code", null, name), output ? !required && [" ", h("span", { class: "quiet small" }, "may be missing")] : required && [" ", h("span", { class: "must" }, "required")]),
    h("td", null, h("code", null, typeText(p))),
    h("td", null, said && [inline(said), " "], rules(p).map((r) => h("span", { class: "rule" }, r))))];
  const below = inner(p);
  if (below) {
    const more = h("details", null, h("summary", null, `Fields of ${name}`));
    more.addEventListener("toggle", () => more.open && more.childElementCount === 1 && more.append(table(bare(p), `Fields of ${name}`, output)));
    list.push(h("tr", null, h("td", { class: "nested", colspan: 3 }, more)));
  }
  return list;
}

// The object that a member leads to, which may contain itself: tables below open one at a time.
const bare = (p) => ({ ...inner(p), description: undefined });
