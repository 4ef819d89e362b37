package integration

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"os/exec"
	"sync"
	"testing"
	"time"

	testing_pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/rpc"
)

// grpcVersion says which release's client and server of grpc's interoperability tests are installed and run.
const grpcVersion = "v1.85.0"

// interopCases names all cases of grpc-go's client but those of Google's own credentials and of ORCA's load reports.
var interopCases = []string{"empty_unary", "large_unary", "client_streaming", "server_streaming", "ping_pong", "empty_stream", "timeout_on_sleeping_server",
	"cancel_after_begin", "cancel_after_first_response", "status_code_and_message", "special_status_message", "custom_metadata", "unimplemented_method",
	"unimplemented_service", "pick_first_unary", "rpc_soak", "channel_soak"}

func TestTheInteropClientOfGRPCPassesItsCasesAgainstPlainStructs(t *testing.T) {
	brokers.Slow(t)
	client := installed(t, "google.golang.org/grpc/interop/client@"+grpcVersion, t.TempDir())
	_, node := dialCounter(t, testService())
	host, port, err := net.SplitHostPort(node.HTTPAddr())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range interopCases {
		t.Run(name, func(t *testing.T) {
			run := exec.CommandContext(t.Context(), client, "--server_host="+host, "--server_port="+port, "--test_case="+name)
			if out, err := run.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// answered takes what a server says beside its messages.
type answered struct {
	mu    sync.Mutex
	pairs map[string]string
}

func (a *answered) SetStatus(int) error { return nil }

func (a *answered) SetHeader(name, value string) error { return a.set("header "+name, value) }

func (a *answered) SetTrailer(name, value string) error { return a.set("trailer "+name, value) }

func (a *answered) set(name, value string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pairs == nil {
		a.pairs = make(map[string]string)
	}
	a.pairs[name] = value
	return nil
}

// calledInterop is a node that calls grpc-go's interop server.
func calledInterop(t *testing.T) *sabir.Node {
	t.Helper()
	server := installed(t, "google.golang.org/grpc/interop/server@"+grpcVersion, t.TempDir())
	at, err := brokers.FreeAddress("tcp")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(at)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	run := exec.CommandContext(ctx, server, "--port="+port)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		run.Wait()
	})
	var files []*descriptorpb.FileDescriptorProto // it has no reflection
	imports := testing_pb.File_grpc_testing_test_proto.Imports()
	for i := range imports.Len() {
		files = append(files, protodesc.ToFileDescriptorProto(imports.Get(i).FileDescriptor))
	}
	nested := testing_pb.File_grpc_testing_messages_proto.Imports()
	for i := range nested.Len() {
		files = append([]*descriptorpb.FileDescriptorProto{protodesc.ToFileDescriptorProto(nested.Get(i).FileDescriptor)}, files...)
	}
	node := dialInterop(t, rpc.Foreign{URL: "http://" + at, Services: map[string]string{"grpc.testing.TestService": "interop"},
		Files: &descriptorpb.FileDescriptorSet{File: append(files, protodesc.ToFileDescriptorProto(testing_pb.File_grpc_testing_test_proto))}})
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) { // until it listens
		_, err := sabir.Call[sabir.Empty](t.Context(), node, "interop.emptyCall", sabir.Empty{})
		if err == nil {
			return node
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// The cases are those of interopCases, by plain structs and by generated messages.
func TestTheInteropServerOfGRPCIsCalledByName(t *testing.T) {
	brokers.Slow(t)
	node := calledInterop(t)
	const (
		requestSize, answerSize = 271828, 314159
		special                 = "\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n"
	)
	t.Run("large_unary", func(t *testing.T) {
		out, err := sabir.Call[testResponse](t.Context(), node, "interop.unaryCall", testRequest{Size: answerSize, Payload: testPayload{Body: make([]byte, requestSize)}})
		if err != nil || len(out.Payload.Body) != answerSize {
			t.Errorf("%d bytes, %v", len(out.Payload.Body), err)
		}
		made, err := sabir.Call[*testing_pb.SimpleResponse](t.Context(), node, "interop.unaryCall",
			&testing_pb.SimpleRequest{ResponseSize: answerSize, Payload: &testing_pb.Payload{Body: make([]byte, requestSize)}})
		want := &testing_pb.SimpleResponse{Payload: &testing_pb.Payload{Body: make([]byte, answerSize)}}
		if err != nil || !proto.Equal(made, want) {
			t.Errorf("generated: %d bytes, %v", len(made.GetPayload().GetBody()), err)
		}
	})
	t.Run("client_streaming", func(t *testing.T) {
		stream, err := sabir.OpenStream[testInput, testSum](t.Context(), node, "interop.streamingInputCall")
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Close()
		for _, size := range []int{27182, 8, 1828, 45904} {
			if err := stream.Send(testInput{testPayload{Body: make([]byte, size)}}); err != nil {
				t.Fatal(err)
			}
		}
		stream.CloseSend()
		if sum, err := stream.Recv(); err != nil || sum.Size != 74922 {
			t.Errorf("%v %v", sum, err)
		}
		if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
			t.Error(err)
		}
	})
	sizes := []int{31415, 9, 2653, 58979}
	t.Run("server_streaming", func(t *testing.T) {
		in := testOutputs{}
		for _, size := range sizes {
			in.Answers = append(in.Answers, testAnswer{Size: int32(size)})
		}
		i := 0
		for out, err := range sabir.CallStream[testResponse](t.Context(), node, "interop.streamingOutputCall", in) {
			if err != nil || len(out.Payload.Body) != sizes[i] {
				t.Fatalf("answer %d has %d bytes, %v", i, len(out.Payload.Body), err)
			}
			i++
		}
		if i != len(sizes) {
			t.Errorf("%d answers", i)
		}
	})
	duplex := func(t *testing.T, ctx context.Context) *sabir.Stream[testResponse, testOutputs] {
		stream, err := sabir.OpenStream[testOutputs, testResponse](ctx, node, "interop.fullDuplexCall")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(stream.Close)
		return stream
	}
	t.Run("ping_pong", func(t *testing.T) {
		stream := duplex(t, t.Context())
		for i, size := range []int{27182, 8, 1828, 45904} {
			if err := stream.Send(testOutputs{Answers: []testAnswer{{Size: int32(sizes[i])}}, Payload: testPayload{Body: make([]byte, size)}}); err != nil {
				t.Fatal(err)
			}
			if out, err := stream.Recv(); err != nil || len(out.Payload.Body) != sizes[i] {
				t.Fatalf("answer %d has %d bytes, %v", i, len(out.Payload.Body), err)
			}
		}
		stream.CloseSend()
		if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
			t.Error(err)
		}
	})
	t.Run("empty_stream", func(t *testing.T) {
		stream := duplex(t, t.Context())
		stream.CloseSend()
		if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
			t.Error(err)
		}
	})
	t.Run("timeout_on_sleeping_server", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		stream, err := sabir.OpenStream[testOutputs, testResponse](ctx, node, "interop.fullDuplexCall")
		if err == nil {
			defer stream.Close()
			_, err = stream.Recv()
		}
		if sabir.AsError(err).Code != sabir.CodeDeadlineExceeded {
			t.Error(err)
		}
	})
	t.Run("cancel_after_begin and cancel_after_first_response", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		stream := duplex(t, ctx)
		if err := stream.Send(testOutputs{Answers: []testAnswer{{Size: 1}}}); err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Recv(); err != nil {
			t.Fatal(err)
		}
		unused := duplex(t, ctx)
		cancel()
		for _, s := range []*sabir.Stream[testResponse, testOutputs]{stream, unused} {
			if _, err := s.Recv(); sabir.AsError(err).Code != sabir.CodeCanceled {
				t.Error(err)
			}
		}
	})
	t.Run("status_code_and_message and special_status_message", func(t *testing.T) {
		for _, message := range []string{"test status message", special} {
			status := &testStatus{Code: int32(sabir.CodeUnknown), Message: message}
			_, err := sabir.Call[testResponse](t.Context(), node, "interop.unaryCall", testRequest{Status: status})
			if e := sabir.AsError(err); e == nil || e.Code != sabir.CodeUnknown || e.Message != message {
				t.Errorf("a call: %v", err)
			}
			stream := duplex(t, t.Context())
			if err := stream.Send(testOutputs{Status: status}); err != nil {
				t.Fatal(err)
			}
			_, err = stream.Recv()
			if e := sabir.AsError(err); e == nil || e.Code != sabir.CodeUnknown || e.Message != message {
				t.Errorf("a stream: %v", err)
			}
		}
	})
	t.Run("custom_metadata", func(t *testing.T) {
		trailing := base64.RawStdEncoding.EncodeToString([]byte{0xab, 0xab, 0xab})
		taken := &answered{}
		ctx := sabir.WithMetadata(sabir.WithMetadata(gateway.WithAnswer(t.Context(), taken), echoInitial, "test_initial_metadata_value"), echoTrailing, trailing)
		cameBack := func() bool {
			return taken.pairs["header "+echoInitial] == "test_initial_metadata_value" && taken.pairs["trailer "+echoTrailing] == trailing
		}
		if _, err := sabir.Call[testResponse](ctx, node, "interop.unaryCall", testRequest{Size: 1}); err != nil || !cameBack() {
			t.Errorf("a call: %v, %v", taken.pairs, err)
		}
		taken.pairs = nil
		stream := duplex(t, ctx)
		stream.CloseSend()
		if _, err := stream.Recv(); !errors.Is(err, io.EOF) || !cameBack() {
			t.Errorf("a stream: %v, %v", taken.pairs, err)
		}
	})
	t.Run("unimplemented_method", func(t *testing.T) {
		if _, err := sabir.Call[sabir.Empty](t.Context(), node, "interop.unimplementedCall", sabir.Empty{}); sabir.AsError(err).Code != sabir.CodeUnimplemented {
			t.Error(err)
		}
	})
}
