package integration

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bufbuild/protocompile"
	"github.com/chromedp/chromedp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/browsertest"
	"github.com/sabir-go/sabir/rpc"
	"github.com/sabir-go/sabir/web"
	"github.com/sabir-go/sabir/web/filter"
)

// clients is a folder with the clients of testdata/rpc-clients and the libraries of its package.json. counter.binpb there has the
// descriptors of counter.proto.
func clients(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	brokers.NodeModules(t, "testdata/rpc-clients", dir)
	compiler := protocompile.Compiler{Resolver: &protocompile.SourceResolver{ImportPaths: []string{dir}}}
	files, err := compiler.Compile(t.Context(), "counter.proto")
	if err != nil {
		t.Fatal(err)
	}
	set, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{protodesc.ToFileDescriptorProto(files[0])}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "counter.binpb"), set, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// connect-es and grpc-js.
func TestClientsOfNodeCallPackageRPC(t *testing.T) {
	brokers.Slow(t)
	node, dir := brokers.Program(t, "node", "nodejs"), clients(t)
	_, at := dialCounter(t, counter(nil, nil))
	run := exec.CommandContext(t.Context(), node, "clients.mjs", "http://"+at.HTTPAddr(), "counter.binpb")
	run.Dir = dir
	out, err := run.CombinedOutput()
	if err != nil || !strings.HasSuffix(string(out), "grpc-js\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

// The page is of another site than the node, which allows it by the CORS filter.
func TestAPageInChromiumCallsPackageRPCByConnectWeb(t *testing.T) {
	brokers.Slow(t)
	page := browsertest.Open(t)
	site := httptest.NewServer(http.FileServer(http.Dir(clients(t))))
	t.Cleanup(site.Close)
	node := startAllowed(t, sabir.NewNode(sabir.Serve(counter(nil, nil)), sabir.HTTP("127.0.0.1:0", rpc.Serve(),
		web.With(web.Config{Filters: web.Filters{filter.CORS{Origins: []string{site.URL}, Headers: []string{"*"}, Expose: []string{"X-Header", "Trailer-X-Trailer-Bin", "Grpc-Status", "Grpc-Message", "Grpc-Status-Details-Bin"}}}}))))
	page.Forgive("log: ") // calls that are meant to fail
	page.Run(chromedp.Navigate(site.URL + "/page.html#http://" + node.HTTPAddr()))
	page.Until(`/done|FAILED/.test(document.querySelector("#lines").textContent)`)
	lines := browsertest.Evaluate[string](page, `document.querySelector("#lines").textContent`)
	if !strings.HasSuffix(lines, "done\n") || strings.Count(lines, "binary") != 6 {
		t.Error(lines)
	}
}

func TestGRPCurlListsDescribesAndCalls(t *testing.T) {
	brokers.Slow(t)
	grpcurl := installed(t, "github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.4", t.TempDir())
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
		run := exec.CommandContext(t.Context(), grpcurl, append([]string{"-plaintext"}, c.args...)...)
		if out, err := run.CombinedOutput(); err != nil || !strings.Contains(string(out), c.want) {
			t.Errorf("%v: %v\n%s", c.args, err, out)
		}
	}
}
