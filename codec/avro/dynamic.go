package avro

import (
	"encoding/binary"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/sabir-go/sabir/internal/layout"
)

// dynamic reads any value of any schema: null is nil, int and long are int64, float and double float64, string and enum
// string, bytes and fixed []byte, a timestamp time.Time, an array []any, a map and a record map[string]any, and a union what its
// branch is.
func (d *decoder) dynamic(s *schema, left int) any {
	switch s.kind {
	case kindNull:
		return nil
	case kindFixed:
		b := d.take(s.size)
		if s.name == "uint64" && len(b) == 8 {
			return binary.BigEndian.Uint64(b)
		}
		return append([]byte{}, b...)
	case kindEnum:
		i := d.long()
		if i < 0 || i >= int64(len(s.symbols)) {
			d.fail(fmt.Sprintf("symbol %d of an enum with %d", i, len(s.symbols)))
			return nil
		}
		return s.symbols[i]
	case kindUnion:
		if branch := d.branch(s); branch != nil {
			return d.dynamic(branch, left) // which is no union
		}
		return nil
	case kindArray, kindMap, kindRecord:
		return d.dynamicParts(s, left)
	}
	return d.dynamicPrimitive(s)
}

// dynamicParts reads a value that counts as a level of nesting. The record that stands for an interface does not count, unless
// the interface holds a record, as it never does in data of this package.
func (d *decoder) dynamicParts(s *schema, left int) any {
	if union := unionOfAny(s); union != nil {
		branch := d.branch(union)
		if branch == nil || !d.step(1) {
			return nil
		}
		if branch.kind != kindRecord {
			return d.dynamic(branch, left)
		}
		s = branch
	}
	if left <= 0 {
		d.fail(tooDeep)
		return nil
	}
	switch s.kind {
	case kindArray:
		return d.dynamicArray(s, left-1)
	case kindMap:
		return d.dynamicMap(s, left-1)
	case kindRecord:
		return d.dynamicRecord(s, left-1)
	}
	return nil
}

// unionOfAny returns the union inside the record that stands for an interface; nil for any other schema.
func unionOfAny(s *schema) *schema {
	if s.kind == kindRecord && s.name == anyName && len(s.fields) == 1 && s.fields[0].typ.kind == kindUnion {
		return s.fields[0].typ
	}
	return nil
}

func (d *decoder) dynamicPrimitive(s *schema) any {
	switch s.kind {
	case kindBoolean:
		return d.bool()
	case kindInt:
		return d.long()
	case kindLong:
		n := d.long()
		switch s.logical {
		case timestampMicros:
			return time.UnixMicro(n).UTC()
		case timestampMillis:
			return time.UnixMilli(n).UTC()
		}
		return n
	case kindFloat:
		return float64(d.float())
	case kindDouble:
		return d.double()
	case kindBytes:
		return append([]byte{}, d.bytes()...)
	}
	return d.text()
}

func (d *decoder) text() string {
	b := d.bytes()
	if !utf8.Valid(b) {
		d.fail("a string that is not valid UTF-8")
	}
	return d.strings.Copy(b, len(d.data)-d.pos)
}

// branch reads which branch of the union follows.
func (d *decoder) branch(s *schema) *schema {
	i := d.long()
	if i < 0 || i >= int64(len(s.branches)) {
		d.fail(fmt.Sprintf("branch %d of a union with %d", i, len(s.branches)))
		return nil
	}
	return s.branches[i]
}

func (d *decoder) dynamicArray(s *schema, left int) any {
	list, empty := []any{}, hollow(s.elem)
	for n := d.count(empty); n > 0; n = d.count(empty) {
		if len(list) == 0 {
			list = make([]any, 0, n)
		}
		for range n {
			d.fulfil(empty)
			list = append(list, d.dynamic(s.elem, left))
			if d.failed != nil {
				layout.UnderIndex(d.failed, len(list)-1)
				return nil
			}
		}
	}
	return list
}

func (d *decoder) dynamicMap(s *schema, left int) any {
	made := map[string]any{}
	for n := d.count(false); n > 0; n = d.count(false) {
		for range n {
			d.fulfil(false)
			name := d.text()
			if _, twice := made[name]; twice {
				d.fail("a map with the same key twice")
			}
			made[name] = d.dynamic(s.elem, left)
			if d.failed != nil {
				layout.Under(d.failed, "/"+layout.Escape(name))
				return nil
			}
		}
	}
	return made
}

func (d *decoder) dynamicRecord(s *schema, left int) any {
	if !d.step(1 + len(s.fields)) {
		return nil
	}
	start := d.pos
	made := make(map[string]any, len(s.fields))
	for _, f := range s.fields {
		made[f.name] = d.dynamic(f.typ, left)
		if d.failed != nil {
			layout.Under(d.failed, "/"+f.name)
			return nil
		}
	}
	if d.pos == start {
		d.step(emptyMap + 2*len(s.fields))
	}
	return made
}

// skip reads a value and drops it.
func (d *decoder) skip(s *schema, left int) {
	if left <= 0 {
		d.fail(tooDeep)
	}
	if d.failed != nil {
		return
	}
	switch s.kind {
	case kindNull:
	case kindFixed:
		d.take(s.size)
	case kindEnum:
		d.long()
	case kindUnion:
		if branch := d.branch(s); branch != nil {
			d.skip(branch, left) // which is no union
		}
	case kindArray:
		empty := hollow(s.elem)
		for n := d.count(empty); n > 0; n = d.count(empty) {
			for i := 0; i < n && d.failed == nil; i++ {
				d.fulfil(empty)
				d.skip(s.elem, left-1)
			}
		}
	case kindMap:
		for n := d.count(false); n > 0; n = d.count(false) {
			for i := 0; i < n && d.failed == nil; i++ {
				d.fulfil(false)
				d.bytes()
				d.skip(s.elem, left-1)
			}
		}
	case kindRecord:
		if !d.step(1 + len(s.fields)) {
			return
		}
		for _, f := range s.fields {
			d.skip(f.typ, left-1)
		}
	default:
		d.skipPrimitive(s)
	}
}

func (d *decoder) skipPrimitive(s *schema) {
	switch s.kind {
	case kindBoolean:
		d.bool()
	case kindInt, kindLong:
		d.long()
	case kindFloat:
		d.take(4)
	case kindDouble:
		d.take(8)
	default:
		d.bytes()
	}
}
