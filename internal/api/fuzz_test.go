package api_test

import (
	"encoding/json"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/schema"
)

// FuzzWhatAnotherNodeTells merges and compares two descriptions that come from other nodes.
func FuzzWhatAnotherNodeTells(f *testing.F) {
	f.Add([]byte(`{"in":{"$ref":"#/$defs/A"},"out":{"items":{"$ref":"#/$defs/B"}},"$defs":{"A":{"properties":{"b":{"$ref":"#/$defs/B"}}},"B":{"anyOf":[{"$ref":"#/$defs/A"},{"type":"null"}]}}}`),
		[]byte(`{"in":{"$ref":"#/$defs/A"},"$defs":{"A":{"$ref":"#/$defs/A","enum":[1,null,{}]},"B":null}}`))
	f.Add([]byte(`{"in":{"$ref":"#/$defs/A"},"$defs":{"A":{"items":{"$ref":"#/$defs/A"},"minimum":1e99999999,"type":["object","null"]}}}`), []byte(`{"in":{"minimum":1e9},"out":{"const":[]}}`))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		list := make(map[string]schema.Described)
		for name, text := range map[string][]byte{"a.b": first, "c.d": second} {
			var d schema.Described
			if json.Unmarshal(text, &d) != nil {
				return
			}
			list[name] = d
		}
		got, err := api.Of(api.API{}, []*sabir.Action{remote("a.b"), remote("c.d")}, api.Sources{Lookup: reported(list)})
		if err != nil {
			t.Fatal(err)
		}
		for name, d := range list {
			got.AddMessages([]api.Message{{Kind: "event", Name: name, Sent: name == "a.b", Type: d.In}}, d.Defs)
		}
		check := func(s *schema.Schema) {
			if s == nil {
				return
			}
			for inner := range s.All() {
				if name := inner.RefName(); name != "" && got.Types[name] == nil {
					t.Fatalf("%s is not there: %s", name, text(t, got))
				}
			}
		}
		for _, s := range got.Types {
			check(s)
		}
		for _, m := range got.Messages {
			check(m.Type)
		}
		for _, a := range got.Actions {
			check(a.In)
			check(a.Out)
		}
		if changes := api.Diff(got, got); changes != nil {
			t.Fatalf("it differs from itself: %v", changes)
		}
		one, other := got, got
		one.Actions, other.Actions = got.Actions[:1], []api.Action{got.Actions[1]}
		other.Actions[0].Name = one.Actions[0].Name
		api.Diff(one, other)
	})
}
