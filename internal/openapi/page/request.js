// The request that a form stands for, and how it looks as curl and TypeScript.
import { stringify } from "./json.js";
import { isBytes } from "./schema.js";

// What the reader entered to say who they are; in memory only, gone with the page.
export const secrets = new Map();

// The addresses of an action: its call and its REST forms.
export const ways = (a, prefix) => [
  ...(a.routes ?? []).map((r) => ({ method: r.method, path: (prefix ?? "") + r.pattern, params: r.params ?? [], body: r.body })),
  { method: "POST", path: (prefix ?? "") + a.path, params: [], body: true },
];

const words = (v) => (Array.isArray(v) ? v : [v]).filter((x) => x != null).map((x) => (typeof x === "string" ? x : stringify(x)));
const segment = (text) => encodeURIComponent(text);

// { method, url, headers, body } of a call by one of its ways with an input; for showing it, without secrets.
export function build(api, action, way, server, input, file, shown) {
  const headers = {}, query = [];
  const taken = new Set(way.params.map((p) => p.field));
  let path = way.path;
  for (const p of way.params) {
    const list = words(input?.[p.field]);
    if (p.in === "path") {
      const text = list[0] ?? "";
      path = path.replace(`{${p.name}...}`, () => text.split("/").map(segment).join("/")).replace(`{${p.name}}`, () => segment(text));
    } else if (p.in === "query") list.forEach((v) => query.push([p.name, v]));
    else if (p.in === "header" && list.length) headers[p.name] = list.join(",");
  }
  let body;
  if (way.body && action.in) {
    if (action.stream && isBytes(action.in)) { body = file; headers["Content-Type"] = "application/octet-stream"; }
    else {
      const rest = taken.size && input && typeof input === "object" ? Object.fromEntries(Object.entries(input).filter(([k]) => !taken.has(k))) : input;
      if (rest !== undefined) { body = stringify(rest); headers["Content-Type"] = "application/json"; }
    }
  }
  if (action.stream) headers.Accept = isBytes(action.out) ? "application/octet-stream" : "text/event-stream";
  sign(api, action, headers, query, shown);
  const search = query.map((pair) => pair.map(encodeURIComponent).join("=")).join("&");
  return { method: way.method, url: server + path + (search && `?${search}`), headers, body };
}

// Adds what was entered for the first scheme of the action that something was entered for, or words that stand for it.
function sign(api, action, headers, query, shown) {
  const names = (action.auth ?? []).filter((n) => api.schemes?.[n] && api.schemes[n].in !== "cookie");
  const name = names.find((n) => secrets.get(n)) ?? (shown ? names[0] : undefined);
  if (name === undefined) return;
  const s = api.schemes[name], secret = shown ? "YOUR-KEY" : secrets.get(name);
  if (s.type === "apiKey" && s.in === "header") headers[s.name] = secret;
  else if (s.type === "apiKey") query.push([s.name, secret]);
  else if (s.scheme === "basic") headers.Authorization = `Basic ${shown ? secret : btoa(String.fromCharCode(...new TextEncoder().encode(secret)))}`;
  else headers.Authorization = `Bearer ${secret}`;
}

const quote = (s) => `'${s.replaceAll("'", "'\\''")}'`;

export function curl(r) {
  const parts = [`curl${r.method === "GET" ? "" : ` -X ${r.method}`} ${quote(r.url)}`, ...Object.entries(r.headers).map(([k, v]) => `-H ${quote(`${k}: ${v}`)}`)];
  if (r.body instanceof Blob) parts.push(`--data-binary ${quote(`@${r.body.name}`)}`);
  else if (r.body !== undefined) parts.push(`-d ${quote(r.body)}`);
  if (r.headers.Accept === "text/event-stream") parts[0] = parts[0].replace("curl", "curl -N");
  return parts.join(" \\\n  ");
}

// A name for an action's types: "users.get" is "UsersGet".
const typeName = (name) => name.split(/[^A-Za-z0-9]+/).map((w) => w.charAt(0).toUpperCase() + w.slice(1)).join("");

export function typescript(r, action) {
  const lines = [`const response = await fetch(${JSON.stringify(r.url)}, {`, `  method: ${JSON.stringify(r.method)},`];
  const headers = Object.entries(r.headers);
  if (headers.length) lines.push(`  headers: { ${headers.map(([k, v]) => `${JSON.stringify(k)}: ${JSON.stringify(v)}`).join(", ")} },`);
  if (r.body instanceof Blob) lines.push("  body: file,");
  else if (r.body !== undefined) lines.push(`  body: ${JSON.stringify(r.body)},`);
  lines.push("});", "if (!response.ok) throw await response.json(); // a problem document");
  if (!action.stream) lines.push(action.out ? `const output = (await response.json()) as ${action.out.$ref ? typeName(action.out.$ref.slice(8)) : `${typeName(action.name)}Output`};` : "await response.text();");
  else if (isBytes(action.out)) lines.push("const file = await response.blob();");
  else lines.push("for await (const text of response.body!.pipeThrough(new TextDecoderStream())) console.log(text);");
  return lines.join("\n");
}
