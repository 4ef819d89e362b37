// ---- Rules that inputs keep, as the server checks and words them. Bundlers leave out what nobody uses.

/** Checks the input of an action, and throws a ValidationError where it breaks rules: `validators`, or what `validating` makes. */
export type Validators = (action: string, input: unknown) => void;

/** The checks of some actions, by their names, for the option `validate`: `validating({ "a.b": validateAB })`. */
export function validating(checks: Readonly<Record<string, (input: any) => FieldError[]>>): Validators {
  return (action, input) => {
    const found = Object.hasOwn(checks, action) ? checks[action]!(input) : [];
    if (found.length === 0) return;
    const message = `the input of ${action} is not valid: ` + found.map((f) => (f.path ? f.path + ": " : "") + f.message).join("; ");
    throw new ApiError(action, "ValidationFailed", message, { code: "InvalidArgument", data: found });
  };
}

/** Where a value is in the input. */
class At {
  readonly path: string;
  readonly pointer: string;
  readonly name: string;

  constructor(path: string, pointer: string, name: string) {
    this.path = path;
    this.pointer = pointer;
    this.name = name;
  }

  member(name: string): At {
    return new At(this.path ? `${this.path}.${name}` : name, `${this.pointer}/${escapePointer(name)}`, name);
  }

  item(key: string | number): At {
    return new At(`${this.path}[${key}]`, `${this.pointer}/${escapePointer(String(key))}`, `${this.name}[${key}]`);
  }
}

const escapePointer = (name: string) => name.replace(/~/g, "~0").replace(/\//g, "~1");

type Check = (value: any, at: At, found: FieldError[]) => boolean;

const absent = (value: unknown) => value === undefined || value === null;

/** Notes a failure, and is false. */
function fails(value: unknown, at: At, found: FieldError[], rule: string, what: string, param?: string | number | bigint): false {
  const one: FieldError = { path: at.path, pointer: at.pointer, rule, message: at.name ? `${at.name} ${what}` : what };
  if (param !== undefined) one.param = String(param);
  if (["string", "number", "boolean", "bigint"].includes(typeof value)) one.value = value;
  found.push(one);
  return false;
}

/** Refuses what is absent, and a zero value where that is the same to the server. */
const required = (zero?: unknown): Check => (value, at, found) =>
  !absent(value) && (zero === undefined || (value !== zero && !(typeof zero === "number" && value == 0))) ? true : fails(value, at, found, "required", "is a required field");

const present: Check = (value, at, found) => (absent(value) ? fails(value, at, found, "required", "is a required field") : true);

const isText: Check = (value, at, found) => typeof value === "string" || fails(value, at, found, "type", "must be a string");
const isTime: Check = (value, at, found) =>
  (value instanceof Date && !Number.isNaN(value.getTime())) || (typeof value === "string" && timeForm.test(value)) || fails(value, at, found, "type", "must be a time");
const isBytes: Check = (value, at, found) => value instanceof Uint8Array || fails(value, at, found, "type", "must be a Uint8Array");
const isFlag: Check = (value, at, found) => typeof value === "boolean" || fails(value, at, found, "type", "must be a boolean");
const isNumber: Check = (value, at, found) => (typeof value === "number" && Number.isFinite(value)) || fails(value, at, found, "type", "must be a number");
const isList: Check = (value, at, found) => Array.isArray(value) || fails(value, at, found, "type", "must be a list");
const isRecord: Check = (value, at, found) => isObject(value) || fails(value, at, found, "type", "must be an object");
const isWhole = (least: number | bigint, most: number | bigint): Check => (value, at, found) =>
  ((typeof value === "bigint" || Number.isSafeInteger(value)) && value >= least && value <= most) || fails(value, at, found, "type", "must be a whole number that fits");

const timeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** The size that a bound is for, and how it is worded: characters as Go counts them, items, or the number itself. */
function measure(value: unknown, bound: number | bigint, text: string): [number | bigint, string] {
  const grouped = text.replace(/^-?\d+/, (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ","));
  if (typeof value === "string") return [runes(value), `${grouped} character${bound == 1 ? "" : "s"}`];
  if (typeof value === "number" || typeof value === "bigint") return [value, grouped];
  const size = value instanceof Uint8Array || Array.isArray(value) ? value.length : Object.keys(value as object).length;
  return [size, `${grouped} item${bound == 1 ? "" : "s"}`];
}

/** Code points, of which surrogate pairs are one. */
function runes(text: string): number {
  let n = text.length;
  for (let i = 0; i + 1 < text.length; i++) if (text.codePointAt(i)! > 0xffff) n--, i++;
  return n;
}

type Wording = readonly [text: string, items: string, number: string];

const bound = (rule: string, holds: (size: number | bigint, bound: number | bigint) => boolean, words: Wording) =>
  (bound: number | bigint, param = String(bound)): Check => (value, at, found) => {
    const [size, worded] = measure(value, bound, param);
    if (holds(size, bound)) return true;
    const which = typeof value === "string" ? 0 : typeof value === "object" ? 1 : 2;
    return fails(value, at, found, rule, words[which].replace("{1}", () => worded), param);
  };

const atLeast: Wording = ["must be at least {1} in length", "must contain at least {1}", "must be {1} or greater"];
const min = /* @__PURE__ */ bound("min", (size, bound) => size >= bound, atLeast);
const gte = /* @__PURE__ */ bound("gte", (size, bound) => size >= bound, atLeast);
const max = /* @__PURE__ */ bound("max", (size, bound) => size <= bound, ["must be a maximum of {1} in length", "must contain at most {1}", "must be {1} or less"]);
const lte = /* @__PURE__ */ bound("lte", (size, bound) => size <= bound, ["must be at most {1} in length", "must contain at most {1}", "must be {1} or less"]);
const gt = /* @__PURE__ */ bound("gt", (size, bound) => size > bound, ["must be greater than {1} in length", "must contain more than {1}", "must be greater than {1}"]);
const lt = /* @__PURE__ */ bound("lt", (size, bound) => size < bound, ["must be less than {1} in length", "must contain less than {1}", "must be less than {1}"]);
const len = /* @__PURE__ */ bound("len", (size, bound) => size == bound, ["must be {1} in length", "must contain {1}", "must be equal to {1}"]);

const eq = (wanted: unknown): Check => (value, at, found) => value == wanted || fails(value, at, found, "eq", `is not equal to ${wanted}`, String(wanted));
const ne = (other: unknown): Check => (value, at, found) => value != other || fails(value, at, found, "ne", `should not be equal to ${other}`, String(other));

const oneOf = (list: readonly unknown[], param: string): Check => (value, at, found) =>
  list.some((one) => one == value) || fails(value, at, found, "oneof", `must be one of [${param}]`, param);

/** A rule whose whole meaning is a pattern. */
const match = (rule: string, form: RegExp, what: string, param?: string): Check => (value, at, found) =>
  form.test(value) || fails(value, at, found, rule, what, param);

const contains = (text: string): Check => (value, at, found) =>
  value.includes(text) || fails(value, at, found, "contains", `must contain the text '${text}'`, text);
const excludes = (text: string): Check => (value, at, found) =>
  !value.includes(text) || fails(value, at, found, "excludes", `cannot contain the text '${text}'`, text);
const startsWith = (text: string): Check => (value, at, found) =>
  value.startsWith(text) || fails(value, at, found, "startswith", `must start with '${text}'`, text);
const endsWith = (text: string): Check => (value, at, found) =>
  value.endsWith(text) || fails(value, at, found, "endswith", `must end with '${text}'`, text);

const startsNotWith = (text: string): Check => (value, at, found) =>
  !value.startsWith(text) || fails(value, at, found, "startsnotwith", `must not start with '${text}'`, text);
const endsNotWith = (text: string): Check => (value, at, found) =>
  !value.endsWith(text) || fails(value, at, found, "endsnotwith", `must not end with '${text}'`, text);
const containsAny = (chars: string): Check => (value, at, found) =>
  [...chars].some((c) => value.includes(c)) || fails(value, at, found, "containsany", `must contain at least one of the following characters '${chars}'`, chars);
const excludesAll = (chars: string): Check => (value, at, found) =>
  ![...chars].some((c) => value.includes(c)) || fails(value, at, found, "excludesall", `cannot contain any of the following characters '${chars}'`, chars);

const unique: Check = (value, at, found) => {
  const seen: Record<string, boolean> = {};
  let good = true;
  for (const key of Object.keys(value)) {
    const text = typeof value[key] + String(writeJSON(value[key]));
    good = good && !seen[text];
    seen[text] = true;
  }
  return good || fails(value, at, found, "unique", "must contain unique values");
};

/** The first check that fails is told. */
const all = (...checks: Check[]): Check => (value, at, found) => checks.every((check) => check(value, at, found));

/** Absent values pass. */
const optional = (check: Check): Check => (value, at, found) => absent(value) || check(value, at, found);

/** Absent values and the zero value pass. */
const unlessZero = (zero: unknown, check: Check): Check => (value, at, found) => absent(value) || value == zero || check(value, at, found);

/** Absent values are what Go makes of them. */
const orZero = (zero: unknown, check: Check): Check => (value, at, found) => check(absent(value) ? zero : value, at, found);

/** One of the checks must pass; else the last one tells why. */
const any = (...checks: Check[]): Check => (value, at, found) => {
  let last: FieldError[] = [];
  for (const check of checks) if (check(value, at, (last = []))) return true;
  found.push(...last);
  return false;
};

/** One of the rules must hold: "hexcolor|rgb". */
const either = (rule: string, ...checks: Check[]): Check => (value, at, found) =>
  checks.some((check) => check(value, at, [])) || fails(value, at, found, rule, `does not satisfy the rule ${rule}`);

const each = (check: Check): Check => (value, at, found) => {
  let good = true;
  if (Array.isArray(value)) value.forEach((item: any, i) => (good = check(item, at.item(i), found) && good));
  else for (const key of Object.keys(value)) good = check(value[key], at.item(key), found) && good;
  return good;
};

const eachKey = (check: Check): Check => (value, at, found) => {
  let good = true;
  for (const key of Object.keys(value)) good = check(key, at.item(key), found) && good;
  return good;
};

/** Every member is checked, so that all that fail are told. */
const shape = (members: Readonly<Record<string, Check>>): Check => (value, at, found) => {
  let good = true;
  for (const name of Object.keys(members)) good = members[name]!(value[name], at.member(name), found) && good;
  return good;
};

function validated(check: Check, input: unknown): FieldError[] {
  const found: FieldError[] = [];
  check(input, new At("", "", ""), found);
  return found;
}

void [
  required, present, isText, isTime, isBytes, isFlag, isNumber, isList, isRecord, isWhole, min, gte, max, lte, gt, lt, len, eq, ne, oneOf, match, contains, excludes, startsWith,
  endsWith, startsNotWith, endsNotWith, containsAny, excludesAll, unique, all, optional, unlessZero, orZero, any, either, each, eachKey, shape, validated,
];
