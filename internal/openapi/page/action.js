// One action, as a section that is filled in when it is opened.
import { h, inline, prose } from "./dom.js";
import { stringify } from "./json.js";
import { ways } from "./request.js";
import { table } from "./schema.js";
import { tryIt } from "./try.js";

export const method = (m) => h("span", { class: `method ${m.toLowerCase()}` }, m);

const firstSentence = (text) => (text ?? "").split(/\n|(?<=\.) /)[0];

export function actionView(api, action, servers) {
  const first = ways(action, api.prefix)[0];
  const view = h("details", { class: `action${action.deprecated ? " old" : ""}`, id: action.name },
    h("summary", null, method(first.method), h("h3", null, action.name), h("span", { class: "path quiet" }, first.path),
      action.stream && h("span", { class: "tag" }, "stream"), action.auth?.length && h("span", { class: "tag" }, "auth"), action.deprecated && h("span", { class: "tag warn" }, "deprecated"),
      action.description && h("span", { class: "says" }, inline(firstSentence(action.description)))));
  view.addEventListener("toggle", () => {
    if (view.open && view.childElementCount === 1) view.append(inside(api, action, servers));
  });
  return view;
}

function inside(api, action, servers) {
  const upDown = action.stream ? ["Values to the action", "Values from the action"] : ["Input", "Output"];
  const facts = [action.idempotent && "Trying again does no harm.", action.cacheFor && `Answers are kept for ${action.cacheFor} s.`].filter(Boolean).join(" ");
  const attempt = h("details", { class: "try" }, h("summary", null, "Try it"));
  attempt.addEventListener("toggle", () => { if (attempt.open && attempt.childElementCount === 1) attempt.append(tryIt(api, action, servers)); });
  return h("div", { class: "inside" },
    prose(action.description).slice(firstSentence(action.description) === action.description ? 1 : 0),
    h("ul", { class: "ways" }, ways(action, api.prefix).map((w) => h("li", null, method(w.method), h("span", { class: "path" }, w.path), w.params.length ? h("span", { class: "quiet" }, from(w.params)) : null))),
    action.deprecated && h("p", { class: "bad" }, "Deprecated. ", inline(action.instead ?? "")),
    facts && h("p", { class: "quiet" }, facts), access(action),
    h("h4", null, upDown[0]), action.in ? table(action.in, upDown[0]) : h("p", { class: "quiet" }, "None."),
    h("h4", null, upDown[1]), action.out ? table(action.out, upDown[1], true) : h("p", { class: "quiet" }, "None: {}."),
    errors(action), examples(action), attempt);
}

// Which fields come from elsewhere than path and body.
function from(params) {
  const kinds = { query: "query", header: "headers", cookie: "cookies" };
  return Object.entries(kinds).map(([where, word]) => [word, params.filter((p) => p.in === where).map((p) => p.name)]).filter(([, names]) => names.length).map(([word, names]) => `${word}: ${names.join(", ")}`).join("; ");
}

function access(action) {
  if (!action.auth?.length) return null;
  return h("p", null, "Callers say who they are by ", action.auth.map((name, i) => [i ? " or " : "", h("code", null, name)]),
    action.scopes?.length ? [", and need the role ", action.scopes.map((name, i) => [i ? " or " : "", h("code", null, name)])] : null, ".");
}

function errors(action) {
  const common = h("p", { class: "quiet" }, "Besides, what every call can end with: 400 bad input, 422 a broken rule, 429, 500, 503, 504. Errors are problem documents (RFC 9457); ", h("code", null, "type"), " says which.");
  if (!action.errors?.length) return [h("h4", null, "Errors"), h("p", { class: "quiet" }, "None of its own. ", [...common.childNodes])];
  return [h("h4", null, "Errors"), h("table", { class: "errors" }, h("caption", { class: "hidden" }, "Errors"), h("thead", null, h("tr", null, ["Status", "Name", "When"].map((t) => h("th", { scope: "col" }, t)))),
    h("tbody", null, action.errors.map((e) => h("tr", null, h("td", null, String(e.status)), h("td", null, h("code", null, e.name)), h("td", null, e.description ? inline(e.description) : e.code,
      e.data && h("details", null, h("summary", null, "data"), table(e.data, `Data of ${e.name}`, true))))))), common];
}

function examples(action) {
  if (!action.examples?.length) return null;
  return [h("h4", null, action.examples.length > 1 ? "Examples" : "Example"), action.examples.map((e, i) => h("details", { class: "sub", open: i === 0 }, h("summary", null, e.name || `Example ${i + 1}`),
    e.in !== undefined && [h("p", { class: "quiet" }, "Input"), h("pre", { tabindex: 0 }, stringify(e.in, "  "))],
    e.out !== undefined && [h("p", { class: "quiet" }, "Output"), h("pre", { tabindex: 0 }, stringify(e.out, "  "))]))];
}
