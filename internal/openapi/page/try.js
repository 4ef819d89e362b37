// "Try it": a form that calls an action and shows what comes back.
import { h, id } from "./dom.js";
import { parse, stringify } from "./json.js";
import { control } from "./form.js";
import { build, curl, secrets, typescript, ways } from "./request.js";
import { isBytes, kind, plain } from "./schema.js";

const shownBytes = 200_000; // of an answer

export function tryIt(api, action, servers) {
  const all = ways(action, api.prefix);
  const upload = action.stream && isBytes(action.in);
  const way = h("select", { id: id() }, all.map((w, i) => h("option", { value: i }, `${w.method} ${w.path}`)));
  const server = h("select", { id: id() }, servers.map((s) => h("option", { value: s }, s)));
  const file = upload && h("input", { type: "file", id: id() });
  const fields = action.in && !upload ? control("input", action.in, true) : null;
  const raw = h("textarea", { rows: 8, spellcheck: "false", "aria-label": "Input as JSON", hidden: true });
  let asJSON = false;

  const input = () => {
    if (!fields) return undefined;
    if (!asJSON) return fields.read();
    try { return raw.value.trim() ? parse(raw.value) : undefined; } catch (e) { throw new Error(`the input is no JSON: ${e.message}`); }
  };
  const request = (shown) => build(api, action, all[way.value], server.value, input(), file?.files?.[0], shown);

  const snippet = h("pre", { tabindex: 0 });
  let language = "curl";
  const refresh = () => {
    try { const r = request(true); snippet.textContent = language === "curl" ? curl(r) : typescript(r, action); } catch (e) { snippet.textContent = e.message; }
  };
  const radios = (names, picked, pick, legend) => {
    const group = id();
    return h("div", { class: "tabs", role: "radiogroup", "aria-label": legend }, names.map((name) => h("label", null, h("input", { type: "radio", name: group, checked: name === picked, onchange: () => { pick(name); refresh(); } }), name)));
  };
  const mode = (name) => {
    const json = name === "JSON";
    if (json === asJSON) return;
    try {
      if (json) raw.value = stringify(fields.read() ?? null, "  "); else fields.write(parse(raw.value || "null"));
    } catch (e) { failed.textContent = e.message; }
    asJSON = json;
    raw.hidden = !json;
    fields.el.hidden = json;
  };

  const failed = h("p", { class: "bad", role: "alert" });
  const answer = h("div", { "aria-live": "polite" });
  const send = h("button", { class: "go", type: "submit" }, "Send");
  const stop = h("button", { type: "button", hidden: true, onclick: () => running?.abort() }, "Stop");
  let running = null;

  const row = (label, el) => h("div", { class: "field" }, h("label", { for: el.id }, label), el);
  const form = h("form", { novalidate: true, oninput: () => refresh() },
    row("Address", way), servers.length > 1 && row("Server", server), credentials(api, action), file && row("File", file),
    fields && radios(["Fields", "JSON"], "Fields", mode, "How to enter the input"), fields?.el, raw,
    h("div", { class: "buttons" }, send, stop), failed, answer,
    h("h4", null, "As code"), radios(["curl", "TypeScript"], "curl", (l) => { language = l; }, "Language"), snippet);
  way.addEventListener("change", refresh);
  form.addEventListener("submit", async (e) => {
    e.preventDefault();
    failed.textContent = "";
    answer.replaceChildren();
    try {
      const r = request();
      running = new AbortController();
      send.disabled = true; stop.hidden = false;
      await run(r, running.signal, answer);
    } catch (e) {
      failed.textContent = e.name === "AbortError" ? "Stopped." : e instanceof TypeError ? `No answer: ${e.message}. The server may be down, or of another site and not allow this page.` : e.message;
    } finally {
      send.disabled = false; stop.hidden = true; running = null;
    }
  });
  const first = action.examples?.find((e) => e.in !== undefined);
  if (fields && first) fields.write(first.in); else if (fields) start(fields, action.in);
  refresh();
  return form;
}

// Begins with the defaults of the schema.
function start(fields, schema) {
  const s = plain(schema);
  if (kind(s) === "object" && s.properties) fields.write(Object.fromEntries(Object.entries(s.properties).filter(([, p]) => p.default !== undefined).map(([k, p]) => [k, p.default])));
}

function credentials(api, action) {
  const names = (action.auth ?? []).filter((n) => api.schemes?.[n]);
  if (!names.length) return null;
  return h("fieldset", null, h("legend", null, names.length > 1 ? "Who calls: one of these" : "Who calls"), names.map((name) => {
    const s = api.schemes[name];
    const hint = s.description ? `${s.description} ` : "";
    if (s.in === "cookie") return h("p", { class: "quiet" }, `${name}: ${hint}The browser sends the cookie "${s.name}" if it has it.`);
    const input = h("input", { type: "password", autocomplete: "off", id: id(), value: secrets.get(name) ?? "", placeholder: s.scheme === "basic" ? "user:password" : "", oninput: () => secrets.set(name, input.value) });
    return h("div", { class: "field" }, h("label", { for: input.id }, name), input, h("span", { class: "hint" }, `${hint}Kept until this page is closed, nowhere else.`));
  }));
}

async function run(r, signal, answer) {
  const began = performance.now();
  const response = await fetch(r.url, { method: r.method, headers: r.headers, body: r.body, signal, cache: "no-store", credentials: "same-origin" });
  const ms = () => `${Math.round(performance.now() - began)} ms`;
  const time = h("span", { class: "quiet" }, ms());
  const body = h("pre", { tabindex: 0, "aria-label": "Body of the answer" });
  answer.append(h("h4", null, "Answer"), h("p", null, h("span", { class: response.ok ? "good" : "bad" }, `${response.status} ${response.statusText}`.trim()), " in ", time),
    h("details", { class: "sub" }, h("summary", null, `${[...response.headers].length} headers`), h("table", null, h("tbody", null, [...response.headers].map(([k, v]) => h("tr", null, h("td", null, h("code", null, k)), h("td", null, v)))))), body);
  const type = response.headers.get("Content-Type") ?? "";
  if (/event-stream|ndjson/.test(type)) await follow(response, body, time, ms);
  else if (/octet-stream|^(image|audio|video)\//.test(type)) {
    const blob = await response.blob();
    body.replaceWith(h("p", null, h("a", { href: URL.createObjectURL(blob), download: "answer" }, `Save ${blob.size} bytes`)));
  } else {
    let text = await response.text();
    if (/json/.test(type)) try { text = stringify(parse(text), "  "); } catch { /* shown as it is */ }
    body.textContent = text.length > shownBytes ? `${text.slice(0, shownBytes)}\n… ${text.length - shownBytes} characters more` : text || "(no body)";
  }
  time.textContent = ms();
}

// Shows a stream as it comes; of a long one, the end.
async function follow(response, body, time, ms) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    body.textContent = (body.textContent + value).slice(-shownBytes);
    body.scrollTop = body.scrollHeight;
    time.textContent = ms();
  }
}
