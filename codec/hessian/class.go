package hessian

import (
	"bytes"
)

// definition is a class as the stream defines it.
type definition struct {
	name  string // a part of the data
	from  int    // its fields are d.names[from:from+count]
	count int

	plan    *plan   // what fields are for
	fields  []int32 // index of each field in the plan, or -1; nil where they are the plan's own
	exposed bool    // the names are copies
}

// define reads a class definition, whose tag is next.
func (d *Decoder) define() bool {
	start := d.pos
	d.pos++
	name := d.name()
	count := d.int()
	if d.fault != nil {
		return false
	}
	if count > len(d.data)-d.pos {
		return d.fail("a class of more fields than there are bytes left")
	}
	known := d.nextDef < len(d.defs) // the data is being read once more
	def := definition{name: name, from: len(d.names), count: count}
	if p := d.registered(name); p != nil {
		// Mostly a peer has the same class with the same fields in the same order.
		if c := p.class.Load(); c != nil && len(p.fields) == count && bytes.HasPrefix(d.data[start:], c.definition) {
			def.plan = p
			d.pos = start + len(c.definition)
			if !known {
				for i := range p.fields {
					d.names = append(d.names, p.fields[i].name)
				}
			}
			count = 0
		}
	}
	for range count {
		field := d.name()
		if d.fault != nil {
			return false
		}
		if !known {
			d.names = append(d.names, field)
		}
	}
	if !known {
		d.defs = append(d.defs, def)
	}
	d.nextDef++
	return true
}

// instance reads the start of an object, whose tag is next, and returns the index of its class.
func (d *Decoder) instance() (class int, ok bool) {
	start := d.pos
	if tag := d.byte(); tag == tagObject {
		class = d.int()
	} else {
		class = int(tag - tagShortObject)
	}
	if d.fault != nil {
		return 0, false
	}
	if class >= d.nextDef {
		d.pos = start
		return 0, d.fail("an object of a class that was not defined")
	}
	if d.defs[class].count > len(d.data)-d.pos {
		return 0, d.fail(endsEarly)
	}
	return class, true
}

// match finds out which field of p each field of a class is.
func (d *Decoder) match(class int, p *plan) {
	def := &d.defs[class]
	if def.plan == p {
		return
	}
	def.plan = p
	def.fields = make([]int32, def.count)
	for i, name := range d.names[def.from : def.from+def.count] {
		def.fields[i] = -1
		if at, ok := p.byName[name]; ok {
			def.fields[i] = int32(at)
		}
	}
}

// expose returns the fields of a class as strings that may be kept.
func (d *Decoder) expose(class int) (name string, fields []string) {
	def := &d.defs[class]
	fields = d.names[def.from : def.from+def.count]
	if !def.exposed {
		def.name = d.keep(def.name)
		for i := range fields {
			fields[i] = d.keep(fields[i])
		}
		def.exposed = true
	}
	return def.name, fields
}

// typeName reads the name of a list's or map's type. It is a part of the data.
func (d *Decoder) typeName() string {
	tag := d.byte()
	if d.fault != nil {
		return ""
	}
	if !isString(tag) {
		start := d.pos - 1
		d.pos = start
		at := d.int()
		if d.fault == nil && at >= d.nextTyp {
			d.pos = start
			d.fail("a type that was not named before")
		}
		if d.fault != nil {
			return ""
		}
		return d.types[at]
	}
	name, _ := d.rawString(tag)
	if d.fault != nil {
		return ""
	}
	if d.nextTyp == len(d.types) {
		d.types = append(d.types, name)
	}
	d.nextTyp++
	return name
}

// listHead reads the start of a list, whose tag is next. n is -1 where the list has an end instead of a count.
func (d *Decoder) listHead() (typ string, n int, ok bool) {
	tag := d.byte()
	switch {
	case tag >= 0x70 && tag <= 0x77:
		typ, n = d.typeName(), int(tag-tagTypedShort)
	case tag >= 0x78 && tag <= 0x7f:
		n = int(tag - tagShortList)
	case tag == tagTypedList:
		typ = d.typeName()
		n = d.int()
	case tag == tagList:
		n = d.int()
	case tag == tagTypedOpen:
		typ, n = d.typeName(), -1
	case tag == tagOpenList:
		n = -1
	}
	if d.fault != nil || n > 0 && !d.promise(n) {
		return "", 0, false
	}
	return typ, n, true
}

// mapHead reads the start of a map, whose tag is next.
func (d *Decoder) mapHead() (typ string, ok bool) {
	if d.byte() == tagTypedMap {
		typ = d.typeName()
	}
	return typ, d.fault == nil
}

// valueTag reads the definitions before a value and returns the value's tag, which stays next.
func (d *Decoder) valueTag() (tag byte, ok bool) {
	for tag = d.peek(); tag == tagClass && d.fault == nil; tag = d.peek() {
		if !d.define() {
			return 0, false
		}
	}
	return tag, d.fault == nil
}
