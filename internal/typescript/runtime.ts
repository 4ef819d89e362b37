// ---------------------------------------------------------------------------------------------------------------------
// How calls are made. The types and actions of this API follow below.
// ---------------------------------------------------------------------------------------------------------------------

/** What createClient takes. */
export interface ClientOptions {
  /** Where the API is: "https://api.example.com". In a browser "" is the page's own site; Node needs a whole URL. */
  baseUrl: string;
  /** Headers of every request, such as Authorization. A function is asked again before each request. */
  headers?: Record<string, string> | (() => Record<string, string> | Promise<Record<string, string>>);
  /** What sends requests; globalThis.fetch by default. */
  fetch?: typeof globalThis.fetch;
  /** Whether cookies go to other sites too: see fetch. */
  credentials?: RequestCredentials;
  /** The most that a call may take, retries included, in milliseconds: 30 000 by default. 0 is no limit. */
  timeout?: number;
  /**
   * How often a call is tried again: 2 by default. Only calls that did nothing, as the error says (`retryable`), and calls
   * that may be repeated (idempotent actions and GET) are. Retry-After is kept.
   */
  retries?: number;
  /** Around each attempt, the first outermost: may change the request, answer itself, or look at the answer. */
  intercept?: Intercept | readonly Intercept[];
  /** Pass the exported `validators` to have inputs checked before they are sent. Without, bundlers leave them out. */
  validate?: Validators;
  /**
   * Sends calls that are made in the same microtask as one request. A call with headers of its own goes alone. Cookies are set as
   * if the calls had been made one after the other; a call that may be tried again goes alone then.
   */
  batch?: boolean;
  /** What opens WebSockets; globalThis.WebSocket by default, which Node has since version 22. */
  webSocket?: typeof globalThis.WebSocket;
}

/** What one call takes. */
export interface CallOptions {
  /** Ends the call with an AbortError. */
  signal?: AbortSignal;
  /** Instead of the client's, in milliseconds. Of a stream it is the time until its answer begins. */
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
  override readonly name: string;
  /** "urn:sabir:error:" and the name. */
  readonly type: string;
  /** The class of the error: "NotFound", "InvalidArgument" … */
  readonly code: string;
  /** Of the answer; 0 where none came. */
  readonly status: number;
  /** What a program needs to act on the error; its type is in the declared error. */
  readonly data: unknown;
  /** Whether the same call may succeed later and nothing was done. */
  readonly retryable: boolean;
  /** The action that was called. */
  readonly action: string;
  /** Finds the call in the server's log. */
  readonly requestId: string | undefined;
  /** The node where it happened. */
  readonly node: string | undefined;
  /** The error as the server sent it. */
  readonly problem: Problem | undefined;

  constructor(action: string, name: string, message: string, more: Partial<ApiError> = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = name;
    this.type = "urn:sabir:error:" + encodeURIComponent(name);
    this.code = more.code ?? "Unknown";
    this.status = more.status ?? 0;
    this.data = more.data;
    this.retryable = more.retryable ?? false;
    this.action = action;
    this.requestId = more.requestId;
    this.node = more.node;
    this.problem = more.problem;
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
  /** Where the field came from, if not from the body. */
  in?: "path" | "query" | "header" | "cookie";
  /** Its name there. */
  name?: string;
}

/** The input breaks rules: `data` lists every field. */
export interface ValidationError extends ApiError {
  readonly type: "urn:sabir:error:ValidationFailed";
  readonly name: "ValidationFailed";
  readonly data: FieldError[];
}

/** The names of the errors that every call can end with. */
export type GeneralErrorName = (typeof generalNames)[number];

const generalNames = [
  "ActionNotFound", "AddressRefused", "BadCredentials", "BadInput", "BadKey", "BadOutput", "BreakerOpen", "BulkheadFull", "Canceled",
  "CrossOrigin", "DeadlineExceeded", "EventNotOffered", "HandlerFailed", "InputTooLarge", "KeysUnreachable", "LinkLost", "ManyValues", "MessageTooLarge",
  "MethodNotAllowed", "NotANode", "NotAllowed", "NotSignedIn", "Panic", "RateLimited", "ServiceUnavailable", "SignedOut", "StreamEnded",
  "StreamWanted", "TokenExpired", "TooManyAbandoned", "TooManyCalls", "TooManyChecks", "TooManyLevels", "TooManyStreams", "TooSlow",
  "UnsupportedMediaType",
] as const;

/** An error that every call can end with, such as BadKey or RateLimited. */
export interface GeneralError extends ApiError {
  readonly type: `urn:sabir:error:${GeneralErrorName}`;
  readonly name: GeneralErrorName;
}

/** An error that the description of the action does not name: `problem` is what the server sent. */
export interface UndeclaredError extends ApiError {
  readonly type: "urn:sabir:error:UndeclaredError";
  readonly name: "UndeclaredError";
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
  /** The node that sent it. */
  node?: string;
}

/** An action, as the generated part describes it. */
interface Action {
  readonly name: string;
  readonly path: string;
  /** Its GET form. */
  readonly get?: { readonly pattern: string; readonly params: readonly Param[] };
  readonly idempotent?: boolean;
  /** Turns the JSON of an output into the declared type. */
  readonly read?: Reader;
  /** Declared errors, with what reads their data. */
  readonly errors?: Readonly<Record<string, Reader>>;
}

interface Param {
  readonly field: string;
  /** Its name where it goes to; "path..." takes slashes. */
  readonly name: string;
  readonly in: "path" | "query" | "header";
}

type Reader = (value: any) => any;

const same: Reader = (value) => value;

/** One client: its options and what waits to be sent as a batch. */
interface Connection {
  readonly options: ClientOptions;
  /** Takes calls that are to go together; undefined to send each at once. */
  readonly queue?: Queue;
}

const retryDelay = 100; // milliseconds, doubled at each attempt
const maxRetryDelay = 5_000;
const maxRetryAfter = 60_000; // who is to wait longer is told so by the error
const maxUrl = 4_000; // characters; servers and proxies take 8 000
const maxLine = 16 << 20; // characters of one value of a stream
const maxWaiting = 10_000; // values of a WebSocket that nobody has read
const maxBuffered = 1 << 20; // bytes of a WebSocket that are not sent
const maxBatch = 100;

/** Makes the function for an action that has no stream. */
function unary(connection: Connection, action: Action): any {
  return (input: unknown, options: CallOptions = {}) => settle(invoke(connection, action, input, options));
}

/** As unary, for an action without input. */
function bare(connection: Connection, action: Action): any {
  return (options: CallOptions = {}) => settle(invoke(connection, action, undefined, options));
}

/** Makes the function for an action that answers with pages. */
function paged(connection: Connection, action: Action): any {
  const call = unary(connection, action);
  async function* all(input: any, options?: CallOptions): any {
    for (let next = input; ; ) {
      const page: any = await call(next, options).orThrow();
      yield* page.items ?? [];
      if (!page.next) return;
      next = { ...input, cursor: page.next };
    }
  }
  return members(call, { all });
}

function settle(result: Promise<Result<any, any>>): any {
  const call: any = result;
  call.orThrow = async () => {
    const r = await result;
    if (r.ok) return r.value;
    throw r.error;
  };
  return call;
}

async function invoke(connection: Connection, action: Action, input: unknown, options: CallOptions): Promise<Result<any, any>> {
  const limit = new Limit(action.name, options.signal, options.timeout ?? connection.options.timeout ?? 30_000);
  try {
    validate(connection, action, input);
    let failed: Failed | undefined;
    if (connection.queue && !options.headers) {
      const got = await connection.queue.add(action, input, limit);
      if (got instanceof Failed) failed = got;
      else if (got !== alone) return { ok: true, value: got };
    }
    const response = await request(connection, action, (placeGet(action, input) ?? placePost(action, input)), options, limit, failed);
    return { ok: true, value: await readOutput(action, response) };
  } catch (cause) {
    return { ok: false, error: limit.error(cause) };
  } finally {
    limit.done();
  }
}

function validate(connection: Connection, action: Action, input: unknown): void {
  const found = connection.options.validate?.[action.name]?.(input);
  if (!found || found.length === 0) return;
  const message = `the input of ${action.name} is not valid: ` + found.map((f) => (f.path ? f.path + ": " : "") + f.message).join("; ");
  throw new ApiError(action.name, "ValidationFailed", message, { code: "InvalidArgument", data: found });
}

/** The time and the signal that a call has. */
class Limit {
  readonly signal: AbortSignal;
  private readonly action: string;
  private readonly outer: AbortSignal | undefined;
  private readonly controller = new AbortController();
  private readonly ends: number;
  private readonly ms: number;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private timedOut = false;

  constructor(action: string, outer: AbortSignal | undefined, ms: number) {
    this.action = action;
    this.outer = outer;
    this.ms = ms;
    this.ends = ms > 0 ? Date.now() + ms : Infinity;
    this.signal = this.controller.signal;
    outer?.addEventListener("abort", this.stop);
    if (outer?.aborted) this.stop();
    if (ms > 0) this.timer = setTimeout(this.expire, Math.min(ms, 2 ** 31 - 1)); // a timer holds no more
  }

  readonly stop = () => this.controller.abort();

  private readonly expire = () => {
    this.timedOut = true;
    this.controller.abort();
  };

  /** Milliseconds that are left. */
  left(): number {
    return this.ends - Date.now();
  }

  /** What went on after this may take as long as it wants. */
  untime(): void {
    clearTimeout(this.timer);
  }

  /** Must be called at the end. */
  done(): void {
    this.untime();
    this.outer?.removeEventListener("abort", this.stop);
  }

  /** What a caught value means to the caller. */
  error(cause: unknown): ApiError {
    if (cause instanceof ApiError) return cause;
    if (this.outer?.aborted) {
      return new ApiError(this.action, "AbortError", `${this.action} was aborted`, { code: "Canceled", cause: this.outer.reason });
    }
    if (this.timedOut) {
      return new ApiError(this.action, "TimeoutError", `${this.action} did not answer in ${this.ms} ms`, { code: "DeadlineExceeded", cause });
    }
    const why = cause instanceof Error ? cause.message : String(cause);
    return new ApiError(this.action, "NetworkError", `${this.action} got no answer: ${why}`, { code: "Unavailable", cause });
  }

  /** Waits, unless the call ends before. */
  wait(ms: number): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      if (this.signal.aborted) return reject(this.signal.reason);
      const stop = () => {
        clearTimeout(timer);
        reject(this.signal.reason);
      };
      const timer = setTimeout(() => {
        this.signal.removeEventListener("abort", stop);
        resolve();
      }, ms);
      this.signal.addEventListener("abort", stop, { once: true });
    });
  }
}

/** Where a call goes and what it sends. */
interface Placed {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: BodyInit;
  /** Whether it may be sent again. */
  repeatable: boolean;
  /** Whether the body is a stream, which Node's fetch must be told. */
  streams?: boolean;
}

const acceptJSON = "application/json, application/problem+json";

function placePost(action: Action, input: unknown): Placed {
  const headers: Record<string, string> = { Accept: acceptJSON };
  if (input === undefined) return { method: "POST", path: action.path, headers, repeatable: action.idempotent === true };
  headers["Content-Type"] = "application/json";
  return { method: "POST", path: action.path, headers, body: toJSON(action, input), repeatable: action.idempotent === true };
}

/** The GET form, which caches know; undefined where the action has none or this input has no place in it. */
function placeGet(action: Action, input: any): Placed | undefined {
  if (!action.get) return undefined;
  let path = action.get.pattern;
  const query: string[] = [];
  const headers: Record<string, string> = { Accept: acceptJSON };
  for (const param of action.get.params) {
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

/** An attempt that failed, and how many milliseconds the server asks to wait; undefined if it says nothing. */
class Failed {
  readonly error: ApiError;
  readonly wait: number | undefined;

  constructor(error: ApiError, wait: number | undefined) {
    this.error = error;
    this.wait = wait;
  }
}

/** Sends a request, again where that is allowed, and gives the answer if it is a good one. `failed` is a first attempt in a batch. */
async function request(connection: Connection, action: Action, placed: Placed, options: CallOptions, limit: Limit, failed?: Failed): Promise<Response> {
  const retries = placed.streams ? 0 : (connection.options.retries ?? 2);
  for (let attempt = 0; ; attempt++) {
    if (!failed) {
      const got = await attemptOnce(connection, action, attempt, placed, options, limit);
      if (!(got instanceof Failed)) return got;
      failed = got;
    }
    const { error } = failed;
    const again = error.retryable || (placed.repeatable && passes(error));
    const wait = failed.wait ?? pause(attempt);
    failed = undefined;
    if (!again || attempt >= retries || wait > maxRetryAfter || wait >= limit.left() || limit.signal.aborted) throw error;
    await limit.wait(wait);
  }
}

/** Whether an error is one of the way to the server, which the next attempt may not meet. */
const passes = (error: ApiError) => error.retryable || error.name === "NetworkError" || [502, 503, 504].includes(error.status);

/** Milliseconds before the next attempt: doubled each time, half of it left to chance. */
const pause = (attempt: number) => Math.min(retryDelay * 2 ** attempt, maxRetryDelay) * (0.5 + Math.random() / 2);

async function attemptOnce(connection: Connection, action: Action, attempt: number, placed: Placed, options: CallOptions, limit: Limit): Promise<Response | Failed> {
  let wait: number | undefined;
  try {
    const response = await send(connection, action.name, attempt, placed, options, limit);
    if (response.ok) return response;
    wait = retryAfter(response.headers.get("Retry-After"));
    return new Failed(await readError(action, response), wait);
  } catch (cause) {
    return new Failed(limit.error(cause), wait);
  }
}

async function send(connection: Connection, name: string, attempt: number, placed: Placed, options: CallOptions, limit: Limit): Promise<Response> {
  const client = connection.options;
  const own = typeof client.headers === "function" ? await client.headers() : client.headers;
  const headers = new Headers(own);
  for (const list of [placed.headers, options.headers ?? {}]) for (const key of Object.keys(list)) headers.set(key, list[key]!);
  if (Number.isFinite(limit.left()) && !placed.streams) {
    headers.set("X-Request-Timeout", (Math.max(limit.left(), 1) / 1000).toFixed(3)); // in seconds
  }
  const outgoing: Outgoing = { action: name, attempt, method: placed.method, url: client.baseUrl.replace(/\/+$/, "") + placed.path, headers, signal: limit.signal };
  if (placed.body !== undefined) outgoing.body = placed.body;
  const around: Intercept[] = [];
  if (typeof client.intercept === "function") around.push(client.intercept);
  else around.push(...(client.intercept ?? []));
  let next = (r: Outgoing): Promise<Response> => {
    const init: RequestInit & { duplex?: "half" } = { method: r.method, headers: r.headers, signal: r.signal };
    if (r.body !== undefined) init.body = r.body;
    if (client.credentials) init.credentials = client.credentials;
    if (r.body instanceof ReadableStream) init.duplex = "half";
    return (client.fetch ?? globalThis.fetch)(r.url, init);
  };
  for (const one of around.reverse()) {
    const inner = next;
    next = (r) => one(r, inner);
  }
  return next(outgoing);
}

/** Milliseconds that the server asks to wait; undefined if it says nothing. */
function retryAfter(text: string | null | undefined): number | undefined {
  if (!text) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(ms, 0);
}

async function readOutput(action: Action, response: Response): Promise<any> {
  const text = await response.text();
  if (!action.read || text === "") return undefined;
  return fromJSON(action, text);
}

function fromJSON(action: Action, text: string): any {
  return output(action, () => parseJSON(text));
}

/** The declared type of a JSON value; an error if it is none. */
function output(action: Action, value: () => unknown): any {
  try {
    return (action.read ?? same)(value());
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ApiError(action.name, "BadOutput", `the answer of ${action.name} cannot be read: ${why}`, { code: "Internal", status: 200, cause });
  }
}

async function readError(action: Action, response: Response): Promise<ApiError> {
  const requestId = response.headers.get("X-Request-Id") ?? undefined;
  const text = await response.text();
  if (response.headers.get("Content-Type")?.startsWith("application/problem+json")) {
    try {
      return problemError(action, parseJSON(text) as Problem, requestId);
    } catch {
      // as anything else that is no problem document
    }
  }
  const message = `${action.name} was answered with status ${response.status}, but not by a Sabir node`;
  return new ApiError(action.name, "NotANode", message, { status: response.status, requestId });
}

function problemError(action: Action, problem: Problem, requestId?: string): ApiError {
  const name = problem.name ?? "";
  const message = problem.message ?? problem.detail ?? problem.title ?? "no reason was given";
  const more = { ...problem, requestId: problem.requestId ?? requestId, problem };
  const declared = action.errors && Object.hasOwn(action.errors, name) ? action.errors[name] : undefined;
  if (declared) return new ApiError(action.name, name, message, { ...more, data: output({ ...action, read: declared }, () => problem.data) });
  const known = name === "ValidationFailed" || (generalNames as readonly string[]).includes(name);
  return new ApiError(action.name, known ? name : "UndeclaredError", message, more);
}

// ---- Batches

const alone = Symbol("the only call of its batch");

/** Calls that go as one request. */
class Queue {
  private waiting: Waiting[] = [];
  private readonly connection: Connection;
  private readonly path: string;
  private readonly auto: boolean;

  /** An automatic queue sends in the next microtask; another one waits for send. */
  constructor(options: ClientOptions, path: string, auto: boolean) {
    this.connection = { options };
    this.path = path;
    this.auto = auto;
  }

  /** The call's output, alone if it is better sent as itself, or how it Failed. */
  add(action: Action, input: unknown, limit: Limit): Promise<any> {
    const item = toJSON(action, { action: action.name, input: input ?? {} });
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
    if (this.auto && waiting.length === 1) return waiting[0]!.resolve(alone);
    const parts: Promise<void>[] = [];
    for (let i = 0; i < waiting.length; i += maxBatch) parts.push(this.exchange(waiting.slice(i, i + maxBatch)));
    for (const part of parts) await part; // none rejects
  }

  private async exchange(part: Waiting[]): Promise<void> {
    const left = Math.max(...part.map((w) => w.limit.left()));
    const limit = new Limit("$batch", undefined, Number.isFinite(left) ? Math.max(left, 1) : 0);
    let open = part.length; // when nobody waits any more, the request is given up
    for (const w of part) w.limit.signal.addEventListener("abort", () => --open === 0 && limit.stop(), { once: true });
    try {
      const body = "[" + part.map((w) => w.item).join(",") + "]";
      const headers = { Accept: acceptJSON, "Content-Type": "application/json" };
      const placed = { method: "POST", path: this.path, headers, body, repeatable: part.every((w) => w.action.idempotent === true) };
      const response = await request(this.connection, { name: "$batch", path: this.path }, placed, {}, limit);
      const requestId = response.headers.get("X-Request-Id") ?? undefined;
      const answers = fromJSON({ name: "$batch", path: this.path, read: list(same) }, await response.text()) as any[];
      part.forEach((w, i) => answerOf(w, answers[i], requestId));
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

function answerOf(w: Waiting, answer: BatchAnswer | undefined, requestId: string | undefined): void {
  try {
    if (!answer) throw new ApiError(w.action.name, "BadOutput", `the batch has no answer for ${w.action.name}`, { code: "Internal", status: 200 });
    if (answer.problem) return w.resolve(new Failed(problemError(w.action, answer.problem, requestId), retryAfter(answer.headers?.["Retry-After"]?.[0])));
    w.resolve(w.action.read && answer.output !== undefined ? output(w.action, () => answer.output) : undefined);
  } catch (error) {
    w.reject(error);
  }
}

// ---- Streams

/** Makes the function for an action that is a stream. */
function stream(connection: Connection, action: Action): any {
  const plain = (input?: unknown, options: StreamOptions = {}) => follow(connection, action, options, () => placePost(action, input));
  const from = (values: Iterable<unknown> | AsyncIterable<unknown>, options: StreamOptions = {}) =>
    follow(connection, action, { ...options, reconnect: 0 }, () => {
      const placed = placePost(action, undefined);
      placed.headers["Content-Type"] = "application/x-ndjson";
      return withBody(placed, lines(action, values));
    });
  const open = (options: CallOptions = {}) => new Socket(connection, action, options);
  return members(plain, { from, open });
}

/** Gives a function members, also of names that functions have, such as "name". */
function members(f: object, list: Record<string, unknown>): any {
  for (const key of Object.keys(list)) Object.defineProperty(f, key, { value: list[key], enumerable: true });
  return f;
}

async function* lines(action: Action, values: any): any {
  const encoder = new TextEncoder();
  for await (const value of values) yield encoder.encode(toJSON(action, value) + "\n");
}

/** Opens the stream when its first value is asked for. Of events, those that bear their own name are values. */
function follow(connection: Connection, action: Action, options: StreamOptions, place: () => Placed | Promise<Placed>, events = false): any {
  const state = { lastEventId: "" };
  const most = options.reconnect ?? (events ? Infinity : 0);
  async function* once(progress: { failures: number; wait: number | undefined }, limit: Limit): any {
    try {
      const placed = await place();
      placed.headers["Accept"] = "text/event-stream, application/problem+json";
      placed.streams = true; // is not sent twice, and the timeout is not for the whole of it
      const last = state.lastEventId || options.lastEventId;
      if (last !== undefined) placed.headers["Last-Event-ID"] = last;
      progress.wait = undefined;
      const response = await attemptOnce(connection, action, progress.failures, placed, options, limit);
      if (response instanceof Failed) {
        progress.wait = response.wait;
        throw response.error;
      }
      limit.untime();
      let ended = false;
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
        if (event.event === "error") throw problemError(action, parseJSON(event.data) as Problem, response.headers.get("X-Request-Id") ?? undefined);
        ended = event.event === "end";
        if (ended) break;
        yield fromJSON(action, event.data);
      }
      if (!ended) throw new Error("the stream broke off");
    } catch (cause) {
      throw limit.error(cause);
    }
  }
  async function* values(): any {
    const progress: { failures: number; wait: number | undefined } = { failures: 0, wait: undefined };
    for (;;) {
      const limit = new Limit(action.name, options.signal, options.timeout ?? connection.options.timeout ?? 30_000);
      try {
        return yield* once(progress, limit);
      } catch (cause) {
        const error = limit.error(cause);
        const wait = progress.wait ?? pause(progress.failures);
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
function listen(connection: Connection, path: string, topics: readonly string[], options: StreamOptions = {}): Stream<ApiEvent> {
  const query = topics.map((topic) => "topic=" + encodeURIComponent(topic)).join("&");
  const placed: Placed = { method: "GET", path: `${path}?${query}`, headers: {}, repeatable: true };
  return follow(connection, { name: "$events", path }, options, () => placed, true);
}

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

  constructor(connection: Connection, action: Action, options: CallOptions) {
    const { baseUrl, webSocket = globalThis.WebSocket, timeout = 30_000 } = connection.options;
    this.action = action;
    if (!webSocket) throw new ApiError(action.name, "NetworkError", "there is no WebSocket here: give createClient one, as webSocket");
    const page = (globalThis as { location?: { href: string } }).location?.href;
    const url = new URL(baseUrl.replace(/\/+$/, "") + action.path, page);
    url.protocol = url.protocol.replace("http", "ws");
    this.limit = new Limit(action.name, options.signal, options.timeout ?? timeout);
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
    while (this.socket.bufferedAmount > maxBuffered && !this.over) await this.limit.wait(10); // nothing tells when it is less
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
      const message = parseJSON(String(data)) as { value?: unknown; end?: boolean; error?: Problem };
      if (message.error) throw problemError(this.action, message.error);
      if (message.end) return this.finish();
      if (this.values.length >= maxWaiting) throw new ApiError(this.action.name, "StreamEnded", "the stream's values were read too slowly");
      this.values.push(output(this.action, () => message.value));
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

/** Makes the function for an action that takes a file. */
function upload(connection: Connection, action: Action, gives: "value" | "file"): any {
  return (body: UploadBody, options: UploadOptions = {}) =>
    transfer(connection, action, options, gives, () => {
      const placed: Placed = { method: "POST", path: action.path, headers: {}, repeatable: action.idempotent === true };
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

/** Makes the function for an action that gives a file. */
function download(connection: Connection, action: Action): any {
  return (input?: unknown, options: CallOptions = {}) => transfer(connection, action, options, "file", () => placePost(action, input));
}

function transfer(connection: Connection, action: Action, options: CallOptions, gives: "value" | "file", place: () => Placed | Promise<Placed>): Call<any, any> {
  const run = async (): Promise<Result<any, any>> => {
    const limit = new Limit(action.name, options.signal, options.timeout ?? 0); // files take their time
    try {
      const placed = await place();
      placed.headers["Accept"] = gives === "file" ? "application/octet-stream, application/problem+json" : acceptJSON;
      const response = await request(connection, action, placed, options, limit);
      if (gives === "file") {
        limit.untime(); // the signal still ends the body
        return { ok: true, value: response };
      }
      const value = await readOutput(action, response);
      limit.done();
      return { ok: true, value };
    } catch (cause) {
      limit.done();
      return { ok: false, error: limit.error(cause) };
    }
  };
  return settle(run());
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

/** Writes JSON, bigints as numbers. */
function toJSON(action: Action, value: unknown): string {
  try {
    return writeJSON(value) ?? "null";
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ApiError(action.name, "BadInput", `the input of ${action.name} cannot be written: ${why}`, { code: "InvalidArgument", cause });
  }
}

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
  if (Number.isNaN(time.getTime())) throw new TypeError(`${JSON.stringify(value)} is no time`);
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
  if (value[key] !== undefined && value[key] !== null) value[key] = read(value[key]);
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
