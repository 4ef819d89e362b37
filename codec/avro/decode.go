package avro

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/layout"
)

const endsEarly = "the data ends inside a value"

// Bounds on the work on values that take no bytes: a schema can nest them so that their number doubles with each level.
const (
	firstSteps   = 1024
	stepsPerByte = 16
	bytesPerStep = 16 // of memory, for what takes no bytes of the message
	emptyMap     = 16 // steps for a map[string]any
)

// decoder reads one value from data. The library's reader is not used because it does not know how many bytes are left, and so
// takes memory for whatever length it finds. The first fault ends it.
type decoder struct {
	data     []byte
	pos      int
	start    int // where data begins in the message
	promised int // bytes behind pos that belong to elements already counted
	steps    int // how many more records and their fields may be visited
	strings  layout.Strings
	failed   *codec.Error
}

func (d *decoder) fail(text string) {
	if d.failed == nil {
		d.failed = fault(d.start+d.pos, text)
	}
}

// value reads into at. left is the number of levels that may follow inside the value.
func (d *decoder) value(r *reader, at unsafe.Pointer, left int) {
	switch r.code {
	case readFail:
		d.misfit(r)
	case readNull:
		r.typ.Zero(at)
	case readBool:
		*(*bool)(at) = d.bool()
	case readInteger:
		d.integer(r.typ, at)
	case readInt:
		setFloat(r.typ.Kind, float64(d.long()), at)
	case readFloat:
		setFloat(r.typ.Kind, float64(d.float()), at)
	case readDouble:
		*(*float64)(at) = d.double()
	case readText:
		d.textInto(r.typ, at)
	case readFixed:
		d.fixed(r, at)
	case readUint64:
		if b := d.take(8); b != nil {
			*(*uint64)(at) = binary.BigEndian.Uint64(b)
		}
	case readMicros:
		*(*time.Time)(at) = time.UnixMicro(d.long()).UTC()
	case readMillis:
		*(*time.Time)(at) = time.UnixMilli(d.long()).UTC()
	case readEnum:
		if i := d.long(); i >= 0 && i < int64(len(r.symbols)) {
			*(*string)(at) = r.symbols[i]
		} else {
			d.fail(fmt.Sprintf("symbol %d of an enum with %d", i, len(r.symbols)))
		}
	default:
		if left == 0 {
			d.fail(tooDeep)
			return
		}
		d.nested(r, at, left-1)
	}
}

// misfit reports that what the writer has at this place does not fit the target.
func (d *decoder) misfit(r *reader) {
	if d.failed == nil {
		d.fail("")
		d.failed.Want, d.failed.Got = "what fits "+r.typ.Go.String(), "Avro's "+r.failure
	}
}

// nested reads a value that counts as a level of nesting.
func (d *decoder) nested(r *reader, at unsafe.Pointer, left int) {
	switch r.code {
	case readSkip:
		d.skip(r.schema, 2*left+2) // an interface is a record and what it holds
	case readDynamic:
		*(*any)(at) = d.dynamic(r.schema, left)
	case readPointer:
		start := d.pos
		*(*unsafe.Pointer)(at) = r.typ.New()
		d.value(r.elem, *(*unsafe.Pointer)(at), left)
		if d.pos == start {
			d.step(int(r.typ.Elem.Size) / bytesPerStep)
		}
	case readUnion:
		i := d.long()
		if i < 0 || i >= int64(len(r.branches)) {
			d.fail(fmt.Sprintf("branch %d of a union with %d", i, len(r.branches)))
			return
		}
		d.value(r.branches[i], at, left+1)
	case readRecord:
		d.record(r, at, left)
	case readArray:
		d.array(r, at, left)
	case readMap, readEntries:
		d.mapping(r, at, left)
	}
}

// step counts work that may take no bytes.
func (d *decoder) step(n int) bool {
	d.steps -= n
	if d.steps < 0 {
		d.fail("more values without content than the message has room for")
	}
	return d.failed == nil
}

func (d *decoder) record(r *reader, at unsafe.Pointer, left int) {
	if !d.step(1 + len(r.fields)) {
		return
	}
	for i := range r.fields {
		f := &r.fields[i]
		d.value(f.read, unsafe.Add(at, f.off), left)
		if d.failed != nil {
			layout.Under(d.failed, f.step)
			return
		}
	}
}

// count reads how many elements the next block of an array or map has. They are promised the bytes that they take at least,
// so that arrays inside of them cannot claim these once more.
func (d *decoder) count(hollow bool) int {
	n := d.long()
	if n < 0 {
		d.long() // how many bytes they have
		n = -n
	}
	if d.failed != nil {
		return 0
	}
	free := int64(len(d.data) - d.pos - d.promised)
	if hollow {
		free = int64(d.steps)
	}
	if n < 0 || n > free { // the lowest long has no negative
		d.fail(fmt.Sprintf("a count of %d elements, but only %d bytes for them", n, max(free, 0)))
		return 0
	}
	if hollow {
		d.step(int(n))
	} else {
		d.promised += int(n)
	}
	return int(n)
}

// fulfil takes one element out of what is promised.
func (d *decoder) fulfil(hollow bool) {
	if !hollow {
		d.promised--
	}
}

func (d *decoder) array(r *reader, at unsafe.Pointer, left int) {
	total := 0
	for {
		n := d.count(r.hollow)
		if d.failed != nil || n == 0 {
			break
		}
		if r.hollow && !d.step(n*int(r.typ.Elem.Size)/bytesPerStep) {
			return
		}
		base, ok := d.grow(r.typ, at, total, n)
		if !ok {
			return
		}
		for i := range n {
			d.fulfil(r.hollow)
			d.value(r.elem, unsafe.Add(base, uintptr(total+i)*r.typ.Elem.Size), left)
			if d.failed != nil {
				layout.UnderIndex(d.failed, total+i)
				return
			}
		}
		total += n
	}
	if r.typ.Kind == layout.Array && total != r.typ.Len {
		d.wrongLength(r.typ, total)
	}
	if r.typ.Kind == layout.Slice && total == 0 {
		*(*layout.SliceHeader)(at) = r.typ.MakeSlice(0)
	}
}

// grow allocates memory for n elements behind those that are there, and returns the address of the first of all.
func (d *decoder) grow(t *layout.Type, at unsafe.Pointer, there, n int) (unsafe.Pointer, bool) {
	if t.Kind == layout.Array {
		if there+n > t.Len {
			d.wrongLength(t, there+n)
		}
		return at, d.failed == nil
	}
	h := (*layout.SliceHeader)(at)
	if there == 0 {
		*h = t.MakeSlice(n)
		return h.Data, true
	}
	list := reflect.NewAt(t.Go, at).Elem()
	list.Grow(n)
	list.SetLen(there + n)
	return h.Data, true
}

func (d *decoder) wrongLength(t *layout.Type, n int) {
	if d.failed == nil {
		d.fail("")
		d.failed.Want, d.failed.Got = fmt.Sprintf("%d elements for %s", t.Len, t.Go), fmt.Sprint(n)
	}
}

func (d *decoder) mapping(r *reader, at unsafe.Pointer, left int) {
	if r.typ.Texts && r.code == readMap && r.elem.code == readText {
		*(*map[string]string)(at) = d.texts()
		return
	}
	n := d.count(r.hollow)
	capacity := n
	if r.hollow { // all keys are the same then
		capacity = 0
	}
	entries := r.typ.MakeMap(capacity)
	defer entries.Release()
	for i := 0; d.failed == nil && n > 0; n = d.count(r.hollow) {
		for range n {
			d.fulfil(r.hollow)
			entries.Clear()
			d.value(r.key, entries.Key, left)
			if d.failed == nil {
				d.value(r.elem, entries.Elem, left)
			}
			if d.failed == nil && !entries.Put() {
				d.fail("a map with the same key twice")
			}
			if d.failed != nil {
				layout.Under(d.failed, entries.Step(i))
				return
			}
			i++
		}
	}
	entries.Store(at)
}

// texts is mapping for the most common map.
func (d *decoder) texts() map[string]string {
	n := d.count(false)
	made := make(map[string]string, n)
	for total := n; d.failed == nil && n > 0; total += n {
		for range n {
			d.promised--
			key := d.text()
			made[key] = d.text()
			if d.failed != nil {
				layout.Under(d.failed, "/"+layout.Escape(key))
				return nil
			}
		}
		if len(made) < total {
			d.fail("a map with the same key twice")
		}
		n = d.count(false)
	}
	return made
}

func (d *decoder) integer(t *layout.Type, at unsafe.Pointer) {
	if !layout.SetInteger(t.Kind, at, d.long()) {
		d.fail("a number out of the range of " + t.Go.String())
	}
}

func setFloat(kind layout.Kind, v float64, at unsafe.Pointer) {
	if kind == layout.Float32 {
		*(*float32)(at) = float32(v)
		return
	}
	*(*float64)(at) = v
}

func (d *decoder) textInto(t *layout.Type, at unsafe.Pointer) {
	b := d.bytes()
	if d.failed != nil {
		return
	}
	if (t.Kind == layout.String || t.Kind == layout.Text) && !utf8.Valid(b) {
		d.fail("a string that is not valid UTF-8")
		return
	}
	switch t.Kind {
	case layout.String:
		*(*string)(at) = d.strings.Copy(b, len(d.data)-d.pos)
	case layout.Bytes:
		*(*[]byte)(at) = append([]byte{}, b...)
	default:
		if err := t.Unmarshal(at, b); err != nil {
			d.fail(err.Error())
			d.failed.Err = err
		}
	}
}

func (d *decoder) fixed(r *reader, at unsafe.Pointer) {
	b := d.take(r.size)
	if r.typ.Kind == layout.Bytes {
		*(*[]byte)(at) = append([]byte{}, b...)
		return
	}
	copy(unsafe.Slice((*byte)(at), r.typ.Len), b)
}
