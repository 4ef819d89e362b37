"""Calls test.v1.Counter at the address in the first argument, with the stubs of counter.proto in the folder of the second."""
import sys

import grpc

sys.path.insert(0, sys.argv[2])
import counter_pb2 as pb
import counter_pb2_grpc as stubs

counter = stubs.CounterStub(grpc.insecure_channel(sys.argv[1]))

assert counter.Double(pb.Number(value=21), timeout=60).value == 42

reply, call = counter.Echo.with_call(pb.Words(text="tenant"), metadata=[("tenant", "acme"), ("id-bin", b"\0\1\xff")], timeout=60, compression=grpc.Compression.Gzip)
assert reply.text == "acme", reply
assert ("x-header", "h") in call.initial_metadata(), call.initial_metadata()
assert ("x-trailer-bin", b"\0\1\xff") in call.trailing_metadata(), call.trailing_metadata()

try:
    counter.Double(pb.Number(value=1 << 40), timeout=60)
    raise AssertionError("a number above the limit was taken")
except grpc.RpcError as e:
    assert e.code() == grpc.StatusCode.INVALID_ARGUMENT, e
    assert "grpc-status-details-bin" in dict(e.trailing_metadata()), e

assert [n.value for n in counter.Each(iter([pb.Number(value=2), pb.Number(value=3)]), timeout=60)] == [0, 1, 0, 1, 2]

assert [n.value for n in counter.Below(pb.Number(value=3), timeout=60)] == [0, 1, 2]
assert counter.Sum(iter([pb.Number(value=2), pb.Number(value=3)]), timeout=60).value == 5

try:
    list(counter.Each(iter([pb.Number(value=-1)]), timeout=60))
    raise AssertionError("a negative number was taken")
except grpc.RpcError as e:
    assert e.code() == grpc.StatusCode.OUT_OF_RANGE and e.details() == "kein ✓", e

print("grpcio", grpc.__version__)
