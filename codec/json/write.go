package json

import (
	"encoding/base64"
	"reflect"
	"sort"
	"strconv"
	"sync"
	"time"
	"unsafe"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/sabir-go/sabir/internal/layout"
)

// writer writes one value. Its methods return false for what they leave to the library.
type writer struct {
	codec   *jsonCodec
	foreign bool // a part was written by the library
}

func (w *writer) value(dst []byte, p *plan, at unsafe.Pointer, left int) ([]byte, bool) {
	switch p.Kind {
	case layout.String:
		return appendString(dst, load[string](at))
	case layout.Int64:
		return strconv.AppendInt(dst, load[int64](at), 10), true
	case layout.Struct:
		return w.structure(dst, p, at, left-1)
	case layout.Slice:
		h := load[layout.SliceHeader](at)
		return w.list(dst, p.elem, h.Data, h.Len, left-1)
	case layout.Array:
		return w.list(dst, p.elem, at, p.Len, left-1)
	case layout.ByteArray:
		return byteArray(dst, unsafe.Slice((*byte)(at), p.Len)), left > 0
	case layout.Map:
		return w.mapping(dst, p, at, left-1)
	case layout.Pointer:
		to := load[unsafe.Pointer](at)
		if to == nil {
			return append(dst, "null"...), true
		}
		if p.elem.Kind == layout.Pointer { // of these alone a value can be made that contains itself
			left--
		}
		if left < 0 {
			return dst, false
		}
		return w.value(dst, p.elem, to, left)
	case layout.Any:
		return w.dynamic(dst, load[any](at), left)
	case layout.Custom:
		return w.other(dst, p, at)
	}
	return scalar(dst, p, at)
}

func scalar(dst []byte, p *plan, at unsafe.Pointer) ([]byte, bool) {
	switch p.Kind {
	case layout.Bool:
		return strconv.AppendBool(dst, load[bool](at)), true
	case layout.Int8:
		return strconv.AppendInt(dst, int64(load[int8](at)), 10), true
	case layout.Int16:
		return strconv.AppendInt(dst, int64(load[int16](at)), 10), true
	case layout.Int32:
		return strconv.AppendInt(dst, int64(load[int32](at)), 10), true
	case layout.Uint8:
		return strconv.AppendUint(dst, uint64(load[uint8](at)), 10), true
	case layout.Uint16:
		return strconv.AppendUint(dst, uint64(load[uint16](at)), 10), true
	case layout.Uint32:
		return strconv.AppendUint(dst, uint64(load[uint32](at)), 10), true
	case layout.Uint64:
		return strconv.AppendUint(dst, load[uint64](at), 10), true
	case layout.Float32:
		return appendFloat(dst, float64(load[float32](at)), 32)
	case layout.Float64:
		return appendFloat(dst, load[float64](at), 64)
	case layout.Bytes:
		dst = base64.StdEncoding.AppendEncode(append(dst, '"'), load[[]byte](at))
		return append(dst, '"'), true
	case layout.Time:
		out, ok := appendTime(append(dst, '"'), (*time.Time)(at))
		return append(out, '"'), ok
	}
	return dst, false
}

func byteArray(dst, bytes []byte) []byte {
	dst = append(dst, '[')
	for i, b := range bytes {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendUint(dst, uint64(b), 10)
	}
	return append(dst, ']')
}

func (w *writer) structure(dst []byte, p *plan, at unsafe.Pointer, left int) (_ []byte, ok bool) {
	if left < 0 {
		return dst, false
	}
	start := len(dst)
	for i := range p.fields {
		f := &p.fields[i]
		if f.absent != nil && f.absent(f.plan.Type, unsafe.Add(at, f.off)) {
			continue
		}
		if dst, ok = w.value(append(dst, f.key...), f.plan, unsafe.Add(at, f.off), left); !ok {
			return dst, false
		}
	}
	if len(dst) == start {
		return append(dst, '{', '}'), true
	}
	dst[start] = '{' // instead of the first comma
	return append(dst, '}'), true
}

func (w *writer) list(dst []byte, elem *plan, first unsafe.Pointer, n, left int) (_ []byte, ok bool) {
	if left < 0 {
		return dst, false
	}
	dst = append(dst, '[')
	for i := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, ok = w.value(dst, elem, unsafe.Add(first, uintptr(i)*elem.Size), left); !ok {
			return dst, false
		}
	}
	return append(dst, ']'), true
}

// entry is the place where one member of a map was written, with the comma before it.
type entry struct {
	name       string
	start, end int
}

// order is the memory for sorting the members of one map; a pool keeps it for the next.
type order struct {
	entries []entry
	copied  []byte
}

var orders = sync.Pool{New: func() any { return new(order) }}

// maxPooled is the most bytes that an order may hold and still go back to the pool.
const maxPooled = 64 << 10

func (o *order) release() {
	if cap(o.copied)+cap(o.entries)*int(unsafe.Sizeof(entry{})) > maxPooled {
		return
	}
	clear(o.entries)
	o.entries = o.entries[:0]
	orders.Put(o)
}

// An order is sorted as a sort.Interface, and not by slices.SortFunc, which takes 15 KB of each program for its type. It allocates nothing, since an
// order lies on the heap.
func (o *order) Len() int           { return len(o.entries) }
func (o *order) Less(i, j int) bool { return o.entries[i].name < o.entries[j].name }
func (o *order) Swap(i, j int)      { o.entries[i], o.entries[j] = o.entries[j], o.entries[i] }

// sorted puts the members, which fill the end of dst, into the order of their names.
func (o *order) sorted(dst []byte) []byte {
	if sort.IsSorted(o) {
		return dst
	}
	start := o.entries[0].start
	o.copied = append(o.copied[:0], dst[start:]...)
	sort.Sort(o)
	dst = dst[:start]
	for _, e := range o.entries {
		dst = append(dst, o.copied[e.start-start:e.end-start]...)
	}
	return dst
}

func (w *writer) mapping(dst []byte, p *plan, at unsafe.Pointer, left int) (_ []byte, ok bool) {
	if left < 0 {
		return dst, false
	}
	if load[unsafe.Pointer](at) == nil {
		return append(dst, '{', '}'), true
	}
	entries, n := p.Entries(at)
	defer entries.Release()
	if n == 0 {
		return append(dst, '{', '}'), true
	}
	start := len(dst)
	o := orders.Get().(*order)
	defer o.release()
	for entries.Next() {
		name, begin := load[string](entries.Key), len(dst)
		if dst, ok = appendString(append(dst, ','), name); !ok {
			return dst, false
		}
		if dst, ok = w.value(append(dst, ':'), p.elem, entries.Elem, left); !ok {
			return dst, false
		}
		o.entries = append(o.entries, entry{name, begin, len(dst)})
	}
	dst = o.sorted(dst)
	dst[start] = '{'
	return append(dst, '}'), true
}

func (w *writer) anyMap(dst []byte, m map[string]any, left int) (_ []byte, ok bool) {
	if left < 0 {
		return dst, false
	}
	if len(m) == 0 {
		return append(dst, '{', '}'), true
	}
	start := len(dst)
	o := orders.Get().(*order)
	defer o.release()
	for name, v := range m {
		begin := len(dst)
		if dst, ok = appendString(append(dst, ','), name); !ok {
			return dst, false
		}
		if dst, ok = w.dynamic(append(dst, ':'), v, left); !ok {
			return dst, false
		}
		o.entries = append(o.entries, entry{name, begin, len(dst)})
	}
	dst = o.sorted(dst)
	dst[start] = '{'
	return append(dst, '}'), true
}

// dynamic writes the value in an interface.
func (w *writer) dynamic(dst []byte, v any, left int) ([]byte, bool) {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...), true
	case string:
		return appendString(dst, v)
	case bool:
		return strconv.AppendBool(dst, v), true
	case float64:
		return appendFloat(dst, v, 64)
	case int:
		return strconv.AppendInt(dst, int64(v), 10), true
	case map[string]any:
		return w.anyMap(dst, v, left-1)
	}
	t, at, ok := layout.Source(v)
	if !ok || t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface { // of these a value can be made that contains itself
		return dst, false
	}
	p := planOf(t)
	if p == nil {
		return dst, false
	}
	return w.value(dst, p, at, left)
}

// other lets the library write a part.
func (w *writer) other(dst []byte, p *plan, at unsafe.Pointer) ([]byte, bool) {
	w.foreign = true
	v := reflect.NewAt(p.Go, at)
	if w.codec.endless(v) != nil {
		return dst, false
	}
	text, err := jsonv2.Marshal(v.Interface(), w.codec.library)
	return append(dst, text...), err == nil
}
