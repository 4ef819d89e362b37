package document

import (
	"unicode/utf8"
	"unsafe"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/layout"
)

func (d *decoder) structure(p *plan, at unsafe.Pointer, left int) *codec.Error {
	n, fault := d.count(Map, 2)
	if fault != nil {
		return fault
	}
	if left--; left < 0 {
		return d.fail(d.start, tooDeep)
	}
	var buffer [4]uint64
	seen := buffer[:]
	if len(p.fields) > 64*len(buffer) {
		seen = make([]uint64, len(p.fields)/64+1)
	}
	expected := 0 // writers keep to one order, so the next field is most often the next one
	for i := 0; ; i++ {
		more, fault := d.more(i, n)
		if fault != nil || !more {
			return fault
		}
		at1 := -1
		if d.token.Kind == Text {
			at1 = p.find(d.token.Data, expected)
		}
		if at1 < 0 {
			if fault := d.misnamed(p); fault != nil {
				return fault
			}
			if fault := d.skipEntry(left); fault != nil {
				return fault
			}
			continue
		}
		f := &p.fields[at1]
		if seen[at1/64]&(1<<(at1%64)) != 0 {
			return layout.Under(d.fail(d.start, "the map has this name twice"), f.step)
		}
		seen[at1/64] |= 1 << (at1 % 64)
		expected = at1 + 1
		var to unsafe.Pointer
		if f.hops == nil {
			to = unsafe.Add(at, f.off)
		} else if to = f.made(at); to == nil {
			return layout.Under(d.fail(d.start, "a field of a nil embedded pointer to an unexported struct, which cannot be made"), f.step)
		}
		if fault := d.value(f.plan, to, left); fault != nil {
			return layout.Under(fault, f.step)
		}
	}
}

// find returns which field has the name, or -1.
func (p *plan) find(name []byte, expected int) int {
	if expected < len(p.fields) && p.fields[expected].name == string(name) {
		return expected
	}
	if at, ok := p.index[string(name)]; ok {
		return at
	}
	return -1
}

// misnamed refuses the name in hand where it differs from that of a field in its case only, see [layout.Names].
func (d *decoder) misnamed(p *plan) *codec.Error {
	if d.token.Kind != Text {
		return nil
	}
	name := p.names.Like(string(d.token.Data))
	if name == "" {
		return nil
	}
	return layout.Under(d.fail(d.start, "the name differs from "+name+" in its case only"), "/"+layout.Escape(string(d.token.Data)))
}

// skipEntry skips the key in hand and its value.
func (d *decoder) skipEntry(left int) *codec.Error {
	if fault := d.skip(left); fault != nil {
		return fault
	}
	if fault := d.next(); fault != nil {
		return fault
	}
	return d.skip(left)
}

// skip skips the value whose first token is in hand. It counts the values that are still to come, so that those whose lengths are known
// may nest to any depth.
func (d *decoder) skip(left int) *codec.Error {
	for open := int64(1); ; {
		open--
		switch kind := d.token.Kind; kind {
		case Text:
			if !utf8.Valid(d.token.Data) {
				return d.fail(d.start, "text that is not valid UTF-8")
			}
		case Break:
			return d.mismatch("value")
		case List, Map:
			bytesEach := 1
			if kind == Map {
				bytesEach = 2
			}
			n, fault := d.count(kind, bytesEach)
			if fault == nil && n == Indefinite {
				n, fault = 0, d.skipToBreak(kind, left-1)
			}
			if fault != nil {
				return fault
			}
			open += int64(n) * int64(bytesEach)
		}
		if open == 0 {
			return nil
		}
		if fault := d.next(); fault != nil {
			return fault
		}
	}
}

// skipToBreak skips what is left of a list or map of no known length.
func (d *decoder) skipToBreak(kind Kind, left int) *codec.Error {
	if left < 0 {
		return d.fail(d.start, tooDeep)
	}
	for {
		more, fault := d.more(0, Indefinite)
		if fault != nil || !more {
			return fault
		}
		if kind == Map {
			fault = d.skipEntry(left)
		} else {
			fault = d.skip(left)
		}
		if fault != nil {
			return fault
		}
	}
}
