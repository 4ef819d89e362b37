package micro

import (
	"cmp"
	"reflect"
	"strings"

	"github.com/sabir-go/sabir/internal/gomicro"
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
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && name == "": // its fields are those of t
			v.Values = append(v.Values, describedAt(f.Type, depth-1).Values...)
			continue
		}
		field := describedAt(f.Type, depth-1)
		field.Name = cmp.Or(name, f.Name)
		v.Values = append(v.Values, field)
	}
	return v
}
