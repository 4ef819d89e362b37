package hessian

import (
	"fmt"
	"reflect"
	"strings"
	"unsafe"
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
	depth     int // how many embedded structs it came through
	tagged    bool
}

// fieldsOf lists the fields of struct t in the order of the wire. Of two fields with one name the shallower one wins, then
// the one with a tag, as in encoding/json; two that are equal are an error rather than a silence.
func fieldsOf(t reflect.Type) ([]field, error) {
	all := collectFields(nil, t, 0, 0)
	best := make(map[string]*field, len(all))
	for i := range all {
		f := &all[i]
		other, ok := best[f.name]
		switch {
		case !ok || f.depth < other.depth || f.depth == other.depth && f.tagged && !other.tagged:
			best[f.name] = f
		case f.depth == other.depth && f.tagged == other.tagged:
			return nil, fmt.Errorf("hessian: fields %s and %s of %s are both named %q: rename one with a hessian tag", other.goName, f.goName, t, f.name)
		}
	}
	kept := make([]field, 0, len(best))
	for i := range all {
		if f := &all[i]; best[f.name] == f {
			key, ok := appendString(nil, f.name)
			if !ok {
				return nil, fmt.Errorf("hessian: the name of field %s of %s is not UTF-8", f.goName, t)
			}
			f.key = key
			kept = append(kept, *f)
		}
	}
	return kept, nil
}

func collectFields(all []field, t reflect.Type, base uintptr, depth int) []field {
	for i := range t.NumField() {
		sf := t.Field(i)
		f := field{goName: sf.Name, off: base + sf.Offset, typ: sf.Type, depth: depth}
		if f.readTags(sf) {
			continue
		}
		_, isSpecial := special[sf.Type]
		if sf.Anonymous && !f.tagged && sf.Type.Kind() == reflect.Struct && !isSpecial && !isText(sf.Type) {
			all = collectFields(all, sf.Type, f.off, depth+1)
			continue
		}
		if sf.IsExported() {
			all = append(all, f)
		}
	}
	return all
}

// readTags sets the name of f and reports whether the field is to be skipped.
func (f *field) readTags(sf reflect.StructField) (skip bool) {
	f.name = sf.Name
	tag, ok := sf.Tag.Lookup("hessian")
	if !ok {
		tag = sf.Tag.Get("json")
	}
	if tag == "-" {
		return true
	}
	name, options, _ := strings.Cut(tag, ",")
	if name == "" && ok { // hessian:",omitempty" keeps the name that others use
		name, _, _ = strings.Cut(sf.Tag.Get("json"), ",")
		if name == "-" {
			name = ""
		}
	}
	if name != "" {
		f.name, f.tagged = name, true
	}
	for option := range strings.SplitSeq(options, ",") {
		f.omitEmpty = f.omitEmpty || option == "omitempty"
	}
	return false
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

// empty reports whether the value at an address is what omitempty leaves out, as in encoding/json.
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
