package native

import "fmt"

// Limits of a schema. They bound the memory and the time that a foreign schema can cost.
const (
	maxSchemaBytes  = 64 << 10
	maxNameBytes    = 255
	maxSchemaNested = 128 // structs and arrays inside each other by value
)

// ParseSchema reads a schema that [Schema.Bytes] of this or another implementation made. It refuses, with a
// [*codec.Error], more than 64 KiB, names of more than 255 bytes, a field name used twice, a type that contains itself other
// than through a pointer, slice or map, more than 128 structs and arrays nested by value, and anything left over. It keeps
// nothing of data.
func ParseSchema(data []byte) (*Schema, error) {
	if len(data) > maxSchemaBytes {
		return nil, fault(0, fmt.Sprintf("a schema of %d bytes, at most %d are accepted", len(data), maxSchemaBytes))
	}
	r := &schemaReader{decoder{data: data, share: shareNone}}
	s := r.schema()
	if r.fault == nil && r.pos != len(data) {
		r.fail(fmt.Sprintf("%d bytes after the end of the schema", len(data)-r.pos))
	}
	if r.fault != nil {
		return nil, r.fault
	}
	if err := s.measure(); err != "" {
		return nil, fault(-1, "a schema with "+err)
	}
	s.finish()
	return s, nil
}

// schemaReader reads the parts of a schema with the checks of a decoder.
type schemaReader struct{ decoder }

func (r *schemaReader) name() string {
	n := r.uvarint()
	if n > maxNameBytes {
		r.fail("a name of more than 255 bytes")
		return ""
	}
	return string(r.take(n))
}

func (r *schemaReader) schema() *Schema {
	s := new(Schema)
	if v := r.byte(); r.fault == nil && v != schemaVersion {
		r.fail(fmt.Sprintf("a schema of version %d, only version %d is known", v, schemaVersion))
	}
	if r.fault != nil {
		return nil
	}
	root := r.uvarint()
	n, ok := r.number(2)
	if !ok {
		return nil
	}
	s.defs = make([]definition, n)
	s.root = r.checked(root, n)
	for i := range s.defs {
		if r.definition(&s.defs[i], n); r.fault != nil {
			return nil
		}
	}
	return s
}

// number reads how many items follow, each of which takes at least least bytes.
func (r *schemaReader) number(least int) (int, bool) {
	n := r.uvarint()
	if r.fault == nil && n > uint64((len(r.data)-r.pos)/least) {
		r.fail("a count that is larger than the schema")
	}
	return int(n), r.fault == nil
}

func (r *schemaReader) ref(defs int) ref { return r.checked(r.uvarint(), defs) }

func (r *schemaReader) checked(v uint64, defs int) ref {
	if v >= uint64(defs)+firstDef || v < firstDef && (v == 0 || v >= uint64(pointerKind)) {
		r.fail(fmt.Sprintf("a schema that refers to type %d, which it does not define", v))
	}
	return ref(v)
}

func (r *schemaReader) definition(def *definition, defs int) {
	def.kind = valueKind(r.byte())
	switch def.kind {
	case pointerKind, sliceKind:
	case arrayKind:
		if def.length = r.uvarint(); def.length > 1<<31-1 {
			r.fail(fmt.Sprintf("an array of %d elements, at most 2147483647 are accepted", def.length))
		}
	case mapKind:
		def.key = r.ref(defs)
	case structKind:
		r.members(def, defs)
		return
	default:
		r.fail(fmt.Sprintf("a definition of %s, which has no parts", def.kind))
	}
	def.elem = r.ref(defs)
}

func (r *schemaReader) members(def *definition, defs int) {
	def.name = r.name()
	n, ok := r.number(2)
	if !ok {
		return
	}
	def.fields = make([]member, n)
	seen := make(map[string]bool, n)
	for i := range def.fields {
		f := member{name: r.name(), typ: r.ref(defs)}
		if r.fault == nil && (f.name == "" || seen[f.name]) {
			r.fail(fmt.Sprintf("a struct with a field name %q that is empty or used twice", f.name))
		}
		if r.fault != nil {
			return
		}
		seen[f.name] = true
		def.fields[i] = f
	}
}

// measure sets the fewest bytes of every definition. What it returns is wrong with s, "" if nothing.
func (s *Schema) measure() string {
	m := measurer{schema: s, state: make([]uint8, len(s.defs)), height: make([]int, len(s.defs))}
	for i := range s.defs {
		m.visit(ref(i+firstDef), 0)
	}
	return m.wrong
}

type measurer struct {
	schema *Schema
	state  []uint8 // 0 not seen, 1 on the way down, 2 done
	height []int   // structs and arrays by value below and with this one
	wrong  string
}

func (m *measurer) visit(r ref, depth int) (least uint64, height int) {
	if r < firstDef {
		return valueKind(r).minBytes(), 0
	}
	i := r - firstDef
	def := &m.schema.defs[i]
	if def.kind != structKind && def.kind != arrayKind {
		def.min = 1
		return 1, 0
	}
	if m.state[i] == 2 {
		return def.min, m.height[i]
	}
	if m.state[i] == 1 {
		m.wrong = "a type that contains itself by value"
	}
	if depth >= maxSchemaNested {
		m.wrong = "more than 128 structs and arrays inside each other"
	}
	if m.wrong != "" {
		return 0, 0
	}
	m.state[i] = 1
	if def.kind == arrayKind {
		def.min, height = m.visit(def.elem, depth+1)
		def.min = mulMin(def.length, def.min)
	}
	for _, f := range def.fields {
		fieldMin, fieldHeight := m.visit(f.typ, depth+1)
		least, height = addMin(least, fieldMin), max(height, fieldHeight)
	}
	if def.kind == structKind {
		def.min = least
	}
	if height++; height > maxSchemaNested {
		m.wrong = "more than 128 structs and arrays inside each other"
	}
	m.state[i], m.height[i] = 2, height
	return def.min, height
}
