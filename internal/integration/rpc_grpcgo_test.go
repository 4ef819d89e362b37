package integration

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/encoding/gzip"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	reflectpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	alphapb "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/grpc/status"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/dubbo"
	"github.com/sabir-go/sabir/bridge/micro"
	"github.com/sabir-go/sabir/codec/protobuf"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/rpc"
	"github.com/sabir-go/sabir/sabirtest"
	_ "github.com/sabir-go/sabir/web"
)

// These tests call package rpc with grpc-go 1.85.

type number struct {
	Value int64 `json:"value" validate:"lte=1000000"`
}

type words struct {
	Text string `json:"text"`
}

func counter(waiting chan<- struct{}, goOn <-chan struct{}) *sabir.Service {
	s := sabir.NewService("counter", sabir.Use(rpc.Package("test.v1")))
	sabir.Handle(s, "double", func(_ context.Context, in number) (number, error) { return number{2 * in.Value}, nil }, sabir.Route("GET", "/double"))
	sabir.Handle(s, "fill", func(_ context.Context, in number) (words, error) {
		return words{strings.Repeat("x", int(in.Value))}, nil
	})
	sabir.Handle(s, "echo", func(ctx context.Context, in words) (words, error) {
		sabir.Answer(ctx).SetHeader("x-header", "h")
		sabir.Answer(ctx).SetTrailer("x-trailer-bin", "AAH/")
		return words{sabir.InfoFromContext(ctx).Metadata[in.Text]}, nil
	})
	sabir.Handle(s, "wait", func(ctx context.Context, in number) (number, error) {
		waiting <- struct{}{}
		select {
		case <-goOn:
		case <-ctx.Done():
			waiting <- struct{}{}
			return number{}, ctx.Err()
		}
		return in, nil
	})
	sabir.HandleStream(s, "each", func(_ context.Context, stream *sabir.Stream[number, number]) error {
		for in, err := range stream.All() {
			if err != nil {
				return err
			}
			if in.Value < 0 {
				return sabir.NewError(sabir.CodeOutOfRange, "Negative", "kein ✓")
			}
			for i := range in.Value {
				if err := stream.Send(number{i}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	sabir.HandleStream(s, "below", func(_ context.Context, stream *sabir.Stream[number, number]) error {
		in, err := stream.Recv()
		if err != nil {
			return err
		}
		for i := range in.Value {
			if err := stream.Send(number{i}); err != nil {
				return err
			}
		}
		return nil
	}, sabir.ServerStream())
	sabir.HandleStream(s, "sum", func(_ context.Context, stream *sabir.Stream[number, number]) error {
		var sum number
		for in, err := range stream.All() {
			if err != nil {
				return err
			}
			sum.Value += in.Value
		}
		return stream.Send(sum)
	}, sabir.ClientStream())
	return s
}

// plain is the codec by which grpc-go takes structs.
type plain struct{}

func (plain) Name() string                       { return "proto" }
func (plain) Marshal(v any) ([]byte, error)      { return protobuf.Codec.Append(nil, v) }
func (plain) Unmarshal(data []byte, v any) error { return protobuf.Codec.Decode(data, v) }

func dialCounter(t *testing.T, s *sabir.Service, options ...sabir.NodeOption) (*grpc.ClientConn, *sabir.Node) {
	t.Helper()
	node := sabir.NewNode(append(options, sabir.Serve(s), sabir.HTTP("127.0.0.1:0", rpc.Serve()))...)
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { node.Stop(context.Background()) })
	connection, err := grpc.NewClient("passthrough:///"+node.HTTPAddr(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	return connection, node
}

func TestGRPCGoCallsAnActionWithGzipMetadataAndDetails(t *testing.T) {
	connection, _ := dialCounter(t, counter(nil, nil))
	var doubled number
	if err := connection.Invoke(t.Context(), "/test.v1.Counter/Double", &number{21}, &doubled, grpc.ForceCodec(plain{}), grpc.UseCompressor("gzip")); err != nil || doubled.Value != 42 {
		t.Errorf("%v %v", doubled, err)
	}
	var header, trailer metadata.MD
	var seen words
	ctx := metadata.AppendToOutgoingContext(t.Context(), "tenant", "acme", "id-bin", string([]byte{0, 1, 255}))
	if err := connection.Invoke(ctx, "/test.v1.Counter/Echo", &words{"tenant"}, &seen, grpc.ForceCodec(plain{}), grpc.Header(&header), grpc.Trailer(&trailer)); err != nil || seen.Text != "acme" {
		t.Errorf("%v %v", seen, err)
	}
	if len(header.Get("x-header")) != 1 || len(trailer.Get("x-trailer-bin")) != 1 || trailer.Get("x-trailer-bin")[0] != string([]byte{0, 1, 255}) {
		t.Errorf("%v %v", header, trailer)
	}
	err := connection.Invoke(t.Context(), "/test.v1.Counter/Double", &number{1 << 40}, &doubled, grpc.ForceCodec(plain{}))
	s := status.Convert(err)
	var bad *errdetails.BadRequest
	for _, d := range s.Details() {
		if found, ok := d.(*errdetails.BadRequest); ok {
			bad = found
		}
	}
	if s.Code() != codes.InvalidArgument || len(bad.GetFieldViolations()) != 1 || bad.GetFieldViolations()[0].GetField() != "value" {
		t.Errorf("%v %v", err, bad)
	}
	if err := connection.Invoke(t.Context(), "/test.v1.Counter/Nothing", &number{}, &doubled, grpc.ForceCodec(plain{})); status.Code(err) != codes.Unimplemented {
		t.Error(err)
	}
}

func TestGRPCGoIsAnsweredBeyondItsOwnLimitAndTheConnectionStays(t *testing.T) {
	connection, _ := dialCounter(t, counter(nil, nil))
	var large words
	call := func(options ...grpc.CallOption) error {
		return connection.Invoke(t.Context(), "/test.v1.Counter/Echo", &words{strings.Repeat("x", 5<<20)}, &large, append(options, grpc.ForceCodec(plain{}))...)
	}
	if err := call(); status.Code(err) != codes.ResourceExhausted {
		t.Error(err)
	}
	var doubled number
	if err := connection.Invoke(t.Context(), "/test.v1.Counter/Double", &number{1}, &doubled, grpc.ForceCodec(plain{})); err != nil {
		t.Error(err)
	}
}

func TestGRPCGoEndsCallsByDeadlineAndCancel(t *testing.T) {
	waiting := make(chan struct{}, 2)
	connection, _ := dialCounter(t, counter(waiting, nil))
	var out number
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := connection.Invoke(ctx, "/test.v1.Counter/Wait", &number{}, &out, grpc.ForceCodec(plain{}), grpc.WaitForReady(true)); status.Code(err) != codes.DeadlineExceeded {
		t.Error(err)
	}
	<-waiting
	<-waiting
	gone, leave := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- connection.Invoke(gone, "/test.v1.Counter/Wait", &number{}, &out, grpc.ForceCodec(plain{}))
	}()
	<-waiting
	leave()
	if err := <-done; status.Code(err) != codes.Canceled {
		t.Error(err)
	}
	<-waiting
}

func TestGRPCGoStreamsBothWays(t *testing.T) {
	connection, _ := dialCounter(t, counter(nil, nil))
	stream, err := connection.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, "/test.v1.Counter/Each", grpc.ForceCodec(plain{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int64{2, 3} {
		if err := stream.SendMsg(&number{n}); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			var got number
			if err := stream.RecvMsg(&got); err != nil || got.Value != i {
				t.Fatalf("%v %v", got, err)
			}
		}
	}
	stream.CloseSend()
	if err := stream.RecvMsg(&number{}); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	failing, err := connection.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true}, "/test.v1.Counter/Each", grpc.ForceCodec(plain{}))
	if err != nil {
		t.Fatal(err)
	}
	failing.SendMsg(&number{-1})
	failing.CloseSend()
	if err := failing.RecvMsg(&number{}); status.Code(err) != codes.OutOfRange || status.Convert(err).Message() != "kein ✓" {
		t.Error(err)
	}
}

func TestGRPCGoLearnsOfHealthAndServices(t *testing.T) {
	connection, _ := dialCounter(t, counter(nil, nil))
	health := healthpb.NewHealthClient(connection)
	if reply, err := health.Check(t.Context(), &healthpb.HealthCheckRequest{Service: "test.v1.Counter"}); err != nil || reply.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("%v %v", reply, err)
	}
	if _, err := health.Check(t.Context(), &healthpb.HealthCheckRequest{Service: "nothing"}); status.Code(err) != codes.NotFound {
		t.Error(err)
	}
	v1, err := reflectpb.NewServerReflectionClient(connection).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	v1.Send(&reflectpb.ServerReflectionRequest{MessageRequest: &reflectpb.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: "test.v1.Counter.Double"}})
	if reply, err := v1.Recv(); err != nil || len(reply.GetFileDescriptorResponse().GetFileDescriptorProto()) == 0 {
		t.Errorf("%v %v", reply, err)
	}
	v1.CloseSend()
	alpha, err := alphapb.NewServerReflectionClient(connection).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	alpha.Send(&alphapb.ServerReflectionRequest{MessageRequest: &alphapb.ServerReflectionRequest_ListServices{}})
	if reply, err := alpha.Recv(); err != nil || len(reply.GetListServicesResponse().GetService()) != 2 {
		t.Errorf("%v %v", reply, err)
	}
	alpha.CloseSend()
}

func TestANodeThatStopsAnswersWhatGRPCGoHasInFlight(t *testing.T) {
	waiting, goOn := make(chan struct{}, 2), make(chan struct{})
	stopping := make(chan struct{})
	connection, node := dialCounter(t, counter(waiting, goOn), sabir.Use(sabir.Middleware{Name: "stopping",
		Lifecycle: func(s sabir.Stage, next func(context.Context) error) func(context.Context) error {
			return func(ctx context.Context) error {
				if s.Stop && s.Service == "" {
					close(stopping)
				}
				return next(ctx)
			}
		}}))
	var out number
	done := make(chan error, 1)
	go func() {
		done <- connection.Invoke(t.Context(), "/test.v1.Counter/Wait", &number{7}, &out, grpc.ForceCodec(plain{}))
	}()
	<-waiting
	stopped := make(chan error, 1)
	go func() { stopped <- node.Stop(context.Background()) }()
	<-stopping
	close(goOn)
	if err := <-done; err != nil || out.Value != 7 {
		t.Errorf("%v %v", out, err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

const retryPolicy = `{"methodConfig":[{"name":[{}],"retryPolicy":{"maxAttempts":5,"initialBackoff":"0.001s","maxBackoff":"0.01s","backoffMultiplier":1,"retryableStatusCodes":["UNAVAILABLE"]}}]}`

// A policy tries a call again only where the error came without headers before it.
func TestGRPCGoTriesACallAgainByItsPolicy(t *testing.T) {
	var tries atomic.Int64
	flaky := sabir.NewError(sabir.CodeUnavailable, "Flaky", "not yet").AsRetryable()
	s := sabir.NewService("flaky", sabir.Use(rpc.Package("test.v1")))
	sabir.Handle(s, "get", func(_ context.Context, in number) (number, error) {
		if tries.Add(1) < 3 {
			return number{}, flaky
		}
		return in, nil
	})
	sabir.HandleStream(s, "list", func(_ context.Context, stream *sabir.Stream[number, number]) error {
		if tries.Add(1) < 3 {
			return flaky
		}
		in, err := stream.Recv()
		if err != nil {
			return err
		}
		return stream.Send(in)
	}, sabir.ServerStream())
	_, node := dialCounter(t, s)
	connection, err := grpc.NewClient("passthrough:///"+node.HTTPAddr(), grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultServiceConfig(retryPolicy))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	var got number
	if err := connection.Invoke(t.Context(), "/test.v1.Flaky/Get", &number{7}, &got, grpc.ForceCodec(plain{})); err != nil || got.Value != 7 || tries.Load() != 3 {
		t.Errorf("a call: %v, %v after %d tries", got, err, tries.Load())
	}
	tries.Store(0)
	stream, err := connection.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true}, "/test.v1.Flaky/List", grpc.ForceCodec(plain{}))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(stream.SendMsg(&number{8}), stream.CloseSend()); err != nil {
		t.Fatal(err)
	}
	if err := stream.RecvMsg(&got); err != nil || got.Value != 8 || tries.Load() != 3 {
		t.Errorf("a stream: %v, %v after %d tries", got, err, tries.Load())
	}
}

func TestGRPCGoTriesCallsOfTheBridgesAgainByItsPolicy(t *testing.T) {
	for name, path := range map[string]string{"dubbo": "/com.shop.Flaky/get", "micro": "/flaky.Flaky/Get"} {
		var tries atomic.Int64
		s := sabir.NewService("flaky")
		sabir.Handle(s, "get", func(_ context.Context, in number) (number, error) {
			if tries.Add(1) < 3 {
				return number{}, sabir.NewError(sabir.CodeUnavailable, "Flaky", "not yet").AsRetryable()
			}
			return in, nil
		})
		address, err := brokers.FreeAddress("tcp")
		if err != nil {
			t.Fatal(err)
		}
		bridge := dubbo.Bridge(dubbo.Config{Serve: map[string][]dubbo.Interface{"tri://" + address: {{Name: "com.shop.Flaky", Service: "flaky", Protobuf: true}}}})
		if name == "micro" {
			bridge = micro.Bridge(micro.Config{Listen: address, Expose: []string{"flaky.*"}})
		}
		sabirtest.Start(t, sabir.Serve(s), bridge)
		connection, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultServiceConfig(retryPolicy))
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		var got number
		if err := connection.Invoke(t.Context(), path, &number{7}, &got, grpc.ForceCodec(plain{})); err != nil || got.Value != 7 || tries.Load() != 3 {
			t.Errorf("%s: %v, %v after %d tries", name, got, err, tries.Load())
		}
	}
}
