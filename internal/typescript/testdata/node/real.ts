// What the client does with a real node, whose description it was made of.
import { ApiError, createClient, validateUsersCreate, validators, type NewUser } from "./api.js";

declare const process: { argv: string[]; exitCode: number };

const baseUrl = process.argv[2]!;
const api = createClient({ baseUrl, timeout: 60_000 });

function same(got: unknown, want: unknown, about = ""): void {
  if (!Object.is(got, want)) throw new Error(`got ${String(got)}, want ${String(want)} ${about}`);
}

async function thrownBy(promise: Promise<unknown>): Promise<string> {
  return promise.then(() => "nothing", (e: unknown) => (e instanceof ApiError ? (e.problem?.name ?? e.name) : String(e)));
}

async function all<T>(list: AsyncIterable<T>): Promise<T[]> {
  const got: T[] = [];
  for await (const one of list) got.push(one);
  return got;
}

const good: NewUser = { name: "Ada", email: "ada@example.org", born: new Date(0), role: "admin", age: 36, cents: 9007199254740993n, tags: ["a", "b"], home: { street: "s", city: "c" } };

/** A client with the cookies of a browser, which fetch has none of in Node. It counts the requests and sends all calls in batches. */
function browser() {
  const jar = new Map<string, string>();
  const requests: string[] = [];
  const api = createClient({ baseUrl, timeout: 60_000, batch: true, intercept: async (r, next) => {
    requests.push(r.action);
    r.headers.set("Cookie", [...jar].map(([name, value]) => `${name}=${value}`).join("; "));
    const answer = await next(r);
    for (const line of answer.headers.getSetCookie()) {
      const [pair, ...attributes] = line.split("; ");
      const name = pair!.slice(0, pair!.indexOf("="));
      if (attributes.some((a) => a === "Max-Age=0")) jar.delete(name);
      else jar.set(name, pair!.slice(name.length + 1));
    }
    return answer;
  } });
  return { api, jar, requests };
}

const checks: Record<string, () => Promise<void>> = {
  "types": async () => {
    const user = await api.users.get({ id: 9007199254740993n, lang: "é&", fields: ["a", "b"], tenant: "acme" }).orThrow();
    same(user.id, 9007199254740993n);
    same(user.visits, 18446744073709551615n);
    same(user.name, "é&|acme|a|b");
    same(user.born.toISOString(), "2026-01-02T03:04:05.678Z");
    same([...user.avatar].join(), "0,1,254,255");
    const sent = { int64: -9223372036854775808n, uint64: 18446744073709551615n, int: 9007199254740991, float: 1e300, any: "x", big: 2n ** 100n };
    const got = await api.shop.numbers(sent).orThrow();
    same(got.int64, sent.int64);
    same(got.uint64, sent.uint64);
    same(got.int, sent.int);
    same(got.float, sent.float);
    same(got.big, sent.big);
    const tooLarge = await api.shop.numbers({ int: 2 ** 53 });
    same(!tooLarge.ok && tooLarge.error.name, "BadInput");
  },

  "the form is GET, but where it has no place for the input": async () => {
    const methods: string[] = [];
    const watched = createClient({ baseUrl, intercept: (r, next) => (methods.push(r.method), next(r)) });
    same((await watched.users.get({ id: 1n, tenant: "acme" }).orThrow()).name, "|acme");
    same((await watched.users.get({ id: 1n, tenant: "ü" }).orThrow()).name, "|ü");
    same(methods.join(), "GET,POST");
  },

  "declared errors": async () => {
    const got = await api.users.get({ id: 404n });
    if (got.ok || got.error.name !== "NoSuchUser") throw new Error("it is another answer");
    same(got.error.data.id, 4611686018427387905n);
    same(got.error.data.before instanceof Date, true);
    same(got.error.status, 404);
    same(typeof got.error.requestId, "string");
  },

  "validation errors are the same on both sides": async () => {
    const brief = (f: { pointer: string; path: string; rule: string; message: string }) => [f.pointer, f.path, f.rule, f.message].join(" ; ");
    const inputs: NewUser[] = [
      good, { ...good, name: "" }, { ...good, name: "x" }, { ...good, name: "🐪🐪🐪🐪🐪🐪🐪🐪🐪" }, { ...good, email: "nobody" },
      { ...good, cents: 0n }, { ...good, home: { street: "", city: "x".repeat(41) } },
      { ...good, seats: 0, plan: "" as "free" }, { ...good, seats: 101, plan: "gold" as "pro", colors: [] }, { ...good, name: "" , email: "" },
    ];
    for (const [i, input] of inputs.entries()) {
      const there = await api.users.create(input);
      const theirs = !there.ok && there.error.name === "ValidationFailed" ? there.error.data.map(brief) : there.ok ? [] : [there.error.message];
      same(validateUsersCreate(input).map(brief).join("\n"), theirs.join("\n"), `for input ${i}`);
    }
    const offline = await createClient({ baseUrl: "http://127.0.0.1:1", validate: validators }).users.create({ ...good, name: "" });
    same(!offline.ok && offline.error.name, "ValidationFailed");
  },

  "timeout and abort": async () => {
    const late = await api.shop.wait({ millis: 60_000 }, { timeout: 50 });
    same(!late.ok && (late.error.name === "TimeoutError" || late.error.name === "DeadlineExceeded"), true);
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 20);
    const left = await api.shop.wait({ millis: 60_000 }, { signal: stop.signal });
    same(!left.ok && left.error.name, "AbortError");
  },

  "batch": async () => {
    const batch = api.$batch();
    const calls = [batch.users.get({ id: 1n }), batch.users.get({ id: 404n }), batch.shop.wait({ millis: 1 })] as const;
    await batch.$send();
    const [one, none, waited] = await Promise.all(calls);
    same(one.ok && one.value.id, 1n);
    same(!none.ok && none.error.name === "NoSuchUser" && none.error.data.id, 4611686018427387905n);
    same(waited.ok && waited.value.millis, 1);
  },

  "signing in and out in a batch": async () => {
    const { api, jar, requests } = browser();
    await Promise.all([api.account.who(), api.account.signIn({ name: "Ada" }).orThrow(), api.account.who()]);
    same(requests.join(), "$batch");
    same(jar.size, 1, "after signing in");
    const [who, again] = await Promise.all([api.account.who().orThrow(), api.account.who().orThrow()]);
    same(who + again, "AdaAda");
    await Promise.all([api.account.who(), api.account.signOut().orThrow(), api.account.who()]);
    same(jar.size, 0, "after signing out");
    same((await Promise.all([api.account.who().orThrow(), api.account.who()]))[0], "");
  },

  "a batch prolongs a session": async () => {
    const { api, jar } = browser();
    await api.account.signIn({ name: "Ada" }).orThrow();
    const first = jar.get("session");
    for (const began = Date.now(); jar.get("session") === first; ) {
      if (Date.now() - began > 30_000) throw new Error("it is not prolonged");
      same((await Promise.all([api.account.who().orThrow(), api.account.who()]))[0], "Ada");
    }
    same(await api.account.who().orThrow(), "Ada");
  },

  "what a batch says of each call": async () => {
    const { api, requests } = browser();
    const [secret, busy, who] = await Promise.all([api.account.secret(), api.account.busyOnce(), api.account.who()]);
    same(!secret.ok && secret.error.name === "NotSignedIn" && secret.error.status, 401);
    same(busy.ok && busy.value, "done", "it is tried again, alone");
    same(who.ok, true);
    same(requests.join(), "$batch,account.busyOnce");
  },

  "a stream ends with its session": async () => {
    const { api } = browser();
    await api.account.signIn({ name: "Ada" }).orThrow();
    const ended = thrownBy((async () => {
      for await (const _ of api.account.watch()) await api.account.signOut().orThrow();
    })());
    same(await ended, "SignedOut");
  },

  "a panic of a value's own code": async () => {
    const got = await api.account.panics({ word: "x" });
    if (got.ok) throw new Error("it is an answer");
    same(got.error.name, "Panic");
    same(got.error.status, 500);
    same(got.error.message.includes(got.error.requestId!), true, got.error.message);
  },

  "streams": async () => {
    const lines = await all(api.shop.tail({ file: "x" }));
    same(lines.map((l) => `${l.n} ${l.at.getUTCFullYear()} ${l.text}`).join(), [0n, 1n, 2n].map((i) => `${1152921504606846976n + i} 2026 x`).join());
    same(await thrownBy(all(api.shop.tail({ file: "breaks" }))), "LostFile");
    for await (const _ of api.shop.tail({ file: "endless" })) break;
    same((await all(api.shop.tail.from([{ file: "y", from: 7 }])))[0]?.n, 1152921504606846983n);
    same((await all(api.shop.lines({ file: "x" }))).length, 3);
    const last = await api.shop.last([{ file: "x" }, { file: "y" }]).orThrow();
    same(`${last.n} ${last.text} ${last.at.getTime()}`, `2 y ${lines[0]?.at.getTime()}`);
  },

  "WebSocket": async () => {
    const room = api.shop.room.open();
    await room.send({ text: "hello", n: 9223372036854775807n, at: new Date(0) });
    room.end();
    same((await all(room)).map((s) => `${s.text} ${s.n}`).join(), "hello 9223372036854775807,goodbye 0");
    const bad = api.shop.room.open();
    await bad.send({ text: "boom" });
    same(await thrownBy(all(bad)), "Boom");
  },

  "files": async () => {
    const part = new TextEncoder().encode("0123456789".repeat(10_000));
    async function* parts() {
      for (let i = 0; i < 5; i++) yield part;
    }
    const streamed = await api.shop.put(parts(), { fileName: "a 'b' (ü)*.txt" }).orThrow();
    same(`${streamed.bytes} ${streamed.name} ${streamed.type}`, "500000 a 'b' (ü)*.txt application/octet-stream");
    const typed = await api.shop.put(new File([part], "ü.txt", { type: "text/plain" })).orThrow();
    same(`${typed.bytes} ${typed.name} ${typed.type}`, "100000 ü.txt text/plain");
    same((await (await api.shop.file({ name: "x" }).orThrow()).arrayBuffer()).byteLength, 100_000);
  },

  "events": async () => {
    for await (const e of api.$events(["orders.*"], { timeout: 0 })) {
      same(e.event, "orders.placed");
      same((e.payload as { n: bigint }).n, 1152921504606846977n);
      break;
    }
  },
};

for (const [name, check] of Object.entries(checks)) {
  if ((process.argv[3] === "WebSocket") !== (name === "WebSocket")) continue;
  try {
    await check();
    console.log("ok " + name);
  } catch (e) {
    console.log(`FAILED ${name}: ${e instanceof Error ? e.stack : e}`);
    process.exitCode = 1;
  }
}
