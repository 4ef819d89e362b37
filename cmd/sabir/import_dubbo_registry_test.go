package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/dubbo"
	"github.com/sabir-go/sabir/cmd/sabir/testdata/boxes"
	"github.com/sabir-go/sabir/internal/brokers"
)

// publishStock starts the provider of Java that publishes the definition of StockService, and returns its address.
func publishStock(t *testing.T, server *brokers.Server) (address string) {
	t.Helper()
	address, err := brokers.FreeAddress("tcp")
	if err != nil {
		t.Fatal(err)
	}
	jars := maps.Clone(brokers.DubboJars)
	maps.Copy(jars, brokers.DubboZooKeeperJars)
	if lines := runJava(t, compileDepot(t), "com.stock.Main", jars, address[strings.LastIndexByte(address, ':')+1:], server.URL()); !lines.Scan() || lines.Text() != "ready" {
		t.Fatalf("the provider says %q, %v", lines.Text(), lines.Err())
	}
	return address
}

func TestInterfacesOfDubboAreImportedFromTheirDefinitionsInZooKeeper(t *testing.T) {
	brokers.Long(t)
	server := brokers.ForTest(t, brokers.ZooKeeper)
	address := publishStock(t, server)
	const golden = "testdata/boxes/boxes.go" // which this test is compiled with
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	var got outcome
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); { // Dubbo publishes it a moment after it has started
		if got = sabirRun(t, "import", "dubbo", server.URL(), "--interface", "com.stock.api.StockService=boxes", "--package", "boxes"); got.code == exitOK {
			break
		}
	}
	if got.code != exitOK || got.out != string(want) || !strings.Contains(got.errOut, "says nothing of exceptions") {
		t.Fatalf("exit code %d, %s; want %s, not\n%s", got.code, got.errOut, golden, got.out)
	}
	callBoxes(t, address)
}

// callBoxes calls the provider by the package.
func callBoxes(t *testing.T, address string) {
	n := depotNode(t, dubbo.Bridge(dubbo.Config{References: map[string][]dubbo.Interface{"dubbo://" + address: {boxes.StockService()}}}))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	box, err := boxes.StockServiceFind.Call(ctx, n, boxes.StockServiceFindInput{Arg1: "tea", Arg2: 2})
	if err != nil {
		t.Fatal(err)
	}
	if box.Code != "tea" || *box.Left != 3 || box.Price != "2.50" || box.Size.Width != 1.5 || box.Size.Height != nil || box.Place != boxes.BoxPlaceFloor || box.Since.UnixMilli() != 86_400_000 || len(box.Parts) != 1 || string(box.Picture) != "\x01\x02" {
		t.Errorf("find: %+v", box)
	}
	if found, err := boxes.StockServiceSearch.Call(ctx, n, map[string]int32{"tea": 6}); err != nil || len(found) != 1 || *found[0].Left != 7 {
		t.Errorf("search: %+v, %v", found, err)
	}
	if place, err := boxes.StockServiceMove.Call(ctx, n, boxes.StockServiceMoveInput{Arg1: box, Arg2: boxes.BoxPlaceFloor}); err != nil || place != boxes.BoxPlaceShelf {
		t.Errorf("move: %s, %v", place, err)
	}
	if size, err := boxes.StockServiceMeasure.Call(ctx, n, boxes.BoxSize{Width: 2}); err != nil || size.Width != 4 {
		t.Errorf("measure: %+v, %v", size, err)
	}
	if _, err := boxes.StockServiceClear.Call(ctx, n, sabir.Empty{}); sabir.AsError(err).Name != "IllegalStateException" || !strings.Contains(err.Error(), "it is empty") {
		t.Errorf("clear: %v", err)
	}
}

// definitions is a ZooKeeper in which some are published, by their paths below /dubbo/metadata.
func definitions(t *testing.T, published map[string]string) (url string) {
	t.Helper()
	server := brokers.ForTest(t, brokers.ZooKeeper)
	conn, _, err := zk.Connect([]string{server.Addr()}, 10*time.Second, zk.WithLogger(log.New(io.Discard, "", 0)))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for path, text := range published {
		at, data := "", []byte(nil)
		parts := strings.Split("dubbo/metadata/"+path, "/")
		for i, part := range parts {
			if at += "/" + part; i == len(parts)-1 {
				data = []byte(text)
			}
			_, err := conn.Create(at, data, 0, zk.WorldACL(zk.PermAll))
			for late := time.Now().Add(time.Minute); errors.Is(err, zk.ErrNoServer) && time.Now().Before(late); { // it answers a moment before it serves
				_, err = conn.Create(at, data, 0, zk.WorldACL(zk.PermAll))
			}
			if err != nil && !errors.Is(err, zk.ErrNodeExists) {
				t.Fatal(err)
			}
		}
	}
	return server.URL()
}

// definitionOf returns the definition of com.shop.<name>, an interface with one method of that name.
func definitionOf(name, version, group string) string {
	return fmt.Sprintf(`{"canonicalName":"com.shop.%s","methods":[{"name":"%[1]s","parameterTypes":["int"],"returnType":"long"}],"types":[],"parameters":{"version":"%s","group":"%s"}}`, name, version, group)
}

func TestDefinitionsInZooKeeperAreChosenByVersionAndGroup(t *testing.T) {
	brokers.Slow(t)
	url := definitions(t, map[string]string{
		"com.shop.Till/1.0.0/provider/a":    definitionOf("Till", "1.0.0", ""),
		"com.shop.Till/2.0.0/eu/provider/a": definitionOf("Till", "2.0.0", "eu"),
		"com.shop.Till/2.0.0/eu/provider/b": definitionOf("Till", "2.0.0", "eu"), // of another application
		"com.shop.Till/2.0.0/us/provider/a": definitionOf("Till", "2.0.0", "us"),
		"com.shop.Till/consumer/shop":       `{"version":"1.0.0"}`,
		"com.shop.Door/provider/a":          definitionOf("Door", "", ""),
		"shop/8a7c2f":                       `{"app":"shop","revision":"8a7c2f"}`, // what an application provides
	})
	for name, c := range map[string]struct {
		args []string
		want string // "" for exitOK
		text string
	}{
		"all where one is ambiguous": {nil, `com.shop.Till is offered as version "1.0.0" of group "", version "2.0.0" of group "eu", version "2.0.0" of group "us": choose one`, ""},
		"by version":                 {[]string{"--version", "1.0.0"}, "", `Version: "1.0.0",`},
		"by version and group":       {[]string{"--interface", "com.shop.Till", "--version", "2.0.0", "--group", "eu"}, "", `Group: "eu",`},
		"without either":             {[]string{"--interface", "com.shop.Door=doors"}, "", `dubbo.Interface{ Name: "com.shop.Door", Service: "doors", Methods: []dubbo.Method{ {Name: "Door"`},
		"of a version that is none":  {[]string{"--interface", "com.shop.Till", "--version", "9"}, "there is no interface com.shop.Till", ""},
		"that is not there":          {[]string{"--interface", "com.shop.None"}, "there is no interface com.shop.None", ""},
	} {
		got := sabirRun(t, append([]string{"import", "dubbo", url}, c.args...)...)
		if (got.code == exitOK) != (c.want == "") || !strings.Contains(got.errOut, c.want) || !strings.Contains(strings.Join(strings.Fields(got.out), " "), c.text) {
			t.Errorf("%s: exit code %d, %s\n%s", name, got.code, got.errOut, got.out)
		}
	}
}

func TestADefinitionThatIsForgedIsNamed(t *testing.T) {
	brokers.Slow(t)
	url := definitions(t, map[string]string{"com.shop.Till/provider/a": `{"canonicalName":"com.shop.Till","methods":[{"name":"*/ func"}]}`})
	if got := sabirRun(t, "import", "dubbo", url); got.code == exitOK || !strings.Contains(got.errOut, "/dubbo/metadata/com.shop.Till/provider/a: the definition of com.shop.Till has a method without a name") {
		t.Errorf("exit code %d, %s", got.code, got.errOut)
	}
}

func TestADefinitionIsImportedFromAFile(t *testing.T) {
	const file = "../../internal/javaclass/testdata/depot.json"
	got := sabirRun(t, "import", "dubbo", file, "--interface", "com.depot.api.DepotService=depot")
	if got.code != exitOK || !strings.Contains(got.out, `Version: "1.0.0"`) || !strings.Contains(got.errOut, "says nothing of exceptions") {
		t.Errorf("exit code %d, %s:\n%s", got.code, got.errOut, got.out)
	}
	other := filepath.Join(t.TempDir(), "other.json")
	if err := os.WriteFile(other, []byte(`[]`), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, at := range map[string]string{"no definition of Dubbo": other, "no such file": other + ".json", "the address of ZooKeeper is none": "zookeeper://"} {
		if got := sabirRun(t, "import", "dubbo", at); got.code == exitOK || !strings.Contains(got.errOut, want) {
			t.Errorf("%s: exit code %d, %s", at, got.code, got.errOut)
		}
	}
}

func TestAZooKeeperThatDoesNotAnswerIsGivenUp(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // nobody accepts
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	if got := sabirRun(t, "import", "dubbo", "zookeeper://"+silent.Addr().String(), "--timeout", "300ms"); got.code == exitOK || !strings.Contains(got.errOut, "does not answer in time") {
		t.Errorf("exit code %d, %s", got.code, got.errOut)
	}
}
