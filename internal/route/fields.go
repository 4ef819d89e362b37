package route

import (
	"reflect"

	"github.com/sabir-go/sabir/internal/layout"
	"github.com/sabir-go/sabir/internal/tag"
)

// field is a field of a struct as JSON has it.
type field struct {
	layout.Member
	hidden bool // by another field of its name

	required, secret bool // by its tags
}

// fieldsOf lists the fields of struct t, first those that JSON has, in their order. Those that it does not have are kept,
// without a name, so that their tags can be checked.
func fieldsOf(t reflect.Type) []field {
	members, others := layout.JSON.Members(t)
	all := make([]field, 0, len(members)+len(others))
	for _, m := range members {
		_, filled := m.Tag.Lookup("default") // before its rules are checked
		all = append(all, field{Member: m, required: !filled && tag.Required(m.Tag.Get("validate")), secret: tag.Secret(m.Tag.Get("sabir"))})
	}
	for _, m := range others {
		hidden := m.Name != ""
		m.Name = ""
		all = append(all, field{Member: m, hidden: hidden})
	}
	return all
}

// pointed is t without pointers.
func pointed(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer && t.Name() == "" {
		t = t.Elem()
	}
	return t
}
