package hessian

import (
	"fmt"
	"strings"
	"unsafe"
)

func (d *Decoder) slice(p *plan, at unsafe.Pointer, tag byte) bool {
	if isObject(tag) {
		return d.enumSet(p, at)
	}
	if !isList(tag) {
		return d.mismatch("list")
	}
	h := (*sliceHeader)(at)
	*h = sliceHeader{}
	number := d.begin(d.pos, p, at)
	typ, n, ok := d.listHead()
	if !ok {
		return false
	}
	if n >= 0 {
		made := p.grow(sliceHeader{}, n)
		made.len = n
		*h = made
		if p == anySlicePlan && typ == "" {
			d.setAny(number, *(*[]any)(at))
		}
		ok = d.elements(p.elem, made.data, n)
		d.end(number)
		return ok
	}
	made := p.grow(sliceHeader{}, 0)
	for !d.atEnd() {
		if made.len == made.cap {
			made = p.grow(made, 1)
		}
		made.len++
		if !d.value(p.elem, unsafe.Add(made.data, uintptr(made.len-1)*p.elem.size)) {
			underIndex(d.fault, made.len-1)
			return false
		}
	}
	*h = made
	d.end(number)
	return d.fault == nil
}

// enumSet reads the object as which Dubbo's library writes a java.util.EnumSet: it has the class of the constants, and their list.
func (d *Decoder) enumSet(p *plan, at unsafe.Pointer) bool {
	start := d.pos
	class, ok := d.instance()
	if !ok {
		return false
	}
	if !strings.HasSuffix(d.defs[class].name, ".EnumSetHandler") {
		d.pos = start
		return d.mismatch("list")
	}
	number := d.begin(start, p, at)
	from, count := d.defs[class].from, d.defs[class].count
	for i := range count {
		if name := d.names[from+i]; name != "objects" && !d.skip() || name == "objects" && !d.value(p, at) {
			under(d.fault, name)
			return false
		}
	}
	d.end(number)
	return true
}

// elements reads n values in a row. Their bytes are promised already.
func (d *Decoder) elements(p *plan, at unsafe.Pointer, n int) bool {
	for i := range n {
		d.promised--
		if !d.value(p, unsafe.Add(at, uintptr(i)*p.size)) {
			underIndex(d.fault, i)
			return false
		}
	}
	return true
}

func (d *Decoder) array(p *plan, at unsafe.Pointer, tag byte) bool {
	if !isList(tag) {
		return d.mismatch("list")
	}
	start := d.pos
	number := d.begin(start, p, at)
	_, n, ok := d.listHead()
	if !ok {
		return false
	}
	if n >= 0 {
		if n != p.length {
			d.pos = start
			return d.fail(fmt.Sprintf("a list of %d elements for a %s", n, p.typ))
		}
		ok = d.elements(p.elem, at, n)
		d.end(number)
		return ok
	}
	for n = 0; !d.atEnd(); n++ {
		if n == p.length {
			return d.fail(fmt.Sprintf("a list of more elements than a %s has", p.typ))
		}
		if !d.value(p.elem, unsafe.Add(at, uintptr(n)*p.elem.size)) {
			underIndex(d.fault, n)
			return false
		}
	}
	d.end(number)
	return d.fault == nil && (n == p.length || d.fail(fmt.Sprintf("a list of %d elements for a %s", n, p.typ)))
}
