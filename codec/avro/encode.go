package avro

import (
	"encoding/binary"
	"fmt"
	"math"
	"sync"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/layout"
)

const (
	tooDeep = "more than 128 records, arrays, maps and pointers inside each other"
	notUTF8 = "a string that is not valid UTF-8, which Avro has no place for"
)

// writer writes the values of one type.
type writer struct {
	kind   layout.Kind
	typ    *layout.Type
	fields []writerField // of Struct
	key    *writer       // of Map
	elem   *writer       // of Pointer, Slice, Array and Map
}

type writerField struct {
	off   uintptr
	step  string
	write *writer
}

// writers compiles a type and all below it.
type writers struct {
	done  map[*layout.Type]*writer
	boxes map[*layout.Type]*layout.Type
}

func newWriters() *writers {
	return &writers{done: make(map[*layout.Type]*writer), boxes: make(map[*layout.Type]*layout.Type)}
}

// of returns the unfinished writer while t is being compiled.
func (c *writers) of(t *layout.Type) *writer {
	if done, ok := c.done[t]; ok {
		return done
	}
	w := &writer{kind: t.Kind, typ: t}
	c.done[t] = w
	switch t.Kind {
	case layout.Pointer:
		w.elem = c.of(pointed(t, c.boxes))
	case layout.Slice, layout.Array:
		w.elem = c.of(t.Elem)
	case layout.Map:
		w.key, w.elem = c.of(t.Key), c.of(t.Elem)
	case layout.Struct:
		for _, f := range t.Fields {
			w.fields = append(w.fields, writerField{f.Offset, f.Step, c.of(f.Type)})
		}
	}
	return w
}

// encoder writes one value. The first fault ends it.
type encoder struct {
	buf    []byte
	failed *codec.Error
}

// maxKept is the largest buffer, in bytes, that is used again.
const maxKept = 1 << 20

var encoders = sync.Pool{New: func() any { return &encoder{buf: make([]byte, 0, 1024)} }}

func (e *encoder) fail(text string) {
	if e.failed == nil {
		e.failed = fault(-1, text)
	}
}

// value writes the value at at. left is the number of levels that may follow inside it.
func (e *encoder) value(w *writer, at unsafe.Pointer, left int) {
	switch w.kind {
	case layout.Bool:
		e.bool(*(*bool)(at))
	case layout.Int8:
		e.long(int64(*(*int8)(at)))
	case layout.Int16:
		e.long(int64(*(*int16)(at)))
	case layout.Int32:
		e.long(int64(*(*int32)(at)))
	case layout.Int64:
		e.long(*(*int64)(at))
	case layout.Uint8:
		e.long(int64(*(*uint8)(at)))
	case layout.Uint16:
		e.long(int64(*(*uint16)(at)))
	case layout.Uint32:
		e.long(int64(*(*uint32)(at)))
	case layout.Uint64:
		e.buf = binary.BigEndian.AppendUint64(e.buf, *(*uint64)(at))
	case layout.Float32:
		e.buf = binary.LittleEndian.AppendUint32(e.buf, math.Float32bits(*(*float32)(at)))
	case layout.Float64:
		e.double(*(*float64)(at))
	case layout.String:
		e.text(*(*string)(at))
	case layout.Bytes:
		e.bytes(*(*[]byte)(at))
	case layout.ByteArray:
		e.buf = append(e.buf, unsafe.Slice((*byte)(at), w.typ.Len)...)
	case layout.Binary, layout.Text:
		e.marshaled(w, at)
	case layout.Time:
		t := *(*time.Time)(at)
		micros := t.UnixMicro()
		if time.UnixMicro(micros).Unix() != t.Unix() {
			e.fail("a time before the year -290308 or after 294246 has no timestamp-micros")
			return
		}
		e.long(micros)
	default:
		if left == 0 {
			e.fail(tooDeep + "; a value that contains itself cannot be encoded")
			return
		}
		e.nested(w, at, left-1)
	}
}

// long writes an int or a long, which look the same.
func (e *encoder) long(n int64) { e.buf = binary.AppendVarint(e.buf, n) }

func (e *encoder) bool(v bool) {
	if v {
		e.buf = append(e.buf, 1)
	} else {
		e.buf = append(e.buf, 0)
	}
}

func (e *encoder) double(v float64) {
	e.buf = binary.LittleEndian.AppendUint64(e.buf, math.Float64bits(v))
}

func (e *encoder) bytes(b []byte) {
	e.long(int64(len(b)))
	e.buf = append(e.buf, b...)
}

func (e *encoder) text(s string) {
	if !utf8.ValidString(s) {
		e.fail(notUTF8)
		return
	}
	e.long(int64(len(s)))
	e.buf = append(e.buf, s...)
}

func (e *encoder) marshaled(w *writer, at unsafe.Pointer) {
	b, err := w.typ.Marshal(nil, at)
	if err != nil {
		e.fail(err.Error())
		e.failed.Err = err
		return
	}
	if w.kind == layout.Text && !utf8.Valid(b) {
		e.fail(notUTF8)
		return
	}
	e.bytes(b)
}

// nested writes a value that counts as a level of nesting.
func (e *encoder) nested(w *writer, at unsafe.Pointer, left int) {
	switch w.kind {
	case layout.Struct:
		for i := range w.fields {
			f := &w.fields[i]
			e.value(f.write, unsafe.Add(at, f.off), left)
			if e.failed != nil {
				layout.Under(e.failed, f.step)
				return
			}
		}
	case layout.Pointer:
		target := *(*unsafe.Pointer)(at)
		if target == nil {
			e.long(0)
			return
		}
		e.long(1)
		e.value(w.elem, target, left)
	case layout.Slice:
		h := (*layout.SliceHeader)(at)
		e.list(w, h.Data, h.Len, left)
	case layout.Array:
		e.list(w, at, w.typ.Len, left)
	case layout.Map:
		e.mapping(w, at, left)
	case layout.Any:
		e.any(*(*any)(at), left)
	}
}

func (e *encoder) list(w *writer, at unsafe.Pointer, n, left int) {
	if n > 0 {
		e.long(int64(n))
		for i := range n {
			e.value(w.elem, unsafe.Add(at, uintptr(i)*w.elem.typ.Size), left)
			if e.failed != nil {
				layout.UnderIndex(e.failed, i)
				return
			}
		}
	}
	e.long(0)
}

func (e *encoder) mapping(w *writer, at unsafe.Pointer, left int) {
	if *(*unsafe.Pointer)(at) == nil {
		e.long(0)
		return
	}
	if w.typ.Texts {
		e.texts(*(*map[string]string)(at))
		return
	}
	entries, n := w.typ.Entries(at)
	// A panic in a method of the caller's leaves the buffer to the garbage collector.
	if n > 0 {
		e.long(int64(n))
	}
	for i := 0; e.failed == nil && entries.Next(); i++ {
		e.value(w.key, entries.Key, left)
		e.value(w.elem, entries.Elem, left)
		if e.failed != nil {
			layout.Under(e.failed, entries.Step(i))
		}
	}
	e.long(0)
	entries.Release()
}

// texts is mapping for the most common map.
func (e *encoder) texts(m map[string]string) {
	if len(m) > 0 {
		e.long(int64(len(m)))
	}
	for key, elem := range m {
		e.text(key)
		e.text(elem)
		if e.failed != nil {
			layout.Under(e.failed, "/"+layout.Escape(key))
			return
		}
	}
	e.long(0)
}

// The places in the union that an Any is.
const (
	anyNull = iota
	anyBoolean
	anyLong
	anyDouble
	anyString
	anyBytes
	anyArray
	anyMap
)

func (e *encoder) any(v any, left int) {
	plain, err := layout.Plain(v, rules)
	if err != nil {
		e.fail(err.Error())
		return
	}
	switch v := plain.(type) {
	case nil:
		e.long(anyNull)
	case bool:
		e.long(anyBoolean)
		e.bool(v)
	case int64:
		e.long(anyLong)
		e.long(v)
	case uint64:
		e.fail(fmt.Sprintf("%d in an interface cannot be encoded: it is beyond the range of a long; use a field of type uint64", v))
	case float64:
		e.long(anyDouble)
		e.double(v)
	case string:
		e.long(anyString)
		e.text(v)
	case []byte:
		e.long(anyBytes)
		e.bytes(v)
	default:
		if left <= 0 {
			e.fail(tooDeep + "; a value that contains itself cannot be encoded")
			return
		}
		e.anyParts(plain, left-1)
	}
}

func (e *encoder) anyParts(v any, left int) {
	switch v := v.(type) {
	case []any:
		e.long(anyArray)
		if len(v) > 0 {
			e.long(int64(len(v)))
		}
		for i, elem := range v {
			e.any(elem, left)
			if e.failed != nil {
				layout.UnderIndex(e.failed, i)
				return
			}
		}
	case map[string]any:
		e.long(anyMap)
		if len(v) > 0 {
			e.long(int64(len(v)))
		}
		for key, elem := range v {
			e.text(key)
			e.any(elem, left)
			if e.failed != nil {
				layout.Under(e.failed, "/"+layout.Escape(key))
				return
			}
		}
	}
	e.long(0)
}
