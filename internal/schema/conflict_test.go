package schema_test

import (
	"reflect"
	"testing"

	"github.com/sabir-go/sabir/internal/schema"
)

type (
	node struct {
		Value string
		Next  *node
	}
	otherNode struct {
		Value string
		Next  *struct{ Value int }
	}
)

func TestAConflictIsWhatNoValueCanMend(t *testing.T) {
	for _, test := range []struct {
		name     string
		from, to reflect.Type
		want     string
	}{
		{"the same type", reflect.TypeFor[node](), reflect.TypeFor[node](), ""},
		{"a member more", reflect.TypeFor[struct{ A, B int }](), reflect.TypeFor[struct{ A int }](), ""},
		{"a member fewer", reflect.TypeFor[struct{ A int }](), reflect.TypeFor[struct{ A, B int }](), ""},
		{"a wider number", reflect.TypeFor[struct{ A int8 }](), reflect.TypeFor[struct{ A float64 }](), ""},
		{"anything", reflect.TypeFor[any](), reflect.TypeFor[struct{ A int }](), ""},
		{"anything inside", reflect.TypeFor[struct{ A any }](), reflect.TypeFor[struct{ A int }](), ""},
		{"a map for a struct", reflect.TypeFor[map[string]int](), reflect.TypeFor[struct{ A int }](), ""},
		{"a pointer for a value", reflect.TypeFor[struct{ A *int }](), reflect.TypeFor[struct{ A int }](), ""},
		{"no member in common", reflect.TypeFor[struct{ ID string }](), reflect.TypeFor[struct{ Name string }](), "it has no member in common: ID is sent, and Name wanted"},
		{"a name in another case", reflect.TypeFor[struct{ Id string }](), reflect.TypeFor[struct{ ID string }](), "it has no member in common: Id is sent, and ID wanted"},
		{"another type", reflect.TypeFor[struct{ ID string }](), reflect.TypeFor[struct{ ID int }](), "/ID is sent as string and wanted as integer"},
		{"another type as a whole", reflect.TypeFor[[]int](), reflect.TypeFor[struct{ ID int }](), "it is sent as array and wanted as object"},
		{"another type of items", reflect.TypeFor[[]int](), reflect.TypeFor[[]string](), "/* is sent as integer and wanted as string"},
		{"another type in a map", reflect.TypeFor[map[string]int](), reflect.TypeFor[map[string]bool](), "/* is sent as integer and wanted as boolean"},
		{"another type deep inside", reflect.TypeFor[node](), reflect.TypeFor[otherNode](), "/Next/Value is sent as string and wanted as integer"},
		{"what is demanded is not there", reflect.TypeFor[struct{ A int }](), reflect.TypeFor[struct {
			A int
			B int `validate:"required"`
		}](), `it demands "B", and is sent A`},
		{"nothing for what is demanded", nil, reflect.TypeFor[struct {
			B int `validate:"required"`
		}](), "it demands B, and is sent nothing"},
		{"nothing for what may be left out", nil, reflect.TypeFor[struct{ B int }](), ""},
		{"what nobody reads", reflect.TypeFor[struct{ B int }](), nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			from, err := schema.Describe(test.from, nil)
			if err != nil {
				t.Fatal(err)
			}
			to, err := schema.Describe(test.to, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := schema.Conflict(from.In, from.Defs, to.In, to.Defs); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
