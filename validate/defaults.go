package validate

import (
	"fmt"
	"reflect"
	"strconv"
	"time"
	"unsafe"

	"github.com/sabir-go/sabir/codec/json"
)

// defaults holds the values of the default tags of a type and of the types in it.
type defaults struct {
	typ    reflect.Type
	fields []defaultField // of a struct
	elem   *defaults      // of a pointer, slice, array or map
}

// defaultField is a field of a struct that has a default, or that holds some.
type defaultField struct {
	index  int
	value  reflect.Value // invalid where the field has none of its own
	text   []byte        // of which value was made, as JSON
	nested *defaults     // nil where nothing in it has one
}

// HasDefaults reports whether a field of the type, or of a type in it, has a default tag.
func (p *Plan) HasDefaults() bool { return p != nil && p.defaults != nil }

// SetDefaults gives each field of the value at ptr that is zero what its default tag says: `default:"20"`. A text is taken as it is, anything else
// is JSON. Fields of nested structs count, behind pointers, in slices, arrays and maps too; such a pointer, slice or map is replaced by a changed copy, so
// that what others hold of it stays as it is. ptr must point to a value of the type that was compiled. A value that is meant to be zero
// cannot be told from one that is missing: take a pointer for it.
func (p *Plan) SetDefaults(ptr unsafe.Pointer) {
	if p.HasDefaults() {
		f := filler{}
		f.fill(p.defaults, reflect.NewAt(p.typ, ptr).Elem())
	}
}

// filler sets the defaults of one value.
type filler struct {
	seen map[unsafe.Pointer]bool // pointers of types that contain themselves, whose values may too
}

// fill changes an addressable value and reports whether it did.
func (f *filler) fill(d *defaults, v reflect.Value) (changed bool) {
	switch d.typ.Kind() {
	case reflect.Struct:
		for _, field := range d.fields {
			at := v.Field(field.index)
			if field.value.IsValid() && at.IsZero() {
				at.Set(field.fresh())
				changed = true
			} else if field.nested != nil && f.fill(field.nested, at) {
				changed = true
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			changed = f.fill(d.elem, v.Index(i)) || changed
		}
	case reflect.Pointer:
		if v.IsNil() || f.seen[v.UnsafePointer()] {
			return false
		}
		if f.seen == nil {
			f.seen = make(map[unsafe.Pointer]bool)
		}
		f.seen[v.UnsafePointer()] = true
		own := reflect.New(d.typ.Elem())
		own.Elem().Set(v.Elem())
		if changed = f.fill(d.elem, own.Elem()); changed {
			v.Set(own)
		}
	case reflect.Slice:
		for i := range v.Len() {
			own := reflect.New(d.typ.Elem()).Elem()
			own.Set(v.Index(i))
			if !f.fill(d.elem, own) {
				continue
			}
			if !changed {
				list := reflect.MakeSlice(d.typ, v.Len(), v.Len())
				reflect.Copy(list, v)
				v.Set(list)
				changed = true
			}
			v.Index(i).Set(own)
		}
	case reflect.Map:
		next := v
		for entries := v.MapRange(); entries.Next(); {
			own := reflect.New(d.typ.Elem()).Elem()
			own.Set(entries.Value())
			if !f.fill(d.elem, own) {
				continue
			}
			if !changed {
				next = reflect.MakeMapWithSize(d.typ, v.Len())
				for others := v.MapRange(); others.Next(); {
					next.SetMapIndex(others.Key(), others.Value())
				}
				changed = true
			}
			next.SetMapIndex(entries.Key(), own)
		}
		if changed {
			v.Set(next)
		}
	}
	return changed
}

// fresh returns the default for one more value. Where it could share memory with the others, which handlers may change, it is read anew.
func (f *defaultField) fresh() reflect.Value {
	if k := f.value.Kind(); k <= reflect.Complex128 || k == reflect.String {
		return f.value
	}
	own := reflect.New(f.value.Type())
	if err := json.Codec.Decode(f.text, own.Interface()); err != nil {
		panic(err) // it was read before
	}
	return own.Elem()
}

// defaultsOf reads the default tags of a type; nil where there are none.
func defaultsOf(t reflect.Type) (*defaults, error) {
	known := make(map[reflect.Type]*defaults)
	d, err := readDefaults(t, known)
	if err != nil || !d.reaches(make(map[*defaults]bool)) {
		return nil, err
	}
	d.prune(make(map[*defaults]bool))
	return d, nil
}

func readDefaults(t reflect.Type, known map[reflect.Type]*defaults) (*defaults, error) {
	if d, ok := known[t]; ok {
		return d, nil
	}
	d := &defaults{typ: t}
	known[t] = d // before what is in it: types may contain themselves
	var err error
	switch {
	case t.Kind() == reflect.Pointer, t.Kind() == reflect.Slice, t.Kind() == reflect.Array, t.Kind() == reflect.Map:
		d.elem, err = readDefaults(t.Elem(), known)
		return d, err
	case !isNested(t):
		return d, nil
	}
	for i := range t.NumField() {
		field := t.Field(i)
		if !field.IsExported() && !field.Anonymous {
			continue
		}
		at := defaultField{index: i}
		if text, ok := field.Tag.Lookup("default"); ok {
			if at.value, at.text, err = defaultOf(field.Type, text); err != nil {
				return nil, &TagError{Type: t, Field: field.Name, Tag: "default:" + text, Reason: err.Error()}
			}
		}
		if at.nested, err = readDefaults(field.Type, known); err != nil {
			return nil, err
		}
		d.fields = append(d.fields, at)
	}
	return d, nil
}

// reaches reports whether there is a default in it.
func (d *defaults) reaches(visited map[*defaults]bool) bool {
	if d == nil || visited[d] {
		return false
	}
	visited[d] = true
	for _, field := range d.fields {
		if field.value.IsValid() || field.nested.reaches(visited) {
			return true
		}
	}
	return d.elem.reaches(visited)
}

// prune forgets the fields that have no default and lead to none.
func (d *defaults) prune(visited map[*defaults]bool) {
	if d == nil || visited[d] {
		return
	}
	visited[d] = true
	d.elem.prune(visited)
	var kept []defaultField
	for _, field := range d.fields {
		field.nested.prune(visited)
		if !field.nested.reaches(make(map[*defaults]bool)) {
			field.nested = nil
		}
		if field.nested != nil || field.value.IsValid() {
			kept = append(kept, field)
		}
	}
	d.fields = kept
}

// defaultOf reads a value from a tag: JSON of the type, or a text as it stands.
func defaultOf(t reflect.Type, text string) (value reflect.Value, from []byte, err error) {
	inner := t
	for inner.Kind() == reflect.Pointer {
		inner = inner.Elem()
	}
	quoted, err := json.Codec.Append(nil, text)
	if err != nil {
		return value, nil, fmt.Errorf("the default is no text: %w", err)
	}
	tries := [][]byte{[]byte(text), quoted}
	if inner.Kind() == reflect.String {
		tries = tries[1:]
	}
	if inner == reflect.TypeFor[time.Duration]() { // people write 30s; JSON has nanoseconds
		if d, err := time.ParseDuration(text); err == nil {
			tries = [][]byte{strconv.AppendInt(nil, int64(d), 10)}
		}
	}
	for _, try := range tries {
		read := reflect.New(t)
		if err = json.Codec.Decode(try, read.Interface()); err == nil {
			return read.Elem(), try, nil
		}
	}
	return value, nil, fmt.Errorf("%s is no %v, as JSON or as a text", text, t)
}
