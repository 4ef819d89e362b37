// Makes elements. Everything shown is text: nothing here reads HTML.

let last = 0;

// A fresh id, for labels.
export const id = () => `x${++last}`;

// An element with properties ("on…" are listeners, others attributes; false and null leave one out) and children.
export function h(tag, props, ...children) {
  const el = document.createElement(tag);
  for (const [key, value] of Object.entries(props ?? {})) {
    if (key.startsWith("on")) el.addEventListener(key.slice(2), value);
    else if (value === true) el.setAttribute(key, "");
    else if (value !== false && value != null) el.setAttribute(key, value);
  }
  el.append(...children.flat(9).filter((c) => c != null && c !== false));
  return el;
}

// Text with `code` in it, as paragraphs.
export function prose(text) {
  return (text ?? "").split(/\n{2,}/).filter(Boolean).map((part) => h("p", null, inline(part)));
}

export const inline = (text) => text.split("`").map((part, i) => (i % 2 ? h("code", null, part) : part));
