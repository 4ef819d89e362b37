package sabir_test

import (
	"context"
	"encoding/json"
	"net/netip"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
)

func TestTheDataOfABadInputNamesWhatIsWantedWhereThatIsKnown(t *testing.T) {
	s := sabir.NewService("hosts")
	sabir.Handle(s, "add", func(context.Context, struct {
		Addr netip.Addr `json:"addr"`
		Port int        `json:"port"`
	}) (int, error) {
		return 0, nil
	})
	node := start(t, sabir.Serve(s))
	for in, want := range map[string]string{
		`{"port":"80"}`:   `{"pointer":"/port","want":"integer"}`,
		`{"addr":"here"}`: `{"pointer":"/addr"}`, // its type alone knows
	} {
		_, err := node.Action("hosts.add").ServeJSON(gateway.Inbound{Context: t.Context()}, nil, []byte(in))
		e := sabir.AsError(err)
		if data, _ := json.Marshal(e.Data); e.Name != sabir.ErrBadInput.Name || string(data) != want || !strings.Contains(e.Message, "/addr") && !strings.Contains(e.Message, "/port") {
			t.Errorf("%s: %v, with %s, want %s", in, err, data, want)
		}
	}
}
