// Calls the service of counter.binpb at the URL in the page's fragment by connect-web, and writes a line for each way.
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";

const lines = document.querySelector("#lines");
const say = (text) => (lines.textContent += text + "\n");

function same(got, want) {
  if (String(got) !== String(want)) throw new Error(`${got}, want ${want}`);
}

async function fails(code, call) {
  try {
    await call();
  } catch (cause) {
    const error = ConnectError.from(cause);
    same(error.code, code);
    return error;
  }
  throw new Error("it does not fail");
}

async function all(stream) {
  const list = [];
  for await (const one of stream) list.push(one.value);
  return list;
}

async function run(service, transport) {
  const client = createClient(service, transport);
  same((await client.double({ value: 21n })).value, 42n);
  let header, trailer;
  const echo = await client.echo({ text: "tenant" }, { headers: { tenant: "acme" }, onHeader: (h) => (header = h), onTrailer: (t) => (trailer = t) });
  same(echo.text, "acme");
  same(header.get("x-header"), "h");
  same(trailer.get("x-trailer-bin"), "AAH/");
  const refused = await fails(Code.InvalidArgument, () => client.double({ value: 1n << 40n }));
  same(refused.details.map((d) => d.type).sort(), ["google.rpc.BadRequest", "google.rpc.ErrorInfo"]);
  same(await all(client.below({ value: 3n })), [0n, 1n, 2n]);
  await fails(Code.InvalidArgument, () => all(client.below({ value: 1n << 40n })));
  const stop = new AbortController();
  await fails(Code.Canceled, async () => {
    for await (const _ of client.below({ value: 1000000n }, { signal: stop.signal })) stop.abort();
  });
}

try {
  const set = fromBinary(FileDescriptorSetSchema, new Uint8Array(await (await fetch("counter.binpb")).arrayBuffer()));
  const service = createFileRegistry(set).getService("test.v1.Counter");
  const baseUrl = location.hash.slice(1);
  for (const useBinaryFormat of [true, false]) {
    await run(service, createConnectTransport({ baseUrl, useBinaryFormat }));
    say(`Connect, binary ${useBinaryFormat}`);
    await run(service, createConnectTransport({ baseUrl, useBinaryFormat, useHttpGet: true }));
    say(`Connect with GET, binary ${useBinaryFormat}`);
    await run(service, createGrpcWebTransport({ baseUrl, useBinaryFormat }));
    say(`gRPC-Web, binary ${useBinaryFormat}`);
  }
  say("done");
} catch (error) {
  say(`FAILED ${error.stack}`);
}
