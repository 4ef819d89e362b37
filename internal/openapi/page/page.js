// The page: loads the description of the API, lists its actions, finds them.
import { h, id, prose } from "./dom.js";
import { parse } from "./json.js";
import { actionView, method } from "./action.js";
import { secrets, ways } from "./request.js";
import { useTypes } from "./schema.js";

const $ = (name) => document.getElementById(name);
const main = $("content"), nav = $("nav"), search = $("search"), menu = $("menu");

async function load(key) {
  const response = await fetch(new URL("api.json", import.meta.url), { headers: key ? { Authorization: `Bearer ${key}` } : {}, cache: "no-cache" });
  if (response.status === 401 || response.status === 403) return ask(key ? "This key is not the right one." : "This API is described only to those who have its key.");
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  const api = parse(await response.text());
  for (const [name, s] of Object.entries(api.schemes ?? {})) if (key && s.scheme === "bearer" && !s.format) secrets.set(name, key);
  show(api);
}

function ask(why) {
  const input = h("input", { type: "password", id: id(), autocomplete: "off" });
  main.replaceChildren(h("form", { onsubmit: (e) => { e.preventDefault(); begin(input.value); } }, h("p", { role: "status" }, why),
    h("div", { class: "field" }, h("label", { for: input.id }, "Key"), input), h("div", { class: "buttons" }, h("button", { class: "go" }, "Read"))));
  input.focus();
}

const begin = (key) => load(key).catch((e) => main.replaceChildren(h("p", { class: "bad", role: "alert" }, `The description of the API could not be loaded: ${e.message}.`)));

function show(api) {
  useTypes(api.types);
  document.title = $("title").textContent = api.title || "API";
  $("version").textContent = api.version ? `version ${api.version}` : "";
  const servers = [...new Set([location.origin, ...(api.servers ?? []).map((s) => s.replace(/\/$/, ""))])];
  const services = Map.groupBy?.(api.actions ?? [], (a) => a.service) ?? (api.actions ?? []).reduce((m, a) => m.set(a.service, [...(m.get(a.service) ?? []), a]), new Map());

  const entries = [];
  const index = [], sections = [];
  for (const [service, actions] of services) {
    const items = actions.map((a) => {
      const way = ways(a, api.prefix)[0];
      const item = h("li", null, h("a", { href: `#${encodeURIComponent(a.name)}` }, method(way.method), a.name.startsWith(`${service}.`) ? a.name.slice(service.length + 1) : a.name));
      entries.push({ item, text: [a.name, a.description, ...ways(a, api.prefix).map((w) => `${w.method} ${w.path}`)].join(" ").toLowerCase() });
      return item;
    });
    index.push(h("div", null, h("h2", null, service), h("ul", null, items)));
    sections.push(h("section", { "aria-labelledby": `service ${service}`.replaceAll(" ", "-") }, h("h2", { id: `service ${service}`.replaceAll(" ", "-") }, service), actions.map((a) => actionView(api, a, servers))));
  }
  $("index").replaceChildren(...index);
  main.replaceChildren(...prose(api.description), about(api), ...sections);
  if (!sections.length) main.append(h("p", null, "There are no actions here yet."));
  finder(entries);
  addEventListener("hashchange", open);
  open();
}

function about(api) {
  const list = [];
  if (api.batch) list.push(h("li", null, "Several calls in one request: ", h("code", null, `POST ${api.prefix ?? ""}${api.batch}`), " with ", h("code", null, '[{"action": …, "input": …}, …]'), "."));
  if (api.events) list.push(h("li", null, "Events as they happen: ", h("code", null, `GET ${api.prefix ?? ""}${api.events.path}?topic=…`), ", of ", api.events.patterns.map((p, i) => [i ? ", " : "", h("code", null, p)]), "."));
  for (const [name, s] of Object.entries(api.schemes ?? {})) list.push(h("li", null, h("code", null, name), ": ", s.description ? `${s.description} ` : "", s.type === "apiKey" ? [`In the ${s.in} `, h("code", null, s.name)] : [`In the header `, h("code", null, `Authorization: ${s.scheme === "basic" ? "Basic" : "Bearer"} …`), s.format ? `, a ${s.format}` : ""], "."));
  return list.length ? h("ul", null, list) : "";
}

// Opens the action that the address names.
function open() {
  let name = location.hash.slice(1);
  try { name = decodeURIComponent(name); } catch { /* as it is */ }
  for (const a of nav.querySelectorAll("[aria-current]")) a.removeAttribute("aria-current");
  const view = $(name);
  if (!view?.classList.contains("action")) return;
  view.open = true;
  nav.classList.remove("open");
  menu.setAttribute("aria-expanded", "false");
  nav.querySelector(`a[href="#${CSS.escape(encodeURIComponent(name))}"]`)?.setAttribute("aria-current", "true");
  view.scrollIntoView();
  view.firstElementChild.focus({ preventScroll: true });
}

// Search: "/" goes there, arrows go through what was found, Escape ends it.
function finder(entries) {
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const e of entries) found += !(e.item.hidden = !words.every((w) => e.text.includes(w)));
    for (const part of $("index").children) part.hidden = ![...part.querySelectorAll("li")].some((li) => !li.hidden);
    $("found").textContent = words.length ? `${found} of ${entries.length} actions` : "";
  };
  const links = () => entries.filter((e) => !e.item.hidden).map((e) => e.item.firstElementChild);
  search.addEventListener("input", filter);
  nav.addEventListener("keydown", (e) => {
    const list = links(), at = list.indexOf(document.activeElement);
    if (e.key === "ArrowDown") (list[at + 1] ?? list[0])?.focus();
    else if (e.key === "ArrowUp") (at > 0 ? list[at - 1] : search).focus();
    else if (e.key === "Enter" && !e.ctrlKey && !e.metaKey && !e.shiftKey && (at >= 0 || document.activeElement === search)) list[Math.max(at, 0)]?.click(); // taken whole: a link's own Enter may end on what has the focus by then, and close it
    else if (e.key === "Escape") { search.value = ""; filter(); search.focus(); } else return;
    e.preventDefault();
  });
  addEventListener("keydown", (e) => {
    if (e.key !== "/" || e.ctrlKey || e.metaKey || e.altKey || e.target.closest?.("input, textarea, select")) return;
    e.preventDefault();
    toggle(true);
    search.focus();
    search.select();
  });
}

function toggle(on) {
  nav.classList.toggle("open", on);
  menu.setAttribute("aria-expanded", String(on));
}
menu.addEventListener("click", () => { toggle(!nav.classList.contains("open")); if (nav.classList.contains("open")) search.focus(); });

begin();
