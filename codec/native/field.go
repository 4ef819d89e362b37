package native

import (
	"fmt"
	"reflect"
	"strings"
)

// field is one field of a struct as the format sees it.
type field struct {
	name    string   // on the wire
	aliases []string // other names that a writer may use
	goName  string
	off     uintptr
	typ     reflect.Type
	plan    *plan
	depth   int // how many embedded structs it came through
}

// fieldsOf lists the fields of struct t in the order of the wire.
func fieldsOf(t reflect.Type) ([]field, error) {
	all, err := collectFields(nil, t, 0, 0)
	if err != nil {
		return nil, err
	}
	shallowest := make(map[string]int, len(all))
	for _, f := range all {
		if depth, ok := shallowest[f.name]; !ok || f.depth < depth {
			shallowest[f.name] = f.depth
		}
	}
	kept, taken := all[:0], make(map[string]string, len(all))
	for _, f := range all {
		if f.depth > shallowest[f.name] {
			continue
		}
		if other, ok := taken[f.name]; ok {
			return nil, fmt.Errorf("native: fields %s and %s of %s are both named %q: rename one with a sabir tag", other, f.goName, t, f.name)
		}
		if len(f.name) > maxNameBytes {
			return nil, fmt.Errorf("native: the name of field %s of %s has %d bytes, at most %d are possible", f.goName, t, len(f.name), maxNameBytes)
		}
		taken[f.name] = f.goName
		kept = append(kept, f)
	}
	return kept, nil
}

func collectFields(all []field, t reflect.Type, base uintptr, depth int) ([]field, error) {
	for i := range t.NumField() {
		sf := t.Field(i)
		f := field{goName: sf.Name, off: base + sf.Offset, typ: sf.Type, depth: depth}
		tagged, skip, err := f.readTags(sf, t)
		if err != nil {
			return nil, err
		}
		if skip {
			continue
		}
		if sf.Anonymous && !tagged && sf.Type.Kind() == reflect.Struct && sf.Type != timeType && !hasMarshaler(sf.Type) {
			if all, err = collectFields(all, sf.Type, f.off, depth+1); err != nil {
				return nil, err
			}
			continue
		}
		if sf.IsExported() {
			all = append(all, f)
		}
	}
	return all, nil
}

// readTags sets the names of f. tagged says that a tag gave the name.
func (f *field) readTags(sf reflect.StructField, owner reflect.Type) (tagged, skip bool, err error) {
	f.name = sf.Name
	jsonTag, hasJSON := sf.Tag.Lookup("json")
	sabirTag, hasSabir := sf.Tag.Lookup("sabir")
	if sabirTag == "-" || jsonTag == "-" && !hasSabir {
		return false, true, nil
	}
	if name, _, _ := strings.Cut(jsonTag, ","); hasJSON && name != "" && jsonTag != "-" {
		f.name, tagged = name, true
	}
	name, options, more := strings.Cut(sabirTag, ",")
	if name != "" {
		f.name, tagged = name, true
	}
	if !more {
		return tagged, false, nil
	}
	for option := range strings.SplitSeq(options, ",") {
		alias, ok := strings.CutPrefix(option, "alias=")
		if !ok || alias == "" {
			return false, false, fmt.Errorf("native: the sabir tag of field %s of %s has the option %q: only alias=NAME is known", sf.Name, owner, option)
		}
		f.aliases = append(f.aliases, alias)
	}
	return tagged, false, nil
}
