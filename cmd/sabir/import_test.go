package main

import (
	"bufio"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/moleculer"
	"github.com/sabir-go/sabir/cmd/sabir/testdata/stock"
	"github.com/sabir-go/sabir/internal/brokers"
)

// moleculerShop starts the half of the example that is a node of Moleculer, and returns its address and its namespace.
func moleculerShop(t *testing.T) (address, namespace string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "nodejs")
	brokers.NodeModules(t, filepath.Join("..", "..", "examples", "moleculer", "nodejs"), dir)
	at, err := brokers.FreeAddress("tcp")
	if err != nil {
		t.Fatal(err)
	}
	namespace = "import" + strconv.Itoa(os.Getpid())
	node := exec.Command(brokers.Program(t, "node", "nodejs"), "shop.js", namespace, at[strings.LastIndex(at, ":")+1:])
	node.Dir, node.Stderr = dir, t.Output()
	out, err := node.StdoutPipe()
	if err == nil {
		err = node.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		node.Process.Kill()
		node.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "started\n" {
		t.Fatalf("%q, %v", line, err)
	}
	return "tcp://" + at + "/node", namespace
}

func TestAServiceOfMoleculerIsImportedAsAGoPackage(t *testing.T) {
	brokers.Long(t)
	address, namespace := moleculerShop(t)
	got := sabirRun(t, "import", "moleculer", "tcp://:0", "--peer", address, "--namespace", namespace, "--package", "stock")
	const golden = "testdata/stock/stock.go" // which this test is compiled with
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.code != exitOK || got.out != string(want) {
		t.Errorf("exit code %d, %s; want %s, not\n%s", got.code, got.errOut, golden, got.out)
	}
	n := sabir.NewNode(sabir.Logger(slog.New(slog.DiscardHandler)), moleculer.Bridge(moleculer.Config{Address: "tcp://:0", Peers: []string{address}, Namespace: namespace}))
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer n.Stop(t.Context())
	if err := n.WaitFor(t.Context(), "stock"); err != nil {
		t.Fatal(err)
	}
	if left, err := stock.StockReserve.Call(t.Context(), n, stock.StockReserveInput{Article: "tea", Amount: 2}); err != nil || fmt.Sprint(left) != "map[left:8]" {
		t.Errorf("the call of its contract: %v, %v", left, err)
	}
	if got := sabirRun(t, "import", "moleculer", "tcp://:0", "--peer", address, "--namespace", namespace, "--service", "tea"); got.code == exitOK || !strings.Contains(got.errOut, "no node offers the service tea") {
		t.Errorf("an unknown service: exit code %d, %s", got.code, got.errOut)
	}
}

func TestAnImportSaysWhatItWants(t *testing.T) {
	for want, args := range map[string][]string{
		"import needs the framework":                                         {"import"},
		`import does not know "spring"`:                                      {"import", "spring"},
		"the serializer is \"xml\"":                                          {"import", "moleculer", "tcp://:0", "--serializer", "xml"},
		"want tcp://host:port/id":                                            {"import", "moleculer", "tcp://:0", "--peer", "tcp://x"},
		"the start of extension moleculer: connecting to nats://127.0.0.1:1": {"import", "moleculer", "nats://127.0.0.1:1"},
		"no Moleculer node with a service":                                   {"import", "moleculer", "tcp://:0", "--namespace", "nobody"},
	} {
		if got := sabirRun(t, args...); got.code == exitOK || !strings.Contains(got.errOut, want) {
			t.Errorf("%v: exit code %d, %s, want %q", args, got.code, got.errOut, want)
		}
	}
}
