// ---------------------------------------------------------------------------------------------------------------------
// How calls are made. The types and actions of this API follow below.
// ---------------------------------------------------------------------------------------------------------------------
/** What all errors have in common. `type`, or `name`, which is its last part, tells which one it is. */
export class ApiError extends Error {
    constructor(action, name, message, more = {}) {
        super(message, more);
        const type = "urn:sabir:error:" + encodeURIComponent(name);
        Object.assign(this, { code: "Unknown", status: 0, retryable: false }, more, { name, type, action });
    }
}
const same = (value) => value;
const maxRetryAfter = 60_000; // milliseconds; who is to wait longer is told so by the error
const acceptJSON = "application/json, application/problem+json";
/** Calls an action that has no stream. */
function call(client, action, input, options = {}) {
    return settle(action, options.signal, timeoutOf(client, options), async (limit) => {
        client.validate?.(action.name, input);
        const first = options.headers ? undefined : client.queue?.add(action, input, limit);
        return readOutput(action, await request(client, action, action.get?.(input) ?? placePost(action, input), options, limit, first));
    });
}
const timeoutOf = (client, options) => options.timeout ?? client.timeout ?? 30_000;
/** Runs a call within its limit, and gives what the caller gets. */
function settle(action, signal, ms, run) {
    const limit = begin(action, signal, ms);
    const call = run(limit)
        .then((value) => ({ ok: true, value }), (cause) => ({ ok: false, error: limit.error(cause) }))
        .then((result) => {
        if (!(result.value instanceof Response))
            limit.done();
        return result;
    });
    call.orThrow = async () => {
        const result = await call;
        if (result.ok)
            return result.value;
        throw result.error;
    };
    return call;
}
function begin({ name }, outer, ms) {
    const controller = new AbortController();
    const { signal } = controller;
    const ends = ms > 0 ? Date.now() + ms : Infinity;
    const error = (kind, what, code, cause) => new ApiError(name, kind, `${name} ${what}`, { code, cause });
    const stop = () => controller.abort(error("AbortError", "was aborted", "Canceled", outer?.reason));
    const expire = () => controller.abort(error("TimeoutError", `did not answer in ${ms} ms`, "DeadlineExceeded"));
    const timer = ms > 0 ? setTimeout(expire, Math.min(ms, 2147483647)) : undefined; // a timer holds no more
    const untime = () => clearTimeout(timer);
    outer?.addEventListener("abort", stop);
    if (outer?.aborted)
        stop();
    return {
        signal,
        stop,
        untime,
        left: () => ends - Date.now(),
        done() {
            untime();
            outer?.removeEventListener("abort", stop);
        },
        error: (cause) => cause instanceof ApiError ? cause : signal.aborted ? signal.reason : error("NetworkError", `got no answer: ${cause?.message ?? cause}`, "Unavailable", cause),
        wait: (ms) => new Promise((resolve, reject) => {
            const timer = setTimeout(resolve, ms);
            const stopped = () => {
                clearTimeout(timer);
                reject(signal.reason);
            };
            signal.addEventListener("abort", stopped, { once: true });
        }),
    };
}
function placePost(action, input) {
    const placed = { method: "POST", path: action.path, headers: { Accept: acceptJSON }, repeatable: action.idempotent };
    if (input !== undefined) {
        placed.headers["Content-Type"] = "application/json";
        placed.body = toJSON(action, input);
    }
    return placed;
}
/** Sends a request, again where that is allowed, and gives the answer if it is a good one. `first` may answer the first attempt. */
async function request(client, action, placed, options, limit, first) {
    for (let attempt = 0;; attempt++) {
        try {
            return await exchange(client, action, attempt, placed, options, limit, attempt ? undefined : first);
        }
        catch (cause) {
            const error = cause;
            const wait = error.retryAfter ?? pause(attempt);
            const again = error.retryable || (placed.repeatable && passes(error));
            if (!again || placed.streams || attempt >= (client.retries ?? 2) || wait > maxRetryAfter || wait >= limit.left() || limit.signal.aborted)
                throw error;
            await limit.wait(wait);
        }
    }
}
/** Whether an error is one of the way to the server, which the next attempt may not meet. */
const passes = (error) => error.retryable || error.name === "NetworkError" || [502, 503, 504].includes(error.status);
/** Milliseconds before the next attempt: 100, doubled each time up to 5 000, half of it left to chance. */
const pause = (attempt) => Math.min(100 * 2 ** attempt, 5_000) * (0.5 + Math.random() / 2);
/** Sends a request once. Fails with an ApiError, also where the answer is one. */
async function exchange(client, action, attempt, placed, options, limit, first) {
    try {
        const response = (await first) ?? (await send(client, action.name, attempt, placed, options, limit));
        if (response.ok)
            return response;
        throw await answeredError(action, response);
    }
    catch (cause) {
        throw limit.error(cause);
    }
}
async function send(client, action, attempt, { method, path, headers: added, body, streams }, options, limit) {
    const { baseUrl, headers: own, intercept = [], credentials, fetch = globalThis.fetch } = client;
    const headers = new Headers(typeof own === "function" ? await own() : own);
    for (const list of [added, options.headers ?? {}])
        for (const key in list)
            headers.set(key, list[key]);
    if (limit.left() < Infinity && !streams)
        headers.set("X-Request-Timeout", (Math.max(limit.left(), 1) / 1000).toFixed(3)); // in seconds
    const outgoing = { action, attempt, method, url: baseUrl.replace(/\/+$/, "") + path, headers, body, signal: limit.signal };
    const fetched = ({ url, ...r }) => fetch(url, { ...r, credentials, duplex: "half" });
    return [intercept].flat().reduceRight((next, one) => (r) => one(r, next), fetched)(outgoing);
}
/** Milliseconds that the server asks to wait; undefined if it says nothing. */
function retryAfter(response) {
    const text = response.headers.get("Retry-After") ?? "";
    const ms = +text * 1000 || Date.parse(text) - Date.now();
    return ms > 0 ? ms : undefined;
}
/** The error that an answer is. */
async function answeredError(action, response) {
    const text = await response.text();
    let problem;
    try {
        if (response.headers.get("Content-Type")?.startsWith("application/problem+json"))
            problem = parse(action, text);
    }
    catch {
        // it is another server's
    }
    const { status } = response;
    const more = { status, requestId: response.headers.get("X-Request-Id") ?? undefined, retryAfter: retryAfter(response) };
    if (problem)
        return problemError(action, problem, more);
    return new ApiError(action.name, "NotANode", `${action.name} was answered with status ${status}, but not by a Sabir node`, more);
}
function problemError(action, problem, more) {
    const { name = "", message, detail, title, data } = problem;
    const read = action.errors && Object.hasOwn(action.errors, name) ? action.errors[name] : same;
    return new ApiError(action.name, name, message ?? detail ?? title ?? "no reason was given", { ...more, ...problem, data: readAs(action, read, data), problem });
}
async function readOutput(action, response) {
    const text = await response.text();
    return action.read && text ? fromJSON(action, text) : undefined;
}
const parse = (action, text) => (action.parse ?? JSON.parse)(text);
const fromJSON = (action, text) => readAs(action, (text) => (action.read ?? same)(parse(action, text)), text);
/** What a reader makes of a value; an error if the value has not the declared type. */
const readAs = (action, read, value) => converted(action, read, value, "BadOutput", "answer", { code: "Internal", status: 200 });
/** Writes an input. What is no number in JSON, or may have been rounded, is an error. */
const toJSON = (action, input) => converted(action, action.write ?? JSON.stringify, input, "BadInput", "input", { code: "InvalidArgument" });
/** Writes the JSON of inputs whose numbers are whole. */
const whole = (input) => JSON.stringify(input, (_, v) => {
    if (typeof v === "number" && !Number.isSafeInteger(v) && !(v % 1))
        throw new TypeError(v + " is not exact");
    return v;
});
/** Values that are not as declared are errors. */
function converted({ name }, f, value, error, what, more) {
    try {
        return f(value);
    }
    catch (cause) {
        throw new ApiError(name, error, `the ${what} of ${name} cannot be converted: ${cause.message}`, { ...more, cause });
    }
}
// ---- GET
/** Makes the GET form of an action, which caches know. */
function getOf(pattern, params) {
    return (input) => {
        let path = pattern;
        const query = [];
        const headers = { Accept: acceptJSON };
        for (const param of params) {
            const value = input?.[param.field];
            if (param.in === "path") {
                const text = toText(value);
                if (text === undefined)
                    return undefined;
                const segments = param.name.endsWith("...") ? text.split("/") : [text];
                if (segments.some((s) => s === "" || s === "." || s === ".."))
                    return undefined; // URLs lose these
                path = path.replace(`{${param.name}}`, () => segments.map(encodeURIComponent).join("/"));
                continue;
            }
            if (value === undefined || value === null)
                continue;
            const list = Array.isArray(value) ? value : [value];
            if (list.length === 0)
                return undefined; // would be the same as no list
            for (const item of list) {
                const text = toText(item);
                if (text === undefined)
                    return undefined;
                if (param.in === "query") {
                    query.push(encodeURIComponent(param.name) + "=" + encodeURIComponent(text));
                    continue;
                }
                if (list.length > 1 || !/^[!-~]([ -~]*[!-~])?$/.test(text))
                    return undefined;
                headers[param.name] = text;
            }
        }
        if (query.length > 0)
            path += "?" + query.join("&");
        return path.length > maxUrl ? undefined : { method: "GET", path, headers, repeatable: true };
    };
}
const maxUrl = 4_000; // characters; servers and proxies take 8 000
/** A value as it stands in a path or a query; undefined for what cannot. */
function toText(value) {
    switch (typeof value) {
        case "string":
            return /\p{Surrogate}/u.test(value) ? undefined : value;
        case "boolean":
        case "bigint":
            return String(value);
        case "number":
            return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value)) ? String(value) : undefined;
    }
    if (value instanceof Date)
        return Number.isNaN(value.getTime()) ? undefined : value.toISOString();
    return value instanceof Uint8Array ? toBase64(value) : undefined;
}
// ---- Pages
/** The items of a page and of all behind it. */
async function* pages(get, input) {
    for (let next = input;;) {
        const page = await get(next).orThrow();
        yield* page.items ?? [];
        if (!page.next)
            return;
        next = { ...input, cursor: page.next };
    }
}
// ---- Batches
const maxBatch = 100;
/** Calls that go as one request. */
class Queue {
    waiting = [];
    client;
    action;
    auto;
    /** An automatic queue sends in the next microtask; another one waits for send. */
    constructor(client, path, auto) {
        this.client = client;
        this.action = { name: "$batch", path, parse: parseJSON, read: list(same) };
        this.auto = auto;
    }
    /** The call's answer; undefined if it is better sent alone. */
    add(action, input, limit) {
        const item = `{"action":${JSON.stringify(action.name)},"input":${toJSON(action, input ?? {})}}`;
        return new Promise((resolve, reject) => {
            if (limit.signal.aborted)
                return reject(limit.signal.reason);
            limit.signal.addEventListener("abort", () => reject(limit.signal.reason), { once: true });
            this.waiting.push({ action, item, limit, resolve, reject });
            if (this.auto && this.waiting.length === 1)
                queueMicrotask(() => void this.send());
        });
    }
    /** Sends what was collected, and waits for the answers. */
    async send() {
        const waiting = this.waiting.filter((w) => !w.limit.signal.aborted);
        this.waiting = [];
        if (this.auto && waiting.length === 1)
            return waiting[0].resolve(undefined);
        const parts = [];
        for (let i = 0; i < waiting.length; i += maxBatch)
            parts.push(this.exchange(waiting.slice(i, i + maxBatch)));
        for (const part of parts)
            await part; // none rejects
    }
    async exchange(part) {
        const left = Math.max(...part.map((w) => w.limit.left()));
        const limit = begin(this.action, undefined, Number.isFinite(left) ? Math.max(left, 1) : 0);
        let open = part.length; // when nobody waits any more, the request is given up
        for (const w of part)
            w.limit.signal.addEventListener("abort", () => --open === 0 && limit.stop(), { once: true });
        try {
            const placed = placePost(this.action, undefined);
            placed.headers["Content-Type"] = "application/json";
            placed.body = "[" + part.map((w) => w.item).join(",") + "]";
            placed.repeatable = part.every((w) => w.action.idempotent === true);
            const response = await request(this.client, this.action, placed, {}, limit);
            const answers = (await readOutput(this.action, response));
            part.forEach((w, i) => answerOf(w, answers[i], response));
        }
        catch (cause) {
            const error = limit.error(cause);
            for (const w of part)
                w.reject(new ApiError(w.action.name, error.name, error.message, error));
        }
        finally {
            limit.done();
        }
    }
}
/** Answers one call as if it had been sent alone. */
function answerOf(w, answer, whole) {
    if (!answer)
        return w.reject(new ApiError(w.action.name, "BadOutput", `the batch has no answer for ${w.action.name}`, { code: "Internal", status: 200 }));
    const { problem, output, status } = answer;
    const headers = new Headers({ "Content-Type": problem ? "application/problem+json" : "application/json" });
    const retryAfter = answer.headers?.["Retry-After"]?.[0];
    if (retryAfter !== undefined)
        headers.set("Retry-After", retryAfter);
    const requestId = whole.headers.get("X-Request-Id");
    if (requestId !== null)
        headers.set("X-Request-Id", requestId);
    const body = problem ?? output;
    w.resolve(new Response(body === undefined ? null : exact(body), { status: problem ? status : 200, headers }));
}
/** Calls a stream that takes one value, or none. */
function stream(client, action, input, options = {}) {
    return follow(client, action, options, () => placePost(action, input));
}
/** Calls a stream that takes many values. */
function streamFrom(client, action, values, options = {}) {
    return follow(client, action, { ...options, reconnect: 0 }, () => placeValues(action, values));
}
/** Calls a stream that answers with one value. */
function clientStream(client, action, values, options = {}) {
    return transfer(client, action, "value", options, () => placeValues(action, values));
}
function placeValues(action, values) {
    const placed = placePost(action, undefined);
    placed.headers["Content-Type"] = "application/x-ndjson";
    return withBody(placed, lines(action, values));
}
/** The function of an action, with the client that it calls. */
const withClient = (client, f) => (...rest) => f(client, ...rest);
/** Gives a function members, also of names that functions have, such as "name". */
function members(f, list) {
    for (const key of Object.keys(list))
        Object.defineProperty(f, key, { value: list[key], enumerable: true });
    return f;
}
async function* lines(action, values) {
    const encoder = new TextEncoder();
    for await (const value of values)
        yield encoder.encode(toJSON(action, value) + "\n");
}
const maxLine = 16_000_000; // characters of one value of a stream
/** Opens the stream when its first value is asked for. Of events, those that bear their own name are values. */
function follow(client, action, options, place, events = false) {
    const state = { lastEventId: "" };
    const most = options.reconnect ?? (events ? Infinity : 0);
    async function* once(progress, limit) {
        const placed = await place();
        placed.headers["Accept"] = "text/event-stream, application/problem+json";
        placed.streams = true;
        const last = state.lastEventId || options.lastEventId;
        if (last !== undefined)
            placed.headers["Last-Event-ID"] = last;
        const response = await exchange(client, action, progress.failures, placed, options, limit);
        limit.untime();
        if (!response.body) // as of React Native's fetch; to open the stream again would not help
            throw new ApiError(action.name, "BadOutput", `${action.name}: this fetch does not give an answer in pieces; give createClient one that does, as fetch`, { code: "Internal", status: 200 });
        for await (const one of serverEvents(response)) {
            const event = one;
            if (event.id)
                state.lastEventId = event.id;
            progress.failures = 0;
            if (events) {
                const value = parseJSON(event.data);
                if (value.event === event.event) {
                    yield value;
                    continue;
                }
            }
            if (event.event === "error")
                throw problemError(action, parse(action, event.data), { requestId: response.headers.get("X-Request-Id") ?? undefined });
            if (event.event === "end")
                return;
            yield fromJSON(action, event.data);
        }
        throw new Error("the stream broke off");
    }
    async function* values() {
        const progress = { failures: 0 };
        for (;;) {
            const limit = begin(action, options.signal, timeoutOf(client, options));
            try {
                return yield* once(progress, limit);
            }
            catch (cause) {
                const error = limit.error(cause);
                const wait = error.retryAfter ?? pause(progress.failures);
                if (!passes(error) || progress.failures++ >= most || wait > maxRetryAfter || limit.signal.aborted)
                    throw error;
                limit.untime();
                await limit.wait(wait).catch((reason) => {
                    throw limit.error(reason);
                });
            }
            finally {
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
async function* resultsOf(values) {
    try {
        for await (const value of values)
            yield { ok: true, value };
    }
    catch (error) {
        yield { ok: false, error };
    }
}
/** Reads server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
async function* serverEvents(response) {
    let one = { id: "", event: "", data: "" };
    for await (const next of readLines(response)) {
        const line = next;
        if (line === "") {
            if (one.data !== "")
                yield { ...one, data: one.data.slice(0, -1) };
            one = { id: "", event: "", data: "" };
            continue;
        }
        const colon = line.indexOf(":");
        const field = colon < 0 ? line : line.slice(0, colon);
        const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
        if (field === "data")
            one.data += value + "\n";
        else if (field === "id" || field === "event")
            one[field] = value;
    }
}
async function* readLines(response) {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of readChunks(response.body)) {
        const text = rest + decoder.decode(chunk, { stream: true });
        const complete = text.split(/\r\n|\n|\r(?!$)/); // a return at the end may be half of a line's end
        rest = complete.pop();
        if (rest.length > maxLine)
            throw new Error("a value of the stream is too large");
        yield* complete;
    }
}
async function* readChunks(body) {
    const reader = body?.getReader();
    if (!reader)
        return;
    for (;;) {
        const { done, value } = await reader.read();
        if (done)
            return;
        yield value;
    }
}
/** Listens to events. */
function listen(client, path, topics, options = {}) {
    const query = topics.map((topic) => "topic=" + encodeURIComponent(topic)).join("&");
    const placed = { method: "GET", path: `${path}?${query}`, headers: {}, repeatable: true };
    return follow(client, { name: "$events", path, parse: parseJSON }, options, () => placed, true);
}
const maxWaiting = 10_000; // values of a WebSocket that nobody has read
const maxBuffered = 1_000_000; // bytes of a WebSocket that are not sent
/** Both ways over a WebSocket. */
class Socket {
    action;
    limit;
    socket;
    opened;
    values = [];
    wake = () => { };
    failure;
    over = false; // nothing more will come
    sending = true;
    constructor(client, action, options = {}) {
        const { baseUrl, webSocket = globalThis.WebSocket } = client;
        this.action = action;
        if (!webSocket)
            throw new ApiError(action.name, "NetworkError", "there is no WebSocket here: give createClient one, as webSocket");
        const page = globalThis.location?.href;
        const url = new URL(baseUrl.replace(/\/+$/, "") + action.path, page);
        url.protocol = url.protocol.replace("http", "ws");
        this.limit = begin(action, options.signal, timeoutOf(client, options));
        this.socket = new webSocket(url.href, ["sabir.v1"]);
        this.opened = new Promise((resolve, reject) => {
            this.socket.addEventListener("open", () => {
                this.limit.untime();
                resolve();
            });
            const fail = (why) => {
                this.finish(new Error(why));
                reject(this.failure);
            };
            this.socket.addEventListener("close", (event) => fail(event.reason || `the connection closed with code ${event.code}`));
            this.socket.addEventListener("error", () => fail("the connection was refused or broke off")); // not each tells a close then
            this.limit.signal.addEventListener("abort", () => this.finish(this.limit.signal.reason));
        });
        this.opened.catch(() => { }); // is told to whoever sends or reads
        this.socket.addEventListener("message", (event) => this.take(event.data));
        if (this.limit.signal.aborted)
            this.finish(this.limit.signal.reason);
    }
    async send(value) {
        const text = `{"value":${toJSON(this.action, value)}}`;
        await this.opened;
        while (this.socket.bufferedAmount > maxBuffered && !this.over)
            await new Promise((resolve) => setTimeout(resolve, 10)); // nothing tells when it is less
        if (this.failure)
            throw this.failure;
        if (this.over || !this.sending)
            throw new ApiError(this.action.name, "StreamEnded", "the stream has ended", { code: "FailedPrecondition" });
        this.socket.send(text);
    }
    end() {
        if (!this.sending)
            return;
        this.sending = false;
        this.opened.then(() => this.socket.readyState === 1 && this.socket.send('{"end":true}')).catch(() => { });
    }
    close() {
        this.finish();
    }
    results() {
        return resultsOf(this);
    }
    async *[Symbol.asyncIterator]() {
        try {
            for (;;) {
                while (this.values.length > 0)
                    yield this.values.shift();
                if (this.failure)
                    throw this.failure;
                if (this.over)
                    return;
                await new Promise((resolve) => (this.wake = resolve));
            }
        }
        finally {
            this.close();
        }
    }
    take(data) {
        if (this.over)
            return;
        try {
            const message = parse(this.action, String(data));
            if (message.error)
                throw problemError(this.action, message.error);
            if (message.end)
                return this.finish();
            if (this.values.length >= maxWaiting)
                throw new ApiError(this.action.name, "StreamEnded", "the stream's values were read too slowly");
            this.values.push(readAs(this.action, this.action.read ?? same, message.value));
            this.wake();
        }
        catch (cause) {
            this.finish(cause);
        }
    }
    finish(cause) {
        if (this.over)
            return;
        this.over = true;
        if (cause !== undefined)
            this.failure = this.limit.error(cause);
        this.limit.done();
        this.socket.close(1000);
        this.wake();
    }
}
// ---- Files
/** Calls an action that takes a file. */
function upload(client, action, gives, body, options = {}) {
    return transfer(client, action, gives, options, () => {
        const placed = { ...placePost(action, undefined), headers: {} };
        const file = body;
        const name = options.fileName ?? (typeof file.name === "string" ? file.name : undefined);
        const type = options.contentType ?? (typeof file.type === "string" ? file.type : "");
        if (type !== "" && inMemory(body)) { // only a form has a place for it
            const form = new FormData();
            form.append("file", new Blob([body], { type }), name ?? "file");
            return { ...placed, body: form };
        }
        placed.headers["Content-Type"] = "application/octet-stream";
        if (name !== undefined)
            placed.headers["Content-Disposition"] = "attachment; filename*=UTF-8''" + encodeName(name);
        return withBody(placed, body);
    });
}
const encodeName = (name) => encodeURIComponent(name).replace(/['()*!]/g, (c) => "%" + c.charCodeAt(0).toString(16));
/** Calls an action that gives a file. */
function download(client, action, input, options = {}) {
    return transfer(client, action, "file", options, () => placePost(action, input));
}
function transfer(client, action, gives, options, place) {
    return settle(action, options.signal, options.timeout ?? 0, async (limit) => {
        const placed = await place();
        placed.headers["Accept"] = gives === "file" ? "application/octet-stream, application/problem+json" : acceptJSON;
        const response = await request(client, action, placed, options, limit);
        if (gives === "value")
            return readOutput(action, response);
        limit.untime(); // the signal still ends the body
        return response;
    });
}
function inMemory(body) {
    return body instanceof Blob || body instanceof Uint8Array || body instanceof ArrayBuffer;
}
/** Adds a body. Node sends streams as they come; browsers can only do so over HTTP/2, so there they are read first. */
async function withBody(placed, body) {
    if (inMemory(body))
        return { ...placed, body: body };
    const chunks = body instanceof ReadableStream ? readChunks(body) : body[Symbol.asyncIterator]();
    if (globalThis.process?.versions?.node) {
        const pull = async (controller) => {
            const { done, value } = await chunks.next();
            if (done)
                controller.close();
            else
                controller.enqueue(value);
        };
        return { ...placed, body: new ReadableStream({ pull, cancel: () => chunks.return?.() }), streams: true };
    }
    const all = [];
    for (let next = await chunks.next(); !next.done; next = await chunks.next())
        all.push(next.value);
    return { ...placed, body: new Blob(all) };
}
// ---- JSON
/** Reads JSON. Whole numbers beyond ±(2^53-1) become bigints instead of being rounded. */
function parseJSON(text) {
    const value = JSON.parse(text);
    return /\d{16}/.test(text) ? parseExact(text) : value;
}
const stringToken = /"[^"\\]*(?:\\.[^"\\]*)*"/y;
const otherToken = /[-+.\w]+/y;
/** Reads what JSON.parse has read without an error, so that syntax need not be checked. */
function parseExact(text) {
    let at = 0;
    const skip = () => {
        while (/[\s,:]/.test(text[at] ?? ""))
            at++;
    };
    const token = (kind) => {
        kind.lastIndex = at;
        const found = kind.exec(text)[0];
        at += found.length;
        return found;
    };
    const next = () => {
        skip();
        switch (text[at]) {
            case '"':
                return JSON.parse(token(stringToken));
            case "[": {
                const items = [];
                for (at++, skip(); text[at] !== "]"; skip())
                    items.push(next());
                at++;
                return items;
            }
            case "{": {
                const object = {};
                for (at++, skip(); text[at] !== "}"; skip()) {
                    const key = JSON.parse(token(stringToken));
                    const value = next();
                    if (key === "__proto__")
                        Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
                    else
                        object[key] = value;
                }
                at++;
                return object;
            }
        }
        const word = token(otherToken);
        const value = JSON.parse(word);
        return /^-?\d+$/.test(word) && !Number.isSafeInteger(value) ? BigInt(word) : value;
    };
    return next();
}
/** Writes the JSON of inputs that JSON.stringify cannot write: bigints as numbers, bytes, fractions, times. */
const exact = (value) => writeJSON(value) ?? "null";
/** Undefined for what JSON leaves out. */
function writeJSON(value) {
    switch (typeof value) {
        case "bigint":
            return value.toString();
        case "number":
            if (!Number.isFinite(value))
                throw new TypeError(`${value} is no number in JSON`);
            // The exponent keeps a number that may have been rounded out of whole-number fields.
            return Number.isInteger(value) && !Number.isSafeInteger(value) ? value.toExponential() : JSON.stringify(value);
        case "object":
            if (value === null)
                return "null";
            if (value instanceof Uint8Array)
                return `"${toBase64(value)}"`;
            if (value instanceof Date)
                return JSON.stringify(value.toISOString()); // throws if it is no time
            if (Array.isArray(value))
                return "[" + value.map((item) => writeJSON(item) ?? "null").join(",") + "]";
            if (typeof value.toJSON === "function")
                return writeJSON(value.toJSON());
            return "{" + membersOf(value).join(",") + "}";
    }
    return JSON.stringify(value);
}
function membersOf(value) {
    const list = [];
    for (const key of Object.keys(value)) {
        const text = writeJSON(value[key]);
        if (text !== undefined)
            list.push(JSON.stringify(key) + ":" + text);
    }
    return list;
}
function toBase64(bytes) {
    let text = "";
    for (let i = 0; i < bytes.length; i += 8192)
        text += String.fromCharCode(...bytes.subarray(i, i + 8192));
    return btoa(text);
}
// ---- What readers are made of: JSON values become those of the declared types. Absent and null stay as they are.
const date = (value) => {
    if (typeof value !== "string")
        return value;
    const time = new Date(value);
    if (isNaN(+time))
        throw new TypeError(`${JSON.stringify(value)} is no time`);
    return time;
};
const big = (value) => {
    if (typeof value === "number" && !Number.isInteger(value))
        throw new TypeError(`${value} is no whole number`);
    return typeof value === "number" ? BigInt(value) : value;
};
const int = (value) => {
    if (typeof value === "bigint" || (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value))) {
        throw new RangeError(`${value} is too large for a number, which would be rounded`);
    }
    return value;
};
const float = (value) => (typeof value === "bigint" ? Number(value) : value);
const bytes = (value) => {
    if (typeof value !== "string")
        return value;
    const text = atob(value);
    const array = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++)
        array[i] = text.charCodeAt(i);
    return array;
};
const list = (item) => (value) => (Array.isArray(value) ? value.map((v) => item(v)) : value);
const record = (item) => (value) => {
    if (isObject(value))
        for (const key of Object.keys(value))
            put(value, key, item);
    return value;
};
const object = (fields) => (value) => {
    if (isObject(value))
        fields(value);
    return value;
};
/** Reads one member in its place. */
function put(value, key, read) {
    if (value[key] != null)
        value[key] = read(value[key]);
}
function isObject(value) {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}
// An API that has no use for one of these compiles with noUnusedLocals too. Bundlers leave out this line as well.
void [call, withClient, whole, getOf, pages, stream, streamFrom, clientStream, members, listen, Socket, upload, download, date, int, big, float, bytes, list, record, object];
/** The checks of some actions, by their names, for the option `validate`: `validating({ "a.b": validateAB })`. */
export function validating(checks) {
    return (action, input) => {
        const found = Object.hasOwn(checks, action) ? checks[action](input) : [];
        if (found.length === 0)
            return;
        const message = `the input of ${action} is not valid: ` + found.map((f) => (f.path ? f.path + ": " : "") + f.message).join("; ");
        throw new ApiError(action, "ValidationFailed", message, { code: "InvalidArgument", data: found });
    };
}
/** Where a value is in the input. */
class At {
    path;
    pointer;
    name;
    constructor(path, pointer, name) {
        this.path = path;
        this.pointer = pointer;
        this.name = name;
    }
    member(name) {
        return new At(this.path ? `${this.path}.${name}` : name, `${this.pointer}/${escapePointer(name)}`, name);
    }
    item(key) {
        return new At(`${this.path}[${key}]`, `${this.pointer}/${escapePointer(String(key))}`, `${this.name}[${key}]`);
    }
}
const escapePointer = (name) => name.replace(/~/g, "~0").replace(/\//g, "~1");
const absent = (value) => value === undefined || value === null;
/** Notes a failure, and is false. */
function fails(value, at, found, rule, what, param) {
    const one = { path: at.path, pointer: at.pointer, rule, message: at.name ? `${at.name} ${what}` : what };
    if (param !== undefined)
        one.param = String(param);
    if (["string", "number", "boolean", "bigint"].includes(typeof value))
        one.value = value;
    found.push(one);
    return false;
}
/** Refuses what is absent, and a zero value where that is the same to the server. */
const required = (zero) => (value, at, found) => !absent(value) && (zero === undefined || (value !== zero && !(typeof zero === "number" && value == 0))) ? true : fails(value, at, found, "required", "is a required field");
const present = (value, at, found) => (absent(value) ? fails(value, at, found, "required", "is a required field") : true);
const isText = (value, at, found) => typeof value === "string" || fails(value, at, found, "type", "must be a string");
const isTime = (value, at, found) => (value instanceof Date && !Number.isNaN(value.getTime())) || (typeof value === "string" && timeForm.test(value)) || fails(value, at, found, "type", "must be a time");
const isBytes = (value, at, found) => value instanceof Uint8Array || fails(value, at, found, "type", "must be a Uint8Array");
const isFlag = (value, at, found) => typeof value === "boolean" || fails(value, at, found, "type", "must be a boolean");
const isNumber = (value, at, found) => (typeof value === "number" && Number.isFinite(value)) || fails(value, at, found, "type", "must be a number");
const isList = (value, at, found) => Array.isArray(value) || fails(value, at, found, "type", "must be a list");
const isRecord = (value, at, found) => isObject(value) || fails(value, at, found, "type", "must be an object");
const isWhole = (least, most) => (value, at, found) => ((typeof value === "bigint" || Number.isSafeInteger(value)) && value >= least && value <= most) || fails(value, at, found, "type", "must be a whole number that fits");
const timeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
/** The size that a bound is for, and how it is worded: characters as Go counts them, items, or the number itself. */
function measure(value, bound, text) {
    const grouped = text.replace(/^-?\d+/, (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ","));
    if (typeof value === "string")
        return [runes(value), `${grouped} character${bound == 1 ? "" : "s"}`];
    if (typeof value === "number" || typeof value === "bigint")
        return [value, grouped];
    const size = value instanceof Uint8Array || Array.isArray(value) ? value.length : Object.keys(value).length;
    return [size, `${grouped} item${bound == 1 ? "" : "s"}`];
}
/** Code points, of which surrogate pairs are one. */
function runes(text) {
    let n = text.length;
    for (let i = 0; i + 1 < text.length; i++)
        if (text.codePointAt(i) > 0xffff)
            n--, i++;
    return n;
}
const bound = (rule, holds, words) => (bound, param = String(bound)) => (value, at, found) => {
    const [size, worded] = measure(value, bound, param);
    if (holds(size, bound))
        return true;
    const which = typeof value === "string" ? 0 : typeof value === "object" ? 1 : 2;
    return fails(value, at, found, rule, words[which].replace("{1}", () => worded), param);
};
const atLeast = ["must be at least {1} in length", "must contain at least {1}", "must be {1} or greater"];
const min = /* @__PURE__ */ bound("min", (size, bound) => size >= bound, atLeast);
const gte = /* @__PURE__ */ bound("gte", (size, bound) => size >= bound, atLeast);
const max = /* @__PURE__ */ bound("max", (size, bound) => size <= bound, ["must be a maximum of {1} in length", "must contain at most {1}", "must be {1} or less"]);
const lte = /* @__PURE__ */ bound("lte", (size, bound) => size <= bound, ["must be at most {1} in length", "must contain at most {1}", "must be {1} or less"]);
const gt = /* @__PURE__ */ bound("gt", (size, bound) => size > bound, ["must be greater than {1} in length", "must contain more than {1}", "must be greater than {1}"]);
const lt = /* @__PURE__ */ bound("lt", (size, bound) => size < bound, ["must be less than {1} in length", "must contain less than {1}", "must be less than {1}"]);
const len = /* @__PURE__ */ bound("len", (size, bound) => size == bound, ["must be {1} in length", "must contain {1}", "must be equal to {1}"]);
const eq = (wanted) => (value, at, found) => value == wanted || fails(value, at, found, "eq", `is not equal to ${wanted}`, String(wanted));
const ne = (other) => (value, at, found) => value != other || fails(value, at, found, "ne", `should not be equal to ${other}`, String(other));
const oneOf = (list, param) => (value, at, found) => list.some((one) => one == value) || fails(value, at, found, "oneof", `must be one of [${param}]`, param);
/** A rule whose whole meaning is a pattern. */
const match = (rule, form, what, param) => (value, at, found) => form.test(value) || fails(value, at, found, rule, what, param);
const contains = (text) => (value, at, found) => value.includes(text) || fails(value, at, found, "contains", `must contain the text '${text}'`, text);
const excludes = (text) => (value, at, found) => !value.includes(text) || fails(value, at, found, "excludes", `cannot contain the text '${text}'`, text);
const startsWith = (text) => (value, at, found) => value.startsWith(text) || fails(value, at, found, "startswith", `must start with '${text}'`, text);
const endsWith = (text) => (value, at, found) => value.endsWith(text) || fails(value, at, found, "endswith", `must end with '${text}'`, text);
const startsNotWith = (text) => (value, at, found) => !value.startsWith(text) || fails(value, at, found, "startsnotwith", `must not start with '${text}'`, text);
const endsNotWith = (text) => (value, at, found) => !value.endsWith(text) || fails(value, at, found, "endsnotwith", `must not end with '${text}'`, text);
const containsAny = (chars) => (value, at, found) => [...chars].some((c) => value.includes(c)) || fails(value, at, found, "containsany", `must contain at least one of the following characters '${chars}'`, chars);
const excludesAll = (chars) => (value, at, found) => ![...chars].some((c) => value.includes(c)) || fails(value, at, found, "excludesall", `cannot contain any of the following characters '${chars}'`, chars);
const unique = (value, at, found) => {
    const seen = {};
    let good = true;
    for (const key of Object.keys(value)) {
        const text = typeof value[key] + String(writeJSON(value[key]));
        good = good && !seen[text];
        seen[text] = true;
    }
    return good || fails(value, at, found, "unique", "must contain unique values");
};
/** The first check that fails is told. */
const all = (...checks) => (value, at, found) => checks.every((check) => check(value, at, found));
/** Absent values pass. */
const optional = (check) => (value, at, found) => absent(value) || check(value, at, found);
/** Absent values and the zero value pass. */
const unlessZero = (zero, check) => (value, at, found) => absent(value) || value == zero || check(value, at, found);
/** Absent values are what Go makes of them. */
const orZero = (zero, check) => (value, at, found) => check(absent(value) ? zero : value, at, found);
/** One of the checks must pass; else the last one tells why. */
const any = (...checks) => (value, at, found) => {
    let last = [];
    for (const check of checks)
        if (check(value, at, (last = [])))
            return true;
    found.push(...last);
    return false;
};
/** One of the rules must hold: "hexcolor|rgb". */
const either = (rule, ...checks) => (value, at, found) => checks.some((check) => check(value, at, [])) || fails(value, at, found, rule, `does not satisfy the rule ${rule}`);
const each = (check) => (value, at, found) => {
    let good = true;
    if (Array.isArray(value))
        value.forEach((item, i) => (good = check(item, at.item(i), found) && good));
    else
        for (const key of Object.keys(value))
            good = check(value[key], at.item(key), found) && good;
    return good;
};
const eachKey = (check) => (value, at, found) => {
    let good = true;
    for (const key of Object.keys(value))
        good = check(key, at.item(key), found) && good;
    return good;
};
/** Every member is checked, so that all that fail are told. */
const shape = (members) => (value, at, found) => {
    let good = true;
    for (const name of Object.keys(members))
        good = members[name](value[name], at.member(name), found) && good;
    return good;
};
function validated(check, input) {
    const found = [];
    check(input, new At("", "", ""), found);
    return found;
}
void [
    required, present, isText, isTime, isBytes, isFlag, isNumber, isList, isRecord, isWhole, min, gte, max, lte, gt, lt, len, eq, ne, oneOf, match, contains, excludes, startsWith,
    endsWith, startsNotWith, endsNotWith, containsAny, excludesAll, unique, all, optional, unlessZero, orZero, any, either, each, eachKey, shape, validated,
];
