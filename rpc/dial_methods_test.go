package rpc_test

import (
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"connectrpc.com/grpcreflect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/rpc"
)

func TestAServiceThatItsServerDoesNotDescribeLeavesTheOthersCallable(t *testing.T) {
	behind, _ := serve(t, []sabir.Servable{calc()})
	set := describe(t, behind)
	name := ".acme.v1.Gone"
	set.File = append(set.File, &descriptorpb.FileDescriptorProto{Name: proto.String("torn.proto"), Package: proto.String("acme.v1"), Syntax: proto.String("proto3"), Dependency: []string{"gone.proto"},
		Service: []*descriptorpb.ServiceDescriptorProto{{Name: proto.String("Torn"), Method: []*descriptorpb.MethodDescriptorProto{{Name: proto.String("Get"), InputType: &name, OutputType: &name}}}}})
	described, err := protodesc.FileOptions{AllowUnresolvable: true}.NewFiles(set)
	if err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(behind)
	if err != nil {
		t.Fatal(err)
	}
	mux, passOn := http.NewServeMux(), httputil.NewSingleHostReverseProxy(at)
	passOn.Transport = client(t, false).Transport
	mux.Handle("/", passOn)
	mux.Handle(grpcreflect.NewHandlerV1(grpcreflect.NewReflector(
		grpcreflect.NamerFunc(func() []string { return []string{"acme.v1.Listed", "acme.v1.Torn", "test.v1.Calc"} }), grpcreflect.WithDescriptorResolver(described))))
	server := answerOf(t, mux.ServeHTTP)
	eachWay(t, func(t *testing.T, f rpc.Foreign) {
		if f.HTTP1 {
			t.Skip("reflection is a stream, which needs HTTP/2")
		}
		f.URL = server
		lines := make(chan string, 100)
		node := sabir.NewNode(rpc.Dial(f), sabir.Logger(slog.New(slog.NewTextHandler(lineWriter(lines), nil))))
		if err := node.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := node.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		if out, err := sabir.Call[sumOut](t.Context(), node, "calc.add", sumIn{40, 2}); err != nil || out.Sum != 42 {
			t.Fatalf("%v %v", out, err)
		}
		for _, left := range []string{"acme.v1.Listed", "acme.v1.Torn"} {
			if line := <-lines; !strings.Contains(line, left+" is left out, since the server does not describe it") {
				t.Errorf("the log has %s", line)
			}
		}
	})
}
