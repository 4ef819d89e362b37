package integration

import (
	"bufio"
	"errors"
	"log/slog"
	"os/exec"
	"strings"
	"testing"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/rpc"
)

// systemPython has the libraries of Debian's packages; another one in the PATH has not.
const systemPython = "/usr/bin/python3"

// stubsOfPython generates the stubs of counter.proto.
func stubsOfPython(t *testing.T) (dir string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), systemPython, "-c", "import grpc, grpc_tools.protoc").CombinedOutput(); err != nil {
		brokers.NotTested(t, "%s has no grpcio (Debian packages python3-grpcio and python3-grpc-tools): %v\n%s", systemPython, err, out)
	}
	dir = t.TempDir()
	generate := exec.CommandContext(t.Context(), systemPython, "-m", "grpc_tools.protoc", "-Itestdata/rpc-clients", "--python_out="+dir, "--grpc_python_out="+dir, "counter.proto")
	if out, err := generate.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

func TestAClientOfPythonCallsPackageRPC(t *testing.T) {
	brokers.Long(t)
	dir := stubsOfPython(t)
	_, at := dialCounter(t, counter(nil, nil))
	out, err := exec.CommandContext(t.Context(), systemPython, "testdata/rpc-python/client.py", at.HTTPAddr(), dir).CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "grpcio") {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// grpcio has no reflection without another package, so the node is given the descriptors.
func TestAServerOfPythonIsCalledByName(t *testing.T) {
	brokers.Long(t)
	server := exec.CommandContext(t.Context(), systemPython, "testdata/rpc-python/server.py", stubsOfPython(t))
	in, err := server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		server.Wait()
	})
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	compiler := protocompile.Compiler{Resolver: &protocompile.SourceResolver{ImportPaths: []string{"testdata/rpc-clients"}}}
	files, err := compiler.Compile(t.Context(), "counter.proto")
	if err != nil {
		t.Fatal(err)
	}
	node := startAllowed(t, sabir.NewNode(sabir.Logger(slog.New(slog.DiscardHandler)), rpc.Dial(rpc.Foreign{
		URL:   "http://127.0.0.1:" + strings.TrimSpace(port),
		Files: &descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{protodesc.ToFileDescriptorProto(files[0])}},
	})))
	if twice, err := sabir.Call[number](t.Context(), node, "counter.double", number{21}); err != nil || twice.Value != 42 {
		t.Errorf("%v %v", twice, err)
	}
	_, err = sabir.Call[number](t.Context(), node, "counter.double", number{-1})
	if failed := sabir.AsError(err); failed == nil || failed.Code != sabir.CodeOutOfRange || failed.Message != "kein ✓" {
		t.Error(err)
	}
	if got, err := sabir.Call[words](sabir.WithMetadata(t.Context(), "tenant", "acme"), node, "counter.echo", words{"tenant"}); err != nil || got.Text != "acme" {
		t.Errorf("%v %v", got, err)
	}
	var values []int64
	for n, err := range sabir.CallStream[number](t.Context(), node, "counter.each", number{3}) {
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, n.Value)
	}
	if len(values) != 3 || values[2] != 2 {
		t.Error(values)
	}
	in.Close() // ends the server
	if err := server.Wait(); err != nil {
		t.Fatal(err)
	}
	if _, err := sabir.Call[number](t.Context(), node, "counter.double", number{21}); !errors.Is(err, sabir.ErrServiceUnavailable) && !errors.Is(err, sabir.ErrLinkLost) {
		t.Error(err)
	}
}
