package micro_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/micro"
)

// Services of other tests, and of other programs in the network, are found too: names are of this run only.
func ownName(kind string) string { return fmt.Sprintf("%s%d", kind, os.Getpid()) }

func TestBothSidesFindEachOtherByMDNS(t *testing.T) {
	versions(t, func(t *testing.T, version string) {
		lab, shop := ownName("lab"+version), ownName("shop"+version)
		s := sabir.NewService(shop)
		sabir.Handle(s, "place", func(_ context.Context, in place) (placed, error) { return placed{"an order of " + in.Item}, nil })
		before := startPeer(t, version, "-mdns", "-name="+lab)
		n := node(t, []sabir.Servable{s}, micro.Config{MDNS: true, Listen: ":0", Expose: []string{shop + ".*"}})
		if err := n.WaitFor(t.Context(), lab); err != nil {
			t.Fatal(err)
		}
		out, err := sabir.Call[labOut](t.Context(), n, lab+".lab.add", labIn{A: 2, B: 3})
		if err != nil || out.Sum != 5 {
			t.Errorf("the sum is %+v, %v", out, err)
		}
		// A client of go-micro waits a moment for answers; on a busy machine none may come in that.
		var a answer
		for range 10 {
			a = before.call(order{Service: shop, Endpoint: strings.ToUpper(shop[:1]) + shop[1:] + ".Place", In: json.RawMessage(`{"item":"tea"}`)})
			if !strings.Contains(a.Error, "not found") {
				break
			}
		}
		if string(a.Out) != `{"text":"an order of tea"}` || a.Error != "" {
			t.Errorf("a client of go-micro got %s, %s", a.Out, a.Error)
		}
	})
}
