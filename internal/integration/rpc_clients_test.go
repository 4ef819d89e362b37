package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/sabir-go/sabir/internal/brokers"
)

// connect-es and grpc-js, of the versions in testdata/rpc-clients/package.json.
func TestClientsOfNodeCallPackageRPC(t *testing.T) {
	brokers.Slow(t)
	npm, node := brokers.Program(t, "npm", "npm"), brokers.Program(t, "node", "nodejs")
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/rpc-clients")); err != nil {
		t.Fatal(err)
	}
	install := exec.CommandContext(t.Context(), npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		brokers.NotTested(t, "npm could not install the clients; is the network there? %v\n%s", err, out)
	}
	compiler := protocompile.Compiler{Resolver: &protocompile.SourceResolver{ImportPaths: []string{dir}}}
	files, err := compiler.Compile(t.Context(), "counter.proto")
	if err != nil {
		t.Fatal(err)
	}
	set, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{protodesc.ToFileDescriptorProto(files[0])}})
	if err != nil {
		t.Fatal(err)
	}
	descriptors := filepath.Join(dir, "counter.binpb")
	if err := os.WriteFile(descriptors, set, 0o600); err != nil {
		t.Fatal(err)
	}
	_, at := dialCounter(t, counter(nil, nil))
	run := exec.CommandContext(t.Context(), node, "clients.mjs", "http://"+at.HTTPAddr(), descriptors)
	run.Dir = dir
	out, err := run.CombinedOutput()
	if err != nil || !strings.HasSuffix(string(out), "grpc-js\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestGRPCurlListsDescribesAndCalls(t *testing.T) {
	brokers.Slow(t)
	dir := t.TempDir()
	install := exec.CommandContext(t.Context(), "go", "install", "github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.4")
	install.Env = append(os.Environ(), "GOFLAGS=", "GOBIN="+dir)
	if out, err := install.CombinedOutput(); err != nil {
		brokers.NotTested(t, "grpcurl could not be installed; is the network there? %v\n%s", err, out)
	}
	_, at := dialCounter(t, counter(nil, nil))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{at.HTTPAddr(), "list"}, "test.v1.Counter"},
		{[]string{at.HTTPAddr(), "describe", "test.v1.Counter.Double"}, "rpc Double ( .test.v1.Number ) returns ( .test.v1.Number )"},
		{[]string{"-d", `{"value":"21"}`, at.HTTPAddr(), "test.v1.Counter/Double"}, `"value": "42"`},
		{[]string{"-d", `{"value":2}`, at.HTTPAddr(), "test.v1.Counter/Each"}, `"value": "1"`},
		{[]string{at.HTTPAddr(), "grpc.health.v1.Health/Check"}, `"status": "SERVING"`},
	} {
		run := exec.CommandContext(t.Context(), filepath.Join(dir, "grpcurl"), append([]string{"-plaintext"}, c.args...)...)
		if out, err := run.CombinedOutput(); err != nil || !strings.Contains(string(out), c.want) {
			t.Errorf("%v: %v\n%s", c.args, err, out)
		}
	}
}
