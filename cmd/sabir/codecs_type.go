package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// documentType is the type of one value in a JSON document, merged over all elements of a list.
type documentType struct {
	kind     documentKind
	nullable bool // it is null, or not there, somewhere
	fields   map[string]*documentType
	elem     *documentType
}

type documentKind int

const (
	unknownKind documentKind = iota // only null was seen, or nothing
	boolKind
	intKind
	floatKind
	textKind
	listKind
	objectKind
	mixedKind // values of several kinds
)

// maxStructFields is the number of members that an object may have and still become a struct. With more it is a map.
const maxStructFields = 256

// typeOfDocument returns a Go type that holds the document: objects become structs with json tags, lists slices.
func typeOfDocument(text []byte) (reflect.Type, error) {
	if err := checkJSON(text); err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var document any
	if err := decoder.Decode(&document); err != nil {
		return nil, err
	}
	d := &documentType{}
	d.add(document)
	return d.goType(), nil
}

// add widens d so that it holds v.
func (d *documentType) add(v any) {
	switch v := v.(type) {
	case nil:
		d.nullable = true
	case bool:
		d.become(boolKind)
	case json.Number:
		if _, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			d.become(intKind)
		} else {
			d.become(floatKind)
		}
	case string:
		d.become(textKind)
	case []any:
		d.become(listKind)
		if d.elem == nil {
			d.elem = &documentType{}
		}
		for _, element := range v {
			d.elem.add(element)
		}
	case map[string]any:
		d.addObject(v)
	}
}

func (d *documentType) become(kind documentKind) {
	switch {
	case d.kind == unknownKind || d.kind == kind:
		d.kind = kind
	case d.kind == intKind && kind == floatKind || d.kind == floatKind && kind == intKind:
		d.kind = floatKind
	default:
		d.kind = mixedKind
	}
}

func (d *documentType) addObject(object map[string]any) {
	first := d.fields == nil
	d.become(objectKind)
	if first {
		d.fields = make(map[string]*documentType)
	}
	for name, v := range object {
		f := d.fields[name]
		if f == nil {
			f = &documentType{nullable: !first}
			d.fields[name] = f
		}
		f.add(v)
	}
	for name, f := range d.fields {
		if _, there := object[name]; !there {
			f.nullable = true
		}
	}
}

var anyType = reflect.TypeFor[any]()

func (d *documentType) goType() reflect.Type {
	t := d.bareType()
	if d.nullable && t != anyType && t.Kind() != reflect.Map {
		return reflect.PointerTo(t)
	}
	return t
}

func (d *documentType) bareType() reflect.Type {
	switch d.kind {
	case boolKind:
		return reflect.TypeFor[bool]()
	case intKind:
		return reflect.TypeFor[int64]()
	case floatKind:
		return reflect.TypeFor[float64]()
	case listKind:
		return reflect.SliceOf(d.elem.goType())
	case objectKind:
		return d.objectType()
	case mixedKind:
		return anyType
	}
	return reflect.TypeFor[string]() // nothing but null was seen, which any pointer holds
}

// objectType is a struct, or a map where the names are no names of fields or are too many.
func (d *documentType) objectType() reflect.Type {
	names := slices.Sorted(maps.Keys(d.fields))
	if len(names) > maxStructFields || slices.ContainsFunc(names, odd) {
		return reflect.MapOf(reflect.TypeFor[string](), d.valueType(names))
	}
	fields := make([]reflect.StructField, len(names))
	for i, name := range names {
		tag := name
		if d.fields[name].nullable {
			tag += ",omitempty"
		}
		fields[i] = reflect.StructField{Name: fmt.Sprint("F", i), Type: d.fields[name].goType(), Tag: reflect.StructTag(`json:"` + tag + `"`)}
	}
	return reflect.StructOf(fields)
}

// valueType is the type that all members have, or any.
func (d *documentType) valueType(names []string) reflect.Type {
	same := d.fields[names[0]].goType()
	for _, name := range names {
		if d.fields[name].goType() != same {
			return anyType
		}
	}
	return same
}

// odd reports whether a name cannot stand in a json tag.
func odd(name string) bool {
	plain := func(r rune) bool {
		return r == '_' || r == '-' || r == '.' || r == '$' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	return name == "" || name[0] == '-' || strings.ContainsFunc(name, func(r rune) bool { return !plain(r) })
}
