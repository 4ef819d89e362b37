package native

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/sabir-go/sabir/internal/layout"
)

// field is one field of a struct as the format sees it.
type field struct {
	name    string   // on the wire
	aliases []string // other names that a writer may use
	goName  string
	off     uintptr
	typ     reflect.Type
	plan    *plan
}

// rules decide which fields a struct has. An embedded pointer is a field of its own.
var rules = layout.Rules{Tag: "sabir", TagNames: true, Opaque: func(t reflect.Type) bool { return t == timeType || hasMarshaler(t) }}

// fieldsOf lists the fields of struct t in the order of the wire.
func fieldsOf(t reflect.Type) ([]field, error) {
	members, others := rules.Members(t)
	if two := layout.Clash(members, others); two != nil {
		return nil, fmt.Errorf("native: fields %s and %s of %s are both named %q: rename one with a sabir tag", two[0].StructField.Name, two[1].StructField.Name, t, two[0].Name)
	}
	fields := make([]field, 0, len(members))
	for _, m := range members {
		if len(m.Name) > maxNameBytes {
			return nil, fmt.Errorf("native: the name of field %s of %s has %d bytes, at most %d are possible", m.StructField.Name, t, len(m.Name), maxNameBytes)
		}
		f := field{name: m.Name, goName: m.StructField.Name, off: m.Offset(), typ: m.Type}
		for option := range strings.SplitSeq(m.Own, ",") {
			alias, ok := strings.CutPrefix(option, "alias=")
			switch {
			case option == "":
			case !ok || alias == "":
				return nil, fmt.Errorf("native: the sabir tag of field %s of %s has the option %q: only alias=NAME and secret are known", f.goName, m.Owner(), option)
			default:
				f.aliases = append(f.aliases, alias)
			}
		}
		fields = append(fields, f)
	}
	return fields, nil
}
