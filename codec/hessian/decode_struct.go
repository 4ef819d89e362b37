package hessian

import (
	"reflect"
	"unsafe"
)

func (d *Decoder) structure(p *plan, at unsafe.Pointer, tag byte) bool {
	start := d.pos
	switch {
	case isObject(tag):
		class, ok := d.instance()
		if !ok {
			return false
		}
		number := d.begin(start, p, at)
		if c := p.class.Load(); c != nil && c.name == d.defs[class].name {
			d.setAny(number, reflect.NewAt(p.typ, at).Interface())
		}
		ok = d.fields(class, p, at)
		d.end(number)
		return ok
	case isMap(tag):
		number := d.begin(start, p, at)
		if _, ok := d.mapHead(); !ok {
			return false
		}
		ok := d.members(p, at)
		d.end(number)
		return ok
	case d.converting && isString(tag):
		return d.timeStruct(p, at)
	}
	return d.mismatch("object")
}

// fields reads the fields of an object into a struct.
func (d *Decoder) fields(class int, p *plan, at unsafe.Pointer) bool {
	d.match(class, p)
	places, count := d.defs[class].fields, d.defs[class].count
	for i := range count {
		place := i
		if places != nil {
			place = int(places[i])
		}
		if place < 0 {
			if d.misnamed(p, d.names[d.defs[class].from+i]) || !d.skip() {
				def := &d.defs[class]
				under(d.fault, d.names[def.from+i])
				return false
			}
			continue
		}
		f := &p.fields[place]
		if !d.value(f.plan, unsafe.Add(at, f.off)) {
			under(d.fault, f.name)
			return false
		}
	}
	return true
}

// misnamed refuses a name that differs from that of a field in its case only, see [layout.Names].
func (d *Decoder) misnamed(p *plan, name string) bool {
	field := p.names.Like(name)
	return field != "" && !d.fail("the name "+name+" differs from "+field+" in its case only")
}

// members reads the entries of a map into a struct.
func (d *Decoder) members(p *plan, at unsafe.Pointer) bool {
	next := 0 // where the next field is, if the writer has the same order
	for !d.atEnd() {
		tag := d.byte()
		if d.fault == nil && !isString(tag) {
			d.pos--
			return d.mismatch("a string as the key of a field")
		}
		name, _ := d.rawString(tag)
		if d.fault != nil {
			return false
		}
		place := next
		if next >= len(p.fields) || p.fields[next].name != name {
			found, ok := p.byName[name]
			if !ok {
				if d.misnamed(p, name) || !d.skip() {
					under(d.fault, name)
					return false
				}
				continue
			}
			place = found
		}
		f := &p.fields[place]
		next = place + 1
		if !d.value(f.plan, unsafe.Add(at, f.off)) {
			under(d.fault, f.name)
			return false
		}
	}
	return d.fault == nil
}
