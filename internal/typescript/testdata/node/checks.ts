// What the client must do, wherever it runs: Node and a browser run the same checks against the same server.
import {
  ApiError,
  createClient,
  validateUsersCreate,
  validators,
  chatRoomOpen,
  logTail,
  notesFindAll,
  usersCreate,
  usersGet,
  validating,
  type Api,
  type ApiOptions,
  type CallError,
  type NewUser,
  type NoSuchUserError,
  type Outgoing,
  type UsersGetError,
} from "./shop.js";

interface Bench {
  base: string;
  browser: boolean;
  api: Api;
  client(options?: Partial<ApiOptions>): Api;
}

const checks: Record<string, (b: Bench) => Promise<void>> = {
  "an output has its types: bigint, Date, bytes": async ({ api }) => {
    const user = await api.users.get({ id: 9007199254740993n }).orThrow();
    same(user.id, 9007199254740993n);
    same(user.visits, 18446744073709551615n);
    same(user.limits["a"], -9223372036854775808n);
    same(Object.getOwnPropertyDescriptor(user.limits, "__proto__")?.value, 3n);
    same(user.born instanceof Date && user.born.toISOString(), "2026-01-02T03:04:05.678Z");
    same(user.seen, null);
    same([...user.avatar].join(), "0,1,254,255");
    same(user.score, 1e20);
    same(user.age, 36);
    same(user.friends?.[0]?.born instanceof Date, true);
    same(user.friends?.[0]?.id, 9n);
    same(user.friends?.[1], null);
    same(user.extra?.["big"], 12345678901234567890n);
    const page = await api.users.list().orThrow();
    same(page.total, 1152921504606846976n);
    same(page.items[1]?.id, 2n);
    same((await api.clock.now().orThrow()).getTime(), Date.UTC(2026, 0, 2, 3, 4, 5, 678));
    same(await api.clock.reset().orThrow(), undefined);
  },

  "whole numbers keep their digits both ways": async ({ api }) => {
    const sent = { int64: -9223372036854775808n, uint64: 18446744073709551615n, int: 9007199254740991, float: 1e300, any: { deep: [12345678901234567890n, 1.5, "12345678901234567890"] } };
    const got = await api.numbers.echo(sent).orThrow();
    same(got.int64, sent.int64);
    same(got.uint64, sent.uint64);
    same(got.int, sent.int);
    same(got.float, sent.float);
    const any = got.any as { deep: unknown[] };
    same(any.deep[0], 12345678901234567890n);
    same(any.deep[1], 1.5);
    same(any.deep[2], "12345678901234567890");
    same((await api.numbers.echo({ float: 9007199254740993 }).orThrow()).float, 9007199254740992);
  },

  "a number that would be rounded is an error": async ({ api }) => {
    const raw = (text: string) => api.numbers.raw({ name: text });
    for (const digits of ["9007199254740993", "-9007199254740992", "9007199254740992"]) {
      same(await nameOf(raw(`{"int64":0,"uint64":0,"int":${digits},"float":0,"any":null}`)), "BadOutput");
    }
    same((await raw(`{"int64":0,"uint64":0,"int":-9007199254740991,"float":0,"any":null}`).orThrow()).int, -9007199254740991);
    same((await raw(`{"int64":1152921504606846977,"uint64":0,"int":1,"float":1152921504606846977,"any":"\\"{[ 1152921504606846977"}`).orThrow()).int64, 1152921504606846977n);
    same(await nameOf(api.numbers.echo({ int: 2 ** 53 })), "BadInput"); // the server refuses it
    same(await nameOf(api.numbers.echo({ int64: 2 ** 60 as unknown as bigint })), "BadInput");
    same(await nameOf(api.numbers.echo({ float: NaN })), "BadInput");
    same(await nameOf(raw("{} trailing")), "BadOutput");
    same(await nameOf(raw("1234567890123456,")), "BadOutput");
  },

  "GET is used where an action has it, with every field in its place": async ({ api }) => {
    const user = await api.users.get({ id: 7n, lang: "de & fr/é", fields: ["a=b", "c d"], tenant: "acme" }).orThrow();
    same(user.extra?.["method"], "GET");
    same(user.extra?.["lang"], "de & fr/é");
    same(JSON.stringify(user.extra?.["fields"]), '["a=b","c d"]');
    same(user.extra?.["tenant"], "acme");
    const odd = await api.users.get({ id: 7n, tenant: "ümlaut" }).orThrow(); // no header can have that
    same(odd.extra?.["method"], "POST");
    same(odd.extra?.["tenant"], "ümlaut");
    same((await api.users.get({ id: 7n, fields: [] }).orThrow()).extra?.["method"], "POST");
  },

  "a stream over a fetch without bodies is an error at once, which names it": async ({ client }) => {
    let asked = 0;
    const whole = async (...request: Parameters<typeof fetch>) => {
      asked++;
      const answer = await fetch(...request);
      await answer.body?.cancel();
      return new Proxy(answer, { get: (of, name) => (name === "body" ? undefined : Reflect.get(of, name)) }); // as React Native's
    };
    const failed = await all(client({ fetch: whole }).log.tail({ file: "a" }, { reconnect: 3 })).then(() => undefined, (e: unknown) => e);
    same(failed instanceof ApiError && failed.message, "log.tail: this fetch does not give an answer in pieces; give createClient one that does, as fetch");
    same(asked, 1);
  },

  "errors are typed, and told apart by type or name": async ({ api }) => {
    const got = await api.users.get({ id: 404n });
    if (got.ok) throw new Error("there is a user 404");
    const error: UsersGetError = got.error;
    if (error.type !== "urn:sabir:error:NoSuchUser") throw new Error("it is " + error.type);
    const exact: NoSuchUserError = error;
    same(exact.data.id, 4611686018427387905n);
    same(exact.data.before instanceof Date, true);
    same(exact.status, 404);
    same(exact.code, "NotFound");
    same(exact.action, "users.get");
    same(exact.requestId, "req-7");
    same(exact.node, "shop-1");
    same(exact instanceof ApiError && exact instanceof Error, true);
    const odd = await api.users.get({ id: 409n });
    same(!odd.ok && odd.error.name !== "NoSuchUser" && odd.error.problem?.name, "Odd");
    same(!odd.ok && odd.error.name as string, "Odd");
    const thrown = await api.users.get({ id: 404n }).orThrow().then(() => undefined, (e: unknown) => e);
    same(thrown instanceof ApiError && thrown.name, "NoSuchUser");
  },

  "validation errors list the fields, and the client's own are the same": async ({ api, client }) => {
    const local = client({ validate: validators });
    let asked = 0;
    const offline = client({ validate: validators, intercept: (r, next) => (asked++, next(r)) });
    for (const [i, input] of inputs().entries()) {
      const there = await api.users.create(input);
      const here = validateUsersCreate(input);
      const theirs = !there.ok && there.error.name === "ValidationFailed" ? there.error.data.map(brief) : [];
      same(here.map(brief).join("\n"), theirs.join("\n"), `for input ${i}`);
      const both = await local.users.create(input);
      same(both.ok, there.ok);
      if (!both.ok && !there.ok) same(both.error.message, there.error.message);
    }
    const got = await offline.users.create({ ...good(), name: "" });
    same(!got.ok && got.error.name, "ValidationFailed");
    same(asked, 0);
  },

  "the input goes as it is: dates, bytes, null and undefined": async ({ api }) => {
    const born = new Date("1999-12-31T23:59:59.999Z");
    const user = await api.users.create({ ...good(), born, avatar: new Uint8Array([255, 0, 7]), nick: undefined as unknown as string }).orThrow();
    same(user.born.getTime(), born.getTime());
    same([...user.avatar].join(), "255,0,7");
    const text = await api.users.create({ ...good(), born: "2000-01-01T00:00:00.123456789+02:00" }).orThrow();
    same(text.born.toISOString(), "1999-12-31T22:00:00.123Z");
    same(await nameOf(api.users.create({ ...good(), born: new Date(NaN) })), "BadInput");
    const large = new Uint8Array(100_000).map((_, i) => i);
    same((await api.users.create({ ...good(), avatar: large }).orThrow()).avatar.every((b, i) => b === (i & 255)), true);
  },

  "a timeout ends the call, and is told to the server": async ({ api }) => {
    same(await nameOf(api.clock.wait({ millis: 60_000 }, { timeout: 50 })), "TimeoutError");
    const told = (await api.users.get({ id: 1n }, { timeout: 25_500 }).orThrow()).extra?.["timeout"];
    same(Number(told) > 5 && Number(told) <= 25.5, true, String(told));
    same((await api.users.get({ id: 1n }, { timeout: 0 }).orThrow()).extra?.["timeout"], "");
  },

  "an abort ends the call, also before it began": async ({ api }) => {
    const stop = new AbortController();
    const call = api.clock.wait({ millis: 60_000 }, { signal: stop.signal });
    setTimeout(() => stop.abort(), 1_000); // the server has it by then
    same(await nameOf(call), "AbortError");
    same(await nameOf(api.clock.wait({ millis: 60_000 }, { signal: AbortSignal.abort() })), "AbortError");
  },

  "calls are tried again where that does no harm": async ({ api, client, browser }) => {
    const key = browser ? "browser" : "node";
    same(await api.flaky.set({ name: `busy:2:${key}` }).orThrow(), "try 3"); // retryable: nothing was done
    same(await api.flaky.get({ name: `proxy:1:${key}` }).orThrow(), "try 2"); // idempotent
    same(await nameOf(api.flaky.set({ name: `proxy:1:s${key}` })), "NotANode");
    same(await api.flaky.get({ name: `cut:1:${key}` }).orThrow(), "try 2");
    same(await nameOf(api.flaky.set({ name: `cut:9:s${key}` })), "NetworkError");
    same(await nameOf(api.flaky.set({ name: `busy:9:${key}` })), "ServiceUnavailable");
    const start = Date.now();
    same(await nameOf(api.flaky.get({ name: `late:1:${key}` })), "ServiceUnavailable"); // Retry-After is past the timeout
    same(Date.now() - start < 30_000, true);
    same(await nameOf(client({ retries: 0 }).flaky.get({ name: `busy:1:0${key}` })), "ServiceUnavailable");
  },

  "headers and interceptors": async ({ client }) => {
    const seen: string[] = [];
    let asked = 0;
    const note = (mark: string) => async (r: Outgoing, next: (r: Outgoing) => Promise<Response>) => {
      seen.push(mark + r.action + r.attempt);
      r.headers.set("X-Own", (r.headers.get("X-Own") ?? "") + mark);
      const response = await next(r);
      seen.push(mark + response.status);
      return response;
    };
    const api = client({ headers: async () => ({ Authorization: `Bearer ${++asked}` }), intercept: [note("a"), note("b")] });
    const user = await api.users.get({ id: 1n }, { headers: { "X-Own": "call-" } }).orThrow();
    same(user.extra?.["key"], "Bearer 1");
    same(user.extra?.["own"], "call-ab");
    same(seen.join(), "ausers.get0,busers.get0,b200,a200");
    const answered = client({ intercept: async () => new Response('"2020-01-01T00:00:00Z"') });
    same((await answered.clock.now().orThrow()).getUTCFullYear(), 2020);
  },

  "each action is a function too, of what a client is made of": async ({ base }) => {
    const shop = { baseUrl: base, validate: validating({ "users.create": validateUsersCreate }) };
    same((await usersGet(shop, { id: 7n }).orThrow()).id, 7n);
    const none = await usersGet(shop, { id: 404n });
    same(!none.ok && none.error.name === "NoSuchUser" && none.error.data.id, 4611686018427387905n);
    const bad = await usersCreate(shop, { ...good(), name: "" });
    same(!bad.ok && bad.error.name === "ValidationFailed" && bad.error.data[0]?.rule, "required");
    const got: string[] = [];
    for await (const note of notesFindAll(shop, { word: "rope" })) got.push(note);
    same(got.length, 6);
    let n = 0;
    for await (const _ of logTail(shop, { file: "short" })) n++;
    same(n, 3);
    same(typeof chatRoomOpen, "function");
  },

  "no server is a network error": async ({ client }) => {
    const got = await client({ baseUrl: "http://127.0.0.1:1", retries: 0 }).clock.reset();
    same(!got.ok && got.error.name, "NetworkError");
    same(!got.ok && got.error.retryable, false);
  },

  "a batch is one request": async ({ client }) => {
    let requests = 0;
    const api = client({ intercept: (r, next) => (requests++, next(r)) });
    const batch = api.$batch();
    const calls = [batch.users.get({ id: 1n }), batch.users.get({ id: 404n }), batch.clock.now(), batch.clock.reset()] as const;
    const sent = batch.$send();
    const [one, none, now, reset] = await Promise.all(calls);
    await sent;
    same(requests, 1);
    same(one.ok && one.value.id, 1n);
    same(!none.ok && none.error.name === "NoSuchUser" && none.error.data.id, 4611686018427387905n);
    same(now.ok && now.value instanceof Date, true);
    same(reset.ok && reset.value === undefined, true);
    const many = api.$batch();
    const all = Array.from({ length: 150 }, (_, i) => many.users.get({ id: BigInt(i + 1000) }).orThrow());
    await many.$send();
    same((await Promise.all(all)).map((u) => u.id).join(), Array.from({ length: 150 }, (_, i) => i + 1000).join());
    same(requests, 3);
  },

  "automatic batches take what one microtask calls": async ({ client }) => {
    const seen: string[] = [];
    const api = client({ batch: true, intercept: (r, next) => (seen.push(r.method + r.action), next(r)) });
    const [a, b] = await Promise.all([api.users.get({ id: 1n }).orThrow(), api.users.get({ id: 2n }).orThrow()]);
    same(a.id + b.id, 3n);
    await api.users.get({ id: 3n }).orThrow();
    same(seen.join(), "POST$batch,GETusers.get");
    const stop = new AbortController();
    const gone = api.users.get({ id: 4n }, { signal: stop.signal });
    const stays = api.users.get({ id: 5n });
    stop.abort();
    same(await nameOf(gone), "AbortError");
    same((await stays.orThrow()).id, 5n);
  },

  "a stream is a loop": async ({ api }) => {
    const got: string[] = [];
    const stream = api.log.tail({ file: "short" });
    for await (const line of stream) got.push(`${line.n} ${line.at.getUTCFullYear()} ${line.text}`);
    same(got.join("|"), [0n, 1n, 2n].map((i) => `${1152921504606846976n + i} 2026 línea\r\n\u2028short`).join("|"));
    same(stream.lastEventId, "3");
    const again: string[] = [];
    const later = api.log.tail({ file: "short" }, { lastEventId: "40" });
    for await (const line of later) again.push(line.text);
    same(later.lastEventId, "43");
    let many = 0n;
    for await (const line of api.log.tail.from([{ file: "a" }, { file: "b" }])) many = line.n;
    same(many, 1152921504606846976n + 4n);
    async function* slowly() {
      yield { file: "a" };
      await new Promise((resolve) => setTimeout(resolve, 5));
      yield { file: "b" };
    }
    for await (const line of api.log.tail.from(slowly())) many = line.n;
    same(many, 1152921504606846976n + 4n);
  },

  "a stream that fails or breaks off throws": async ({ api }) => {
    const ends = async (file: string) => {
      let n = 0;
      try {
        for await (const _ of api.log.tail({ file })) n++;
      } catch (e) {
        return `${n} ${e instanceof ApiError ? e.name + " " + (e.problem?.name ?? "") : e}`.trim();
      }
      return `${n}`;
    };
    same(await ends("none"), "0 NoSuchFile NoSuchFile");
    same(await ends("breaks"), "3 LostFile LostFile");
    same((await ends("cut")).slice(2), "NetworkError"); // values on the way may be lost with the connection
    same(await ends("silent"), "3 NetworkError");
  },

  "a stream is opened again behind its last value": async ({ api }) => {
    let n = 0;
    const stream = api.log.tail({ file: "again" }, { reconnect: 1 });
    for await (const _ of stream) n++;
    same(`${n} ${stream.lastEventId}`, "9 9"); // broken off after 3 and after 6 values: a value begins the count anew
    let name = "";
    try {
      for await (const _ of api.log.tail({ file: "down" }, { reconnect: 2 }));
    } catch (e) {
      name = (e as CallError).name;
    }
    same(name, "ServiceUnavailable");
  },

  "the error of a stream has its type": async ({ api }) => {
    const got: string[] = [];
    for await (const result of api.log.tail({ file: "breaks" }).results()) got.push(result.ok ? "value" : result.error.name === "LostFile" ? result.error.code : "other");
    same(got.join(), "value,value,value,DataLoss");
  },

  "all pages are one loop": async ({ api }) => {
    const got: string[] = [];
    for await (const note of api.notes.find.all({ word: "rope" })) got.push(note);
    same(got.join(), [0, 1, 2, 3, 4, 5].map((i) => `rope ${i}`).join());
    same((await api.notes.find({ word: "tea" }).orThrow()).items.length, 2);
  },

  "leaving the loop or aborting ends the stream": async ({ api }) => {
    let n = 0;
    for await (const _ of api.log.tail({ file: "endless" })) if (++n === 2) break;
    let name = "TimeoutError";
    for (let timeout = 300; name === "TimeoutError" && n <= 2 && timeout < 60_000; timeout *= 2) { // until the beginning came in time
      const stop = new AbortController();
      try {
        for await (const _ of api.log.tail({ file: "endless" }, { signal: stop.signal, timeout })) if (++n === 5) setTimeout(() => stop.abort(), timeout + 100);
      } catch (e) {
        name = (e as CallError).name;
      }
    }
    same(name, "AbortError"); // the timeout is for the beginning only
  },

  "events": async ({ api }) => {
    const got: string[] = [];
    for await (const e of api.$events(["orders.*", "error", "end"])) {
      got.push(`${e.event} ${(e.payload as { n: bigint }).n} ${e.node}`);
      if (got.length === 3) break;
    }
    same(got.join("|"), ["orders.*", "error", "end"].map((name) => `${name} 12345678901234567890 shop-1`).join("|"));
  },

  "events go on where their connection breaks": async ({ api }) => {
    let n = 0;
    for await (const e of api.$events(["cut"])) if (e.event === "cut" && ++n === 3) break; // one a connection
    same(n, 3);
  },

  "files go up and come down": async ({ api }) => {
    const part = new TextEncoder().encode("0123456789".repeat(10_000));
    async function* parts() {
      for (let i = 0; i < 5; i++) yield part;
    }
    const stream = () =>
      new ReadableStream<Uint8Array>({
        start(controller) {
          for (let i = 0; i < 5; i++) controller.enqueue(part);
          controller.close();
        },
      });
    const whole = new Uint8Array(500_000).map((_, i) => part[i % part.length]!);
    const sum = [...new Uint8Array(await digest(whole))].map((b) => b.toString(16).padStart(2, "0")).join("");
    for (const body of [whole, new Blob([whole]), whole.buffer as ArrayBuffer, stream(), parts()]) {
      const receipt = await api.files.put(body, { fileName: "a 'b' (ü)*.txt" }).orThrow();
      same(receipt.bytes, 500_000n);
      if (sum !== "") same(receipt.sha256, sum);
      same(receipt.name, "a 'b' (ü)*.txt");
      same(receipt.type, "application/octet-stream");
    }
    const typed = await api.files.put(new File([whole], "ü.txt", { type: "text/plain" })).orThrow();
    same(`${typed.bytes} ${typed.name} ${typed.type}`, "500000 ü.txt text/plain");
    const file = await api.files.get({ name: "x" }).orThrow();
    let size = 0;
    const reader = file.body!.getReader();
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) size += chunk.value.length;
    same(size, 100_000);
    same(await nameOf(api.files.get({})), "NoSuchFile");
  },

  "both ways over a WebSocket": async ({ api }) => {
    const room = api.chat.room.open();
    await room.send({ text: "hello", n: 9223372036854775807n, at: new Date(0) });
    await room.send({ text: "again", n: 2n, at: new Date(1) });
    room.end();
    const got: string[] = [];
    for await (const said of room) got.push(`${said.text} ${said.n} ${said.at.getTime()}`);
    same(got.join("|"), `hello 9223372036854775807 0|again 2 1|goodbye 0 ${Date.UTC(2026, 0, 2, 3, 4, 5, 678)}`);
    same(await thrownBy(room.send({ text: "late" })), "StreamEnded");
    const bad = api.chat.room.open();
    await bad.send({ text: "boom" });
    same(await thrownBy(all(bad)), "Boom");
    const stop = new AbortController();
    const left = api.chat.room.open({ signal: stop.signal });
    await left.send({ text: "one" });
    setTimeout(() => stop.abort(), 20);
    same(await thrownBy(all(left)), "AbortError");
    const closed = api.chat.room.open();
    closed.close();
    same((await all(closed)).length, 0);
  },
};

async function all(list: AsyncIterable<unknown>): Promise<unknown[]> {
  const got: unknown[] = [];
  for await (const one of list) got.push(one);
  return got;
}

async function thrownBy(promise: Promise<unknown>): Promise<string> {
  return promise.then(() => "nothing", (e: unknown) => (e instanceof ApiError ? e.name : String(e)));
}

async function digest(data: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  return globalThis.crypto?.subtle ? crypto.subtle.digest("SHA-256", data) : new ArrayBuffer(0);
}

function good(): NewUser {
  return { name: "Ada", email: "ada@example.org", born: new Date(0), role: "admin", age: 36, cents: 9007199254740993n, tags: ["a", "b"], home: { street: "s", city: "c" } };
}

/** Inputs of which each breaks other rules, or none. */
function inputs(): NewUser[] {
  const g = good();
  return [
    g,
    { ...g, name: "" },
    { ...g, seats: 0, plan: "" as "free" },
    { ...g, seats: 101, plan: "gold" as "pro", colors: [] },
    { ...g, seats: 2, plan: "pro", colors: ["blue"] },
    { ...g, name: "x" },
    { ...g, name: "ääääääää" },
    { ...g, name: "🐪🐪🐪🐪🐪🐪🐪🐪" },
    { ...g, name: "🐪🐪🐪🐪🐪🐪🐪🐪🐪" },
    { ...g, email: "nobody" },
    { ...g, email: "" },
    { ...g, role: "guest" as "admin" },
    { ...g, age: 151, cents: 0n },
    { ...g, age: -1, cents: -5n },
    { ...g, tags: ["a", "a"] },
    { ...g, tags: ["a", "b", "c", "d"] },
    { ...g, tags: ["", "toolong"] },
    { ...g, tags: [] },
    { ...g, home: { street: "", city: "x".repeat(41) } },
    { ...g, work: { street: "", city: "" } },
    { ...g, nick: "x", site: "nowhere", code: "y-12", password: "short", again: "short" },
    { ...g, nick: "xx", site: "https://example.org/a?b", code: "x-12", password: "" },
    { ...g, code: "x-1", site: "", nick: "" },
    {} as NewUser,
  ];
}

const brief = (f: { pointer: string; path: string; rule: string; param?: string; message: string }) => [f.pointer, f.path, f.rule, f.param ?? "", f.message].join(" ; ");

async function nameOf(call: Promise<{ ok: true } | { ok: false; error: ApiError }>): Promise<string> {
  const got = await call;
  return got.ok ? "ok" : got.error.name;
}

function same(got: unknown, want: unknown, about = ""): void {
  if (!Object.is(got, want)) throw new Error(`got ${show(got)}, want ${show(want)} ${about}`);
}

const show = (value: unknown) => (typeof value === "bigint" ? `${value}n` : typeof value === "string" ? JSON.stringify(value) : String(value));

/** Runs all checks, and gives a line for each. */
export async function run(base: string, browser: boolean): Promise<string[]> {
  const lines: string[] = [];
  const client = (options: Partial<ApiOptions> = {}) => createClient({ baseUrl: base, timeout: 60_000, ...options });
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check({ base, browser, api: client(), client });
      lines.push(`ok ${name}`);
    } catch (e) {
      lines.push(`FAILED ${name}: ${e instanceof Error ? (e.stack ?? e.message) : e}`);
    }
  }
  return lines;
}

/** What must not compile. */
export function refused(api: Api): void {
  // @ts-expect-error an id is a bigint
  void api.users.get({ id: 1 });
  // @ts-expect-error the id is required
  void api.users.get({});
  // @ts-expect-error there is no such member
  void api.users.get({ id: 1n, nam: "x" });
  // @ts-expect-error there is no such action
  void api.users.gett({ id: 1n });
  // @ts-expect-error the value is there only where it is ok
  void api.users.get({ id: 1n }).then((r) => r.value);
  // @ts-expect-error that is no role
  void api.users.create({ ...good(), role: "guest" });
}
