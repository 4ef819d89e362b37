package integration

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/protofile"
)

const (
	protocGenGo     = "google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12"
	protocGenGoGRPC = "google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2"
)

// protoOf is the .proto file that `sabir gen proto` writes for the service.
func protoOf(t *testing.T, node *sabir.Node, service string) string {
	t.Helper()
	var actions []*sabir.Action
	for _, a := range node.Actions() {
		if a.Service == service {
			actions = append(actions, a)
		}
	}
	described, err := api.Of(api.API{Title: service}, actions, api.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := protofile.Write(&text, described, protofile.Options{GoPackage: "github.com/sabir-go/sabir/internal/integration/stubs/pb"}); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// installed installs a program of Go, in the way in which ./test compiles all, so that the standard library need not be compiled for it alone.
func installed(t *testing.T, at, dir string) string {
	t.Helper()
	install := exec.CommandContext(t.Context(), "go", "install", at)
	install.Env = append(os.Environ(), "GOBIN="+dir)
	if out, err := install.CombinedOutput(); err != nil {
		brokers.NotTested(t, "%s could not be installed; is the network there? %v\n%s", at, err, out)
	}
	name, _, _ := strings.Cut(filepath.Base(at), "@")
	return filepath.Join(dir, name)
}

// generated runs a plugin of protoc over a file and writes what it makes below dir.
func generated(t *testing.T, plugin, file, text, dir string) {
	t.Helper()
	compiler := protocompile.Compiler{Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{
		Accessor: protocompile.SourceAccessorFromMap(map[string]string{file: text})})}
	compiled, err := compiler.Compile(t.Context(), file)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	request, err := proto.Marshal(&pluginpb.CodeGeneratorRequest{FileToGenerate: []string{file}, Parameter: proto.String("paths=source_relative"),
		ProtoFile: []*descriptorpb.FileDescriptorProto{protodesc.ToFileDescriptorProto(compiled[0])}})
	if err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), plugin)
	run.Stdin = bytes.NewReader(request)
	out, err := run.Output()
	var made pluginpb.CodeGeneratorResponse
	if err == nil {
		err = proto.Unmarshal(out, &made)
	}
	if err != nil || made.GetError() != "" {
		t.Fatalf("%s: %v %s", plugin, err, made.GetError())
	}
	for _, f := range made.GetFile() {
		if err := os.WriteFile(filepath.Join(dir, f.GetName()), []byte(f.GetContent()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// The stubs of protoc-gen-go-grpc are made of the file that `sabir gen proto` writes, and compiled with the program that uses them.
func TestGeneratedStubsOfGoCallAllShapesOfStreams(t *testing.T) {
	brokers.Slow(t)
	_, node := dialCounter(t, counter(nil, nil))
	dir := t.TempDir()
	text := protoOf(t, node, "counter")
	for _, plugin := range []string{protocGenGo, protocGenGoGRPC} {
		generated(t, installed(t, plugin, dir), "counter.proto", text, dir)
	}
	// The program is compiled as a package of this module, so that its libraries are those of go.mod.
	here, err := filepath.Abs("stubs")
	if err != nil {
		t.Fatal(err)
	}
	client, err := filepath.Abs("testdata/rpc-stubs/client.go")
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {
		filepath.Join(here, "main.go"):                  client,
		filepath.Join(here, "pb", "counter.pb.go"):      filepath.Join(dir, "counter.pb.go"),
		filepath.Join(here, "pb", "counter_grpc.pb.go"): filepath.Join(dir, "counter_grpc.pb.go"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	replace := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(replace, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), "go", "run", "-overlay", replace, "./stubs", node.HTTPAddr())
	if out, err := run.CombinedOutput(); err != nil || string(out) != "grpc-go\n" {
		t.Errorf("%v\n%s", err, out)
	}
}
