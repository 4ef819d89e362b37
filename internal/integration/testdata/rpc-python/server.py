"""Serves test.v1.Counter with the stubs in the folder of the first argument, prints its port, and ends with its standard input."""
import sys
from concurrent import futures

import grpc

sys.path.insert(0, sys.argv[1])
import counter_pb2 as pb
import counter_pb2_grpc as stubs


class Counter(stubs.CounterServicer):
    def Double(self, request, context):
        if request.value < 0:
            context.abort(grpc.StatusCode.OUT_OF_RANGE, "kein ✓")
        return pb.Number(value=2 * request.value)

    def Echo(self, request, context):
        return pb.Words(text=dict(context.invocation_metadata()).get(request.text, ""))

    def Each(self, requests, context):
        for request in requests:
            for i in range(request.value):
                yield pb.Number(value=i)

    def Below(self, request, context):
        yield from (pb.Number(value=i) for i in range(request.value))

    def Sum(self, requests, context):
        return pb.Number(value=sum(request.value for request in requests))


server = grpc.server(futures.ThreadPoolExecutor(max_workers=4))
stubs.add_CounterServicer_to_server(Counter(), server)
print(server.add_insecure_port("127.0.0.1:0"), flush=True)
server.start()
sys.stdin.read()
server.stop(None).wait()
