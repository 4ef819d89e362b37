package document

import (
	"strconv"
	"unsafe"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/layout"
)

func (d *decoder) mapping(p *plan, at unsafe.Pointer, left int) *codec.Error {
	n, fault := d.count(Map, 2)
	if fault != nil {
		return fault
	}
	if left--; left < 0 {
		return d.fail(d.start, tooDeep)
	}
	if p.Go == stringMap {
		m, fault := textMap(d, n, func() (string, *codec.Error) {
			if fault := d.next(); fault != nil {
				return "", fault
			}
			if d.token.Kind == Nil {
				return "", nil
			}
			return d.text()
		})
		if fault == nil {
			store(at, m)
		}
		return fault
	}
	if p.Go == anyMap {
		m, fault := d.dynamicMap(n, left)
		if fault == nil {
			store(at, m)
		}
		return fault
	}
	entries := p.MakeMap(d.ahead(n, 2*int(p.key.Size+p.elem.Size)))
	defer entries.Release()
	for i := 0; ; i++ {
		more, fault := d.more(i, n)
		if fault != nil {
			return fault
		}
		if !more {
			entries.Store(at)
			return nil
		}
		start := d.start
		entries.Clear()
		if fault := d.key(p.key, entries.Key); fault != nil {
			return fault
		}
		if fault := d.value(p.elem, entries.Elem, left); fault != nil {
			return layout.Under(fault, entries.Step(i))
		}
		if !entries.Put() {
			return layout.Under(d.fail(start, "the map has this key twice"), entries.Step(i))
		}
	}
}

// key decodes the key in hand. Digits as text are an integer too.
func (d *decoder) key(p *plan, at unsafe.Pointer) *codec.Error {
	if d.token.Kind == Text && p.Kind > layout.Bool && p.Kind <= layout.Uint64 {
		if n, err := strconv.ParseInt(string(d.token.Data), 10, 64); err == nil {
			d.token.Kind, d.token.Bits = Int, uint64(n)
			if n >= 0 {
				d.token.Kind = Uint
			}
		} else if n, err := strconv.ParseUint(string(d.token.Data), 10, 64); err == nil {
			d.token.Kind, d.token.Bits = Uint, n
		}
	}
	if d.token.Kind == Nil {
		return d.mismatch("key")
	}
	if p.Kind == layout.String {
		name, fault := d.name()
		if fault == nil {
			store(at, name)
		}
		return fault
	}
	return d.taken(p, at, 1)
}

// name is the key in hand as text: an integer becomes its digits.
func (d *decoder) name() (string, *codec.Error) {
	switch d.token.Kind {
	case Int:
		return strconv.FormatInt(int64(d.token.Bits), 10), nil
	case Uint:
		return strconv.FormatUint(d.token.Bits, 10), nil
	}
	return d.text()
}

// textMap reads n entries of a map by text; value reads the value of one.
func textMap[V any](d *decoder, n int, value func() (V, *codec.Error)) (map[string]V, *codec.Error) {
	m := make(map[string]V, d.ahead(n, 2*int(unsafe.Sizeof("")+unsafe.Sizeof(*new(V)))))
	for i := 0; ; i++ {
		more, fault := d.more(i, n)
		if fault != nil {
			return nil, fault
		}
		if !more {
			return m, nil
		}
		start := d.start
		key, fault := d.name()
		if fault != nil {
			return nil, fault
		}
		v, fault := value()
		if fault != nil {
			return nil, layout.Under(fault, "/"+layout.Escape(key))
		}
		before := len(m)
		if m[key] = v; len(m) == before {
			return nil, layout.Under(d.fail(start, "the map has this key twice"), "/"+layout.Escape(key))
		}
	}
}
