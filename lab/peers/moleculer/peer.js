"use strict";
// One side of a measurement: Moleculer or cote as server or as client. What to do is in the environment, as JSON; reports
// go to file 3, a JSON document a line, and orders come on standard input, a word a line. When that ends, so does this.

const fs = require("node:fs");
const readline = require("node:readline");

const order = JSON.parse(process.env.SABIR_LAB_ROLE);
const load = order.load;

function say(report) {
  fs.writeSync(3, JSON.stringify(report) + "\n");
}

function fail(err) {
  say({ error: String((err && err.stack) || err) });
  process.exit(1);
}
process.on("uncaughtException", fail);
process.on("unhandledRejection", fail);

function usage() {
  const { user, system } = process.cpuUsage(); // microseconds
  return { cpu: (user + system) * 1000, mallocs: 0, heap: process.memoryUsage().heapUsed };
}

const isCote = order.contender.startsWith("cote");

// answer is what the server does: nothing to the small message, and two fields of the large one.
function answer(message) {
  if (message.Field1 !== undefined) {
    message.Field1 = "OK";
    message.Field2 = 100;
  }
  return message;
}

function newBroker() {
  const { ServiceBroker } = require("moleculer");
  const [, rest] = order.address.split("://");
  let transporter = order.address;
  if (rest === undefined) {
    // Moleculer's own TCP: addresses are given, since multicast is not everywhere.
    transporter = { type: "TCP", options: { udpDiscovery: false, urls: [order.address + "/server"] } };
  }
  return new ServiceBroker({ nodeID: order.role, logger: true, logLevel: "error", transporter });
}

async function serveMoleculer() {
  const broker = newBroker();
  broker.createService({ name: "hello", actions: { say: (ctx) => answer(ctx.params) } });
  await broker.start();
  return () => broker.stop();
}

async function dialMoleculer() {
  const broker = newBroker();
  await broker.start();
  await broker.waitForServices("hello", 15000, 50);
  return { call: (message) => broker.call("hello.say", message), stop: () => broker.stop() };
}

// cote finds its peers by broadcast; the server's address is the key, so that no other run is found.
function coteOptions(name) {
  return [
    { name, key: order.address },
    { log: false, broadcast: "127.255.255.255", helloInterval: 200 },
  ];
}

async function serveCote() {
  const { Responder } = require("cote");
  const responder = new Responder(...coteOptions("server"));
  responder.on("say", (message, reply) => reply(null, answer(message)));
  return () => responder.close();
}

async function dialCote() {
  const { Requester } = require("cote");
  const requester = new Requester(...coteOptions("client"));
  await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("cote has found no server within 15 s")), 15000);
    requester.once("cote:added", () => {
      clearTimeout(timer);
      resolve();
    });
  });
  return { call: (message) => requester.send(message), stop: () => requester.close() };
}

// Messages and their checks: each is one that no other caller sends and this one seldom, as with the contenders in Go.

const characters = [...((order.request && order.request.Field4) || "")];
const sentences = characters.map((_, i) => characters.slice(i).join("") + characters.slice(0, i).join(""));
const sentence = (n) => sentences[n % sentences.length];
const mark = (n) => 100000 + (n % 1000000);

const large = {
  request(caller, sequence) {
    return {
      ...order.request,
      Field3: mark(caller),
      Field131: mark(sequence),
      Field4: sentence(caller + sequence),
      Field129: sentence(sequence),
    };
  },
  problem(sent, got, full) {
    if (!got || got.Field1 !== "OK" || got.Field2 !== 100) return "a reply that was not answered";
    const marks = ["Field3", "Field131", "Field4", "Field129"];
    if (marks.some((name) => got[name] !== sent[name])) return "a reply of another call";
    if (!full) return "";
    for (const name of Object.keys(order.request)) {
      if (name === "Field1" || name === "Field2") continue;
      if (JSON.stringify(got[name]) !== JSON.stringify(sent[name])) return `field ${name} has changed`;
    }
    return "";
  },
};

// {"a":1234} is 10 bytes.
const small = {
  request: (caller, sequence) => ({ a: 1000 + ((caller * 31 + sequence) % 9000) }),
  problem: (sent, got) => (got && got.a === sent.a ? "" : "a reply of another call"),
};

const kind = load.mode === "echo" ? small : large;
const giveUpAfter = 100; // errors in a row
const fullCheckEach = 1000;

// callers keeps all callers busy for some nanoseconds and notes each latency, from the end of the call before.
async function callers(call, duration, everyFull, sequences) {
  const latencies = [];
  const outcome = { calls: 0, errors: 0, problem: "" };
  const started = process.hrtime.bigint();
  const end = performance.now() + duration / 1e6;
  await Promise.all(
    sequences.map(async (_, caller) => {
      let failed = 0;
      let last = performance.now();
      while (last < end && failed < giveUpAfter) {
        const sequence = ++sequences[caller];
        const message = kind.request(caller, sequence);
        if (isCote) message.type = "say";
        let problem = "";
        try {
          problem = kind.problem(message, await call(message), everyFull || sequence % fullCheckEach === 0);
        } catch (err) {
          problem = String(err);
        }
        const now = performance.now();
        if (problem === "") {
          latencies.push(now - last);
          outcome.calls++;
          failed = 0;
        } else {
          outcome.errors++;
          outcome.problem = outcome.problem || problem;
          failed++;
        }
        last = now;
      }
    }),
  );
  outcome.elapsed = Number(process.hrtime.bigint() - started);
  return { outcome, latencies };
}

function quantiles(outcome, latencies) {
  const sorted = Float64Array.from(latencies).sort();
  const at = (q) => (sorted.length ? sorted[Math.min(Math.floor(sorted.length * q), sorted.length - 1)] * 1e6 : 0);
  outcome.mean = sorted.length ? (sorted.reduce((sum, one) => sum + one, 0) / sorted.length) * 1e6 : 0;
  outcome.p50 = at(0.5);
  outcome.p99 = at(0.99);
  outcome.p999 = at(0.999);
}

async function runServer(orders) {
  const stop = await (isCote ? serveCote() : serveMoleculer());
  say({});
  for await (const _ of orders) say({ usage: usage() });
  await stop();
}

async function runClient(orders) {
  const { call, stop } = await (isCote ? dialCote() : dialMoleculer());
  const sequences = new Array(load.callers).fill(0);
  const warm = await callers(call, load.warmup, true, sequences);
  if (warm.outcome.errors > 0) throw new Error("warm-up: " + warm.outcome.problem);
  say({});
  for await (const _ of orders) {
    const before = usage();
    const { outcome, latencies } = await callers(call, load.duration, false, sequences);
    const after = usage();
    quantiles(outcome, latencies);
    outcome.client = { cpu: after.cpu - before.cpu, mallocs: 0, heap: after.heap };
    say({ outcome });
  }
  await stop();
}

const orders = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();
(order.role === "server" ? runServer(orders) : runClient(orders)).then(() => process.exit(0), fail);
