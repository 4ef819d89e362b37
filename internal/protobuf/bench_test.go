package protobuf_test

import (
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/apipb"

	"github.com/sabir-go/sabir/internal/protobuf"
)

// method and api are plain Go for the generated google.protobuf.Api, without options, source and syntax.
type method struct {
	Name            string `protobuf:"1"`
	RequestTypeURL  string `protobuf:"2"`
	RequestStreams  bool   `protobuf:"3"`
	ResponseTypeURL string `protobuf:"4"`
}

type api struct {
	Name    string   `protobuf:"1"`
	Methods []method `protobuf:"2"`
	Version string   `protobuf:"4"`
}

func generated() *apipb.Api {
	m := &apipb.Api{Name: "orders", Version: "v1"}
	for range 10 {
		m.Methods = append(m.Methods, &apipb.Method{Name: "Create", RequestTypeUrl: "type.example.com/Request", RequestStreaming: true,
			ResponseTypeUrl: "type.example.com/Response"})
	}
	return m
}

func TestAPlainStructReadsWhatAGeneratedMessageWrote(t *testing.T) {
	data, err := proto.Marshal(generated())
	if err != nil {
		t.Fatal(err)
	}
	var got api
	if err := protobuf.Codec.Decode(data, &got); err != nil || len(got.Methods) != 10 || got.Methods[9].ResponseTypeURL != "type.example.com/Response" {
		t.Fatalf("got %+v, %v", got, err)
	}
	var back apipb.Api
	if err := proto.Unmarshal(mustAppend(t, got), &back); err != nil || !proto.Equal(&back, generated()) {
		t.Errorf("got %v, %v", &back, err)
	}
}

// The same message by this codec from a plain struct, by google's library from a generated one, and by its dynamic messages.
func BenchmarkAgainstTheLibrary(b *testing.B) {
	data, err := proto.Marshal(generated())
	if err != nil {
		b.Fatal(err)
	}
	var value api
	if err := protobuf.Codec.Decode(data, &value); err != nil {
		b.Fatal(err)
	}
	descriptor, err := protobuf.Descriptor(reflect.TypeFor[api]())
	if err != nil {
		b.Fatal(err)
	}
	dynamic := dynamicpb.NewMessage(descriptor)
	if err := proto.Unmarshal(data, dynamic); err != nil {
		b.Fatal(err)
	}
	message, buffer := generated(), make([]byte, 0, 2*len(data))
	for _, bb := range []struct {
		name string
		run  func() error
	}{
		{"append", func() error { _, err := protobuf.Codec.Append(buffer, &value); return err }},
		{"append generated", func() error { _, err := (proto.MarshalOptions{}).MarshalAppend(buffer, message); return err }},
		{"append dynamic", func() error { _, err := (proto.MarshalOptions{}).MarshalAppend(buffer, dynamic); return err }},
		{"decode", func() error { return protobuf.Codec.Decode(data, new(api)) }},
		{"decode generated", func() error { return proto.Unmarshal(data, new(apipb.Api)) }},
		{"decode dynamic", func() error { return proto.Unmarshal(data, dynamicpb.NewMessage(descriptor)) }},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := bb.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
