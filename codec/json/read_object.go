package json

import (
	"reflect"
	"unsafe"
)

func (r *reader) structure(p *plan, at unsafe.Pointer, left int) bool {
	owner := r.pos
	if !r.take('{') || left < 0 {
		return false
	}
	var buffer [4]uint64
	seen := buffer[:]
	if len(p.fields) > 64*len(buffer) {
		seen = make([]uint64, len(p.fields)/64+1)
	}
	others := len(r.other)
	next := 0 // writers keep to one order and leave out spaces, so the next field is most often the next one
	for comma := 1; ; comma = 0 {
		i := next
		if i >= len(p.fields) || !r.literal(p.fields[i].key[comma:]) {
			more, ok := true, true
			if comma == 0 {
				more, ok = r.another('}')
			} else if r.take('}') {
				more = false
			}
			if !more || !ok {
				r.other = r.other[:others]
				return ok
			}
			name, ok := r.name()
			if !ok || !r.take(':') {
				return false
			}
			if i = p.find(name, next); i < 0 {
				if p.names.Like(string(name)) != "" || !r.unknown(owner, name, left) {
					return false
				}
				continue
			}
		}
		if seen[i/64]&(1<<(i%64)) != 0 {
			return false
		}
		seen[i/64] |= 1 << (i % 64)
		next = i + 1
		f := &p.fields[i]
		if !r.value(f.plan, unsafe.Add(at, f.off), left) {
			return false
		}
	}
}

// fewFields is the number up to which fields are compared one by one, which is quicker than an index.
const fewFields = 8

// find returns which field has the name, or -1. It looks from next on, since fields that are absent are passed over.
func (p *plan) find(name []byte, next int) int {
	for i := next; i < min(len(p.fields), next+fewFields); i++ {
		if p.fields[i].name == string(name) {
			return i
		}
	}
	if at, ok := p.index[string(name)]; ok {
		return at
	}
	return -1
}

// maxOthers is the number of unknown members of an object that are distinguished one by one. encoding/json handles more than
// that.
const maxOthers = 32

// unknown skips a member that the target does not have, after its colon.
func (r *reader) unknown(owner int, name []byte, left int) bool {
	return !r.codec.strict && r.distinct(owner, name) && r.skip(left)
}

// distinct notes the name of a member of the object that begins at owner, and reports whether it is new.
func (r *reader) distinct(owner int, name []byte) bool {
	count := 0
	for i := len(r.other) - 1; i >= 0 && r.other[i].owner == owner; i-- {
		if count++; count > maxOthers || r.other[i].name == string(name) {
			return false
		}
	}
	r.other = append(r.other, otherName{owner, r.strings.Copy(name, len(r.data)-r.pos)})
	return true
}

func (r *reader) mapping(p *plan, at unsafe.Pointer, left int) bool {
	if to := load[unsafe.Pointer](at); to != nil && reflect.NewAt(p.Go, at).Elem().Len() > 0 {
		return false // the library adds to what is there
	}
	if p.loose {
		m, ok := r.dynamicMap(left)
		if ok {
			store(at, m)
		}
		return ok
	}
	more, ok := r.first('{', '}')
	if left < 0 || !ok {
		return false
	}
	entries := p.MakeMap(0)
	defer entries.Release()
	r.inside++
	defer func() { r.inside-- }()
	for more && ok {
		name, known := r.name()
		if !known || !r.take(':') {
			return false
		}
		entries.Clear()
		store(entries.Key, r.key(name))
		if !r.value(p.elem, entries.Elem, left) || !entries.Put() {
			return false
		}
		more, ok = r.another('}')
	}
	if ok {
		entries.Store(at)
	}
	return ok
}
