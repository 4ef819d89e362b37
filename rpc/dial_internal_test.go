package rpc

import (
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/sabir-go/sabir/internal/names"
)

func TestMethodsHaveTheNamesOfActions(t *testing.T) {
	for name, want := range map[string]string{"GetInvoice": "getInvoice", "HTTPStatus": "httpStatus", "get_user": "getUser", "X": "x"} {
		if got := small(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

// A server may send anything as its description.
func FuzzDescriptionOfAServer(f *testing.F) {
	name := ".acme.v1.M"
	file := &descriptorpb.FileDescriptorProto{Name: proto.String("a.proto"), Package: proto.String("acme.v1"), Syntax: proto.String("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{{Name: proto.String("M")}},
		Service: []*descriptorpb.ServiceDescriptorProto{{Name: proto.String("Billing"), Method: []*descriptorpb.MethodDescriptorProto{
			{Name: proto.String("Get"), InputType: &name, OutputType: &name}, {Name: proto.String("get"), InputType: &name, OutputType: &name, ServerStreaming: proto.Bool(true)}}}}}
	for _, set := range []*descriptorpb.FileDescriptorSet{
		{File: []*descriptorpb.FileDescriptorProto{file}},
		{File: []*descriptorpb.FileDescriptorProto{protodesc.ToFileDescriptorProto((&errdetails.ErrorInfo{}).ProtoReflect().Descriptor().ParentFile())}},
	} {
		data, err := proto.Marshal(set)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		set := &descriptorpb.FileDescriptorSet{}
		if proto.Unmarshal(data, set) != nil {
			return
		}
		config := &Foreign{}
		m, err := config.methods(set)
		if err != nil {
			return
		}
		m.name(nil)
		for action, one := range m.byAction {
			if fault := names.Fault(action); fault != "" {
				t.Errorf("%q %s", action, fault)
			}
			text := []byte(`{"x":[1]}`)
			if out, err := one.in.Append(nil, (*rawJSON)(&text)); err == nil {
				_ = one.out.Decode(out, (*rawJSON)(&text))
			}
		}
	})
}
