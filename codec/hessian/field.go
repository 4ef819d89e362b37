package hessian

import (
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"github.com/sabir-go/sabir/internal/layout"
)

// field is one field of a struct as the format sees it.
type field struct {
	name      string
	key       []byte // the name as a string on the wire
	goName    string
	off       uintptr
	typ       reflect.Type
	plan      *plan
	omitEmpty bool
}

// rules decide which fields a struct has. An embedded pointer is a field of its own.
var rules = layout.Rules{Tag: "hessian", TagNames: true, Opaque: func(t reflect.Type) bool {
	_, isSpecial := special[t]
	return isSpecial || isText(t)
}}

// fieldsOf lists the fields of struct t in the order of the wire. Two fields of one name that nothing distinguishes are an error
// rather than a silence.
func fieldsOf(t reflect.Type) ([]field, error) {
	members, others := rules.Members(t)
	if two := layout.Clash(members, others); two != nil {
		return nil, fmt.Errorf("hessian: fields %s and %s of %s are both named %q: rename one with a hessian tag", two[0].StructField.Name, two[1].StructField.Name, t, two[0].Name)
	}
	fields := make([]field, 0, len(members))
	for _, m := range members {
		f := field{name: m.Name, goName: m.StructField.Name, off: m.Offset(), typ: m.Type}
		key, ok := appendString(nil, f.name)
		if !ok {
			return nil, fmt.Errorf("hessian: the name of field %s of %s is not UTF-8", f.goName, t)
		}
		options := m.Options
		if _, own := m.Tag.Lookup("hessian"); own {
			options = m.Own
		}
		f.key, f.omitEmpty = key, strings.Contains(","+options+",", ",omitempty,")
		fields = append(fields, f)
	}
	return fields, nil
}

// otherCase returns name with its first letter in the other case, or "" where that is no ASCII letter.
func otherCase(name string) string {
	if name == "" {
		return ""
	}
	c := name[0] | 0x20
	if c < 'a' || c > 'z' {
		return ""
	}
	return string(name[0]^0x20) + name[1:]
}

// empty reports whether omitempty leaves out the value at an address, by the rules of encoding/json.
func (f *field) empty(at unsafe.Pointer) bool {
	switch v := f.plan.value(at); v.Kind() {
	case reflect.Slice, reflect.Map, reflect.String, reflect.Array:
		return v.Len() == 0
	case reflect.Struct:
		return false
	default:
		return v.IsZero()
	}
}
