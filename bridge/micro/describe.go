package micro

import (
	"reflect"

	"github.com/sabir-go/sabir/internal/gomicro"
	"github.com/sabir-go/sabir/internal/layout"
)

// describedDepth is how deep the fields of fields are described, as in go-micro.
const describedDepth = 3

// described tells a registry of a type. go-micro's command micro makes flags of the fields, and fails where there is nothing.
func described(t reflect.Type) *gomicro.Value {
	if t == nil {
		return nil
	}
	return describedAt(t, describedDepth)
}

func describedAt(t reflect.Type, depth int) *gomicro.Value {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	v := &gomicro.Value{Name: t.Name(), Type: t.Name(), Values: []*gomicro.Value{}}
	if t.Kind() == reflect.Slice {
		v.Type = "[]" + t.Elem().Name()
	}
	if t.Kind() != reflect.Struct || depth == 1 {
		return v
	}
	for f := range t.Fields() {
		name, inline := layout.NameOf(f)
		switch described := describedAt(f.Type, depth-1); {
		case f.Tag.Get("json") == "-" || !f.IsExported() && !inline: // JSON has it not
		case inline: // its fields are those of t
			v.Values = append(v.Values, described.Values...)
		default:
			described.Name = name
			v.Values = append(v.Values, described)
		}
	}
	return v
}
