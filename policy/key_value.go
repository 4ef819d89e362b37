package policy

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"
	"unsafe"
)

// writeValue appends the value that p points to, in a form of which no two different values of its type share one, and
// of which none is the beginning of another: fixed widths, or lengths before contents. So what is written one after the
// other stays apart, as {a: {b: 1}, c: 2} and {a: {b: 1, c: 2}} must.
//
// All fields count, exported or not. Pointers count for what they point to, nil for itself; a nil slice or map is not an
// empty one. Times count for their instant and zone, not for their monotonic reading.
type writeValue func(w *keyWriter, p unsafe.Pointer)

// keyWriter builds one key.
type keyWriter struct {
	buf   []byte
	depth int
	bad   bool // there is no key: the input refers to itself, is far too large, or holds a function or channel
}

// maxKeyDepth bounds the nesting of values, which ends those that refer to themselves.
const maxKeyDepth = 200

// maxKeyWork bounds the bytes of one input's key, since an input may refer to the same value over and over. A longer string or
// []byte is written all the same.
const maxKeyWork = 1 << 20

func (w *keyWriter) number(n uint64) { w.buf = binary.LittleEndian.AppendUint64(w.buf, n) }

func (w *keyWriter) length(n int) { w.buf = binary.AppendUvarint(w.buf, uint64(n)) }

func (w *keyWriter) text(s string) {
	w.length(len(s))
	w.buf = append(w.buf, s...)
}

// nested writes a value further in, unless that is too deep.
func (w *keyWriter) nested(write writeValue, p unsafe.Pointer) {
	if w.depth >= maxKeyDepth || len(w.buf) > maxKeyWork {
		w.bad = true
	}
	if w.bad {
		return
	}
	w.depth++
	write(w, p)
	w.depth--
}

// writers holds the compiled writer of each type: as many as the program has types in cached inputs.
var writers = struct {
	sync.Mutex
	of map[reflect.Type]*typeWriter
}{of: make(map[reflect.Type]*typeWriter)}

// typeWriter is the writer of a type. Types that contain themselves need it before it is complete.
type typeWriter struct{ write writeValue }

// typeNames holds names that distinguish types.
var typeNames = struct {
	sync.Mutex
	of   map[reflect.Type]string
	used map[string]int
}{of: make(map[reflect.Type]string), used: make(map[string]int)}

// typeName distinguishes a type from all others of the process, and is the same in every process unless two types declared
// inside functions share a name.
func typeName(t reflect.Type) string {
	typeNames.Lock()
	defer typeNames.Unlock()
	if name, ok := typeNames.of[t]; ok {
		return name
	}
	name := t.PkgPath() + " " + t.String()
	typeNames.used[name]++
	if n := typeNames.used[name]; n > 1 {
		name += "#" + strconv.Itoa(n)
	}
	typeNames.of[t] = name
	return name
}

// writerOf compiles the writer of a type, or returns why it can be no part of a key.
func writerOf(t reflect.Type) (*typeWriter, error) {
	writers.Lock()
	defer writers.Unlock()
	if known := writers.of[t]; known != nil {
		return known, nil
	}
	c := compiler{added: make(map[reflect.Type]*typeWriter)}
	tw, err := c.compile(t)
	if err != nil {
		return nil, err
	}
	maps.Copy(writers.of, c.added)
	return tw, nil
}

// compiler compiles a type and those it is made of. It runs under the lock of writers.
type compiler struct{ added map[reflect.Type]*typeWriter }

func (c *compiler) compile(t reflect.Type) (*typeWriter, error) {
	if known := writers.of[t]; known != nil {
		return known, nil
	}
	if begun := c.added[t]; begun != nil {
		return begun, nil // a type that contains itself
	}
	tw := &typeWriter{}
	c.added[t] = tw
	write, err := c.writer(t)
	if err != nil {
		return nil, err
	}
	tw.write = write
	return tw, nil
}

func (c *compiler) writer(t reflect.Type) (writeValue, error) {
	if t.Kind() == reflect.Struct && t.ConvertibleTo(reflect.TypeFor[time.Time]()) {
		return writeTime, nil
	}
	switch t.Kind() {
	case reflect.Bool, reflect.Int8, reflect.Uint8:
		return func(w *keyWriter, p unsafe.Pointer) { w.buf = append(w.buf, *(*byte)(p)) }, nil
	case reflect.Int16, reflect.Uint16:
		return func(w *keyWriter, p unsafe.Pointer) { w.buf = binary.LittleEndian.AppendUint16(w.buf, *(*uint16)(p)) }, nil
	case reflect.Int32, reflect.Uint32, reflect.Float32:
		return func(w *keyWriter, p unsafe.Pointer) { w.buf = binary.LittleEndian.AppendUint32(w.buf, *(*uint32)(p)) }, nil
	case reflect.Int64, reflect.Uint64, reflect.Float64:
		return func(w *keyWriter, p unsafe.Pointer) { w.number(*(*uint64)(p)) }, nil
	case reflect.Int, reflect.Uint, reflect.Uintptr:
		return func(w *keyWriter, p unsafe.Pointer) { w.number(uint64(*(*uint)(p))) }, nil
	case reflect.Complex64:
		return func(w *keyWriter, p unsafe.Pointer) { w.number(*(*uint64)(p)) }, nil
	case reflect.Complex128:
		return func(w *keyWriter, p unsafe.Pointer) {
			v := *(*complex128)(p)
			w.number(math.Float64bits(real(v)))
			w.number(math.Float64bits(imag(v)))
		}, nil
	case reflect.String:
		return func(w *keyWriter, p unsafe.Pointer) { w.text(*(*string)(p)) }, nil
	case reflect.Slice:
		return c.slice(t)
	case reflect.Array:
		return c.array(t)
	case reflect.Pointer:
		elem, err := c.compile(t.Elem())
		return func(w *keyWriter, p unsafe.Pointer) {
			if p = *(*unsafe.Pointer)(p); p == nil {
				w.buf = append(w.buf, 0)
				return
			}
			w.buf = append(w.buf, 1)
			w.nested(elem.write, p)
		}, err
	case reflect.Struct:
		return c.fields(t)
	case reflect.Map:
		return c.entries(t)
	case reflect.Interface:
		return func(w *keyWriter, p unsafe.Pointer) { writeDynamic(w, reflect.NewAt(t, p).Elem().Elem()) }, nil
	}
	return nil, fmt.Errorf("a %v cannot be part of a key; choose the fields that can with Keys", t)
}

func (c *compiler) slice(t reflect.Type) (writeValue, error) {
	elem, err := c.compile(t.Elem())
	size, plain := t.Elem().Size(), t.Elem().Kind() == reflect.Uint8
	return func(w *keyWriter, p unsafe.Pointer) {
		s := *(*[]byte)(p) // pointer and length are where they are in every slice
		if s == nil {
			w.length(0)
			return
		}
		w.length(len(s) + 1)
		if plain {
			w.buf = append(w.buf, s...)
			return
		}
		first := unsafe.Pointer(unsafe.SliceData(s))
		for i := range s {
			w.nested(elem.write, unsafe.Add(first, uintptr(i)*size))
		}
	}, err
}

func (c *compiler) array(t reflect.Type) (writeValue, error) {
	size, n := t.Elem().Size(), t.Len()
	if n == 0 {
		return func(*keyWriter, unsafe.Pointer) {}, nil
	}
	elem, err := c.compile(t.Elem())
	return func(w *keyWriter, p unsafe.Pointer) {
		for i := range n {
			w.nested(elem.write, unsafe.Add(p, uintptr(i)*size))
		}
	}, err
}

func (c *compiler) fields(t reflect.Type) (writeValue, error) {
	type part struct {
		offset uintptr
		of     *typeWriter
	}
	var parts []part
	for f := range t.Fields() {
		if f.Name == "_" {
			continue
		}
		of, err := c.compile(f.Type)
		if err != nil {
			return nil, fmt.Errorf("field %s of %v: %w", f.Name, t, err)
		}
		parts = append(parts, part{f.Offset, of})
	}
	return func(w *keyWriter, p unsafe.Pointer) {
		for i := range parts {
			parts[i].of.write(w, unsafe.Add(p, parts[i].offset))
		}
	}, nil
}

// entries writes the entries of a map in the order of what they look like.
func (c *compiler) entries(t reflect.Type) (writeValue, error) {
	key, err := c.compile(t.Key())
	if err != nil {
		return nil, err
	}
	value, err := c.compile(t.Elem())
	return func(w *keyWriter, p unsafe.Pointer) {
		m := reflect.NewAt(t, p).Elem()
		if m.IsNil() {
			w.length(0)
			return
		}
		w.length(m.Len() + 1)
		k, v := reflect.New(t.Key()), reflect.New(t.Elem())
		entry := keyWriter{depth: w.depth}
		var all [][]byte
		for i := m.MapRange(); i.Next() && !w.bad; {
			k.Elem().SetIterKey(i)
			v.Elem().SetIterValue(i)
			entry.buf = nil
			entry.nested(key.write, k.UnsafePointer())
			entry.nested(value.write, v.UnsafePointer())
			w.bad = entry.bad
			all = append(all, entry.buf)
		}
		slices.SortFunc(all, bytes.Compare)
		for _, one := range all {
			w.buf = append(w.buf, one...)
		}
	}, err
}

// writeDynamic writes the value in an interface, after the name of its type.
func writeDynamic(w *keyWriter, v reflect.Value) {
	if !v.IsValid() {
		w.buf = append(w.buf, 0)
		return
	}
	of, err := writerOf(v.Type())
	if err != nil {
		w.bad = true
		return
	}
	w.buf = append(w.buf, 1)
	w.text(typeName(v.Type()))
	copied := reflect.New(v.Type())
	copied.Elem().Set(v)
	w.nested(of.write, copied.UnsafePointer())
}

func writeTime(w *keyWriter, p unsafe.Pointer) {
	t := *(*time.Time)(p)
	zone, offset := t.Zone()
	w.number(uint64(t.Unix()))
	w.number(uint64(t.Nanosecond())<<32 | uint64(uint32(offset)))
	w.text(zone)
	w.text(t.Location().String())
}
