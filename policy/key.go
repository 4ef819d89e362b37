package policy

import (
	"context"
	"crypto/sha256"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unsafe"

	"github.com/sabir-go/sabir"
)

// keys makes the keys of one action's calls from their inputs and metadata.
type keys struct {
	paths  []string
	own    *keyPlan // for the action's own input type; nil for an action of another node
	others sync.Map // reflect.Type to *keyPlan: for whatever types the callers of another node's action use
}

// newKeys compiles the paths for the action's input type. No path at all stands for the whole input.
func newKeys(a *sabir.Action, paths []string) (*keys, error) {
	k := &keys{paths: paths}
	if a.In == nil {
		return k, nil
	}
	plan, err := compileKey(a.In, paths)
	if err != nil {
		return nil, fmt.Errorf("the input of %s: %w", a.Name, err)
	}
	k.own = plan
	return k, nil
}

// of finds the plan for an input type. For a caller's type that has no such field, every call goes without a key.
func (k *keys) of(in reflect.Type) *keyPlan {
	if k.own != nil {
		return k.own
	}
	if known, ok := k.others.Load(in); ok {
		return known.(*keyPlan)
	}
	plan, err := compileKey(in, k.paths)
	if err != nil {
		plan = &keyPlan{write1: func(w *keyWriter, _ context.Context, _ unsafe.Pointer) { w.bad = true }}
	}
	known, _ := k.others.LoadOrStore(in, plan)
	return known.(*keyPlan)
}

// writePart appends one part of a key, drawn from the context or from the input at p.
type writePart func(w *keyWriter, ctx context.Context, p unsafe.Pointer)

// keyPlan is the compiled key of one input type. The first part stands by itself, as most keys have no other.
type keyPlan struct {
	write1 writePart
	more   []writePart
}

// write leaves the key in w.buf, unless it sets w.bad.
func (k *keyPlan) write(w *keyWriter, ctx context.Context, r *sabir.Request) {
	p := reflect.ValueOf(r.Input()).UnsafePointer()
	w.buf = append(w.buf, plainKey)
	k.write1(w, ctx, p)
	for _, write := range k.more {
		write(w, ctx, p)
	}
	if len(w.buf) > maxKeyLength && !w.bad {
		sum := sha256.Sum256(w.buf)
		w.buf = append(append(w.buf[:0], hashedKey), sum[:]...)
	}
}

// A key begins with a byte that tells whether it is written out or, being long, its SHA-256 (FIPS 180-4).
const (
	plainKey     = 0
	hashedKey    = 1
	maxKeyLength = 1024
)

func compileKey(in reflect.Type, paths []string) (*keyPlan, error) {
	var parts []writePart
	for _, path := range paths {
		part, err := compilePath(in, path)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	if len(paths) == 0 {
		whole, err := writerOf(in)
		if err != nil {
			return nil, err
		}
		parts = append(parts, func(w *keyWriter, _ context.Context, p unsafe.Pointer) { whole.write(w, p) })
	}
	return &keyPlan{parts[0], parts[1:]}, nil
}

func compilePath(in reflect.Type, path string) (writePart, error) {
	if name, ok := strings.CutPrefix(path, "#"); ok {
		if name == "" {
			return nil, fmt.Errorf(`the key "#" lacks the name of the metadata`)
		}
		return func(w *keyWriter, ctx context.Context, _ unsafe.Pointer) { writeMetadata(w, ctx, name) }, nil
	}
	write, err := compileField(in, path)
	if err != nil {
		return nil, err
	}
	return func(w *keyWriter, _ context.Context, p unsafe.Pointer) { write(w, p) }, nil
}

func writeMetadata(w *keyWriter, ctx context.Context, name string) {
	value, ok := sabir.Metadata(ctx)[name]
	if !ok {
		w.buf = append(w.buf, 0)
		return
	}
	w.buf = append(w.buf, 1)
	w.text(value)
}

// compileField compiles the way from a value of type t along a path to the writer of what is there. Where the way ends
// early, at a nil pointer or a missing map entry, a 0 is written instead of the 1 that goes before what is there.
func compileField(t reflect.Type, path string) (writeValue, error) {
	if path == "" {
		of, err := writerOf(t)
		if err != nil {
			return nil, err
		}
		return of.write, nil
	}
	name, rest, _ := strings.Cut(path, ".")
	switch t.Kind() {
	case reflect.Pointer:
		inner, err := compileField(t.Elem(), path)
		return func(w *keyWriter, p unsafe.Pointer) {
			if p = *(*unsafe.Pointer)(p); p == nil {
				w.buf = append(w.buf, 0)
				return
			}
			w.buf = append(w.buf, 1)
			inner(w, p)
		}, err
	case reflect.Struct:
		if f, ok := fieldByName(t, name); ok {
			return compileStep(t, f.Index, rest)
		}
		return nil, fmt.Errorf("%v has no field %q; it has %s", t, name, strings.Join(fieldNames(t), ", "))
	case reflect.Map:
		if t.Key().Kind() == reflect.String {
			return compileEntry(t, name, rest)
		}
	case reflect.Interface:
		return func(w *keyWriter, p unsafe.Pointer) { writeUnder(w, reflect.NewAt(t, p).Elem().Elem(), path) }, nil
	}
	return nil, fmt.Errorf("there is no %q in a %v", path, t)
}

// compileStep goes down the index of a field, which passes through embedded structs, and on along the rest of the path.
func compileStep(t reflect.Type, index []int, rest string) (writeValue, error) {
	if len(index) == 0 {
		return compileField(t, rest)
	}
	if t.Kind() == reflect.Pointer { // an embedded one
		inner, err := compileStep(t.Elem(), index, rest)
		return func(w *keyWriter, p unsafe.Pointer) {
			if p = *(*unsafe.Pointer)(p); p == nil {
				w.buf = append(w.buf, 0)
				return
			}
			w.buf = append(w.buf, 1)
			inner(w, p)
		}, err
	}
	f := t.Field(index[0])
	inner, err := compileStep(f.Type, index[1:], rest)
	if f.Offset == 0 {
		return inner, err
	}
	return func(w *keyWriter, p unsafe.Pointer) { inner(w, unsafe.Add(p, f.Offset)) }, err
}

func compileEntry(t reflect.Type, name, rest string) (writeValue, error) {
	inner, err := compileField(t.Elem(), rest)
	key := reflect.ValueOf(name).Convert(t.Key())
	return func(w *keyWriter, p unsafe.Pointer) {
		entry := reflect.NewAt(t, p).Elem().MapIndex(key)
		if !entry.IsValid() {
			w.buf = append(w.buf, 0)
			return
		}
		copied := reflect.New(t.Elem())
		copied.Elem().Set(entry)
		w.buf = append(w.buf, 1)
		inner(w, copied.UnsafePointer())
	}, err
}

// writeUnder writes what is at the end of a path in a value whose type is known only now: one of string-keyed maps.
func writeUnder(w *keyWriter, v reflect.Value, path string) {
	for path != "" && v.IsValid() {
		var name string
		name, path, _ = strings.Cut(path, ".")
		if v.Kind() != reflect.Map || v.Type().Key().Kind() != reflect.String {
			v = reflect.Value{}
			break
		}
		v = v.MapIndex(reflect.ValueOf(name).Convert(v.Type().Key()))
		if v.Kind() == reflect.Interface {
			v = v.Elem()
		}
	}
	writeDynamic(w, v)
}

// fieldByName finds the field that has a name in JSON.
func fieldByName(t reflect.Type, name string) (reflect.StructField, bool) {
	for _, f := range reflect.VisibleFields(t) {
		if jsonName(f) == name {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

func fieldNames(t reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(t) {
		if name := jsonName(f); name != "" {
			names = append(names, name)
		}
	}
	if names == nil {
		return []string{"none"}
	}
	return names
}

// jsonName is the name of a field in JSON; "" for one that has none.
func jsonName(f reflect.StructField) string {
	tag := f.Tag.Get("json")
	name, _, _ := strings.Cut(tag, ",")
	switch {
	case !f.IsExported() || tag == "-":
		return ""
	case name != "":
		return name
	case f.Anonymous && isStruct(f.Type):
		return "" // its fields stand for it
	}
	return f.Name
}

func isStruct(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct
}

var keyWriters = sync.Pool{New: func() any { return &keyWriter{buf: make([]byte, 0, 128)} }}

func takeKeyWriter() *keyWriter { return keyWriters.Get().(*keyWriter) }

// put gives the writer back. Writers that grew far are left to the garbage collector.
func (w *keyWriter) put() {
	if cap(w.buf) > 64<<10 {
		return
	}
	w.buf, w.depth, w.bad = w.buf[:0], 0, false
	keyWriters.Put(w)
}
