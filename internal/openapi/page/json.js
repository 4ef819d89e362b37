// JSON whose numbers keep all their digits, which 64-bit integers need.

export class Digits {
  constructor(text) { this.text = text; }
}

// Browsers without the third argument of revivers keep what fits a double.
export const parse = (text) => JSON.parse(text, (_, value, at) => (typeof value === "number" && at?.source && String(value) !== at.source ? new Digits(at.source) : value));

export function stringify(value, indent = "", pad = "") {
  if (value instanceof Digits) return value.text;
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  const list = Array.isArray(value);
  const inner = pad + indent;
  const parts = list ? value.map((v) => stringify(v, indent, inner)) : Object.entries(value).filter(([, v]) => v !== undefined).map(([k, v]) => JSON.stringify(k) + (indent ? ": " : ":") + stringify(v, indent, inner));
  if (!parts.length) return list ? "[]" : "{}";
  const [open, close] = list ? "[]" : "{}";
  return indent ? `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${pad}${close}` : open + parts.join(",") + close;
}
