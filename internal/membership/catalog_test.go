package membership_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/membership"
)

func catalogOf(node string, version uint64, actions ...string) membership.Catalog {
	s := membership.Service{Name: "users"}
	for _, name := range actions {
		s.Actions = append(s.Actions, membership.Action{Name: name})
	}
	return membership.Catalog{Node: node, Version: version, Services: []membership.Service{s}}
}

func TestACatalogSurvivesTheWire(t *testing.T) {
	want := membership.Catalog{Node: "a", Instance: 1 << 63, Version: 7, Services: []membership.Service{{
		Name: "users", Version: 2, Preferred: true, Group: "g", Description: "who is who", Needs: []string{"mail"},
		Actions: []membership.Action{{Name: "v2.users.get", Description: "finds a user", ActionForm: &membership.ActionForm{Visibility: "public"}, Inline: true, Stream: true, In: "GetRequest", Out: "User"}},
		Events:  []membership.Subscription{{Pattern: "user.*", Group: "g"}},
	}, {Name: "$node", Actions: []membership.Action{{Name: "$node.info"}}}}}
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := membership.ParseCatalog(data)
	if err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(got)
	if err != nil || string(again) != string(data) || !reflect.DeepEqual(got.Services, want.Services) {
		t.Errorf("got %s\nwant %s", again, data)
	}
}

func TestACatalogOfANewerNodeIsRead(t *testing.T) {
	c, err := membership.ParseCatalog([]byte(`{"node":"a","version":1,"mood":"good","services":[{"name":"users","colour":{"red":1}}]}`))
	if err != nil || len(c.Services) != 1 {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestACatalogIsCheckedAndBounded(t *testing.T) {
	many := func(n int, format string) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(format, i))
		}
		return strings.Join(list, ",")
	}
	service := func(inner string) string { return `{"node":"a","services":[{"name":"s",` + inner + `}]}` }
	long := strings.Repeat("x", 5000)
	tests := map[string]struct{ data, want string }{
		"empty":                  {``, "unexpected end"},
		"not an object":          {`[]`, "cannot unmarshal"},
		"cut off":                {`{"node":"a","services":[{"name":`, "unexpected end"},
		"no node":                {`{}`, "its id is empty"},
		"long node":              {`{"node":"` + long + `"}`, "its id is 5000 bytes long"},
		"too long":               {`{"node":"` + strings.Repeat("x", membership.MaxCatalog) + `"}`, "is the limit"},
		"too many objects":       {`{"node":"a","services":[` + many(300_000, `{"n%d":0}`) + `]}`, "300000 fields"},
		"too many services":      {`{"node":"a","services":[` + many(membership.MaxServices+1, `{"name":"s%d"}`) + `]}`, "4097 services"},
		"too many actions":       {service(`"actions":[` + many(membership.MaxActions+1, `{"name":"s.a%d"}`) + `]`), "16385 actions"},
		"too many subscriptions": {service(`"events":[` + many(membership.MaxSubscriptions+1, `{"pattern":"p%d"}`) + `]`), "16385 event subscriptions"},
		"too many needs":         {service(`"needs":[` + many(257, `"s%d"`) + `]`), "257 services"},
		"a service twice":        {`{"node":"a","services":[{"name":"s","version":2},{"name":"s","version":2}]}`, `service "s" is there twice in version 2`},
		"an action twice":        {`{"node":"a","services":[{"name":"s","actions":[{"name":"s.x"}]},{"name":"t","actions":[{"name":"s.x"}]}]}`, `action "s.x" is there twice`},
		"negative version":       {`{"node":"a","services":[{"name":"s","version":-1}]}`, "negative"},
		"unnamed service":        {`{"node":"a","services":[{}]}`, "the name is empty"},
		"unnamed action":         {service(`"actions":[{}]`), "the action is empty"},
		"action with a space":    {service(`"actions":[{"name":"a b"}]`), "a space"},
		"action with a newline":  {service(`"actions":[{"name":"a\nb"}]`), "a space or another character"},
		"long action":            {service(`"actions":[{"name":"` + long + `"}]`), "5000 bytes; 256 is the limit"},
		"long description":       {service(`"description":"` + long + `"`), "5000 bytes; 4096 is the limit"},
		"long type":              {service(`"actions":[{"name":"a","in":"` + long + `"}]`), `action "a": the text`},
		"unnamed pattern":        {service(`"events":[{}]`), "the event pattern is empty"},
		"long group":             {service(`"events":[{"pattern":"p","group":"` + long + `"}]`), `event pattern "p"`},
		"deep":                   {`{"node":` + strings.Repeat("[", 20_000), "exceeded max depth"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := membership.ParseCatalog([]byte(test.data))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want something with %q", err, test.want)
			}
			if err != nil && len(err.Error()) > 500 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

func TestTheLargestCatalogIsRead(t *testing.T) {
	c := membership.Catalog{Node: "a"}
	for i := range membership.MaxServices {
		s := membership.Service{Name: fmt.Sprintf("s%d", i)}
		for j := range membership.MaxActions / membership.MaxServices {
			s.Actions = append(s.Actions, membership.Action{Name: fmt.Sprintf("s%d.a%d", i, j)})
			s.Events = append(s.Events, membership.Subscription{Pattern: fmt.Sprintf("s%d.e%d", i, j)})
		}
		c.Services = append(c.Services, s)
	}
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := membership.ParseCatalog(data); err != nil {
		t.Errorf("%d bytes: %v", len(data), err)
	}
}

func TestAHostileCatalogTakesBoundedMemory(t *testing.T) {
	fill := func(head, item, tail string) []byte {
		n := (membership.MaxCatalog - len(head) - len(tail)) / len(item)
		return []byte(head + strings.Repeat(item, n) + tail)
	}
	tests := map[string][]byte{
		"braces":         fill(`{"node":"a","services":[`, `{},`, `{}]}`),
		"as many as may": []byte(`{"node":"a","services":[` + strings.Repeat(`0,`, 250_000) + `0]}`),
		"empty strings":  fill(`{"node":"a","services":[{"needs":[`, `"",`, `""]}]}`),
		"nulls":          fill(`{"node":"a","services":[`, `null,`, `null]}`),
		"numbers":        fill(`{"node":"a","services":[`, `0,`, `0]}`),
	}
	for name, data := range tests {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := membership.ParseCatalog(data)
			runtime.ReadMemStats(&after)
			if err == nil {
				t.Error("it was taken")
			}
			if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 256 {
				t.Errorf("%d MiB were allocated", mib)
			} else {
				t.Logf("%d MiB", mib)
			}
		})
	}
}

func FuzzParseCatalog(f *testing.F) {
	f.Add([]byte(`{"node":"a","instance":3,"version":1,"services":[{"name":"users","version":2,"preferred":true,"needs":["mail"],"actions":[{"name":"v2.users.get","inline":true}],"events":[{"pattern":"user.*","group":"g"}]}]}`))
	f.Add([]byte(`{"node":"a","services":[{"name":"s","actions":[{"name":"x"},{"name":"x"}]}]}`))
	f.Add([]byte(`{"node":"\ud800","services":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := membership.ParseCatalog(data)
		if err != nil {
			return
		}
		again, err := json.Marshal(c)
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		if _, err := membership.ParseCatalog(again); err != nil && len(again) <= len(data) {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		r := membership.NewRegistry()
		if !r.Set(c) || len(r.View().Nodes()) != 1 {
			t.Fatal("a good catalog was not taken")
		}
		for _, name := range r.View().Actions() {
			if len(r.View().Action(name)) != 1 {
				t.Fatalf("action %q has %d offers", name, len(r.View().Action(name)))
			}
		}
		if !r.Remove(c.Node) || len(r.View().Actions()) != 0 {
			t.Fatal("something stayed behind")
		}
	})
}

func TestTheCatalogsOfTheProtocolPageAreReadWhole(t *testing.T) {
	var catalogs []membership.Catalog
	for _, file := range []string{"catalog.json", "difference.json"} {
		text, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		c, err := membership.ParseCatalog(text)
		if err != nil {
			t.Fatal(file, err)
		}
		written, err := json.Marshal(c)
		var got, want any
		if err := errors.Join(err, json.Unmarshal(written, &got), json.Unmarshal(text, &want)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is written as\n%s\nerror %v", file, written, err)
		}
		catalogs = append(catalogs, c)
	}
	whole, err := catalogs[0].With(&catalogs[1])
	if err != nil || whole.Version != 4 || len(whole.Services) != 1 || whole.Services[0].Name != "orders" {
		t.Errorf("the difference makes %+v, %v", whole, err)
	}
}
