package mcp_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/mcp"
	"github.com/sabir-go/sabir/web"
)

// The clients of the SDK for TypeScript, of both generations: the versions are in testdata/clients/package.json.
func TestTheClientsForTypeScriptGetWhatTheyAskFor(t *testing.T) {
	brokers.Long(t)
	node := brokers.Program(t, "node", "nodejs")
	dir := t.TempDir()
	brokers.NodeModules(t, filepath.Join("testdata", "clients"), dir)
	const want = `{"tools":["counter_run","orders_buy","orders_count","orders_create","orders_echo","orders_fail","orders_get","orders_list","orders_panic","orders_remove","waiting_wait"],` +
		`"get":{"id":"o-1","items":[{"sku":"apple","count":2}]},"list":{"result":[{"id":"o-1"},{"id":"o-2"}]},"echo":{"result":{"deep":[true,null]}},` +
		`"broken":{"isError":true,"text":"the input of orders.get is not valid: id: id must be one of [o-1 o-2 o-3 none]"},"unknown":-32602,` +
		`"stream":{"values":[0,1,2]},"progress":[[1,"0"],[2,"1"],[3,"2"]],"resources":["orders://{id}"],"read":"{\"id\":\"o-2\",\"items\":[{\"sku\":\"apple\",\"count\":2}]}",` +
		`"missing":-32602,"prompts":["late","plain"],"prompt":"Look up o-1.\n","completion":["o-1","o-2","o-3"],"cancelled":true,"reported":[]}`
	for _, generation := range []string{"2025 in November", "2025", "2026"} {
		t.Run(generation, func(t *testing.T) {
			count, _ := counter()
			wait, began, ended := waiting()
			_, base := start(t, []*sabir.Service{orders(), count, wait}, web.With(web.Config{RequestTimeout: waitLimit}),
				mcp.At("/mcp", mcp.Config{Tools: []string{"**"}, Resources: []string{"orders.*"}, Prompts: prompts}))
			client := exec.CommandContext(t.Context(), node, "check.mjs", generation, base+"/mcp")
			client.Dir, client.Stderr = dir, os.Stderr
			in, err := client.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := client.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := client.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewReader(out)
			if line, err := lines.ReadString('\n'); err != nil || line != "waiting\n" {
				t.Fatalf("%q, %v", line, err)
			}
			<-began
			in.Write([]byte("cancel\n"))
			<-ended // the client has cancelled the call
			line, err := lines.ReadBytes('\n')
			if err != nil || !json.Valid(line) {
				t.Fatalf("%q, %v", line, err)
			}
			if got := string(line[:len(line)-1]); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
			in.Write([]byte("end\n"))
			if err := client.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}
