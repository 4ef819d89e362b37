// ---------------------------------------------------------------------------------------------------------------------
// How calls are made. The types and actions of this API follow below.
// ---------------------------------------------------------------------------------------------------------------------

/** Where an API is and how it is called: what createClient and the function of each action take. */
export interface ClientOptions {
  /** Where the API is: "https://api.example.com". In a browser "" is the page's own site; Node needs a whole URL. */
  baseUrl: string;
  /** Headers of every request, such as Authorization. A function is asked again before each request. */
  headers?: Record<string, string> | (() => Record<string, string> | Promise<Record<string, string>>);
  /** What sends requests; globalThis.fetch by default. */
  fetch?: typeof globalThis.fetch;
  /** Whether cookies go to other sites too: see fetch. */
  credentials?: RequestCredentials;
  /** The most that a call may take, retries included, in milliseconds: 30 000 by default. 0 is no limit. It is not for files. */
  timeout?: number;
  /**
   * How often a call is tried again: 2 by default. Only calls that did nothing, as the error says (`retryable`), and calls
   * that may be repeated (idempotent actions and GET) are. Retry-After is kept.
   */
  retries?: number;
  /** Around each attempt, the first outermost: may change the request, answer itself, or look at the answer. */
  intercept?: Intercept | readonly Intercept[];
  /** Pass the exported `validators`, or `validating` some, to have inputs checked before they are sent. Bundlers leave out the others. */
  validate?: Validators;
  /** What opens WebSockets; globalThis.WebSocket by default, which Node has since version 22. */
  webSocket?: typeof globalThis.WebSocket;
}

/** What one call takes. */
export interface CallOptions {
  /** Ends the call with an AbortError. */
  signal?: AbortSignal;
  /** Instead of the client's, in milliseconds. Of a stream it is the time until its answer begins; of a file there is none without it. */
  timeout?: number;
  /** Added to the client's. */
  headers?: Record<string, string>;
}

/** What a stream takes. */
export interface StreamOptions extends CallOptions {
  /** Where an earlier stream ended (its `lastEventId`), for actions that can go on from there. */
  lastEventId?: string;
  /**
   * How often in a row the stream is opened again when its connection breaks or its node stops, with waits that grow and Retry-After, and
   * with the id of the last value (Last-Event-ID). The action has to go on behind it: one that does not know of it begins anew, and
   * values come twice. 0 by default; without end for $events, where those that passed in between are lost.
   */
  reconnect?: number;
}

/** What an upload takes. */
export interface UploadOptions extends CallOptions {
  /** The name that the file has for the server; a File's own by default. */
  fileName?: string;
  /** The file's type; a Blob's own by default. Only files in memory can have one. */
  contentType?: string;
}

/** A file to upload. Browsers read streams to their end before they send them; Node sends them as they come. */
export type UploadBody = Blob | Uint8Array | ArrayBuffer | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/** A request on its way out. Interceptors may change it. */
export interface Outgoing {
  /** "users.get"; "$batch" for a batch. */
  readonly action: string;
  /** 0 for the first one, 1 for the first retry. */
  readonly attempt: number;
  method: string;
  url: string;
  headers: Headers;
  body?: BodyInit;
  signal: AbortSignal;
}

/** Stands around requests: calls `next`, or answers itself. */
export type Intercept = (request: Outgoing, next: (request: Outgoing) => Promise<Response>) => Promise<Response>;

/** What a call ended with. */
export type Result<T, E> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: E };

/** A call that is under way. It never rejects: errors are in the result. */
export interface Call<T, E> extends Promise<Result<T, E>> {
  /** The output alone; errors are thrown. */
  orThrow(): Promise<T>;
}

/** The values of a stream. Errors are thrown by the loop, as an ApiError. Leaving the loop ends the stream. */
export interface Stream<T, E = CallError> extends AsyncIterable<T> {
  /** The id of the last value that came; "" for none. */
  readonly lastEventId: string;
  /** The values as results, of which the last may be an error, with its type. */
  results(): AsyncIterable<Result<T, E>>;
}

/** A stream with values both ways, over a WebSocket. The client's and the call's headers cannot be sent on it: use cookies. */
export interface Duplex<In, Out, E = CallError> extends AsyncIterable<Out> {
  /** The values as results, of which the last may be an error, with its type. */
  results(): AsyncIterable<Result<Out, E>>;
  /** Sends a value; waits while too much is on its way. Rejects with an ApiError when the stream has ended. */
  send(value: In): Promise<void>;
  /** Says that no more values follow. The other side's still come. */
  end(): void;
  /** Ends the stream both ways. */
  close(): void;
}

/** An action that is a stream. */
export interface StreamAction<In, Out, E = CallError> {
  /** Sends one value, or none, and gives what comes back. */
  (input?: In, options?: StreamOptions): Stream<Out, E>;
  /** Sends many values, then gives what comes back. Browsers read all of them before they send. */
  from(values: Iterable<In> | AsyncIterable<In>, options?: Omit<StreamOptions, "reconnect">): Stream<Out, E>;
  /** Values both ways at once. */
  open(options?: Pick<CallOptions, "signal" | "timeout">): Duplex<In, Out, E>;
}

/** A stream that takes one value. */
export interface ServerStreamAction<In, Out, E = CallError> {
  (input: In, options?: StreamOptions): Stream<Out, E>;
}

/** A stream that answers with one value, after the last that it takes. Browsers read all of them before they send. */
export interface ClientStreamAction<In, Out, E = CallError> {
  (values: Iterable<In> | AsyncIterable<In>, options?: CallOptions): Call<Out, E>;
}

/** An action that takes a file. */
export interface UploadAction<Out, E> {
  (body: UploadBody, options?: UploadOptions): Call<Out, E>;
}

/** An action that gives a file: read it with the methods of Response, or as a stream from its body. */
export interface DownloadAction<In, E> {
  (input?: In, options?: CallOptions): Call<Response, E>;
}

/** An error as the server sends it (RFC 9457). */
export interface Problem {
  type: string;
  title?: string;
  status: number;
  detail?: string;
  code?: string;
  name?: string;
  message?: string;
  data?: unknown;
  retryable?: boolean;
  node?: string;
  requestId?: string;
}

/** What all errors have in common. `type`, or `name`, which is its last part, tells which one it is. */
export class ApiError extends Error {
  declare readonly name: string;
  /** "urn:sabir:error:" and the name. */
  declare readonly type: string;
  /** The class of the error: "NotFound", "InvalidArgument" … */
  declare readonly code: string;
  /** Of the answer; 0 where none came. */
  declare readonly status: number;
  /** What a program needs to act on the error; its type is in the declared error. */
  declare readonly data: unknown;
  /** Whether the same call may succeed later and nothing was done. */
  declare readonly retryable: boolean;
  /** How many milliseconds the server asks to wait before the next try (Retry-After). */
  declare readonly retryAfter: number | undefined;
  /** The action that was called. */
  declare readonly action: string;
  /** Finds the call in the server's log. */
  declare readonly requestId: string | undefined;
  /** The node where it happened. */
  declare readonly node: string | undefined;
  /** The error as the server sent it. */
  declare readonly problem: Problem | undefined;

  constructor(action: string, name: string, message: string, more: Partial<ApiError> = {}) {
    super(message, more);
    const type = "urn:sabir:error:" + encodeURIComponent(name);
    Object.assign(this, { code: "Unknown", status: 0, retryable: false }, more, { name, type, action });
  }
}

/** A field of the input that breaks a rule. */
export interface FieldError {
  /** "items[2].price" */
  path: string;
  /** The same as a JSON Pointer (RFC 6901): "/items/2/price". */
  pointer: string;
  /** "required", "max" … */
  rule: string;
  /** The rule's parameter: "64" of max=64. */
  param?: string;
  /** What was given, unless it is a secret. */
  value?: unknown;
  message: string;
  /** Where the field came from, of a REST form. */
  in?: "path" | "query" | "header" | "cookie" | "form" | "body";
  /** Its name there, unless in the body. */
  name?: string;
}

/** The input breaks rules: `data` lists every field. */
export interface ValidationError extends ApiError {
  readonly type: "urn:sabir:error:ValidationFailed";
  readonly name: "ValidationFailed";
  readonly data: FieldError[];
}

/** The names of the errors that every call can end with. */
export type GeneralErrorName =
  | "ActionNotFound" | "AddressRefused" | "BadCredentials" | "BadInput" | "BadKey" | "BadOutput" | "BreakerOpen" | "BulkheadFull"
  | "Canceled" | "CrossOrigin" | "DeadlineExceeded" | "EventNotOffered" | "HandlerFailed" | "InputTooLarge" | "KeysUnreachable"
  | "LinkLost" | "ManyValues" | "MessageTooLarge" | "MethodNotAllowed" | "NotANode" | "NotAllowed" | "NotSignedIn" | "Panic"
  | "RateLimited" | "ServiceUnavailable" | "SignedOut" | "StreamEnded" | "StreamWanted" | "TokenExpired" | "TooManyAbandoned"
  | "TooManyCalls" | "TooManyChecks" | "TooManyLevels" | "TooManyStreams" | "TooSlow" | "UnsupportedMediaType";

/** An error that every call can end with, such as BadKey or RateLimited. */
export interface GeneralError extends ApiError {
  readonly type: `urn:sabir:error:${GeneralErrorName}`;
  readonly name: GeneralErrorName;
}

/** Names that the description has not. To the compiler no text in a program is one, so that what compares `name` or `type` leaves these errors out. */
declare enum UndeclaredName {
  any = "",
}

/** An error that the description of the action does not name, from a server that has a newer one: `problem` is what it sent. */
export interface UndeclaredError extends ApiError {
  readonly type: UndeclaredName;
  readonly name: UndeclaredName;
  readonly problem: Problem;
}

/** No answer came, or it broke off. Unless the action is idempotent, nobody knows whether it ran. */
export interface NetworkError extends ApiError {
  readonly type: "urn:sabir:error:NetworkError";
  readonly name: "NetworkError";
}

/** The client's or the call's timeout passed. */
export interface TimeoutError extends ApiError {
  readonly type: "urn:sabir:error:TimeoutError";
  readonly name: "TimeoutError";
}

/** The caller's signal was aborted. */
export interface AbortError extends ApiError {
  readonly type: "urn:sabir:error:AbortError";
  readonly name: "AbortError";
}

/** What every call can end with. */
export type CallError = ValidationError | GeneralError | UndeclaredError | NetworkError | TimeoutError | AbortError;

/** An event that passed. */
export interface ApiEvent {
  event: string;
  payload: unknown;
  /** The node that emitted it. */
  node?: string;
  /** Every handler of it gets it, not one of each group. */
  broadcast?: boolean;
  /** The groups of handlers that the emitter chose; none where all get it. */
  groups?: readonly string[];
}

/** An action, as its function describes it. What only some actions need is in functions, which bundlers leave out where no action has them. */
interface Action {
  readonly name: string;
  readonly path: string;
  /** Its GET form; undefined for inputs that have no place in it. */
  readonly get?: (input: any) => Placed | undefined;
  readonly idempotent?: boolean;
  /** Writes inputs that are more than JSON.stringify can write. */
  readonly write?: (input: unknown) => string;
  /** Parses outputs whose numbers JSON.parse would round. */
  readonly parse?: (text: string) => unknown;
  /** Turns the JSON of an output into the declared type. */
  readonly read?: Reader;
  /** Declared errors, with what reads their data. */
  readonly errors?: Readonly<Record<string, Reader>>;
}

type Reader = (value: any) => any;

const same: Reader = (value) => value;

/** Options of a client that createClient made. */
interface Connection extends ClientOptions {
  /** Takes calls that are to go together. */
  readonly queue?: Queue | undefined;
}

const maxRetryAfter = 60_000; // milliseconds; who is to wait longer is told so by the error
const acceptJSON = "application/json, application/problem+json";

/** Calls an action that has no stream. */
function call(client: Connection, action: Action, input?: any, options: CallOptions = {}): any {
  return settle(action, options.signal, timeoutOf(client, options), async (limit) => {
    client.validate?.(action.name, input);
    const first = options.headers ? undefined : client.queue?.add(action, input, limit);
    return readOutput(action, await request(client, action, action.get?.(input) ?? placePost(action, input), options, limit, first));
  });
}

const timeoutOf = (client: ClientOptions, options: CallOptions) => options.timeout ?? client.timeout ?? 30_000;

/** Runs a call within its limit, and gives what the caller gets. */
function settle(action: Action, signal: AbortSignal | undefined, ms: number, run: (limit: Limit) => Promise<unknown>): any {
  const limit = begin(action, signal, ms);
  const call: any = run(limit)
    .then((value) => ({ ok: true, value }), (cause) => ({ ok: false, error: limit.error(cause) }))
    .then((result: any) => {
      if (!(result.value instanceof Response)) limit.done();
      return result;
    });
  call.orThrow = async () => {
    const result = await call;
    if (result.ok) return result.value;
    throw result.error;
  };
  return call;
}

/** The time and the signal that a call has. */
interface Limit {
  /** Its reason is the error that the call ends with. */
  readonly signal: AbortSignal;
  stop(): void;
  /** Milliseconds that are left. */
  left(): number;
  /** What goes on after this may take as long as it wants. */
  untime(): void;
  /** Must be called at the end. */
  done(): void;
  /** What a caught value means to the caller. */
  error(cause: unknown): ApiError;
  /** Waits, unless the call ends before. */
  wait(ms: number): Promise<void>;
}

function begin({ name }: Action, outer: AbortSignal | undefined, ms: number): Limit {
  const controller = new AbortController();
  const { signal } = controller;
  const ends = ms > 0 ? Date.now() + ms : Infinity;
  const error = (kind: string, what: string, code: string, cause?: unknown) => new ApiError(name, kind, `${name} ${what}`, { code, cause });
  const stop = () => controller.abort(error("AbortError", "was aborted", "Canceled", outer?.reason));
  const expire = () => controller.abort(error("TimeoutError", `did not answer in ${ms} ms`, "DeadlineExceeded"));
  const timer = ms > 0 ? setTimeout(expire, Math.min(ms, 2147483647)) : undefined; // a timer holds no more
  const untime = () => clearTimeout(timer);
  outer?.addEventListener("abort", stop);
  if (outer?.aborted) stop();
  return {
    signal,
    stop,
    untime,
    left: () => ends - Date.now(),
    done() {
      untime();
      outer?.removeEventListener("abort", stop);
    },
    error: (cause: any) =>
      cause instanceof ApiError ? cause : signal.aborted ? signal.reason : error("NetworkError", `got no answer: ${cause?.message ?? cause}`, "Unavailable", cause),
    wait: (ms) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(resolve, ms);
        const stopped = () => {
          clearTimeout(timer);
          reject(signal.reason);
        };
        signal.addEventListener("abort", stopped, { once: true });
      }),
  };
}

/** Where a call goes and what it sends. */
interface Placed {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: BodyInit;
  /** Whether it may be sent again. */
  repeatable?: boolean | undefined;
  /** Whether its body or its answer is a stream: it is sent once, and the timeout is not for the whole of it. */
  streams?: boolean;
}

function placePost(action: Action, input: unknown): Placed {
  const placed: Placed = { method: "POST", path: action.path, headers: { Accept: acceptJSON }, repeatable: action.idempotent };
  if (input !== undefined) {
    placed.headers["Content-Type"] = "application/json";
    placed.body = toJSON(action, input);
  }
  return placed;
}

/** Sends a request, again where that is allowed, and gives the answer if it is a good one. `first` may answer the first attempt. */
async function request(client: ClientOptions, action: Action, placed: Placed, options: CallOptions, limit: Limit, first?: Promise<Response | undefined>): Promise<Response> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await exchange(client, action, attempt, placed, options, limit, attempt ? undefined : first);
    } catch (cause) {
      const error = cause as ApiError;
      const wait = error.retryAfter ?? pause(attempt);
      const again = error.retryable || (placed.repeatable && passes(error));
      if (!again || placed.streams || attempt >= (client.retries ?? 2) || wait > maxRetryAfter || wait >= limit.left() || limit.signal.aborted) throw error;
      await limit.wait(wait);
    }
  }
}

/** Whether an error is one of the way to the server, which the next attempt may not meet. */
const passes = (error: ApiError) => error.retryable || error.name === "NetworkError" || [502, 503, 504].includes(error.status);

/** Milliseconds before the next attempt: 100, doubled each time up to 5 000, half of it left to chance. */
const pause = (attempt: number) => Math.min(100 * 2 ** attempt, 5_000) * (0.5 + Math.random() / 2);

/** Sends a request once. Fails with an ApiError, also where the answer is one. */
async function exchange(client: ClientOptions, action: Action, attempt: number, placed: Placed, options: CallOptions, limit: Limit, first?: Promise<Response | undefined>): Promise<Response> {
  try {
    const response = (await first) ?? (await send(client, action.name, attempt, placed, options, limit));
    if (response.ok) return response;
    throw await answeredError(action, response);
  } catch (cause) {
    throw limit.error(cause);
  }
}

async function send(client: ClientOptions, action: string, attempt: number, { method, path, headers: added, body, streams }: Placed, options: CallOptions, limit: Limit): Promise<Response> {
  const { baseUrl, headers: own, intercept = [], credentials, fetch = globalThis.fetch } = client;
  const headers = new Headers(typeof own === "function" ? await own() : own);
  for (const list of [added, options.headers ?? {}]) for (const key in list) headers.set(key, list[key]!);
  if (limit.left() < Infinity && !streams) headers.set("X-Request-Timeout", (Math.max(limit.left(), 1) / 1000).toFixed(3)); // in seconds
  const outgoing: any = { action, attempt, method, url: baseUrl.replace(/\/+$/, "") + path, headers, body, signal: limit.signal };
  const fetched = ({ url, ...r }: any) => fetch(url, { ...r, credentials, duplex: "half" });
  return [intercept].flat().reduceRight((next: any, one: any) => (r: Outgoing) => one(r, next), fetched)(outgoing);
}

/** Milliseconds that the server asks to wait; undefined if it says nothing. */
function retryAfter(response: Response): number | undefined {
  const text = response.headers.get("Retry-After") ?? "";
  const ms = +text * 1000 || Date.parse(text) - Date.now();
  return ms > 0 ? ms : undefined;
}

/** The error that an answer is. */
async function answeredError(action: Action, response: Response): Promise<ApiError> {
  const text = await response.text();
  let problem: Problem | undefined;
  try {
    if (response.headers.get("Content-Type")?.startsWith("application/problem+json")) problem = parse(action, text) as Problem;
  } catch {
    // it is another server's
  }
  const { status } = response;
  const more = { status, requestId: response.headers.get("X-Request-Id") ?? undefined, retryAfter: retryAfter(response) };
  if (problem) return problemError(action, problem, more);
  return new ApiError(action.name, "NotANode", `${action.name} was answered with status ${status}, but not by a Sabir node`, more);
}

function problemError(action: Action, problem: Problem, more?: Partial<ApiError>): ApiError {
  const { name = "", message, detail, title, data } = problem;
  const read = action.errors && Object.hasOwn(action.errors, name) ? action.errors[name]! : same;
  return new ApiError(action.name, name, message ?? detail ?? title ?? "no reason was given", { ...more, ...problem, data: readAs(action, read, data), problem });
}

async function readOutput(action: Action, response: Response): Promise<unknown> {
  const text = await response.text();
  return action.read && text ? fromJSON(action, text) : undefined;
}

const parse = (action: Action, text: string): unknown => (action.parse ?? JSON.parse)(text);

const fromJSON = (action: Action, text: string) => readAs(action, (text) => (action.read ?? same)(parse(action, text)), text);

/** What a reader makes of a value; an error if the value has not the declared type. */
const readAs = (action: Action, read: Reader, value: unknown) => converted(action, read, value, "BadOutput", "answer", { code: "Internal", status: 200 });

/** Writes an input. What is no number in JSON, or may have been rounded, is an error. */
const toJSON = (action: Action, input: unknown): string => converted(action, action.write ?? JSON.stringify, input, "BadInput", "input", { code: "InvalidArgument" });

/** Writes the JSON of inputs whose numbers are whole. */
const whole = (input: unknown): string =>
  JSON.stringify(input, (_, v) => {
    if (typeof v === "number" && !Number.isSafeInteger(v) && !(v % 1)) throw new TypeError(v + " is not exact");
    return v;
  });

/** Values that are not as declared are errors. */
function converted({ name }: Action, f: (value: any) => any, value: unknown, error: string, what: string, more: Partial<ApiError>): any {
  try {
    return f(value);
  } catch (cause: any) {
    throw new ApiError(name, error, `the ${what} of ${name} cannot be converted: ${cause.message}`, { ...more, cause });
  }
}

// ---- GET

/** Makes the GET form of an action, which caches know. */
function getOf(pattern: string, params: readonly Param[]): (input: any) => Placed | undefined {
  return (input) => {
    let path = pattern;
    const query: string[] = [];
    const headers: Record<string, string> = { Accept: acceptJSON };
    for (const param of params) {
      const value = input?.[param.field];
      if (param.in === "path") {
        const text = toText(value);
        if (text === undefined) return undefined;
        const segments: string[] = param.name.endsWith("...") ? text.split("/") : [text];
        if (segments.some((s) => s === "" || s === "." || s === "..")) return undefined; // URLs lose these
        path = path.replace(`{${param.name}}`, () => segments.map(encodeURIComponent).join("/"));
        continue;
      }
      if (value === undefined || value === null) continue;
      const list: any[] = Array.isArray(value) ? value : [value];
      if (list.length === 0) return undefined; // would be the same as no list
      for (const item of list) {
        const text = toText(item);
        if (text === undefined) return undefined;
        if (param.in === "query") {
          query.push(encodeURIComponent(param.name) + "=" + encodeURIComponent(text));
          continue;
        }
        if (list.length > 1 || !/^[!-~]([ -~]*[!-~])?$/.test(text)) return undefined;
        headers[param.name] = text;
      }
    }
    if (query.length > 0) path += "?" + query.join("&");
    return path.length > maxUrl ? undefined : { method: "GET", path, headers, repeatable: true };
  };
}

const maxUrl = 4_000; // characters; servers and proxies take 8 000

interface Param {
  readonly field: string;
  /** Its name where it goes to; "path..." takes slashes. */
  readonly name: string;
  readonly in: "path" | "query" | "header";
}

/** A value as it stands in a path or a query; undefined for what cannot. */
function toText(value: unknown): string | undefined {
  switch (typeof value) {
    case "string":
      return /\p{Surrogate}/u.test(value) ? undefined : value;
    case "boolean":
    case "bigint":
      return String(value);
    case "number":
      return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value)) ? String(value) : undefined;
  }
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : value.toISOString();
  return value instanceof Uint8Array ? toBase64(value) : undefined;
}

// ---- Pages

/** The items of a page and of all behind it. */
async function* pages(get: (input: any) => Call<any, any>, input: any): any {
  for (let next = input; ; ) {
    const page: any = await get(next).orThrow();
    yield* page.items ?? [];
    if (!page.next) return;
    next = { ...input, cursor: page.next };
  }
}

// ---- Batches

const maxBatch = 100;

/** Calls that go as one request. */
class Queue {
  private waiting: Waiting[] = [];
  private readonly client: ClientOptions;
  private readonly action: Action;
  private readonly auto: boolean;

  /** An automatic queue sends in the next microtask; another one waits for send. */
  constructor(client: ClientOptions, path: string, auto: boolean) {
    this.client = client;
    this.action = { name: "$batch", path, parse: parseJSON, read: list(same) };
    this.auto = auto;
  }

  /** The call's answer; undefined if it is better sent alone. */
  add(action: Action, input: unknown, limit: Limit): Promise<Response | undefined> {
    const item = `{"action":${JSON.stringify(action.name)},"input":${toJSON(action, input ?? {})}}`;
    return new Promise((resolve, reject) => {
      if (limit.signal.aborted) return reject(limit.signal.reason);
      limit.signal.addEventListener("abort", () => reject(limit.signal.reason), { once: true });
      this.waiting.push({ action, item, limit, resolve, reject });
      if (this.auto && this.waiting.length === 1) queueMicrotask(() => void this.send());
    });
  }

  /** Sends what was collected, and waits for the answers. */
  async send(): Promise<void> {
    const waiting = this.waiting.filter((w) => !w.limit.signal.aborted);
    this.waiting = [];
    if (this.auto && waiting.length === 1) return waiting[0]!.resolve(undefined);
    const parts: Promise<void>[] = [];
    for (let i = 0; i < waiting.length; i += maxBatch) parts.push(this.exchange(waiting.slice(i, i + maxBatch)));
    for (const part of parts) await part; // none rejects
  }

  private async exchange(part: Waiting[]): Promise<void> {
    const left = Math.max(...part.map((w) => w.limit.left()));
    const limit = begin(this.action, undefined, Number.isFinite(left) ? Math.max(left, 1) : 0);
    let open = part.length; // when nobody waits any more, the request is given up
    for (const w of part) w.limit.signal.addEventListener("abort", () => --open === 0 && limit.stop(), { once: true });
    try {
      const placed = placePost(this.action, undefined);
      placed.headers["Content-Type"] = "application/json";
      placed.body = "[" + part.map((w) => w.item).join(",") + "]";
      placed.repeatable = part.every((w) => w.action.idempotent === true);
      const response = await request(this.client, this.action, placed, {}, limit);
      const answers = (await readOutput(this.action, response)) as BatchAnswer[];
      part.forEach((w, i) => answerOf(w, answers[i], response));
    } catch (cause) {
      const error = limit.error(cause);
      for (const w of part) w.reject(new ApiError(w.action.name, error.name, error.message, error));
    } finally {
      limit.done();
    }
  }
}

interface Waiting {
  action: Action;
  item: string;
  limit: Limit;
  resolve: (value: any) => void;
  reject: (reason: unknown) => void;
}

/** One answer of a batch. Its cookies are in the headers of the batch's own answer. */
interface BatchAnswer {
  status: number;
  output?: unknown;
  problem?: Problem;
  headers?: Record<string, string[]>;
}

/** Answers one call as if it had been sent alone. */
function answerOf(w: Waiting, answer: BatchAnswer | undefined, whole: Response): void {
  if (!answer) return w.reject(new ApiError(w.action.name, "BadOutput", `the batch has no answer for ${w.action.name}`, { code: "Internal", status: 200 }));
  const { problem, output, status } = answer;
  const headers = new Headers({ "Content-Type": problem ? "application/problem+json" : "application/json" });
  const retryAfter = answer.headers?.["Retry-After"]?.[0];
  if (retryAfter !== undefined) headers.set("Retry-After", retryAfter);
  const requestId = whole.headers.get("X-Request-Id");
  if (requestId !== null) headers.set("X-Request-Id", requestId);
  const body = problem ?? output;
  w.resolve(new Response(body === undefined ? null : exact(body), { status: problem ? status : 200, headers }));
}

// ---- Streams

type Values = Iterable<unknown> | AsyncIterable<unknown>;

/** Calls a stream that takes one value, or none. */
function stream(client: ClientOptions, action: Action, input?: unknown, options: StreamOptions = {}): any {
  return follow(client, action, options, () => placePost(action, input));
}

/** Calls a stream that takes many values. */
function streamFrom(client: ClientOptions, action: Action, values: Values, options: StreamOptions = {}): any {
  return follow(client, action, { ...options, reconnect: 0 }, () => placeValues(action, values));
}

/** Calls a stream that answers with one value. */
function clientStream(client: ClientOptions, action: Action, values: Values, options: CallOptions = {}): any {
  return transfer(client, action, "value", options, () => placeValues(action, values));
}

function placeValues(action: Action, values: Values): Promise<Placed> {
  const placed = placePost(action, undefined);
  placed.headers["Content-Type"] = "application/x-ndjson";
  return withBody(placed, lines(action, values));
}

/** The function of an action, with the client that it calls. */
const withClient =
  (client: ClientOptions, f: (client: any, ...rest: any[]) => unknown) =>
  (...rest: any[]) =>
    f(client, ...rest);

/** Gives a function members, also of names that functions have, such as "name". */
function members(f: object, list: Record<string, unknown>): any {
  for (const key of Object.keys(list)) Object.defineProperty(f, key, { value: list[key], enumerable: true });
  return f;
}

async function* lines(action: Action, values: any): any {
  const encoder = new TextEncoder();
  for await (const value of values) yield encoder.encode(toJSON(action, value) + "\n");
}

const maxLine = 16_000_000; // characters of one value of a stream

/** Opens the stream when its first value is asked for. Of events, those that bear their own name are values. */
function follow(client: ClientOptions, action: Action, options: StreamOptions, place: () => Placed | Promise<Placed>, events = false): any {
  const state = { lastEventId: "" };
  const most = options.reconnect ?? (events ? Infinity : 0);
  async function* once(progress: { failures: number }, limit: Limit): any {
    const placed = await place();
    placed.headers["Accept"] = "text/event-stream, application/problem+json";
    placed.streams = true;
    const last = state.lastEventId || options.lastEventId;
    if (last !== undefined) placed.headers["Last-Event-ID"] = last;
    const response = await exchange(client, action, progress.failures, placed, options, limit);
    limit.untime();
    if (!response.body) // as of React Native's fetch; to open the stream again would not help
      throw new ApiError(action.name, "BadOutput", `${action.name}: this fetch does not give an answer in pieces; give createClient one that does, as fetch`, { code: "Internal", status: 200 });
    for await (const one of serverEvents(response)) {
      const event: ServerEvent = one;
      if (event.id) state.lastEventId = event.id;
      progress.failures = 0;
      if (events) {
        const value = parseJSON(event.data) as ApiEvent;
        if (value.event === event.event) {
          yield value;
          continue;
        }
      }
      if (event.event === "error") throw problemError(action, parse(action, event.data) as Problem, { requestId: response.headers.get("X-Request-Id") ?? undefined });
      if (event.event === "end") return;
      yield fromJSON(action, event.data);
    }
    throw new Error("the stream broke off");
  }
  async function* values(): any {
    const progress = { failures: 0 };
    for (;;) {
      const limit = begin(action, options.signal, timeoutOf(client, options));
      try {
        return yield* once(progress, limit);
      } catch (cause) {
        const error = limit.error(cause);
        const wait = error.retryAfter ?? pause(progress.failures);
        if (!passes(error) || progress.failures++ >= most || wait > maxRetryAfter || limit.signal.aborted) throw error;
        limit.untime();
        await limit.wait(wait).catch((reason) => {
          throw limit.error(reason);
        });
      } finally {
        limit.stop();
        limit.done();
      }
    }
  }
  return {
    [Symbol.asyncIterator]: values,
    results: () => resultsOf(values()),
    get lastEventId() {
      return state.lastEventId;
    },
  };
}

/** Values, and the error that ends them, as results. */
async function* resultsOf(values: any): any {
  try {
    for await (const value of values) yield { ok: true, value };
  } catch (error) {
    yield { ok: false, error };
  }
}

interface ServerEvent {
  id: string;
  event: string;
  data: string;
}

/** Reads server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
async function* serverEvents(response: Response): any {
  let one: ServerEvent = { id: "", event: "", data: "" };
  for await (const next of readLines(response)) {
    const line: string = next;
    if (line === "") {
      if (one.data !== "") yield { ...one, data: one.data.slice(0, -1) };
      one = { id: "", event: "", data: "" };
      continue;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "data") one.data += value + "\n";
    else if (field === "id" || field === "event") one[field] = value;
  }
}

async function* readLines(response: Response): any {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of readChunks(response.body)) {
    const text = rest + decoder.decode(chunk, { stream: true });
    const complete: string[] = text.split(/\r\n|\n|\r(?!$)/); // a return at the end may be half of a line's end
    rest = complete.pop()!;
    if (rest.length > maxLine) throw new Error("a value of the stream is too large");
    yield* complete;
  }
}

async function* readChunks(body: ReadableStream<Uint8Array> | null): any {
  const reader = body?.getReader();
  if (!reader) return;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

/** Listens to events. */
function listen(client: ClientOptions, path: string, topics: readonly string[], options: StreamOptions = {}): Stream<ApiEvent> {
  const query = topics.map((topic) => "topic=" + encodeURIComponent(topic)).join("&");
  const placed = { method: "GET", path: `${path}?${query}`, headers: {}, repeatable: true };
  return follow(client, { name: "$events", path, parse: parseJSON }, options, () => placed, true);
}

const maxWaiting = 10_000; // values of a WebSocket that nobody has read
const maxBuffered = 1_000_000; // bytes of a WebSocket that are not sent

/** Both ways over a WebSocket. */
class Socket implements Duplex<any, any> {
  private readonly action: Action;
  private readonly limit: Limit;
  private readonly socket: WebSocket;
  private readonly opened: Promise<void>;
  private values: unknown[] = [];
  private wake: () => void = () => {};
  private failure: ApiError | undefined;
  private over = false; // nothing more will come
  private sending = true;

  constructor(client: ClientOptions, action: Action, options: CallOptions = {}) {
    const { baseUrl, webSocket = globalThis.WebSocket } = client;
    this.action = action;
    if (!webSocket) throw new ApiError(action.name, "NetworkError", "there is no WebSocket here: give createClient one, as webSocket");
    const page = (globalThis as { location?: { href: string } }).location?.href;
    const url = new URL(baseUrl.replace(/\/+$/, "") + action.path, page);
    url.protocol = url.protocol.replace("http", "ws");
    this.limit = begin(action, options.signal, timeoutOf(client, options));
    this.socket = new webSocket(url.href, ["sabir.v1"]);
    this.opened = new Promise((resolve, reject) => {
      this.socket.addEventListener("open", () => {
        this.limit.untime();
        resolve();
      });
      const fail = (why: string) => {
        this.finish(new Error(why));
        reject(this.failure);
      };
      this.socket.addEventListener("close", (event) => fail(event.reason || `the connection closed with code ${event.code}`));
      this.socket.addEventListener("error", () => fail("the connection was refused or broke off")); // not each tells a close then
      this.limit.signal.addEventListener("abort", () => this.finish(this.limit.signal.reason));
    });
    this.opened.catch(() => {}); // is told to whoever sends or reads
    this.socket.addEventListener("message", (event) => this.take(event.data));
    if (this.limit.signal.aborted) this.finish(this.limit.signal.reason);
  }

  async send(value: unknown): Promise<void> {
    const text = `{"value":${toJSON(this.action, value)}}`;
    await this.opened;
    while (this.socket.bufferedAmount > maxBuffered && !this.over) await new Promise((resolve) => setTimeout(resolve, 10)); // nothing tells when it is less
    if (this.failure) throw this.failure;
    if (this.over || !this.sending) throw new ApiError(this.action.name, "StreamEnded", "the stream has ended", { code: "FailedPrecondition" });
    this.socket.send(text);
  }

  end(): void {
    if (!this.sending) return;
    this.sending = false;
    this.opened.then(() => this.socket.readyState === 1 && this.socket.send('{"end":true}')).catch(() => {});
  }

  close(): void {
    this.finish();
  }

  results(): any {
    return resultsOf(this);
  }

  async *[Symbol.asyncIterator](): any {
    try {
      for (;;) {
        while (this.values.length > 0) yield this.values.shift();
        if (this.failure) throw this.failure;
        if (this.over) return;
        await new Promise<void>((resolve) => (this.wake = resolve));
      }
    } finally {
      this.close();
    }
  }

  private take(data: unknown): void {
    if (this.over) return;
    try {
      const message = parse(this.action, String(data)) as { value?: unknown; end?: boolean; error?: Problem };
      if (message.error) throw problemError(this.action, message.error);
      if (message.end) return this.finish();
      if (this.values.length >= maxWaiting) throw new ApiError(this.action.name, "StreamEnded", "the stream's values were read too slowly");
      this.values.push(readAs(this.action, this.action.read ?? same, message.value));
      this.wake();
    } catch (cause) {
      this.finish(cause);
    }
  }

  private finish(cause?: unknown): void {
    if (this.over) return;
    this.over = true;
    if (cause !== undefined) this.failure = this.limit.error(cause);
    this.limit.done();
    this.socket.close(1000);
    this.wake();
  }
}

// ---- Files

/** Calls an action that takes a file. */
function upload(client: ClientOptions, action: Action, gives: Gives, body: UploadBody, options: UploadOptions = {}): any {
  return transfer(client, action, gives, options, () => {
    const placed: Placed = { ...placePost(action, undefined), headers: {} };
    const file = body as { name?: unknown; type?: unknown };
    const name = options.fileName ?? (typeof file.name === "string" ? file.name : undefined);
    const type = options.contentType ?? (typeof file.type === "string" ? file.type : "");
    if (type !== "" && inMemory(body)) { // only a form has a place for it
      const form = new FormData();
      form.append("file", new Blob([body as BlobPart], { type }), name ?? "file");
      return { ...placed, body: form };
    }
    placed.headers["Content-Type"] = "application/octet-stream";
    if (name !== undefined) placed.headers["Content-Disposition"] = "attachment; filename*=UTF-8''" + encodeName(name);
    return withBody(placed, body);
  });
}

const encodeName = (name: string) => encodeURIComponent(name).replace(/['()*!]/g, (c) => "%" + c.charCodeAt(0).toString(16));

/** Calls an action that gives a file. */
function download(client: ClientOptions, action: Action, input?: unknown, options: CallOptions = {}): any {
  return transfer(client, action, "file", options, () => placePost(action, input));
}

/** What a transfer ends with: the file as it comes, or a value. */
type Gives = "value" | "file";

function transfer(client: ClientOptions, action: Action, gives: Gives, options: CallOptions, place: () => Placed | Promise<Placed>): any {
  return settle(action, options.signal, options.timeout ?? 0, async (limit) => { // files take their time
    const placed = await place();
    placed.headers["Accept"] = gives === "file" ? "application/octet-stream, application/problem+json" : acceptJSON;
    const response = await request(client, action, placed, options, limit);
    if (gives === "value") return readOutput(action, response);
    limit.untime(); // the signal still ends the body
    return response;
  });
}

/** The part of an iterator that is used: checking the whole of it against another costs the compiler much. */
interface Chunks {
  next(): Promise<any>;
  return?(): Promise<any>;
}

function inMemory(body: UploadBody): body is Blob | Uint8Array | ArrayBuffer {
  return body instanceof Blob || body instanceof Uint8Array || body instanceof ArrayBuffer;
}

/** Adds a body. Node sends streams as they come; browsers can only do so over HTTP/2, so there they are read first. */
async function withBody(placed: Placed, body: UploadBody): Promise<Placed> {
  if (inMemory(body)) return { ...placed, body: body as BodyInit };
  const chunks: Chunks = body instanceof ReadableStream ? readChunks(body) : (body as any)[Symbol.asyncIterator]();
  if ((globalThis as { process?: { versions?: { node?: string } } }).process?.versions?.node) {
    const pull = async (controller: any) => {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    };
    return { ...placed, body: new (ReadableStream as any)({ pull, cancel: () => chunks.return?.() }), streams: true };
  }
  const all: BlobPart[] = [];
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) all.push(next.value);
  return { ...placed, body: new Blob(all) };
}

// ---- JSON

/** Reads JSON. Whole numbers beyond ±(2^53-1) become bigints instead of being rounded. */
function parseJSON(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return /\d{16}/.test(text) ? parseExact(text) : value;
}

const stringToken = /"[^"\\]*(?:\\.[^"\\]*)*"/y;
const otherToken = /[-+.\w]+/y;

/** Reads what JSON.parse has read without an error, so that syntax need not be checked. */
function parseExact(text: string): unknown {
  let at = 0;
  const skip = () => {
    while (/[\s,:]/.test(text[at] ?? "")) at++;
  };
  const token = (kind: RegExp): string => {
    kind.lastIndex = at;
    const found = kind.exec(text)![0];
    at += found.length;
    return found;
  };
  const next = (): unknown => {
    skip();
    switch (text[at]) {
      case '"':
        return JSON.parse(token(stringToken));
      case "[": {
        const items: unknown[] = [];
        for (at++, skip(); text[at] !== "]"; skip()) items.push(next());
        at++;
        return items;
      }
      case "{": {
        const object: Record<string, unknown> = {};
        for (at++, skip(); text[at] !== "}"; skip()) {
          const key = JSON.parse(token(stringToken)) as string;
          const value = next();
          if (key === "__proto__") Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
          else object[key] = value;
        }
        at++;
        return object;
      }
    }
    const word = token(otherToken);
    const value: unknown = JSON.parse(word);
    return /^-?\d+$/.test(word) && !Number.isSafeInteger(value) ? BigInt(word) : value;
  };
  return next();
}

/** Writes the JSON of inputs that JSON.stringify cannot write: bigints as numbers, bytes, fractions, times. */
const exact = (value: unknown): string => writeJSON(value) ?? "null";

/** Undefined for what JSON leaves out. */
function writeJSON(value: any): string | undefined {
  switch (typeof value) {
    case "bigint":
      return value.toString();
    case "number":
      if (!Number.isFinite(value)) throw new TypeError(`${value} is no number in JSON`);
      // The exponent keeps a number that may have been rounded out of whole-number fields.
      return Number.isInteger(value) && !Number.isSafeInteger(value) ? value.toExponential() : JSON.stringify(value);
    case "object":
      if (value === null) return "null";
      if (value instanceof Uint8Array) return `"${toBase64(value)}"`;
      if (value instanceof Date) return JSON.stringify(value.toISOString()); // throws if it is no time
      if (Array.isArray(value)) return "[" + value.map((item) => writeJSON(item) ?? "null").join(",") + "]";
      if (typeof value.toJSON === "function") return writeJSON(value.toJSON());
      return "{" + membersOf(value).join(",") + "}";
  }
  return JSON.stringify(value);
}

function membersOf(value: any): string[] {
  const list: string[] = [];
  for (const key of Object.keys(value)) {
    const text = writeJSON(value[key]);
    if (text !== undefined) list.push(JSON.stringify(key) + ":" + text);
  }
  return list;
}

function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(text);
}

// ---- What readers are made of: JSON values become those of the declared types. Absent and null stay as they are.

const date: Reader = (value) => {
  if (typeof value !== "string") return value;
  const time = new Date(value);
  if (isNaN(+time)) throw new TypeError(`${JSON.stringify(value)} is no time`);
  return time;
};

const big: Reader = (value) => {
  if (typeof value === "number" && !Number.isInteger(value)) throw new TypeError(`${value} is no whole number`);
  return typeof value === "number" ? BigInt(value) : value;
};

const int: Reader = (value) => {
  if (typeof value === "bigint" || (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value))) {
    throw new RangeError(`${value} is too large for a number, which would be rounded`);
  }
  return value;
};

const float: Reader = (value) => (typeof value === "bigint" ? Number(value) : value);

const bytes: Reader = (value) => {
  if (typeof value !== "string") return value;
  const text = atob(value);
  const array = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) array[i] = text.charCodeAt(i);
  return array;
};

const list = (item: Reader): Reader => (value) => (Array.isArray(value) ? value.map((v) => item(v)) : value);

const record = (item: Reader): Reader => (value) => {
  if (isObject(value)) for (const key of Object.keys(value)) put(value, key, item);
  return value;
};

const object = (fields: (value: any) => void): Reader => (value) => {
  if (isObject(value)) fields(value);
  return value;
};

/** Reads one member in its place. */
function put(value: any, key: string, read: Reader): void {
  if (value[key] != null) value[key] = read(value[key]);
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// An API that has no use for one of these compiles with noUnusedLocals too. Bundlers leave out this line as well.
void [call, withClient, whole, getOf, pages, stream, streamFrom, clientStream, members, listen, Socket, upload, download, date, int, big, float, bytes, list, record, object];
