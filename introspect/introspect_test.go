package introspect_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/sabir-go/sabir/introspect"
)

// Tools in other languages read the documents as JSON, so their form stays.
func TestDocumentsHaveTheirFormAsJSON(t *testing.T) {
	since := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	node := introspect.Node{ID: "a", State: "running", Since: since, ClientOnly: true, Host: "h", PID: 7, Go: "go1", CPUs: 2, Services: 1, Actions: 3, RTT: time.Microsecond}
	node.Load.CPU, node.Load.InFlight = 0.5, 4
	for _, tc := range []struct {
		document any
		want     string
	}{
		{node,
			`{"id":"a","state":"running","since":"2026-05-01T12:00:00Z","guest":true,"host":"h","pid":7,"go":"go1","cpus":2,"services":1,"actions":3,` +
				`"load":{"cpu":0.5,"inFlight":4},"rtt":1000}`},
		{introspect.Service{Name: "s", Node: "a", Actions: []string{"s.x"}}, `{"name":"s","node":"a","needs":null,"actions":["s.x"],"events":null}`},
		{introspect.Action{Name: "s.x", Service: "s", Node: "a", Visibility: "cluster", In: "int", Out: "string"},
			`{"name":"s.x","service":"s","node":"a","visibility":"cluster","in":"int","out":"string"}`},
	} {
		got, err := json.Marshal(tc.document)
		if err != nil || string(got) != tc.want {
			t.Errorf("%T: %v\n got %s\nwant %s", tc.document, err, got, tc.want)
		}
	}
}
