// Calls the service of counter.proto at the URL in the first argument with each client; the second is a FileDescriptorSet of it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import * as grpc from "@grpc/grpc-js";
import * as loader from "@grpc/proto-loader";
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";

const [url, descriptors] = process.argv.slice(2);
const service = createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(descriptors))).getService("test.v1.Counter");

async function connect(name, transport) {
  const client = createClient(service, transport);
  assert.equal((await client.double({ value: 21n })).value, 42n, name);
  let header, trailer;
  const echo = await client.echo({ text: "tenant" }, {
    headers: { tenant: "acme" }, onHeader: (h) => (header = h), onTrailer: (t) => (trailer = t),
  });
  assert.equal(echo.text, "acme", name);
  assert.equal(header.get("x-header"), "h", name);
  assert.equal(trailer.get("x-trailer-bin"), "AAH/", name);
  await assert.rejects(client.double({ value: 1n << 40n }), (e) => ConnectError.from(e).code === Code.InvalidArgument && e.details.length > 0, name);
  async function* numbers() { yield { value: 2n }; yield { value: 3n }; }
  const got = [];
  for await (const n of client.each(numbers())) got.push(n.value);
  assert.deepEqual(got, [0n, 1n, 0n, 1n, 2n], name);
  const below = [];
  for await (const n of client.below({ value: 3n })) below.push(n.value);
  assert.deepEqual(below, [0n, 1n, 2n], name);
  assert.equal((await client.sum(numbers())).value, 5n, name);
  async function* negative() { yield { value: -1n }; }
  await assert.rejects(async () => { for await (const _ of client.each(negative())); },
    (e) => ConnectError.from(e).code === Code.OutOfRange && e.rawMessage === "kein ✓", name);
  console.log(name);
}

for (const useBinaryFormat of [true, false]) {
  for (const httpVersion of ["1.1", "2"]) {
    const options = { baseUrl: url, httpVersion, useBinaryFormat };
    await connect(`connect-es, Connect, HTTP/${httpVersion}, binary ${useBinaryFormat}`, createConnectTransport(options));
    await connect(`connect-es, gRPC-Web, HTTP/${httpVersion}, binary ${useBinaryFormat}`, createGrpcWebTransport(options));
  }
  await connect(`connect-es, gRPC, binary ${useBinaryFormat}`, createGrpcTransport({ baseUrl: url, useBinaryFormat }));
}
const read = createClient(service, createConnectTransport({ baseUrl: url, httpVersion: "1.1", useHttpGet: true }));
assert.equal((await read.double({ value: 2n })).value, 4n);

const definition = loader.loadSync(new URL("counter.proto", import.meta.url).pathname, { longs: String, defaults: true });
const Counter = grpc.loadPackageDefinition(definition).test.v1.Counter;
const client = new Counter(new URL(url).host, grpc.credentials.createInsecure());
const double = (value, options = {}) => new Promise((ok, no) => client.double({ value }, options, (e, reply) => (e ? no(e) : ok(reply.value))));
assert.equal(await double("21"), "42");
await assert.rejects(double("1099511627776"), (e) => e.code === grpc.status.INVALID_ARGUMENT && e.metadata.get("grpc-status-details-bin").length === 1);
await new Promise((done, no) => {
  const metadata = new grpc.Metadata();
  metadata.set("id-bin", Buffer.from([0, 1, 255]));
  const call = client.echo({ text: "id-bin" }, metadata, (e, reply) => (e ? no(e) : assert.equal(reply.text.replace(/=+$/, ""), "AAH/")));
  call.on("status", (s) => { assert.deepEqual([...s.metadata.get("x-trailer-bin")[0]], [0, 1, 255]); done(); });
});
await new Promise((done, no) => {
  const stream = client.each();
  const got = [];
  stream.on("data", (n) => { got.push(n.value); if (got.length === 2) stream.end(); });
  stream.on("end", () => { assert.deepEqual(got, ["0", "1"]); done(); });
  stream.on("error", no);
  stream.write({ value: 2 });
});
await new Promise((done, no) => {
  const got = [];
  client.below({ value: 3 }).on("data", (n) => got.push(n.value)).on("error", no).on("end", () => { assert.deepEqual(got, ["0", "1", "2"]); done(); });
});
await new Promise((done, no) => {
  const stream = client.sum((e, reply) => { if (e) return no(e); assert.equal(reply.value, "5"); done(); });
  stream.write({ value: 2 });
  stream.end({ value: 3 });
});
client.close();
console.log("grpc-js");
