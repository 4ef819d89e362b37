// Calls com.shop.Adder by Dubbo's client for JavaScript, and prints what comes of each call.
import { createPromiseClient } from "@apachedubbo/dubbo";
import { compressionGzip, createDubboTransport, createGrpcTransport } from "@apachedubbo/dubbo-node";
import { createDubboTransport as createWebTransport } from "@apachedubbo/dubbo-web";
import { Adder } from "./adder.mjs";

async function print(name, call) {
  let result;
  try {
    result = await call();
  } catch (e) {
    result = `${e.name} ${e.code} ${e.rawMessage}`;
  }
  console.log(`${name} = ${result}`);
}

async function numbers(stream) {
  const list = [];
  for await (const one of stream) {
    list.push(Number(one.sum));
  }
  return list.join(" ");
}

async function* pairs() {
  yield { a: 1n, b: 2n };
  yield { a: 3n, b: 4n };
}

const baseUrl = process.argv[2];
const transports = {
  "node 2": createDubboTransport({ baseUrl, httpVersion: "2" }),
  "node 1.1": createDubboTransport({ baseUrl, httpVersion: "1.1" }),
  "node 2 JSON": createDubboTransport({ baseUrl, httpVersion: "2", useBinaryFormat: false }),
  "node 1.1 JSON": createDubboTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false }),
  "node gzip JSON": createDubboTransport({ baseUrl, httpVersion: "2", useBinaryFormat: false, useHttpGet: true, sendCompression: compressionGzip, compressMinBytes: 1 }),
  "node GET": createDubboTransport({ baseUrl, httpVersion: "1.1", useHttpGet: true }),
  "gRPC": createGrpcTransport({ baseUrl, httpVersion: "2" }),
  "gRPC JSON": createGrpcTransport({ baseUrl, httpVersion: "2", useBinaryFormat: false }),
  "web": createWebTransport({ baseUrl, useBinaryFormat: true }),
  "web JSON": createWebTransport({ baseUrl }),
  "web GET JSON": createWebTransport({ baseUrl, useHttpGet: true }),
};
for (const [name, transport] of Object.entries(transports)) {
  const client = createPromiseClient(Adder, transport, { serviceVersion: "1.0.0" });
  let seen; // attachments of an answer are in its headers, and those of gRPC in its trailers
  const look = (h) => (seen = h.get("seen") ?? seen);
  await print(`add ${name}`, async () => (await client.add({ a: 2n, b: 40n }, { headers: { user: "Ada" }, onHeader: look, onTrailer: look })).sum);
  console.log(`seen ${name} = ${seen}`);
  await print(`fail ${name}`, () => client.add({ a: 0n, b: 1n }));
  // The text is the client's or the node's, by which of them noticed first.
  await print(`late ${name}`, () => client.wait({ a: 1n }, { timeoutMs: 300 }).catch((e) => `${e.name} ${e.code}`));
  await print(`count ${name}`, () => numbers(client.count({ a: 3n })));
  await print(`fail later ${name}`, () => numbers(client.count({ a: -1n })));
  if (!name.startsWith("web") && !name.includes("1.1") && name !== "node GET") {
    await print(`totals ${name}`, () => numbers(client.totals(pairs())));
  }
}
console.log("end");
process.exit(0);
