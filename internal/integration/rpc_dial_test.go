package integration

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	testing_pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/rpc"
)

// These tests call servers of grpc-go 1.85, with the messages of its interoperability tests as plain structs.

type interopPayload struct {
	Body []byte `json:"body" protobuf:"2"`
}

type interopRequest struct {
	Payload interopPayload `json:"payload" protobuf:"3"`
	Wait    bool           `json:"fill_username" protobuf:"4"`
	Status  *interopStatus `json:"response_status" protobuf:"7"`
}

type interopStatus struct {
	Code    int32  `json:"code"`
	Message string `json:"message"`
}

type interopResponse struct {
	Payload interopPayload `json:"payload"`
	Tenant  string         `json:"username" protobuf:"2"`
	Server  string         `json:"server_id" protobuf:"4"`
}

type interopSizes struct {
	Sizes []struct {
		Size int32 `json:"size"`
	} `json:"response_parameters" protobuf:"2"`
	Payload interopPayload `json:"payload"`
}

// interopServer is one of grpc-go.
type interopServer struct {
	testing_pb.UnimplementedTestServiceServer
	id      string
	waiting chan context.Context
}

func (s *interopServer) UnaryCall(ctx context.Context, in *testing_pb.SimpleRequest) (*testing_pb.SimpleResponse, error) {
	if failed := in.GetResponseStatus(); failed != nil {
		details := []protoadapt.MessageV1{&errdetails.ErrorInfo{Reason: "Full", Domain: "interop", Metadata: map[string]string{"left": "0"}}, &errdetails.Help{}}
		if failed.GetCode() == int32(codes.InvalidArgument) {
			details = append(details, &errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: "name", Description: "is too long", Reason: "max"}}})
		}
		with, err := status.New(codes.Code(failed.GetCode()), failed.GetMessage()).WithDetails(details...)
		if err != nil {
			return nil, err
		}
		return nil, with.Err()
	}
	if in.GetFillUsername() {
		s.waiting <- ctx
		<-ctx.Done()
		return nil, ctx.Err()
	}
	out := &testing_pb.SimpleResponse{Payload: in.GetPayload(), ServerId: s.id}
	if pairs, ok := metadata.FromIncomingContext(ctx); ok {
		out.Username = append(pairs.Get("tenant"), "")[0]
	}
	return out, nil
}

func (s *interopServer) StreamingOutputCall(in *testing_pb.StreamingOutputCallRequest, stream grpc.ServerStreamingServer[testing_pb.StreamingOutputCallResponse]) error {
	for _, one := range in.GetResponseParameters() {
		if err := stream.Send(&testing_pb.StreamingOutputCallResponse{Payload: &testing_pb.Payload{Body: make([]byte, one.GetSize())}}); err != nil {
			return err
		}
	}
	return nil
}

func (s *interopServer) StreamingInputCall(stream grpc.ClientStreamingServer[testing_pb.StreamingInputCallRequest, testing_pb.StreamingInputCallResponse]) error {
	var size int
	for {
		in, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return stream.SendAndClose(&testing_pb.StreamingInputCallResponse{AggregatedPayloadSize: int32(size)})
		}
		if err != nil {
			return err
		}
		size += len(in.GetPayload().GetBody())
	}
}

func (s *interopServer) FullDuplexCall(stream grpc.BidiStreamingServer[testing_pb.StreamingOutputCallRequest, testing_pb.StreamingOutputCallResponse]) error {
	if err := stream.Send(&testing_pb.StreamingOutputCallResponse{}); err != nil { // before anything was received
		return err
	}
	for {
		in, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := stream.Send(&testing_pb.StreamingOutputCallResponse{Payload: in.GetPayload()}); err != nil {
			return err
		}
	}
}

func listen(t *testing.T, address string) net.Listener {
	t.Helper()
	at, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// serveInterop starts a server of grpc-go, with reflection of both versions.
func serveInterop(t *testing.T, id string, at net.Listener) (*grpc.Server, *interopServer) {
	t.Helper()
	s, own := grpc.NewServer(), &interopServer{id: id, waiting: make(chan context.Context, 1)}
	testing_pb.RegisterTestServiceServer(s, own)
	reflection.Register(s)
	var served sync.WaitGroup
	served.Go(func() { s.Serve(at) })
	t.Cleanup(func() {
		s.Stop()
		served.Wait()
	})
	return s, own
}

func interopAt(at net.Listener) rpc.Foreign {
	return rpc.Foreign{URL: "http://" + at.Addr().String(), Services: map[string]string{"grpc.testing.TestService": "interop"}}
}

func dialInterop(t *testing.T, servers ...rpc.Foreign) *sabir.Node {
	t.Helper()
	options := []sabir.NodeOption{sabir.Logger(slog.New(slog.DiscardHandler))}
	for _, f := range servers {
		options = append(options, rpc.Dial(f))
	}
	return startAllowed(t, sabir.NewNode(options...))
}

func TestAServerOfGRPCIsCalledByNameWithPlainStructs(t *testing.T) {
	at := listen(t, "127.0.0.1:0")
	serveInterop(t, "a", at)
	node := dialInterop(t, interopAt(at))
	ctx := sabir.WithMetadata(t.Context(), "tenant", "acme")
	out, err := sabir.Call[interopResponse](ctx, node, "interop.unaryCall", interopRequest{Payload: interopPayload{[]byte("hello")}})
	if err != nil || string(out.Payload.Body) != "hello" || out.Tenant != "acme" || out.Server != "a" {
		t.Errorf("%+v %v", out, err)
	}
	_, err = sabir.Call[interopResponse](ctx, node, "interop.unaryCall", interopRequest{Status: &interopStatus{int32(codes.FailedPrecondition), "nothing left: é"}})
	failed := sabir.AsError(err)
	left, _ := sabir.DataAs[map[string]string](err)
	if failed.Code != sabir.CodeFailedPrecondition || failed.Name != "Full" || failed.Message != "nothing left: é" || left["left"] != "0" {
		t.Errorf("%v with %v", err, left)
	}
	if _, err := sabir.Call[sabir.Empty](ctx, node, "interop.unimplementedCall", sabir.Empty{}); sabir.AsError(err).Code != sabir.CodeUnimplemented {
		t.Error(err)
	}
	if _, err := sabir.Call[sabir.Empty](ctx, node, "interop.nothing", sabir.Empty{}); !errors.Is(err, sabir.ErrActionNotFound) {
		t.Error(err)
	}
	if json, err := sabir.CallJSON(ctx, node, "interop.unaryCall", []byte(`{"payload":{"body":"aGVsbG8="}}`)); err != nil || len(json) == 0 {
		t.Errorf("%s %v", json, err)
	}
}

// A client of grpc-go calls a node, whose handler calls a server of grpc-go.
func TestStatusDetailsOfGRPCComeThroughBothWays(t *testing.T) {
	at := listen(t, "127.0.0.1:0")
	serveInterop(t, "a", at)
	s := sabir.NewService("between")
	sabir.Handle(s, "call", func(ctx context.Context, in interopRequest) (interopResponse, error) {
		return sabir.Call[interopResponse](ctx, s, "interop.unaryCall", in)
	})
	connection, _ := dialCounter(t, s, rpc.Dial(interopAt(at)))
	var out interopResponse
	failed := connection.Invoke(t.Context(), "/between.Between/Call", &interopRequest{Status: &interopStatus{int32(codes.InvalidArgument), "no"}}, &out, grpc.ForceCodec(plain{}))
	var reason string
	var fields []*errdetails.BadRequest_FieldViolation
	for _, d := range status.Convert(failed).Details() {
		switch d := d.(type) {
		case *errdetails.ErrorInfo:
			reason = d.GetReason()
		case *errdetails.BadRequest:
			fields = d.GetFieldViolations()
		}
	}
	if status.Code(failed) != codes.InvalidArgument || status.Convert(failed).Message() != "no" || reason != "Full" || len(fields) != 1 ||
		fields[0].GetField() != "name" || fields[0].GetDescription() != "is too long" || fields[0].GetReason() != "max" {
		t.Errorf("%v with the reason %q and the fields %v", failed, reason, fields)
	}
}

func TestStreamsOfAServerOfGRPCHaveAllThreeShapes(t *testing.T) {
	at := listen(t, "127.0.0.1:0")
	serveInterop(t, "a", at)
	node := dialInterop(t, interopAt(at))
	type answer struct {
		Payload interopPayload `json:"payload"`
	}
	var in interopSizes
	in.Sizes = append(in.Sizes, struct {
		Size int32 `json:"size"`
	}{31415}, struct {
		Size int32 `json:"size"`
	}{9})
	var sizes []int
	for out, err := range sabir.CallStream[answer](t.Context(), node, "interop.streamingOutputCall", in) {
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, len(out.Payload.Body))
	}
	if len(sizes) != 2 || sizes[0] != 31415 || sizes[1] != 9 {
		t.Error(sizes)
	}

	type total struct {
		Size int32 `json:"aggregated_payload_size"`
	}
	up, err := sabir.OpenStream[answer, total](t.Context(), node, "interop.streamingInputCall")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{27182, 8, 1828, 45904} {
		if err := up.Send(answer{interopPayload{make([]byte, n)}}); err != nil {
			t.Fatal(err)
		}
	}
	up.CloseSend()
	if sum, err := up.Recv(); err != nil || sum.Size != 74922 {
		t.Errorf("%v %v", sum, err)
	}

	both, err := sabir.OpenStream[interopSizes, answer](t.Context(), node, "interop.fullDuplexCall")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := both.Recv(); err != nil { // the server is the first to send
		t.Fatal(err)
	}
	for _, say := range []string{"a", "b"} {
		if err := both.Send(interopSizes{Payload: interopPayload{[]byte(say)}}); err != nil {
			t.Fatal(err)
		}
		if got, err := both.Recv(); err != nil || string(got.Payload.Body) != say {
			t.Fatalf("%v %v", got, err)
		}
	}
	both.CloseSend()
	if _, err := both.Recv(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

func TestDeadlinesAndCancellationsReachTheServerOfGRPC(t *testing.T) {
	at := listen(t, "127.0.0.1:0")
	_, server := serveInterop(t, "a", at)
	node := dialInterop(t, interopAt(at))
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	ended := make(chan error, 1)
	go func() {
		_, err := sabir.Call[interopResponse](ctx, node, "interop.unaryCall", interopRequest{Wait: true})
		ended <- err
	}()
	there := <-server.waiting
	if deadline, ok := there.Deadline(); !ok || time.Until(deadline) > time.Hour || time.Until(deadline) < 30*time.Minute {
		t.Errorf("the server has %v", deadline)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	<-there.Done()

	_, err := sabir.Call[interopResponse](t.Context(), node, "interop.unaryCall", interopRequest{Wait: true}, sabir.WithTimeout(50*time.Millisecond))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	<-(<-server.waiting).Done()
}

// Two servers have the same service, and 8 callers call it without a pause. One says goodbye with GOAWAY, and later the other loses its connections.
func TestAServerOfGRPCThatLeavesCostsNoCallAndOneThatIsLostOnlyThoseInFlight(t *testing.T) {
	first, second := listen(t, "127.0.0.1:0"), listen(t, "127.0.0.1:0")
	leaving, _ := serveInterop(t, "first", first)
	serveInterop(t, "second", second)
	node := dialInterop(t, interopAt(first), interopAt(second))
	call := func() (string, error) {
		out, err := sabir.Call[interopResponse](t.Context(), node, "interop.unaryCall", interopRequest{Payload: interopPayload{[]byte("x")}})
		return out.Server, err
	}
	var failed, made atomic.Int64
	var byFirst, bySecond atomic.Int64
	stop := make(chan struct{})
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				made.Add(1)
				switch server, err := call(); {
				case err != nil:
					failed.Add(1)
					t.Log(err)
				case server == "first":
					byFirst.Add(1)
				default:
					bySecond.Add(1)
				}
			}
		})
	}
	for byFirst.Load() < 100 || bySecond.Load() < 100 {
		time.Sleep(time.Millisecond)
	}
	leaving.GracefulStop()
	for before := bySecond.Load(); bySecond.Load() < before+500; {
		time.Sleep(time.Millisecond)
	}
	if failed.Load() > 0 {
		t.Errorf("%d of %d calls failed as the server left", failed.Load(), made.Load())
	}

	back, _ := serveInterop(t, "first", listen(t, first.Addr().String()))
	for before := byFirst.Load(); byFirst.Load() < before+100; {
		time.Sleep(time.Millisecond)
	}
	back.Stop() // cuts its connections
	for before := bySecond.Load(); bySecond.Load() < before+500; {
		time.Sleep(time.Millisecond)
	}
	close(stop)
	callers.Wait()
	if failed.Load() > 2*8 { // a caller's call that was in flight, and one more before the client has noticed
		t.Errorf("%d of %d calls failed with the connections that were cut", failed.Load(), made.Load())
	}
	_, err := call()
	if err != nil {
		t.Error(err)
	}
}

func TestANodeStartsBeforeTheServerThatItCalls(t *testing.T) {
	at := listen(t, "127.0.0.1:0")
	at.Close()
	node := dialInterop(t, interopAt(at))
	_, err := sabir.Call[interopResponse](t.Context(), node, "interop.unaryCall", interopRequest{}, sabir.WithTimeout(10*time.Millisecond))
	if err == nil {
		t.Fatal("nobody is there")
	}
	t.Log(err)
	serveInterop(t, "late", listen(t, at.Addr().String()))
	for {
		changed := node.Changed()
		out, err := sabir.Call[interopResponse](t.Context(), node, "interop.unaryCall", interopRequest{})
		if err == nil {
			if out.Server != "late" {
				t.Error(out)
			}
			return
		}
		select {
		case <-changed:
		case <-t.Context().Done():
			t.Fatal(err)
		}
	}
}

// A program that is stopped keeps its connections and answers nothing.
func TestAServerThatAnswersNothingFailsCallsByTheirDeadlineOnly(t *testing.T) {
	at := listen(t, "127.0.0.1:0")
	_, server := serveInterop(t, "a", at)
	node := dialInterop(t, interopAt(at))
	for range 3 {
		_, err := sabir.Call[interopResponse](t.Context(), node, "interop.unaryCall", interopRequest{Wait: true}, sabir.WithTimeout(20*time.Millisecond))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		<-server.waiting
	}
	if _, err := sabir.Call[interopResponse](t.Context(), node, "interop.unaryCall", interopRequest{}); err != nil {
		t.Error(err)
	}
}
