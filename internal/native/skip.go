package native

// skip passes over a value of the writer's type r, with the checks of decoding it. The time is in proportion to the bytes: a
// type that takes no bytes is passed at once.
func (d *decoder) skip(s *Schema, r ref, left int) bool {
	if s.minAt(r) == 0 {
		return true
	}
	kind := s.kindAt(r)
	switch {
	case kind == structKind:
		for _, field := range s.defs[r-firstDef].solid {
			if !d.skip(s, field, left) {
				return false
			}
		}
		return true
	case kind < pointerKind && kind != interfaceKind:
		return d.skipScalar(kind)
	case kind == arrayKind && s.defs[r-firstDef].elem == ref(uint8Kind): // no level of its own, as in decoding
		d.take(s.minAt(r))
		return d.fault == nil
	case left == 0:
		return d.fail("more than 128 pointers, slices, arrays, maps and interfaces inside each other")
	case kind == interfaceKind:
		return d.skipInterface()
	}
	def := &s.defs[r-firstDef]
	switch kind {
	case pointerKind:
		return !d.presence() && d.fault == nil || d.fault == nil && d.skip(s, def.elem, left-1)
	case arrayKind:
		return d.skipMany(s, def.length, left-1, def.elem)
	case sliceKind:
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

func (d *decoder) skipScalar(kind valueKind) bool {
	switch kind {
	case boolKind:
		if d.byte() > 1 {
			d.fail("a bool that is not 0 or 1")
		}
	case int8Kind, uint8Kind:
		d.byte()
	case float32Kind, float64Kind, complex64Kind, complex128Kind:
		d.take(kind.minBytes())
	case stringKind, binaryKind, textKind:
		d.take(d.uvarint())
	case bytesKind:
		if n := d.uvarint(); n > 0 {
			d.take(n - 1)
		}
	case timeKind:
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
