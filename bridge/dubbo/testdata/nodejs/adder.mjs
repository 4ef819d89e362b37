// com.shop.Adder, as a .proto of it would be generated.
import { MethodIdempotency, MethodKind, proto3 } from "@bufbuild/protobuf";

const Pair = proto3.makeMessageType("com.shop.Pair", [
  { no: 1, name: "a", kind: "scalar", T: 3 /* int64 */ },
  { no: 2, name: "b", kind: "scalar", T: 3 },
]);
const Sum = proto3.makeMessageType("com.shop.Sum", [{ no: 1, name: "sum", kind: "scalar", T: 3 }]);

export const Adder = {
  typeName: "com.shop.Adder",
  methods: {
    add: { name: "Add", I: Pair, O: Sum, kind: MethodKind.Unary, idempotency: MethodIdempotency.NoSideEffects },
    count: { name: "Count", I: Pair, O: Sum, kind: MethodKind.ServerStreaming },
    wait: { name: "Wait", I: Pair, O: Sum, kind: MethodKind.Unary },
    totals: { name: "Totals", I: Pair, O: Sum, kind: MethodKind.BiDiStreaming },
  },
};
