// Calls com.shop.Adder by Dubbo's client for JavaScript, and prints what comes of each call.
import { createPromiseClient } from "@apachedubbo/dubbo";
import { createDubboTransport } from "@apachedubbo/dubbo-node";
import { MethodKind, proto3 } from "@bufbuild/protobuf";

const Pair = proto3.makeMessageType("com.shop.Pair", [
  { no: 1, name: "a", kind: "scalar", T: 3 /* int64 */ },
  { no: 2, name: "b", kind: "scalar", T: 3 },
]);
const Sum = proto3.makeMessageType("com.shop.Sum", [{ no: 1, name: "sum", kind: "scalar", T: 3 }]);
const Adder = {
  typeName: "com.shop.Adder",
  methods: {
    add: { name: "Add", I: Pair, O: Sum, kind: MethodKind.Unary },
    count: { name: "Count", I: Pair, O: Sum, kind: MethodKind.ServerStreaming },
    wait: { name: "Wait", I: Pair, O: Sum, kind: MethodKind.Unary },
    totals: { name: "Totals", I: Pair, O: Sum, kind: MethodKind.BiDiStreaming },
  },
};

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

for (const httpVersion of ["2", "1.1"]) {
  const client = createPromiseClient(Adder, createDubboTransport({ baseUrl: process.argv[2], httpVersion }), { serviceVersion: "1.0.0" });
  await print(`add ${httpVersion}`, async () => (await client.add({ a: 2n, b: 40n })).sum);
  await print(`fail ${httpVersion}`, () => client.add({ a: 0n, b: 1n }));
  // The text is the client's or the node's, by which of them noticed first.
  await print(`late ${httpVersion}`, () => client.wait({ a: 1n }, { timeoutMs: 300 }).catch((e) => `${e.name} ${e.code}`));
  await print(`count ${httpVersion}`, () => numbers(client.count({ a: 3n })));
  await print(`fail later ${httpVersion}`, () => numbers(client.count({ a: -1n })));
  if (httpVersion === "2") {
    await print(`totals ${httpVersion}`, () => numbers(client.totals(pairs())));
  }
}
console.log("end");
process.exit(0);
