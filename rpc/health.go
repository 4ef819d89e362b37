package rpc

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/trailersonly"
	"github.com/sabir-go/sabir/web"
)

// healthName is the service by which balancers and Kubernetes ask whether a server takes calls
// (https://github.com/grpc/grpc/blob/master/doc/health-checking.md).
const healthName = "grpc.health.v1.Health"

// The answers of the service.
const (
	serving        protoreflect.EnumNumber = 1
	notServing     protoreflect.EnumNumber = 2
	serviceUnknown protoreflect.EnumNumber = 3
)

// healthPoll is how often a Watch looks whether the node is ready, of which nothing tells it.
const healthPoll = time.Second

// healthFile describes the service. The generated code of it is in a package that brings grpc-go along.
var healthFile = func() protoreflect.FileDescriptor {
	text, enum, messages := descriptorpb.FieldDescriptorProto_TYPE_STRING, descriptorpb.FieldDescriptorProto_TYPE_ENUM, ".grpc.health.v1."
	optional := descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()
	status := &descriptorpb.EnumDescriptorProto{Name: new("ServingStatus")}
	for i, name := range []string{"UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"} {
		status.Value = append(status.Value, &descriptorpb.EnumValueDescriptorProto{Name: new(name), Number: new(int32(i))})
	}
	in, out := new(messages+"HealthCheckRequest"), new(messages+"HealthCheckResponse")
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Syntax: new("proto3"), Package: new("grpc.health.v1"), Name: new("grpc/health/v1/health.proto"),
		MessageType: []*descriptorpb.DescriptorProto{
			{Name: new("HealthCheckRequest"), Field: []*descriptorpb.FieldDescriptorProto{
				{Name: new("service"), JsonName: new("service"), Number: proto.Int32(1), Type: &text, Label: optional}}},
			{Name: new("HealthCheckResponse"), EnumType: []*descriptorpb.EnumDescriptorProto{status}, Field: []*descriptorpb.FieldDescriptorProto{
				{Name: new("status"), JsonName: new("status"), Number: proto.Int32(1), Type: &enum, Label: optional,
					TypeName: new(messages + "HealthCheckResponse.ServingStatus")}}},
		},
		Service: []*descriptorpb.ServiceDescriptorProto{{Name: new("Health"), Method: []*descriptorpb.MethodDescriptorProto{
			{Name: new("Check"), InputType: in, OutputType: out},
			{Name: new("Watch"), InputType: in, OutputType: out, ServerStreaming: new(true)},
		}}},
	}, nil)
	if err != nil {
		panic(err) // it is fixed
	}
	return file
}()

var (
	healthRequest  = healthFile.Messages().ByName("HealthCheckRequest")
	healthResponse = healthFile.Messages().ByName("HealthCheckResponse")
)

// health answers for the services of a node. It asks nobody for credentials, as /health does not.
type health struct {
	node    *sabir.Node
	stop    sync.Once
	stopped chan struct{} // closed when the server stops
}

func (d *dispatcher) mountHealth(at web.Site) (http.Handler, error) {
	h := &d.health
	h.node = at.Node
	options := connect.WithHandlerOptions(
		connect.WithReadMaxBytes(4<<10),
		connect.WithRequestInitializer(func(_ connect.Spec, message any) error {
			proto.Reset(message.(proto.Message))
			*message.(*dynamicpb.Message) = *dynamicpb.NewMessage(healthRequest)
			return nil
		}))
	return public{d.methods(healthName, map[string]http.Handler{
		"Check": connect.NewUnaryHandler("/"+healthName+"/Check", h.check, options),
		"Watch": withoutDeadlines(connect.NewServerStreamHandler("/"+healthName+"/Watch", h.watch, options)),
	})}, nil
}

// public is a handler that runs before the authentication of the server.
type public struct{ http.Handler }

func (public) Public() bool { return true }

// methods serves those of a service that is no node's. Others are answered as those that nobody has.
func (d *dispatcher) methods(service string, methods map[string]http.Handler) http.Handler {
	return trailersonly.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := methods[strings.TrimPrefix(r.URL.Path, "/"+service+"/")]
		if h == nil {
			d.Refuse(w, r, sabir.Errorf(sabir.CodeUnimplemented, sabir.ErrActionNotFound.Name, "there is no method %.200q here", r.URL.Path))
			return
		}
		h.ServeHTTP(w, r)
	}))
}

// withoutDeadlines serves what goes on for as long as its caller likes.
func withoutDeadlines(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		control.SetReadDeadline(time.Time{})
		control.SetWriteDeadline(time.Time{})
		h.ServeHTTP(w, r)
	})
}

func serviceOf(request *connect.Request[dynamicpb.Message]) string {
	return request.Msg.Get(healthRequest.Fields().ByNumber(1)).String()
}

func statusOf(status protoreflect.EnumNumber) *dynamicpb.Message {
	m := dynamicpb.NewMessage(healthResponse)
	m.Set(healthResponse.Fields().ByNumber(1), protoreflect.ValueOfEnum(status))
	return m
}

// status returns the status of a service, or with "" that of the node.
func (h *health) status(ctx context.Context, service string) protoreflect.EnumNumber {
	known := service == "" || service == healthName || slices.ContainsFunc(h.node.Actions(), func(a *sabir.Action) bool {
		return a.Public() && !a.Remote && !strings.HasPrefix(a.Service, "$") && methodOf(a).ServiceName() == service
	})
	switch {
	case !known:
		return serviceUnknown
	case h.node.Ready(ctx) != nil:
		return notServing
	}
	return serving
}

func (h *health) check(ctx context.Context, request *connect.Request[dynamicpb.Message]) (*connect.Response[dynamicpb.Message], error) {
	status := h.status(ctx, serviceOf(request))
	if status == serviceUnknown {
		return nil, toConnect(sabir.Errorf(sabir.CodeNotFound, sabir.ErrActionNotFound.Name, "there is no service %.200q here", serviceOf(request)))
	}
	return connect.NewResponse(statusOf(status)), nil
}

// watch sends the status of a service now and whenever it changes. When the server stops, it ends with the last status.
func (h *health) watch(ctx context.Context, request *connect.Request[dynamicpb.Message], stream *connect.ServerStream[dynamicpb.Message]) error {
	last := protoreflect.EnumNumber(-1)
	poll := time.NewTicker(healthPoll)
	defer poll.Stop()
	for {
		changed := h.node.Changed()
		if status := h.status(ctx, serviceOf(request)); status != last {
			if err := stream.Send(statusOf(status)); err != nil {
				return err
			}
			last = status
		}
		select {
		case <-changed:
		case <-poll.C:
		case <-ctx.Done():
			return ctx.Err()
		case <-h.stopped:
			if last == serving {
				_ = stream.Send(statusOf(notServing)) // the stream ends in any case
			}
			return toConnect(stopped())
		}
	}
}
