package micro

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/gomicro"
)

type address struct {
	Street string `json:"street"`
	House  *house
}

type house struct{ Floor floor }

type floor struct{ Number int }

type customer struct {
	address
	Name   string   `json:"name,omitempty"`
	Tags   []string `json:"tags"`
	Home   *address `json:"home"`
	Secret string   `json:"-"`
	hidden int
}

// fields writes a description in one line.
func fields(v *gomicro.Value) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", v.Name, v.Type)
	if len(v.Values) > 0 {
		b.WriteString(" {")
		for i, one := range v.Values {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(fields(one))
		}
		b.WriteString("}")
	}
	return b.String()
}

func TestAMessageIsDescribedByTheFieldsOfItsJSONAsDeepAsGoMicroDoesIt(t *testing.T) {
	want := "customer customer {street string, House house, name string, tags []string, home address {street string, House house}}"
	if got := fields(described(reflect.TypeFor[*customer]())); got != want {
		t.Errorf("the description is\n%s, want\n%s", got, want)
	}
	if described(reflect.TypeFor[sabir.Empty]()) == nil {
		t.Error("a message without fields is not described")
	}
}

// offering is a record of an action at some endpoints.
func offering(endpoints int) *record {
	r := &record{id: "a", service: "shop", actions: make(map[string]*sabir.Action)}
	for i := range endpoints {
		name := fmt.Sprintf("Shop.Get%d", i)
		r.endpoints = append(r.endpoints, name)
		r.actions[name] = &sabir.Action{In: reflect.TypeFor[customer](), Out: reflect.TypeFor[address]()}
	}
	return r
}

func TestARegistryIsToldTheMessagesOfEndpoints(t *testing.T) {
	one := offering(1).entry().Endpoints[0]
	if one.Request == nil || one.Request.Name != "customer" || one.Response == nil || one.Response.Name != "address" {
		t.Errorf("the endpoint is described by %+v and %+v", one.Request, one.Response)
	}
}

func TestDescriptionsAreLeftOutOfARecordOfMDNSThatWouldBeTooLong(t *testing.T) {
	few, err := encodeText(offering(2))
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := gomicro.Inflate(strings.Join(few, "")); err != nil || !strings.Contains(string(plain), `"street"`) {
		t.Errorf("a short record has no descriptions: %s, %v", plain, err)
	}
	r := offering(1)
	kinds := make([]reflect.StructField, 2000)
	for i := range kinds {
		kinds[i] = reflect.StructField{Name: fmt.Sprintf("F%x", i*i*7919), Type: reflect.TypeFor[string]()}
	}
	r.actions[r.endpoints[0]].In = reflect.StructOf(kinds)
	long, err := encodeText(r)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := decodeText(long); err != nil || len(got.Endpoints) != 1 || len(strings.Join(long, "")) > maxText {
		t.Errorf("a record with a long description has %d bytes: %+v, %v", len(strings.Join(long, "")), got, err)
	}
}

func TestDescriptionsOfOthersAreNotRead(t *testing.T) {
	s, err := gomicro.DecodeService([]byte(`{"name":"lab","endpoints":[{"name":"Lab.Add","request":{"name":"In","values":[{"name":"a"}]}}],"nodes":[]}`))
	if err != nil || len(s.Endpoints) != 1 || s.Endpoints[0].Name != "Lab.Add" {
		t.Fatalf("%+v, %v", s, err)
	}
	if v := s.Endpoints[0].Request; v != nil && (v.Name != "" || v.Values != nil) {
		t.Errorf("the description was read: %+v", v)
	}
}
