package hessian

import (
	"cmp"
	"encoding"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"
)

type anyEntry struct {
	key   string
	value any
}

// anyMap appends the entries in the order of their keys, so that equal maps give equal bytes.
func (e *Encoder) anyMap(dst []byte, p *plan, m map[string]any) []byte {
	if m == nil {
		return append(dst, tagNull)
	}
	if number, before := e.begin(*(*unsafe.Pointer)(unsafe.Pointer(&m)), p, 0); before {
		return appendRef(dst, number)
	}
	dst = e.mapHead(dst, p.name())
	switch n := len(m); {
	case n == 1:
		for key, value := range m {
			dst = e.anyEntry(dst, key, value)
		}
	case n <= few:
		dst = e.fewEntries(dst, m)
	default:
		entries := make([]anyEntry, 0, n)
		for key, value := range m {
			entries = append(entries, anyEntry{key, value})
		}
		slices.SortFunc(entries, func(a, b anyEntry) int { return strings.Compare(a.key, b.key) })
		for i := range entries {
			if dst = e.anyEntry(dst, entries[i].key, entries[i].value); e.fault != nil {
				break
			}
		}
	}
	return append(dst, tagEnd)
}

func (e *Encoder) anyEntry(dst []byte, key string, value any) []byte {
	if out := appendShort(dst, key); out != nil {
		dst = out
	} else {
		dst = e.string(dst, key)
	}
	dst = e.any(dst, value)
	if e.fault != nil {
		under(e.fault, key)
	}
	return dst
}

// few is the number of entries that most maps do not exceed. They are sorted on the stack, by the first bytes of their keys
// as numbers.
const few = 10

type ranked struct {
	start uint64 // the first eight bytes of the key, or fewer
	index uint8
}

func (e *Encoder) fewEntries(dst []byte, m map[string]any) []byte {
	var entries [few]anyEntry
	var order [few]ranked
	n := 0
	for key, value := range m {
		if n == few {
			return e.fail(dst, "a map that grows while it is encoded")
		}
		entries[n] = anyEntry{key, value}
		r := ranked{startOf(key), uint8(n)}
		j := n
		for ; j > 0 && (r.start < order[j-1].start || r.start == order[j-1].start && key < entries[order[j-1].index].key); j-- {
			order[j] = order[j-1]
		}
		order[j] = r
		n++
	}
	for i := range n {
		entry := &entries[order[i].index]
		if dst = e.anyEntry(dst, entry.key, entry.value); e.fault != nil {
			break
		}
	}
	return dst
}

func startOf(s string) (start uint64) {
	b, n := unsafe.Slice(unsafe.StringData(s), len(s)), len(s)
	switch {
	case n >= 8:
		return binary.BigEndian.Uint64(b)
	case n >= 4: // the bytes that both words have are at the same place in both
		return uint64(binary.BigEndian.Uint32(b))<<32 | uint64(binary.BigEndian.Uint32(b[n-4:]))<<(64-8*n)
	}
	for i, c := range b {
		start |= uint64(c) << (56 - 8*i)
	}
	return start
}

// anyKey is a key of a map and what it is sorted by.
type anyKey struct {
	key    reflect.Value
	text   string
	number int64
}

// mapping appends a map of any Go type.
func (e *Encoder) mapping(dst []byte, p *plan, at unsafe.Pointer) []byte {
	source := *(*unsafe.Pointer)(at)
	if source == nil {
		return append(dst, tagNull)
	}
	if number, before := e.begin(source, p, 0); before {
		return appendRef(dst, number)
	}
	dst = e.mapHead(dst, p.name())
	m := p.value(at)
	start := len(e.sortable)
	for iter := m.MapRange(); iter.Next(); {
		k := anyKey{key: iter.Key()}
		if wrong := k.prepare(p.key); wrong != "" {
			return e.fail(dst, wrong)
		}
		e.sortable = append(e.sortable, k)
	}
	keys := e.sortable[start:]
	if p.key.op != opAny {
		slices.SortFunc(keys, func(a, b anyKey) int {
			return cmp.Or(cmp.Compare(a.number, b.number), strings.Compare(a.text, b.text))
		})
	}
	elem := reflect.New(p.elem.typ)
	for i := range keys {
		k := &keys[i] // the array stays even where the stack moves
		switch {
		case p.key.op == opText:
			dst = e.string(dst, k.text)
		case p.key.op == opAny:
			dst = e.any(dst, k.key.Interface())
		default:
			dst = e.value(dst, p.key, copyOf(k.key.Interface(), p.key.typ))
		}
		if e.fault != nil {
			return dst
		}
		elem.Elem().Set(m.MapIndex(k.key))
		if dst = e.value(dst, p.elem, elem.UnsafePointer()); e.fault != nil {
			under(e.fault, fmt.Sprint(k.key))
			return dst
		}
	}
	clear(keys)
	e.sortable = e.sortable[:start]
	return append(dst, tagEnd)
}

// prepare computes the sort key of k. It returns the problem with k, or "".
func (k *anyKey) prepare(p *plan) string {
	switch v := k.key; {
	case p.op == opText:
		text, err := v.Interface().(encoding.TextMarshaler).MarshalText()
		if err != nil {
			return fmt.Sprintf("a key that is a %s cannot be encoded: ", p.typ) + err.Error() // fmt would repeat a panic of Error
		}
		k.text = string(text)
	case v.Kind() == reflect.String:
		k.text = v.String()
	case v.CanInt():
		k.number = v.Int()
	case v.CanUint():
		k.number = int64(v.Uint())
	case v.CanFloat():
		k.number = int64(v.Float())
	case v.Kind() == reflect.Bool && v.Bool():
		k.number = 1
	}
	return ""
}
