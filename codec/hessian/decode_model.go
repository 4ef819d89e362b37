package hessian

import (
	"unsafe"
)

// object reads an object, or a map whose keys are strings, into an Object.
func (d *Decoder) object(p *plan, at unsafe.Pointer, tag byte) bool {
	start, o := d.pos, (*Object)(at)
	*o = Object{}
	switch {
	case isObject(tag):
		class, ok := d.instance()
		if !ok {
			return false
		}
		number := d.begin(start, p, at)
		if d.registered(d.defs[class].name) == nil && registeredAs(d.defs[class].name, opString) == nil {
			d.setAny(number, o)
		}
		ok = d.objectFields(class, o)
		d.end(number)
		return ok
	case !isMap(tag):
		return d.mismatch("object")
	}
	number := d.begin(start, p, at)
	typ, ok := d.mapHead()
	if !ok {
		return false
	}
	o.Class = d.keep(typ)
	for !d.atEnd() {
		tag := d.byte()
		if d.fault == nil && !isString(tag) {
			d.pos--
			return d.mismatch("a string as the key of a field")
		}
		name := d.string(tag)
		value := d.any()
		if d.fault != nil {
			under(d.fault, name)
			return false
		}
		o.Fields = append(o.Fields, Field{name, value})
	}
	d.end(number)
	return d.fault == nil
}

// list reads a list into a List.
func (d *Decoder) list(p *plan, at unsafe.Pointer, tag byte) bool {
	if !isList(tag) {
		return d.mismatch("list")
	}
	l := (*List)(at)
	number := d.begin(d.pos, p, at)
	typ, n, ok := d.listHead()
	if !ok {
		return false
	}
	*l = List{Type: d.keep(typ), Items: make([]any, max(n, 0))}
	if typ != "" {
		d.setAny(number, l)
	}
	for i := range l.Items {
		d.promised--
		if l.Items[i] = d.any(); d.fault != nil {
			underIndex(d.fault, i)
			return false
		}
	}
	for n < 0 && !d.atEnd() {
		l.Items = append(l.Items, d.any())
		if d.fault != nil {
			underIndex(d.fault, len(l.Items)-1)
			return false
		}
	}
	d.end(number)
	return d.fault == nil
}

// mapped reads a map, or an object, into a Map.
func (d *Decoder) mapped(p *plan, at unsafe.Pointer, tag byte) bool {
	start, m := d.pos, (*Map)(at)
	*m = Map{}
	switch {
	case isObject(tag):
		class, ok := d.instance()
		if !ok {
			return false
		}
		number := d.begin(start, p, at)
		var o Object
		ok = d.objectFields(class, &o)
		m.Type = o.Class
		for _, f := range o.Fields {
			m.Entries = append(m.Entries, Entry{f.Name, f.Value})
		}
		d.end(number)
		return ok
	case !isMap(tag):
		return d.mismatch("map")
	}
	number := d.begin(start, p, at)
	typ, ok := d.mapHead()
	if !ok {
		return false
	}
	m.Type = d.keep(typ)
	if typ != "" && d.registered(typ) == nil {
		d.setAny(number, m)
	}
	ok = d.entries(m)
	d.end(number)
	return ok
}
