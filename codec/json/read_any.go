package json

// dynamic reads a value into plain Go types.
func (r *reader) dynamic(left int) (any, bool) {
	switch r.peek() {
	case 'n':
		return nil, r.word("null")
	case 't':
		return true, r.word("true")
	case 'f':
		return false, r.word("false")
	case '"':
		s, ok := r.text()
		return s, ok
	case '[':
		return r.dynamicList(left - 1)
	case '{':
		return r.dynamicMap(left - 1)
	}
	d, ok := r.digits()
	if !ok {
		return nil, false
	}
	f, ok := d.float64()
	return f, ok
}

func (r *reader) dynamicList(left int) (any, bool) {
	more, ok := r.first('[', ']')
	if left < 0 {
		return nil, false
	}
	list := []any{}
	for more && ok {
		v, known := r.dynamic(left)
		if !known {
			return nil, false
		}
		list = append(list, v)
		more, ok = r.another(']')
	}
	return list, ok
}

func (r *reader) dynamicMap(left int) (any, bool) {
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
		name := r.strings.Copy(b, len(r.data)-r.pos)
		v, known := r.dynamic(left)
		if !known {
			return nil, false
		}
		before := len(m)
		if m[name] = v; len(m) == before {
			return nil, false
		}
		more, ok = r.another('}')
	}
	return m, ok
}

// skip checks a value and forgets it.
func (r *reader) skip(left int) bool {
	switch r.peek() {
	case 'n':
		return r.word("null")
	case 't':
		return r.word("true")
	case 'f':
		return r.word("false")
	case '"':
		_, ok := r.unquoted()
		return ok
	case '[':
		return r.skipList(left - 1)
	case '{':
		return r.skipMap(left - 1)
	}
	_, ok := r.digits()
	return ok
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
