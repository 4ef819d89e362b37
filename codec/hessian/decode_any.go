package hessian

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"unsafe"
)

// any reads the next value into what a target of type any gets.
func (d *Decoder) any() any {
	tag := d.peek()
	if d.fault != nil {
		return nil
	}
	switch kinds[tag] {
	case kindString:
		d.pos++
		return d.boxString(d.string(tag))
	case kindNull:
		d.pos++
		return nil
	case kindBool:
		d.pos++
		return tag == tagTrue
	case kindInt:
		d.pos++
		return int32(d.number(tag).whole)
	case kindLong:
		d.pos++
		return d.number(tag).whole
	case kindDouble:
		d.pos++
		return d.boxDouble(d.number(tag).float)
	case kindBinary:
		d.pos++
		return d.binary(tag)
	case kindDate:
		d.pos++
		return d.time(tag)
	case kindRef:
		return d.anyReference()
	case kindList, kindMap, kindObject, kindClass:
		return d.anyNested()
	}
	d.mismatch("a value")
	return nil
}

// Strings and doubles in an any need memory of their own. It is taken for up to boxed of them at once.
const boxed = 8

var (
	stringWord = func() unsafe.Pointer { var v any = ""; return (*emptyInterface)(unsafe.Pointer(&v)).typ }()
	doubleWord = func() unsafe.Pointer { var v any = 0.0; return (*emptyInterface)(unsafe.Pointer(&v)).typ }()
)

func (d *Decoder) boxString(s string) (v any) {
	if len(d.texts) == cap(d.texts) {
		d.texts = make([]string, 0, min(boxed, 1+(len(d.data)-d.pos)/4))
	}
	d.texts = append(d.texts, s)
	*(*emptyInterface)(unsafe.Pointer(&v)) = emptyInterface{stringWord, unsafe.Pointer(&d.texts[len(d.texts)-1])}
	return v
}

func (d *Decoder) boxDouble(f float64) (v any) {
	if len(d.doubles) == cap(d.doubles) {
		d.doubles = make([]float64, 0, min(boxed, 1+(len(d.data)-d.pos)/8))
	}
	d.doubles = append(d.doubles, f)
	*(*emptyInterface)(unsafe.Pointer(&v)) = emptyInterface{doubleWord, unsafe.Pointer(&d.doubles[len(d.doubles)-1])}
	return v
}

// anyNested reads a list, a map or an object.
func (d *Decoder) anyNested() (v any) {
	tag, ok := d.valueTag()
	if !ok {
		return nil
	}
	if !d.enter() {
		return nil
	}
	start := d.pos
	switch kinds[tag] {
	case kindList:
		v = d.anyList(start)
	case kindObject:
		v = d.anyObject(start)
	case kindMap:
		v = d.anyMap(start)
	default: // after the definition of a class anything may follow
		v = d.any()
	}
	d.depth--
	return v
}

func (d *Decoder) anyList(start int) any {
	number := d.begin(start, nil, nil)
	typ, n, ok := d.listHead()
	if !ok {
		return nil
	}
	var list *List
	var v any
	if typ != "" {
		list = &List{Type: d.keep(typ)}
		v = list
		d.setAny(number, v)
	}
	if n < 0 {
		items := []any{}
		for !d.atEnd() {
			if items = append(items, d.any()); d.fault != nil {
				underIndex(d.fault, len(items)-1)
				return nil
			}
		}
		if list == nil {
			v = items
			d.setAny(number, v)
		} else {
			list.Items = items
		}
		d.end(number)
		return v
	}
	var items []any
	if list == nil {
		items, v = newAnys(n)
		d.setAny(number, v)
	} else {
		items = make([]any, n)
		list.Items = items
	}
	for i := range items {
		d.promised--
		if items[i] = d.any(); d.fault != nil {
			underIndex(d.fault, i)
			return nil
		}
	}
	d.end(number)
	return v
}

// shortList is a short list and the header that an any points to, in one piece.
type shortList struct {
	items  []any
	inline [4]any
}

var anysWord = func() unsafe.Pointer { var v any = []any{}; return (*emptyInterface)(unsafe.Pointer(&v)).typ }()

// newAnys returns a list of n nils, and the same list as an any.
func newAnys(n int) (items []any, v any) {
	if n > 4 {
		items = make([]any, n)
		return items, items
	}
	list := new(shortList)
	list.items = list.inline[:n:n]
	*(*emptyInterface)(unsafe.Pointer(&v)) = emptyInterface{anysWord, unsafe.Pointer(&list.items)}
	return list.items, v
}

// peekType returns the type of the map whose tag is next, without taking it, or "".
func (d *Decoder) peekType() (typ string) {
	if d.data[d.pos] != tagTypedMap {
		return ""
	}
	pos, next, types := d.pos, d.nextTyp, len(d.types)
	d.pos++
	typ = d.typeName()
	d.pos, d.nextTyp, d.types = pos, next, d.types[:types]
	return typ
}

// registeredStruct reads an object, or a map where class is -1, into the Go struct that is registered for it.
func (d *Decoder) registeredStruct(p *plan, start, class int) any {
	own := reflect.New(p.typ)
	v := own.Interface()
	number := d.begin(start, p, own.UnsafePointer())
	d.setAny(number, v) // what is inside may refer to it
	var ok bool
	if class >= 0 {
		ok = d.fields(class, p, own.UnsafePointer())
	} else if _, ok = d.mapHead(); ok {
		ok = d.members(p, own.UnsafePointer())
	}
	if !ok {
		return nil
	}
	d.end(number)
	return v
}

func (d *Decoder) anyMap(start int) any {
	if typ := d.peekType(); typ != "" && d.registered(typ) != nil {
		return d.registeredStruct(d.registered(typ), start, -1)
	}
	number := d.begin(start, nil, nil)
	typ, ok := d.mapHead()
	if !ok {
		return nil
	}
	if next := d.peek(); typ != "" || next != tagEnd && !isString(next) {
		m := &Map{Type: d.keep(typ)}
		d.setAny(number, m)
		if !d.entries(m) {
			return nil
		}
		d.end(number)
		return m
	}
	made := make(map[string]any)
	var v any = made
	d.setAny(number, v)
	for !d.atEnd() {
		tag := d.peek()
		if !isString(tag) {
			return d.mixed(number, made)
		}
		d.pos++
		key := d.string(tag)
		value := d.any()
		if d.fault != nil {
			under(d.fault, key)
			return nil
		}
		made[key] = value
	}
	d.end(number)
	return v
}

// mixed goes on with a map whose first keys were strings, but not all.
func (d *Decoder) mixed(number int, so map[string]any) any {
	r := &d.refs[number]
	if r.referred {
		d.fail("a map that contains itself and has keys that are strings and others: read it into a Map")
		return nil
	}
	m := &Map{}
	for _, key := range slices.Sorted(maps.Keys(so)) {
		m.Entries = append(m.Entries, Entry{key, so[key]})
	}
	r.any = m
	if !d.entries(m) {
		return nil
	}
	d.end(number)
	return m
}

// entries reads entries up to the end of the map.
func (d *Decoder) entries(m *Map) bool {
	for !d.atEnd() {
		key := d.any()
		value := d.any()
		if d.fault != nil {
			underIndex(d.fault, len(m.Entries))
			return false
		}
		m.Entries = append(m.Entries, Entry{key, value})
	}
	return d.fault == nil
}

func (d *Decoder) anyObject(start int) any {
	class, ok := d.instance()
	if !ok {
		return nil
	}
	if p := d.registered(d.defs[class].name); p != nil {
		return d.registeredStruct(p, start, class)
	}
	o := new(Object)
	number := d.begin(start, nil, nil)
	d.setAny(number, o)
	if !d.objectFields(class, o) {
		return nil
	}
	d.end(number)
	v := o.known()
	if v != any(o) {
		d.refs[number].any = v
	}
	return v
}

// objectFields reads the fields of an object in the order of its class.
func (d *Decoder) objectFields(class int, o *Object) bool {
	var names []string
	o.Class, names = d.expose(class)
	if !d.promise(len(names)) {
		return false
	}
	o.Fields = make([]Field, len(names))
	for i := range o.Fields {
		d.promised--
		o.Fields[i] = Field{names[i], d.any()}
		if d.fault != nil {
			under(d.fault, names[i])
			return false
		}
	}
	return true
}

// known returns the Go value of an object whose class has a type in Go, and o itself for others.
func (o *Object) known() any {
	switch o.Class {
	case "java.math.BigDecimal":
		if s, ok := o.content().(string); ok && Decimal(s).valid() {
			return Decimal(s)
		}
	case "java.math.BigInteger":
		if i, ok := bigIntOf(o); ok {
			return i
		}
	case "java.sql.Date", "java.sql.Time", "java.sql.Timestamp":
		if t := o.content(); t != nil {
			return t
		}
	}
	if p := registeredAs(o.Class, opString); p != nil {
		if s, ok := o.content().(string); ok {
			return reflect.ValueOf(s).Convert(p.typ).Interface()
		}
	}
	if strings.Contains(o.Class, "caucho.hessian.io.") {
		if v := o.unboxed(); v != nil {
			return v
		}
	}
	return o
}

// unboxed is the number in a handle, by which Java's library distinguishes a Byte, Short or Float from other numbers.
func (o *Object) unboxed() any {
	switch n := o.content().(type) {
	case int32:
		switch {
		case strings.HasSuffix(o.Class, ".ByteHandle") && n == int32(int8(n)):
			return int8(n)
		case strings.HasSuffix(o.Class, ".ShortHandle") && n == int32(int16(n)):
			return int16(n)
		}
	case float64:
		if strings.HasSuffix(o.Class, ".FloatHandle") {
			return float32(n)
		}
	}
	return nil
}
