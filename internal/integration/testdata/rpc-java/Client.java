import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import test.v1.CounterGrpc;
import test.v1.CounterOuterClass.Number;
import test.v1.CounterOuterClass.Words;

/** Calls the service test.v1.Counter at the host and port of its arguments by the stubs of protoc-gen-grpc-java. */
public class Client {
  /** Collects what a stream answers. */
  static class Collected implements StreamObserver<Number> {
    final List<Long> values = new ArrayList<>();
    final CompletableFuture<List<Long>> done = new CompletableFuture<>();

    public void onNext(Number n) {
      values.add(n.getValue());
    }

    public void onError(Throwable t) {
      done.completeExceptionally(t);
    }

    public void onCompleted() {
      done.complete(values);
    }
  }

  static Number number(long value) {
    return Number.newBuilder().setValue(value).build();
  }

  static void check(boolean holds, Object what) {
    if (!holds) throw new AssertionError(what);
  }

  interface Attempt {
    void run();
  }

  static StatusRuntimeException fails(Status.Code code, Attempt attempt) {
    try {
      attempt.run();
    } catch (StatusRuntimeException e) {
      check(e.getStatus().getCode() == code, e);
      return e;
    }
    throw new AssertionError("it does not fail with " + code);
  }

  public static void main(String[] args) throws Exception {
    ManagedChannel channel = ManagedChannelBuilder.forAddress(args[0], Integer.parseInt(args[1])).usePlaintext().build();
    CounterGrpc.CounterBlockingStub stub = CounterGrpc.newBlockingStub(channel).withDeadlineAfter(60, TimeUnit.SECONDS);
    check(stub.double_(number(21)).getValue() == 42, "double");
    check(stub.withCompression("gzip").double_(number(4)).getValue() == 8, "double of gzip");

    Metadata headers = new Metadata();
    headers.put(Metadata.Key.of("tenant", Metadata.ASCII_STRING_MARSHALLER), "acme");
    AtomicReference<Metadata> header = new AtomicReference<>(), trailer = new AtomicReference<>();
    Words seen = stub.withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers), MetadataUtils.newCaptureMetadataInterceptor(header, trailer))
        .echo(Words.newBuilder().setText("tenant").build());
    check(seen.getText().equals("acme"), seen);
    check("h".equals(header.get().get(Metadata.Key.of("x-header", Metadata.ASCII_STRING_MARSHALLER))), header);
    byte[] bytes = trailer.get().get(Metadata.Key.of("x-trailer-bin", Metadata.BINARY_BYTE_MARSHALLER));
    check(Arrays.equals(bytes, new byte[] {0, 1, (byte) 255}), trailer);

    com.google.rpc.Status refused = StatusProto.fromThrowable(fails(Status.Code.INVALID_ARGUMENT, () -> stub.double_(number(1L << 40))));
    String field = "", reason = "";
    for (com.google.protobuf.Any detail : refused.getDetailsList()) {
      if (detail.is(BadRequest.class)) field = detail.unpack(BadRequest.class).getFieldViolations(0).getField();
      if (detail.is(ErrorInfo.class)) reason = detail.unpack(ErrorInfo.class).getReason();
    }
    check(field.equals("value") && reason.equals("ValidationFailed"), refused);

    List<Long> below = new ArrayList<>();
    for (Iterator<Number> all = stub.below(number(3)); all.hasNext(); ) below.add(all.next().getValue());
    check(below.equals(List.of(0L, 1L, 2L)), below);

    CounterGrpc.CounterStub async = CounterGrpc.newStub(channel);
    Collected sum = new Collected();
    StreamObserver<Number> summed = async.sum(sum);
    summed.onNext(number(2));
    summed.onNext(number(3));
    summed.onCompleted();
    check(sum.done.get(60, TimeUnit.SECONDS).equals(List.of(5L)), sum.values);

    Collected each = new Collected();
    StreamObserver<Number> asked = async.each(each);
    asked.onNext(number(2));
    asked.onNext(number(3));
    asked.onCompleted();
    check(each.done.get(60, TimeUnit.SECONDS).equals(List.of(0L, 1L, 0L, 1L, 2L)), each.values);

    Collected negative = new Collected();
    StreamObserver<Number> bad = async.each(negative);
    bad.onNext(number(-1));
    try {
      negative.done.get(60, TimeUnit.SECONDS);
      throw new AssertionError("a negative number was taken");
    } catch (ExecutionException e) {
      Status status = Status.fromThrowable(e.getCause());
      check(status.getCode() == Status.Code.OUT_OF_RANGE && status.getDescription().equals("kein ✓"), status);
    }
    fails(Status.Code.UNIMPLEMENTED, () -> io.grpc.stub.ClientCalls.blockingUnaryCall(channel,
        CounterGrpc.getDoubleMethod().toBuilder().setFullMethodName("test.v1.Counter/Nothing").build(), CallOptions.DEFAULT, number(1)));

    channel.shutdown().awaitTermination(10, TimeUnit.SECONDS);
    System.out.println("grpc-java");
  }
}
