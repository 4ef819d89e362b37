package hessian

// skip reads the next value without keeping it. What it holds is numbered all the same, and can be referred to later.
func (d *Decoder) skip() bool {
	tag, ok := d.valueTag()
	if !ok {
		return false
	}
	switch {
	case isString(tag):
		d.name()
		return d.fault == nil
	case isBinary(tag):
		d.pos++
		d.rawBinary(tag)
		for tag == tagBinaryChunk && d.fault == nil {
			tag = d.byte()
			d.rawBinary(tag)
		}
		return d.fault == nil
	case isList(tag), isObject(tag), isMap(tag):
		if !d.enter() {
			return false
		}
		ok = d.skipNested(tag)
		d.depth--
		return ok
	}
	switch tag {
	case tagNull, tagTrue, tagFalse:
		d.pos++
		return true
	case tagDate:
		return d.take(9) != nil
	case tagDateMinutes:
		return d.take(5) != nil
	case tagRef:
		_, ok := d.refNumber()
		return ok
	}
	d.pos++
	if n := d.number(tag); n.kind == noNumber && d.fault == nil {
		d.pos--
		return d.mismatch("a value")
	}
	return d.fault == nil
}

func (d *Decoder) skipNested(tag byte) bool {
	start := d.pos
	count := -1
	if isObject(tag) {
		class, ok := d.instance()
		if !ok {
			return false
		}
		count = d.defs[class].count
		d.promised += count
	}
	number := d.begin(start, nil, nil)
	switch {
	case isObject(tag):
	case isList(tag):
		var ok bool
		if _, count, ok = d.listHead(); !ok {
			return false
		}
	default:
		if _, ok := d.mapHead(); !ok {
			return false
		}
	}
	for range max(count, 0) {
		d.promised--
		if !d.skip() {
			return false
		}
	}
	for pairs := isMap(tag); count < 0 && !d.atEnd(); {
		if pairs && !d.skip() || d.fault != nil || !d.skip() {
			return false
		}
	}
	d.end(number)
	return d.fault == nil
}
