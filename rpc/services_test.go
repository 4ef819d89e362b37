package rpc_test

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"connectrpc.com/grpcreflect"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
)

func TestReflectionDescribesTheServicesByTheirGoTypes(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	for name, options := range map[string][]connect.ClientOption{"gRPC": {connect.WithGRPC()}, "Connect": nil} {
		t.Run(name, func(t *testing.T) {
			stream := grpcreflect.NewClient(client(t, false), url, options...).NewStream(t.Context())
			defer stream.Close()
			names, err := stream.ListServices()
			if err != nil || !slices.Equal(names, []protoreflect.FullName{"test.v1.Calc", "grpc.health.v1.Health"}) {
				t.Fatalf("%v %v", names, err)
			}
			files, err := stream.FileContainingSymbol("test.v1.Calc")
			if err != nil {
				t.Fatal(err)
			}
			resolved, err := protodesc.NewFiles(&descriptorpb.FileDescriptorSet{File: files})
			if err != nil {
				t.Fatal(err)
			}
			found, err := resolved.FindDescriptorByName("test.v1.Calc")
			if err != nil {
				t.Fatal(err)
			}
			methods := found.(protoreflect.ServiceDescriptor).Methods()
			add, count := methods.ByName("Add"), methods.ByName("Count")
			if add.Input().FullName() != "test.v1.SumIn" || add.Output().Fields().ByNumber(1).Kind() != protoreflect.Int64Kind || add.IsStreamingServer() || !count.IsStreamingServer() {
				t.Errorf("%v", protodesc.ToServiceDescriptorProto(found.(protoreflect.ServiceDescriptor)))
			}
			if add.Options().(*descriptorpb.MethodOptions).GetIdempotencyLevel() != descriptorpb.MethodOptions_NO_SIDE_EFFECTS {
				t.Error("Add has side effects")
			}
			if got := methods.ByName("Buy").Input().FullName(); got != "google.protobuf.Empty" {
				t.Errorf("nothing is %s", got)
			}
			kinds := methods.ByName("Kinds").Input().Fields()
			if got := kinds.ByName("took").Message().FullName(); got != "google.protobuf.Duration" {
				t.Errorf("a duration is %s", got)
			}
			if got := kinds.ByName("order_id").JSONName(); got != "orderId" {
				t.Errorf("orderID is %s in JSON", got)
			}
		})
	}
}

// asked is a HealthCheckRequest, and health its answer.
type (
	asked  struct{ Service string }
	health struct{ Status int32 }
)

func TestWhoIsRefusedHealthAndReflectionLearnsWhy(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	closed, _ := serve(t, []sabir.Servable{calc()}, gateway.Key("0123456789abcdef"))
	each(t, func(t *testing.T, d dialect) {
		options := append([]connect.ClientOption{connect.WithCodec(structs{})}, d.options...)
		c := client(t, d.http1)
		c.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, strings.TrimPrefix(url, "http://"))
		}
		_, err := connect.NewClient[asked, health](c, "http://elsewhere/grpc.health.v1.Health/Check", options...).CallUnary(t.Context(), connect.NewRequest(&asked{}))
		wantCode(t, err, connect.CodePermissionDenied)
		if !strings.Contains(err.Error(), "the Host header says \"elsewhere\"") {
			t.Errorf("health failed with %v", err)
		}
		watch, err := connect.NewClient[asked, health](c, "http://elsewhere/grpc.health.v1.Health/Watch", options...).CallServerStream(t.Context(), connect.NewRequest(&asked{}))
		if err == nil {
			watch.Receive()
			err = watch.Err()
			watch.Close()
		}
		wantCode(t, err, connect.CodePermissionDenied)
		if d.http1 {
			return // over which reflection, a stream both ways, does not work
		}
		stream := grpcreflect.NewClient(client(t, false), closed, d.options...).NewStream(t.Context())
		_, err = stream.ListServices()
		wantCode(t, err, connect.CodeUnauthenticated)
		if !strings.Contains(err.Error(), "key") {
			t.Errorf("reflection failed with %v", err)
		}
		stream.Close()
	})
}

func TestHealthIsThatOfTheNodeAndItsServices(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	each(t, func(t *testing.T, d dialect) {
		options := append([]connect.ClientOption{connect.WithCodec(structs{})}, d.options...)
		check := connect.NewClient[asked, health](client(t, d.http1), url+"/grpc.health.v1.Health/Check", options...)
		for _, service := range []string{"", "test.v1.Calc", "grpc.health.v1.Health"} {
			if reply, err := check.CallUnary(t.Context(), connect.NewRequest(&asked{service})); err != nil || reply.Msg.Status != 1 {
				t.Errorf("%q: %v %v", service, reply, err)
			}
		}
		_, err := check.CallUnary(t.Context(), connect.NewRequest(&asked{"nothing"}))
		wantCode(t, err, connect.CodeNotFound)
	})
	if status, answer := post(t, url+"/grpc.health.v1.Health/Check", "application/json", "{}"); status != 200 || answer != `{"status":"SERVING"}` {
		t.Errorf("%d %s", status, answer)
	}
}

func TestWatchFollowsAServiceThatComesAndGoes(t *testing.T) {
	url, node := serve(t, []sabir.Servable{calc()})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	watch := connect.NewClient[asked, health](client(t, false), url+"/grpc.health.v1.Health/Watch", connect.WithCodec(structs{}), connect.WithGRPC())
	stream, err := watch.CallServerStream(ctx, connect.NewRequest(&asked{"later.Later"}))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	want := func(status int32) {
		t.Helper()
		if !stream.Receive() || stream.Msg().Status != status {
			t.Fatalf("got %v, %v; want %d", stream.Msg(), stream.Err(), status)
		}
	}
	want(3)
	later := sabir.NewService("later")
	sabir.Handle(later, "do", func(context.Context, sabir.Empty) (sabir.Empty, error) { return sabir.Empty{}, nil })
	if err := node.Add(t.Context(), later); err != nil {
		t.Fatal(err)
	}
	want(1)
	if err := node.Remove(t.Context(), later); err != nil {
		t.Fatal(err)
	}
	want(3)
}

func TestAMethodGoesBeforeARESTFormThatTakesItsAddress(t *testing.T) {
	files := sabir.NewService("files")
	sabir.Handle(files, "put", func(_ context.Context, in map[string]string) (string, error) { return "a file", nil }, sabir.Route("POST", "/{folder}/{name}"))
	url, _ := serve(t, []sabir.Servable{calc(), files})
	for path, want := range map[string]string{"/test.v1.Calc/Add": `{"sum":"3"}`, "/grpc.health.v1.Health/Check": `{"status":"SERVING"}`, "/letters/one": `"a file"`} {
		body := map[bool]string{true: `{"a":1,"b":2}`, false: "{}"}[want == `{"sum":"3"}`]
		if status, answer := post(t, url+path, "application/json", body); status != 200 || answer != want {
			t.Errorf("%s: %d %s, want %s", path, status, answer, want)
		}
	}
}
