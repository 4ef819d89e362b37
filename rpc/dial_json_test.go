package rpc_test

import (
	"context"
	stdjson "encoding/json"
	"net/http"
	"reflect"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/anypb"
	_ "google.golang.org/protobuf/types/known/durationpb" // which the server does not describe
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/rpc"
)

// echo is a server whose methods give back the message that they take, with its descriptors.
type echo struct {
	mux     *http.ServeMux
	files   *descriptorpb.FileDescriptorSet
	service *descriptorpb.ServiceDescriptorProto
}

func newEcho() *echo {
	e := &echo{mux: http.NewServeMux(), files: &descriptorpb.FileDescriptorSet{}, service: &descriptorpb.ServiceDescriptorProto{Name: proto.String("Echo")}}
	for _, m := range []proto.Message{&anypb.Any{}, &timestamppb.Timestamp{}, &structpb.Value{}, &wrapperspb.Int64Value{}, &emptypb.Empty{}} {
		e.files.File = append(e.files.File, protodesc.ToFileDescriptorProto(m.ProtoReflect().Descriptor().ParentFile()))
	}
	own := &descriptorpb.FileDescriptorProto{Name: proto.String("echo.proto"), Package: proto.String("acme.v1"), Syntax: proto.String("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{{Name: proto.String("Note"), Field: []*descriptorpb.FieldDescriptorProto{{Name: proto.String("text"), Number: proto.Int32(1), Type: descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum()}}}},
		Service:     []*descriptorpb.ServiceDescriptorProto{e.service}}
	for _, file := range e.files.GetFile() {
		own.Dependency = append(own.Dependency, file.GetName())
	}
	e.files.File = append(e.files.File, own)
	return e
}

func addEcho[T any, M interface {
	*T
	proto.Message
}](e *echo, method string) {
	name := "." + string(M(new(T)).ProtoReflect().Descriptor().FullName())
	e.service.Method = append(e.service.Method, &descriptorpb.MethodDescriptorProto{Name: &method, InputType: &name, OutputType: &name})
	e.mux.Handle("/acme.v1.Echo/"+method, connect.NewUnaryHandler("/acme.v1.Echo/"+method, func(_ context.Context, r *connect.Request[T]) (*connect.Response[T], error) {
		return connect.NewResponse(r.Msg), nil
	}))
}

func TestAnAnyOfTheServersTypesAndWellKnownMessagesAreJSON(t *testing.T) {
	e := newEcho()
	addEcho[anypb.Any](e, "Any")
	addEcho[timestamppb.Timestamp](e, "Time")
	addEcho[structpb.Value](e, "Value")
	addEcho[wrapperspb.Int64Value](e, "Number")
	addEcho[emptypb.Empty](e, "Nothing")
	node := dial(t, rpc.Foreign{URL: answerOf(t, e.mux.ServeHTTP), Files: e.files})
	for _, one := range [][2]string{
		{"echo.any", `{"@type":"type.googleapis.com/acme.v1.Note","text":"of the server"}`},
		{"echo.any", `{"@type":"type.googleapis.com/google.protobuf.Duration","value":"1.500s"}`},
		{"echo.any", `{"@type":"type.googleapis.com/google.protobuf.Any","value":{"@type":"type.googleapis.com/acme.v1.Note","text":"within"}}`},
		{"echo.time", `"2026-01-02T03:04:05Z"`},
		{"echo.value", `{"a":[1,null,"x"]}`},
		{"echo.value", `null`},
		{"echo.number", `"9007199254740993"`},
		{"echo.nothing", `{}`},
	} {
		var got, want any
		out, err := sabir.CallJSON(t.Context(), node, one[0], []byte(one[1]))
		if err != nil {
			t.Errorf("%s of %s: %v", one[0], one[1], err)
			continue
		}
		if err := stdjson.Unmarshal(out, &got); err != nil {
			t.Error(err)
		}
		if err := stdjson.Unmarshal([]byte(one[1]), &want); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s of %s is %s", one[0], one[1], out)
		}
	}
}
