package membership_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/membership"
)

func shop() membership.Catalog {
	return membership.Catalog{Node: "shop-1", Instance: 17, Version: 3, Services: []membership.Service{
		{Name: "users", Version: 2, Actions: []membership.Action{{Name: "v2.users.get", ActionForm: &membership.ActionForm{Routes: json.RawMessage(`[{"path":"/users"}]`)}}}},
		{Name: "orders", Actions: []membership.Action{{Name: "orders.get"}}},
	}}
}

func TestASummaryAndItsServicesMakeTheCatalog(t *testing.T) {
	c := shop()
	s, services := c.Summarize(json.RawMessage(`{"instance":17}`))
	text, err := json.Marshal([]membership.Summary{s})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "users") {
		t.Errorf("services are in their summary: %s", text)
	}
	list, texts, err := membership.ParseSummaries(text)
	if err != nil || len(list) != 1 || "["+string(texts[0])+"]" != string(text) {
		t.Fatalf("%+v, %s, %v", list, texts, err)
	}
	var inOrder []membership.Service
	for _, hash := range list[0].Hashes {
		inOrder = append(inOrder, *services[hash])
	}
	sent, err := json.Marshal(inOrder)
	if err != nil {
		t.Fatal(err)
	}
	found, err := membership.ParseServices(sent)
	if err != nil {
		t.Fatal(err)
	}
	var came []*membership.Service
	for i, hash := range list[0].Hashes {
		if found[i].Hash != hash || found[i].Text != nil {
			t.Errorf("%+v is not that of %s alone", found[i], hash)
		}
		came = append(came, found[i].Service)
	}
	got, err := list[0].With(came)
	if err != nil || !reflect.DeepEqual(got.Services, c.Services) || got.Node != c.Node || got.Version != c.Version {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAServiceThatIsAnotherHasAnotherHash(t *testing.T) {
	a, b := shop().Services[0], shop().Services[0]
	b.Actions = []membership.Action{{Name: "v2.users.get", Idempotent: true, ActionForm: a.Actions[0].ActionForm}}
	if a.Hash() == b.Hash() || a.Hash() != shop().Services[0].Hash() {
		t.Error(a.Hash(), b.Hash())
	}
}

func TestAServiceOfANewerNodeHasTheHashOfWhatItWroteAndKeepsIt(t *testing.T) {
	const text = `{"name":"users","new":{"field":1},"actions":[{"name":"users.get","also":"new"}]}`
	sum := sha256.Sum256([]byte(text))
	found, err := membership.ParseServices([]byte("[" + text + "]"))
	if err != nil || len(found) != 1 || found[0].Service.Actions[0].Name != "users.get" {
		t.Fatalf("%+v, %v", found, err)
	}
	if hash := base64.RawURLEncoding.EncodeToString(sum[:16]); found[0].Hash != hash || string(found[0].Text) != text {
		t.Errorf("%s, %s: want the hash %s", found[0].Hash, found[0].Text, hash)
	}
}

func TestBadSummariesAreRefused(t *testing.T) {
	hash := shop().Services[0].Hash()
	for name, text := range map[string]string{
		"no list":               `{"node":"a"}`,
		"no id":                 `[{"version":1}]`,
		"a hash that is none":   `[{"node":"a","services":["x"]}]`,
		"services in place":     `[{"node":"a","services":[{"name":"users"}]}]`,
		"a difference":          `[{"node":"a","base":1}]`,
		"a long description":    `[{"node":"a","info":"` + strings.Repeat("x", 70_000) + `"}]`,
		"more services than 4k": `[{"node":"a","services":[` + strings.Repeat(`"`+hash+`",`, 5000) + `"` + hash + `"]}]`,
		"too many fields":       `[` + strings.Repeat(`0,`, 1<<19) + `0]`,
	} {
		if _, _, err := membership.ParseSummaries([]byte(text)); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

func TestTheSummaryOfTheProtocolPageIsRead(t *testing.T) {
	text, err := os.ReadFile("testdata/summary.json")
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := membership.ParseSummaries([]byte("[" + string(text) + "]"))
	if err != nil || list[0].Node != "shop-1" || len(list[0].Hashes) != 1 || len(list[0].Info) == 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestADigestIsReadAsItWasWritten(t *testing.T) {
	d := membership.Digest{{Node: "a", Instance: 1}: 3, {Node: "b", Instance: 1 << 63}: 1 << 40}
	got, err := membership.ParseDigest(d.Append(nil))
	if err != nil || !maps.Equal(got, d) || got.Sum() != d.Sum() {
		t.Errorf("%v, %v", got, err)
	}
	other := maps.Clone(d)
	other[membership.Run{Node: "a", Instance: 1}] = 4
	if other.Sum() == d.Sum() {
		t.Error("another digest has the same sum")
	}
	if text := d.Append(nil); len(text) > 0 {
		if _, err := membership.ParseDigest(text[:len(text)-1]); err == nil {
			t.Error("a digest that is cut off was taken")
		}
	}
}

func FuzzParseSummaries(f *testing.F) {
	c := shop()
	s, _ := c.Summarize(json.RawMessage(`{"instance":17}`))
	text, _ := json.Marshal([]membership.Summary{s})
	f.Add(text)
	f.Add([]byte(`[{"node":"a","services":["` + shop().Services[0].Hash() + `"]}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, texts, err := membership.ParseSummaries(data)
		if err == nil && len(list) != len(texts) {
			t.Errorf("%d summaries in %d texts", len(list), len(texts))
		}
	})
}

func FuzzParseServices(f *testing.F) {
	text, _ := json.Marshal(shop().Services)
	f.Add(text)
	f.Fuzz(func(t *testing.T, data []byte) {
		found, err := membership.ParseServices(data)
		for _, r := range found {
			if err == nil && r.Text == nil && r.Service.Hash() != r.Hash {
				t.Errorf("%s is under %s", r.Service.Hash(), r.Hash)
			}
		}
	})
}

func FuzzParseDigest(f *testing.F) {
	f.Add(membership.Digest{{Node: "a", Instance: 1}: 3}.Append(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := membership.ParseDigest(data)
		if err != nil {
			return
		}
		if again, err := membership.ParseDigest(d.Append(nil)); err != nil || !maps.Equal(again, d) {
			t.Errorf("%v became %v: %v", d, again, err)
		}
	})
}

func TestFewAreTheNearestAndOthersForEachNode(t *testing.T) {
	var among []*membership.Candidate
	for i := range 100 {
		zone := "far"
		if i < 3 {
			zone = "near"
		}
		among = append(among, membership.NewCandidate(string(rune('a'+i/26))+string(rune('a'+i%26)), membership.Place{Zone: zone}))
	}
	callers := make([]int, len(among))
	for self := range 500 {
		few := membership.Few(strings.Repeat("n", self), &membership.Place{Zone: "near"}, among, 16)
		if len(few) != 16 || few[0] != 0 || few[1] != 1 || few[2] != 2 {
			t.Fatalf("%v", few)
		}
		for _, i := range few {
			callers[i]++
		}
	}
	for i, n := range callers[3:] {
		if n < 30 || n > 130 { // 67 on average
			t.Errorf("candidate %d of those far away has %d callers of 500", i, n)
		}
	}
	if few := membership.Few("a", &membership.Place{}, among[:5], 16); len(few) != 5 {
		t.Errorf("of five: %v", few)
	}
}
