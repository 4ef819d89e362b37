// Calls com.shop.Adder by Dubbo's client for web pages, and says in the page's title that it is done. What comes of each call is in window.results.
import { createPromiseClient } from "@apachedubbo/dubbo";
import { createDubboTransport, createGrpcWebTransport } from "@apachedubbo/dubbo-web";
import { Adder } from "./adder.mjs";

const results = (window.results = {});

async function keep(name, call) {
  try {
    results[name] = String(await call());
  } catch (e) {
    results[name] = `${e.name} ${e.code} ${e.rawMessage}`;
  }
}

async function numbers(stream) {
  const list = [];
  for await (const one of stream) {
    list.push(Number(one.sum));
  }
  return list.join(" ");
}

const baseUrl = new URLSearchParams(location.search).get("node");
const transports = {
  "binary": createDubboTransport({ baseUrl, useBinaryFormat: true }),
  "JSON": createDubboTransport({ baseUrl }),
  "GET": createDubboTransport({ baseUrl, useHttpGet: true }),
  "gRPC-Web": createGrpcWebTransport({ baseUrl }),
  "gRPC-Web JSON": createGrpcWebTransport({ baseUrl, useBinaryFormat: false }),
};
for (const [name, transport] of Object.entries(transports)) {
  const client = createPromiseClient(Adder, transport, { serviceVersion: "1.0.0" });
  let seen; // attachments of an answer are in its headers, and those of gRPC-Web in its trailers
  const look = (h) => (seen = h.get("seen") ?? seen);
  await keep(`add ${name}`, async () => (await client.add({ a: 2n, b: 40n }, { headers: { user: "Ada" }, onHeader: look, onTrailer: look })).sum);
  results[`seen ${name}`] = String(seen);
  await keep(`fail ${name}`, () => client.add({ a: 0n, b: 1n }));
  // The text is the client's or the node's, by which of them noticed first.
  await keep(`late ${name}`, () => client.wait({ a: 1n }, { timeoutMs: 300 }).catch((e) => `${e.name} ${e.code}`));
  await keep(`count ${name}`, () => numbers(client.count({ a: 3n })));
  await keep(`fail later ${name}`, () => numbers(client.count({ a: -1n })));
}
document.title = "end";
