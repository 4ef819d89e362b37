package trpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/typescript"
	"github.com/sabir-go/sabir/web"
	"github.com/sabir-go/sabir/web/auth"
)

// The client of tRPC, of the version in testdata/client/package.json, is compiled with the router that is written for the server, in strict mode, and
// makes every kind of call: by its links for single calls, for such with POST, for batches and for streamed batches, and subscriptions. It does so without a transformer and with superjson. guide.ts, which docs/doors.md shows,
// is compiled with it.
func TestTheClientOfTRPCCallsAServerByTheTypesOfItsRouter(t *testing.T) {
	brokers.Long(t)
	node := brokers.Program(t, "node", "nodejs")
	dir := t.TempDir()
	brokers.NodeModules(t, filepath.Join("testdata", "client"), dir)
	later := sabir.NewService("orders", sabir.Version(2))
	sabir.Handle(later, "get", func(_ context.Context, in byID) (order, error) { return order{ID: "v2-" + in.ID}, nil }, sabir.Route("GET", "/v2/orders/{id}"))
	_, base := start(t, []*sabir.Service{orders(), later}, web.With(web.Config{BodyLimit: 64 << 10}))
	keys := &auth.Key{Keys: map[string]auth.Principal{"key-of-ada-0123456789": {Subject: "ada"}}}
	_, guarded := start(t, []*sabir.Service{orders()}, web.With(web.Config{Auth: []auth.Authenticator{keys}}))
	var described api.API
	if err := json.Unmarshal([]byte(send(t, "GET", base+"/$api", "").body), &described); err != nil {
		t.Fatal(err)
	}
	var router bytes.Buffer
	if err := typescript.WriteRouter(&router, described); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "router.ts"), router.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	compile := exec.CommandContext(t.Context(), node, filepath.Join("node_modules", "typescript", "bin", "tsc"), "-p", ".")
	compile.Dir = dir
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, router.Bytes())
	}
	run := exec.CommandContext(t.Context(), node, "check.js", base+"/trpc", guarded+"/trpc")
	run.Dir, run.Stderr = dir, os.Stderr
	out, err := run.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var got, want map[string]any
	wanted, err := os.ReadFile(filepath.Join("testdata", "client.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := json.Unmarshal(wanted, &want); err != nil {
		t.Fatal(err)
	}
	for _, link := range []string{"single", "post", "batch", "stream"} {
		for name, expected := range want {
			if !strings.HasSuffix(name, "values") {
				same(t, link+name, got[link+name], expected)
			}
			same(t, "superjson-"+link+name, got["superjson-"+link+name], expected)
		}
	}
}

// same compares what came with what must, as JSON.
func same(t *testing.T, about string, got, want any) {
	t.Helper()
	a, _ := json.MarshalIndent(got, "", " ")
	b, _ := json.MarshalIndent(want, "", " ")
	if string(a) != string(b) {
		t.Errorf("%s: got:\n%s\nwant:\n%s", about, a, b)
	}
}
