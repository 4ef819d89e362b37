package hessian

import (
	"reflect"
	"unsafe"
)

// Lists, maps and objects are numbered in the order in which they begin, and a reference is such a number. What a
// number stands for may be wanted as more than one Go type, or may have been skipped when it came by. So a number keeps
// the place of its value in the data, and where a reference wants a type that the value was not read into yet, the value
// is read there once more.

// numbered is a value that can be referred to.
type numbered struct {
	at       int            // of its tag
	size     int            // in bytes, once it has ended
	nextDef  int32          // what the counters were there
	nextTyp  int32          //
	open     int32          // how many readings of it have not ended
	referred bool           // to the value in any
	plan     *plan          // the first Go type it was read into, or nil
	ptr      unsafe.Pointer // its address as that type
	any      any            // what it is for a target of type any, or nil
}

// view is a value that was read into one more Go type.
type view struct {
	number int
	plan   *plan
}

// begin numbers the value whose tag is at start. Where p is not nil, the value is being read to ptr, which stays its
// address.
func (d *Decoder) begin(start int, p *plan, ptr unsafe.Pointer) (number int) {
	number = d.next
	d.next++
	if number == len(d.refs) {
		d.refs = append(d.refs, numbered{at: start, nextDef: int32(d.nextDef), nextTyp: int32(d.nextTyp), open: 1, plan: p, ptr: ptr})
		return number
	}
	r := &d.refs[number]
	r.open++
	switch {
	case p == nil:
	case r.plan == nil:
		r.plan, r.ptr = p, ptr
	case r.plan != p:
		if d.views == nil {
			d.views = make(map[view]unsafe.Pointer)
		}
		if v := (view{number, p}); d.views[v] == nil {
			d.views[v] = ptr
		}
	}
	return number
}

func (d *Decoder) end(number int) {
	r := &d.refs[number]
	r.open--
	r.size = d.pos - r.at
}

// setAny records what a value is for targets of type any.
func (d *Decoder) setAny(number int, v any) {
	if r := &d.refs[number]; r.any == nil {
		r.any = v
	}
}

// refNumber reads a reference, whose tag is next.
func (d *Decoder) refNumber() (number int, ok bool) {
	start := d.pos
	d.pos++
	number = d.int()
	if d.fault == nil && number >= d.next {
		d.pos = start
		d.fail("a reference to a value that has not begun")
	}
	return number, d.fault == nil
}

// referred returns the address of a value as type p, or nil and a fault.
func (d *Decoder) referred(number int, p *plan) unsafe.Pointer {
	r := &d.refs[number]
	if r.plan == p {
		return r.ptr
	}
	if ptr := d.views[view{number, p}]; ptr != nil {
		return ptr
	}
	if ptr := addressAs(r.any, p); ptr != nil {
		return ptr
	}
	ptr := p.new()
	if !d.again(number, p, ptr) {
		return nil
	}
	return ptr
}

// addressAs returns the address of what an any holds if it holds or points to a p that is shared, and else nil.
func addressAs(v any, p *plan) unsafe.Pointer {
	t := reflect.TypeOf(v)
	switch {
	case t == nil:
		return nil
	case t.Kind() == reflect.Pointer && t.Elem() == p.typ:
		return (*emptyInterface)(unsafe.Pointer(&v)).data
	case t == p.typ && (t.Kind() == reflect.Map || t.Kind() == reflect.Slice):
		return addressIn(v, t)
	}
	return nil
}

// again reads a numbered value once more, into another type.
func (d *Decoder) again(number int, p *plan, ptr unsafe.Pointer) bool {
	if !d.enter() {
		return false
	}
	pos, promised, next, nextDef, nextTyp := d.pos, d.promised, d.next, d.nextDef, d.nextTyp
	r := d.refs[number]
	d.pos, d.promised, d.next, d.nextDef, d.nextTyp = r.at, 0, number, int(r.nextDef), int(r.nextTyp)
	ok := d.value(p, ptr)
	if ok {
		d.reread += d.pos - r.at
		if d.reread > maxReread+rereadFactor*len(d.data) {
			return d.fail("references that want too much of the data as other types than it was read into")
		}
		d.pos, d.promised, d.next, d.nextDef, d.nextTyp = pos, promised, next, nextDef, nextTyp
	}
	d.depth--
	return ok
}

// reference reads a reference into a value of type p, which is no pointer.
func (d *Decoder) reference(p *plan, at unsafe.Pointer) bool {
	start := d.pos
	number, ok := d.refNumber()
	if !ok {
		return false
	}
	from := d.referred(number, p)
	if from == nil {
		return false
	}
	if from == at {
		return true
	}
	if d.refs[number].open > 0 && !p.whole(from) {
		d.pos = start
		return d.fail("a value that contains itself: only a pointer, a map or an any can hold it")
	}
	switch p.op {
	case opSlice, opAnySlice, opMap, opAnyMap:
	default:
		if !d.repeat(d.refs[number].size) {
			return false
		}
	}
	p.value(at).Set(p.value(from))
	return true
}

// Where a reference becomes a copy, a value of n bytes costs as much as if it were written twice, at the latest when it
// is encoded again. So that a small message cannot stand for a large one, what it repeats is bounded: by maxRepeated
// bytes, or by repeatFactor times the data if that is more. What is read again takes memory, so its bound is closer.
const (
	maxRepeated  = 1 << 20
	repeatFactor = 64
	maxReread    = 4 << 10
	rereadFactor = 8
)

func (d *Decoder) repeat(n int) bool {
	d.repeated += n
	return d.repeated <= max(maxRepeated, repeatFactor*len(d.data)) || d.fail("references by value that repeat too much")
}

// whole reports whether a copy of a value that is still being read will be what the value becomes: a map, or a slice that has
// its memory.
func (p *plan) whole(at unsafe.Pointer) bool {
	switch p.op {
	case opMap, opAnyMap, opSlice, opAnySlice:
		return *(*unsafe.Pointer)(at) != nil
	}
	return false
}

// anyReference reads a reference into an any.
func (d *Decoder) anyReference() any {
	number, ok := d.refNumber()
	if !ok {
		return nil
	}
	if d.refs[number].any == nil {
		var v any
		if !d.again(number, anyPlan, unsafe.Pointer(&v)) {
			return nil
		}
		d.setAny(number, v)
	}
	r := &d.refs[number]
	r.referred = true
	switch r.any.(type) {
	case *Object, map[string]any, []any, *List, *Map:
	default:
		if k := reflect.TypeOf(r.any).Kind(); k != reflect.Pointer && k != reflect.Slice && k != reflect.Map && !d.repeat(r.size) {
			return nil
		}
	}
	return r.any
}
