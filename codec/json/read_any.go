package json

// emptyList saves the memory of putting one into an any.
var emptyList any = []any{}

// dynamic reads a value into plain Go types.
func (r *reader) dynamic(left int) (any, bool) {
	switch r.peek() {
	case 'n':
		return nil, r.literal("null")
	case 't':
		return true, r.literal("true")
	case 'f':
		return false, r.literal("false")
	case '"':
		s, ok := r.text()
		return r.boxes.text(s), ok
	case '[':
		list, ok := r.dynamicList(left - 1)
		if len(list) == 0 {
			return emptyList, ok
		}
		return list, ok
	case '{':
		m, ok := r.dynamicMap(left - 1)
		return m, ok
	}
	var d digits
	if !r.digits(&d) {
		return nil, false
	}
	if d.integer && d.exact && !d.negative && d.mantissa < uint64(len(wholes)) {
		return whole(d.mantissa), true
	}
	f, ok := d.float64()
	return r.boxes.float(f), ok
}

// fewElements is up to how many elements a list is collected on the stack first, where the garbage collector does not look at
// each write, and then made in its size.
const fewElements = 8

func (r *reader) dynamicList(left int) ([]any, bool) {
	more, ok := r.first('[', ']')
	if left < 0 {
		return nil, false
	}
	var buffer [fewElements]any
	list := buffer[:0]
	for more && ok {
		v, known := r.dynamic(left)
		if !known {
			return nil, false
		}
		list = append(list, v)
		more, ok = r.another(']')
	}
	if len(list) > fewElements {
		return list, ok
	}
	made := make([]any, len(list))
	copy(made, list)
	return made, ok
}

func (r *reader) dynamicMap(left int) (map[string]any, bool) {
	more, ok := r.first('{', '}')
	if left < 0 {
		return nil, false
	}
	m := make(map[string]any)
	for more && ok {
		b, known := r.name()
		if !known || !r.take(':') {
			return nil, false
		}
		name := r.key(b)
		v, known := r.dynamic(left)
		if !known {
			return nil, false
		}
		before := len(m)
		if m[name] = v; len(m) == before {
			return nil, false // the name is there twice
		}
		more, ok = r.another('}')
	}
	return m, ok
}

// key returns the name of a member of a map.
func (r *reader) key(name []byte) string {
	if len(name) > maxKnown {
		return r.strings.Copy(name, len(r.data)-r.pos)
	}
	return r.names.of(name)
}

// skip checks a value and forgets it.
func (r *reader) skip(left int) bool {
	switch r.peek() {
	case 'n':
		return r.literal("null")
	case 't':
		return r.literal("true")
	case 'f':
		return r.literal("false")
	case '"':
		_, ok := r.unquoted()
		return ok
	case '[':
		return r.skipList(left - 1)
	case '{':
		return r.skipMap(left - 1)
	}
	var d digits
	return r.digits(&d)
}

func (r *reader) skipList(left int) bool {
	more, ok := r.first('[', ']')
	if left < 0 {
		return false
	}
	for more && ok {
		if !r.skip(left) {
			return false
		}
		more, ok = r.another(']')
	}
	return ok
}

// skipMap checks, as unknown does, that no name is there twice.
func (r *reader) skipMap(left int) bool {
	owner, others := r.pos, len(r.other)
	more, ok := r.first('{', '}')
	if left < 0 {
		return false
	}
	for more && ok {
		name, known := r.name()
		if !known || !r.take(':') || !r.distinct(owner, name) || !r.skip(left) {
			return false
		}
		more, ok = r.another('}')
	}
	r.other = r.other[:others]
	return ok
}
