package avro

import "github.com/sabir-go/sabir/internal/layout"

// readCode selects the operation of a reader on the writer's next value.
type readCode uint8

const (
	readFail    readCode = iota // the writer's type does not fit
	readSkip                    // the target has no such field
	readNull                    // nothing, which leaves the target zero
	readDynamic                 // anything, into an interface
	readBool
	readInteger // int and long into integers
	readInt     // int and long into floats
	readFloat
	readDouble
	readText  // string and bytes into what Go has for either
	readFixed // N bytes into the same
	readUint64
	readMicros
	readMillis
	readEnum
	readPointer
	readUnion
	readArray
	readEntries // an array of key and value into a map
	readMap
	readRecord
)

// reader reads values of one schema of a writer into one Go type.
type reader struct {
	code     readCode
	typ      *layout.Type
	schema   *schema   // of readSkip and readDynamic
	elem     *reader   // of a pointer, an array and a map
	key      *reader   // of a map
	branches []*reader // of a union
	fields   []readerField
	symbols  []string
	size     int    // of readFixed
	hollow   bool   // of an array: its items may take no bytes
	failure  string // of readFail: the writer's type
}

// readerField is one field of a writer's record.
type readerField struct {
	off  uintptr
	step string
	read *reader
}

// readers compiles the way from a schema to a Go type. Names of records do not matter, those of fields do.
type readers struct {
	done  map[readerKey]*reader
	boxes map[*layout.Type]*layout.Type
}

type readerKey struct {
	schema *schema // a record, which may refer to itself
	typ    *layout.Type
}

func newReaders() *readers {
	return &readers{done: make(map[readerKey]*reader), boxes: make(map[*layout.Type]*layout.Type)}
}

// of returns how to read what s describes into t.
func (c *readers) of(s *schema, t *layout.Type) *reader {
	if t.Kind == layout.Any {
		return &reader{code: readDynamic, typ: t, schema: s}
	}
	switch s.kind {
	case kindUnion:
		r := &reader{code: readUnion, typ: t}
		for _, branch := range s.branches {
			r.branches = append(r.branches, c.of(branch, t))
		}
		return r
	case kindNull:
		switch t.Kind {
		case layout.Pointer, layout.Slice, layout.Map, layout.Bytes:
			return &reader{code: readNull, typ: t}
		}
		return misfit(s, t)
	}
	if t.Kind == layout.Pointer {
		return &reader{code: readPointer, typ: t, elem: c.of(s, pointed(t, c.boxes))}
	}
	switch s.kind {
	case kindFixed:
		return fixed(s, t)
	case kindEnum:
		if t.Kind == layout.String {
			return &reader{code: readEnum, typ: t, symbols: s.symbols}
		}
		return misfit(s, t)
	case kindArray:
		return c.array(s, t)
	case kindMap:
		if t.Kind == layout.Map && textKeys(t) {
			key := &reader{code: readText, typ: t.Key}
			return &reader{code: readMap, typ: t, key: key, elem: c.of(s.elem, t.Elem)}
		}
		return misfit(s, t)
	case kindRecord:
		if t.Kind == layout.Struct {
			return c.record(s, t)
		}
		return misfit(s, t)
	}
	return primitive(s, t)
}

func misfit(s *schema, t *layout.Type) *reader {
	return &reader{code: readFail, typ: t, failure: string(s.kind)}
}

// The logical types of a long that are read into a time.Time.
const (
	timestampMicros = "timestamp-micros"
	timestampMillis = "timestamp-millis"
)

// primitive follows the rules of the specification for types that may stand for each other, and reads integers into each
// integer type of Go as long as they fit.
func primitive(s *schema, t *layout.Type) *reader {
	r := &reader{typ: t}
	integer := s.kind == kindInt || s.kind == kindLong
	switch t.Kind {
	case layout.Bool:
		if s.kind == kindBoolean {
			r.code = readBool
		}
	case layout.Int8, layout.Int16, layout.Int32, layout.Int64, layout.Uint8, layout.Uint16, layout.Uint32, layout.Uint64:
		if integer {
			r.code = readInteger
		}
	case layout.Float32, layout.Float64:
		switch {
		case integer:
			r.code = readInt
		case s.kind == kindFloat:
			r.code = readFloat
		case s.kind == kindDouble && t.Kind == layout.Float64:
			r.code = readDouble
		}
	case layout.String, layout.Bytes, layout.Text, layout.Binary:
		if s.kind == kindString || s.kind == kindBytes {
			r.code = readText
		}
	case layout.Time:
		if s.kind == kindLong {
			switch s.logical {
			case timestampMicros, "local-timestamp-micros":
				r.code = readMicros
			case timestampMillis, "local-timestamp-millis":
				r.code = readMillis
			}
		}
	}
	if r.code == readFail {
		return misfit(s, t)
	}
	return r
}

func fixed(s *schema, t *layout.Type) *reader {
	switch {
	case t.Kind == layout.ByteArray && t.Len == s.size, t.Kind == layout.Bytes && s.size >= 0:
		return &reader{code: readFixed, typ: t, size: s.size}
	case t.Kind == layout.Uint64 && s.size == 8:
		return &reader{code: readUint64, typ: t}
	}
	return misfit(s, t)
}

func (c *readers) array(s *schema, t *layout.Type) *reader {
	switch t.Kind {
	case layout.Slice, layout.Array:
		return &reader{code: readArray, typ: t, elem: c.of(s.elem, t.Elem), hollow: hollow(s.elem)}
	case layout.Map:
		entry := s.elem.fields // none where the items are no records
		if len(entry) == 2 && entry[0].name == "key" && entry[1].name == "value" {
			return &reader{code: readEntries, typ: t, hollow: hollow(s.elem), key: c.of(entry[0].typ, t.Key), elem: c.of(entry[1].typ, t.Elem)}
		}
	}
	return misfit(s, t)
}

// record returns the unfinished reader while the record is being compiled.
func (c *readers) record(s *schema, t *layout.Type) *reader {
	key := readerKey{s, t}
	if done, ok := c.done[key]; ok {
		return done
	}
	r := &reader{code: readRecord, typ: t}
	c.done[key] = r
	byName, names := make(map[string]*layout.Field, len(t.Fields)), make(layout.Names, len(t.Fields))
	for i := range t.Fields {
		name := layout.Identifier(t.Fields[i].Name)
		byName[name] = &t.Fields[i]
		names.Add(name)
	}
	for _, f := range s.fields {
		field := byName[f.name]
		if field == nil && names.Like(f.name) != "" {
			field = byName[names.Like(f.name)]
			r.fields = append(r.fields, readerField{field.Offset, field.Step, &reader{code: readFail, typ: field.Type, failure: "the field " + f.name + ", whose name differs in its case"}})
			continue
		}
		if field == nil {
			r.fields = append(r.fields, readerField{read: &reader{code: readSkip, schema: f.typ}})
			continue
		}
		r.fields = append(r.fields, readerField{field.Offset, field.Step, c.of(f.typ, field.Type)})
	}
	return r
}

// hollow reports whether values of a schema may take no bytes. It reports true where that would take long to find out.
func hollow(s *schema) bool {
	steps := 1000
	return takesNothing(s, &steps)
}

func takesNothing(s *schema, steps *int) bool {
	*steps--
	if *steps < 0 {
		return true
	}
	switch s.kind {
	case kindNull:
		return true
	case kindFixed:
		return s.size <= 0
	case kindRecord:
		for _, f := range s.fields {
			if !takesNothing(f.typ, steps) {
				return false
			}
		}
		return true
	}
	return false
}
