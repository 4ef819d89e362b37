package native

// skip passes over a value of the writer's type r, with the checks of decoding it. The time is in proportion to the bytes: a
// type that takes no bytes is passed at once.
func (d *decoder) skip(s *Schema, r ref, left int) bool {
	if s.minAt(r) == 0 {
		return true
	}
	kind := s.kindAt(r)
	switch {
	case kind == Struct:
		for _, field := range s.defs[r-firstDef].solid {
			if !d.skip(s, field, left) {
				return false
			}
		}
		return true
	case kind < Pointer && kind != Interface:
		return d.skipScalar(kind)
	case kind == Array && s.defs[r-firstDef].elem == ref(Uint8): // no level of its own, as in decoding
		d.take(s.minAt(r))
		return d.fault == nil
	case left == 0:
		return d.fail("more than 128 pointers, slices, arrays, maps and interfaces inside each other")
	case kind == Interface:
		return d.skipInterface()
	}
	def := &s.defs[r-firstDef]
	switch kind {
	case Pointer:
		return !d.presence() && d.fault == nil || d.fault == nil && d.skip(s, def.elem, left-1)
	case Array:
		return d.skipMany(s, def.length, left-1, def.elem)
	case Slice:
		return d.skipCounted(s, left-1, s.minAt(def.elem), def.elem)
	}
	return d.skipCounted(s, left-1, addMin(s.minAt(def.key), s.minAt(def.elem)), def.key, def.elem)
}

func (d *decoder) skipCounted(s *Schema, left int, least uint64, parts ...ref) bool {
	n, ok := d.count(least)
	if !ok || n < 0 {
		return ok
	}
	if least == 0 {
		return d.padding(n)
	}
	return d.skipMany(s, uint64(n), left, parts...)
}

func (d *decoder) skipMany(s *Schema, n uint64, left int, parts ...ref) bool {
	for range n {
		for _, part := range parts {
			if !d.skip(s, part, left) {
				return false
			}
		}
	}
	return true
}

func (d *decoder) skipScalar(kind Kind) bool {
	switch kind {
	case Bool:
		if d.byte() > 1 {
			d.fail("a bool that is not 0 or 1")
		}
	case Int8, Uint8:
		d.byte()
	case Float32, Float64, Complex64, Complex128:
		d.take(kind.minBytes())
	case String, Binary, Text:
		d.take(d.uvarint())
	case Bytes:
		if n := d.uvarint(); n > 0 {
			d.take(n - 1)
		}
	case Time:
		d.time()
	default:
		d.uvarint()
	}
	return d.fault == nil
}

// skipInterface passes over a value without a look at its type, which need not be known here.
func (d *decoder) skipInterface() bool {
	n := d.uvarint()
	if n == 0 {
		return d.fault == nil
	}
	d.take(n)
	d.take(uint64(headerBytes))
	d.take(d.uvarint())
	return d.fault == nil
}
