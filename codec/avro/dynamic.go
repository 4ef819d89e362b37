package avro

import (
	"encoding/binary"
	"fmt"
	"time"
	"unicode/utf8"

	hamba "github.com/hamba/avro/v2"

	"github.com/sabir-go/sabir/internal/layout"
)

// dynamic reads any value of any schema: null is nil, int and long are int64, float and double float64, string and enum
// string, bytes and fixed []byte, a timestamp time.Time, an array []any, a map and a record map[string]any, and a union what its
// branch is.
func (d *decoder) dynamic(s hamba.Schema, left int) any {
	switch s := dereference(s).(type) {
	case *hamba.PrimitiveSchema:
		return d.dynamicPrimitive(s)
	case *hamba.FixedSchema:
		b := d.take(s.Size())
		if s.FullName() == "uint64" && len(b) == 8 {
			return binary.BigEndian.Uint64(b)
		}
		return append([]byte{}, b...)
	case *hamba.EnumSchema:
		i := d.long()
		if i < 0 || i >= int64(len(s.Symbols())) {
			d.fail(fmt.Sprintf("symbol %d of an enum with %d", i, len(s.Symbols())))
			return nil
		}
		return s.Symbols()[i]
	case *hamba.UnionSchema:
		if branch := d.branch(s); branch != nil {
			return d.dynamic(branch, left) // which is no union
		}
	default:
		return d.dynamicParts(s, left)
	}
	return nil
}

// dynamicParts reads what counts as a level. A record that this package writes for an interface does so only where it holds
// another record, as it never does.
func (d *decoder) dynamicParts(s hamba.Schema, left int) any {
	if union := unionOfAny(s); union != nil {
		branch := d.branch(union)
		if branch == nil || !d.step(1) {
			return nil
		}
		if _, record := dereference(branch).(*hamba.RecordSchema); !record {
			return d.dynamic(branch, left)
		}
		s = dereference(branch)
	}
	if left <= 0 {
		d.fail(tooDeep)
		return nil
	}
	switch s := s.(type) {
	case *hamba.ArraySchema:
		return d.dynamicArray(s, left-1)
	case *hamba.MapSchema:
		return d.dynamicMap(s, left-1)
	case *hamba.RecordSchema:
		return d.dynamicRecord(s, left-1)
	}
	return nil
}

// unionOfAny is what the record that stands for an interface holds; nil where s is another record or none.
func unionOfAny(s hamba.Schema) *hamba.UnionSchema {
	if record, ok := s.(*hamba.RecordSchema); ok && record.FullName() == anyName && len(record.Fields()) == 1 {
		union, _ := record.Fields()[0].Type().(*hamba.UnionSchema)
		return union
	}
	return nil
}

func (d *decoder) dynamicPrimitive(s *hamba.PrimitiveSchema) any {
	switch s.Type() {
	case hamba.Boolean:
		return d.bool()
	case hamba.Int:
		return d.long()
	case hamba.Long:
		n := d.long()
		if s.Logical() != nil && s.Logical().Type() == hamba.TimestampMicros {
			return time.UnixMicro(n).UTC()
		}
		if s.Logical() != nil && s.Logical().Type() == hamba.TimestampMillis {
			return time.UnixMilli(n).UTC()
		}
		return n
	case hamba.Float:
		return float64(d.float())
	case hamba.Double:
		return d.double()
	case hamba.Bytes:
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
func (d *decoder) branch(s *hamba.UnionSchema) hamba.Schema {
	i := d.long()
	if i < 0 || i >= int64(len(s.Types())) {
		d.fail(fmt.Sprintf("branch %d of a union with %d", i, len(s.Types())))
		return nil
	}
	return s.Types()[i]
}

func (d *decoder) dynamicArray(s *hamba.ArraySchema, left int) any {
	list, empty := []any{}, hollow(s.Items())
	for n := d.count(empty); n > 0; n = d.count(empty) {
		if len(list) == 0 {
			list = make([]any, 0, n)
		}
		for range n {
			d.fulfil(empty)
			list = append(list, d.dynamic(s.Items(), left))
			if d.failed != nil {
				layout.UnderIndex(d.failed, len(list)-1)
				return nil
			}
		}
	}
	return list
}

func (d *decoder) dynamicMap(s *hamba.MapSchema, left int) any {
	made := map[string]any{}
	for n := d.count(false); n > 0; n = d.count(false) {
		for range n {
			d.fulfil(false)
			name := d.text()
			if _, twice := made[name]; twice {
				d.fail("a map with the same key twice")
			}
			made[name] = d.dynamic(s.Values(), left)
			if d.failed != nil {
				layout.Under(d.failed, "/"+layout.Escape(name))
				return nil
			}
		}
	}
	return made
}

func (d *decoder) dynamicRecord(s *hamba.RecordSchema, left int) any {
	if !d.step(1 + len(s.Fields())) {
		return nil
	}
	start := d.pos
	made := make(map[string]any, len(s.Fields()))
	for _, f := range s.Fields() {
		made[f.Name()] = d.dynamic(f.Type(), left)
		if d.failed != nil {
			layout.Under(d.failed, "/"+f.Name())
			return nil
		}
	}
	if d.pos == start {
		d.step(emptyMap + 2*len(s.Fields()))
	}
	return made
}

// skip reads a value and drops it.
func (d *decoder) skip(s hamba.Schema, left int) {
	if left <= 0 {
		d.fail(tooDeep)
	}
	if d.failed != nil {
		return
	}
	switch s := dereference(s).(type) {
	case *hamba.PrimitiveSchema:
		d.skipPrimitive(s)
	case *hamba.FixedSchema:
		d.take(s.Size())
	case *hamba.EnumSchema:
		d.long()
	case *hamba.UnionSchema:
		if branch := d.branch(s); branch != nil {
			d.skip(branch, left) // which is no union
		}
	case *hamba.ArraySchema:
		empty := hollow(s.Items())
		for n := d.count(empty); n > 0; n = d.count(empty) {
			for i := 0; i < n && d.failed == nil; i++ {
				d.fulfil(empty)
				d.skip(s.Items(), left-1)
			}
		}
	case *hamba.MapSchema:
		for n := d.count(false); n > 0; n = d.count(false) {
			for i := 0; i < n && d.failed == nil; i++ {
				d.fulfil(false)
				d.bytes()
				d.skip(s.Values(), left-1)
			}
		}
	case *hamba.RecordSchema:
		if !d.step(1 + len(s.Fields())) {
			return
		}
		for _, f := range s.Fields() {
			d.skip(f.Type(), left-1)
		}
	}
}

func (d *decoder) skipPrimitive(s *hamba.PrimitiveSchema) {
	switch s.Type() {
	case hamba.Boolean:
		d.bool()
	case hamba.Int, hamba.Long:
		d.long()
	case hamba.Float:
		d.take(4)
	case hamba.Double:
		d.take(8)
	default:
		d.bytes()
	}
}
