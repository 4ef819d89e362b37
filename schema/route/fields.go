package route

import (
	"reflect"
	"slices"
	"strings"

	"github.com/sabir-go/sabir/validate/tag"
)

// field is a field of a struct as JSON has it.
type field struct {
	reflect.StructField
	owner   reflect.Type // the struct that it stands in
	name    string       // in JSON; "" where JSON does not have the field
	options string       // of the json tag, behind the name, between commas
	depth   int          // how many embedded structs it came through
	tagged  bool         // a tag gave the name
	lost    bool         // an embedded pointer that JSON cannot fill

	required, secret bool // by its tags
}

// fieldsOf lists the fields of struct t in their order, those of embedded structs in the place of these. Of several fields
// with one name it keeps the one that encoding/json keeps: the least deep, then the tagged one, and none of equals.
// Fields that JSON does not have are kept, without a name, so that their tags can be checked.
func fieldsOf(t reflect.Type) []field {
	all := collect(make([]field, 0, t.NumField()), t, 0, nil)
	kept := make([]field, 0, len(all))
	for i := range all {
		if all[i].name == "" || !beaten(all, i) {
			kept = append(kept, all[i])
		}
	}
	return kept
}

// beaten tells whether there is a field of the name of field i that this one does not hide.
func beaten(all []field, i int) bool {
	for j := range all {
		if j != i && all[j].name == all[i].name && !all[i].before(&all[j]) {
			return true
		}
	}
	return false
}

// before tells whether f hides other, a field of the same name.
func (f *field) before(other *field) bool {
	if f.depth != other.depth {
		return f.depth < other.depth
	}
	return f.tagged && !other.tagged
}

// collect lists all fields. way has the embedded structs that led to t, which may embed a pointer to itself.
func collect(all []field, t reflect.Type, depth int, way []reflect.Type) []field {
	if slices.Contains(way, t) {
		return all
	}
	way = append(way, t)
	for f := range t.Fields() {
		said := f.Tag.Get("json")
		name, options, _ := strings.Cut(said, ",")
		inner := pointed(f.Type)
		embedded := f.Anonymous && inner.Kind() == reflect.Struct
		if embedded && name == "" && !ownForm(inner) {
			if f.Type.Kind() == reflect.Pointer && !f.IsExported() {
				all = append(all, field{StructField: f, owner: t, lost: true})
			}
			all = collect(all, inner, depth+1, way)
			continue
		}
		one := field{StructField: f, owner: t, depth: depth, tagged: name != "", name: name, options: options,
			required: tag.Required(f.Tag.Get("validate")), secret: tag.Secret(f.Tag.Get("sabir"))}
		switch {
		case said == "-" || !f.IsExported() && !(embedded && f.Type.Kind() == reflect.Struct):
			one.name = ""
		case name == "":
			one.name = f.Name
		}
		all = append(all, one)
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
