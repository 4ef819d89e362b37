package micro

import (
	"reflect"
	"testing"

	"github.com/sabir-go/sabir/internal/gomicro"
)

// FuzzTags reads texts as tags of a service.
func FuzzTags(f *testing.F) {
	s := &gomicro.Service{Version: "latest", Endpoints: []gomicro.Endpoint{{Name: "Lab.Add", Metadata: map[string]string{"stream": "true"}}},
		Nodes: []gomicro.Node{{Metadata: map[string]string{"protocol": "mucp"}}}}
	tags := consulTags(s)
	f.Add(tags[0], tags[1], tags[2])
	f.Add(`v=1.0`, `t={"a":"b"}`, `e={"name":"Lab.Add"}`)
	f.Add("v-", "t", "e-00")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		s, err := readConsulTags([]string{a, b, c})
		if err != nil {
			return
		}
		again, err := readConsulTags(consulTags(s))
		if err == nil && (again.Version != s.Version || len(again.Endpoints) != len(s.Endpoints)) {
			t.Errorf("%+v became %+v", s, again)
		}
	})
}

func TestTagsAreThoseOfGoMicro(t *testing.T) {
	s := &gomicro.Service{Version: "1.2.0", Endpoints: []gomicro.Endpoint{{Name: "Lab.Add", Metadata: map[string]string{}}},
		Nodes: []gomicro.Node{{Metadata: map[string]string{"protocol": "mucp", "region": "eu"}}}}
	if got, err := readConsulTags(consulTags(s)); err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("%+v became %+v, %v", s, got, err)
	}
	if old, err := readConsulTags([]string{"v=1.2.0", `t={"region":"eu"}`, `e={"name":"Lab.Add"}`, "traefik.enable=true", "e", "t-zz"}); err != nil ||
		old.Version != "1.2.0" || old.Nodes[0].Metadata["region"] != "eu" || len(old.Endpoints) != 1 {
		t.Errorf("tags of old versions became %+v, %v", old, err)
	}
}
