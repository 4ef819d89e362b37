package native

import (
	"crypto/sha256"
	"encoding/hex"
	"reflect"
)

// Hash identifies a schema: the first 8 bytes of the SHA-256 of its bytes with the names of types left out. Types that
// differ only in the names of Go types have the same hash, and the same bytes on the wire.
//
// It is no proof against an attacker who looks for two schemas with one hash; a peer that sends such schemas garbles only its
// own values.
type Hash [8]byte

// String returns the hash in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Schema describes the data on the wire: kinds and names. It does not change once made.
type Schema struct {
	root  ref
	defs  []definition
	bytes []byte
	hash  Hash
}

// ref names a type in a schema: below firstDef it is a kind without parts, else firstDef plus a place in the table.
type ref uint32

const firstDef = 32

// definition is one entry of the table: a kind with parts.
type definition struct {
	kind   valueKind
	name   string // the Go type's name, "" if it has none
	key    ref
	elem   ref
	length uint64
	fields []member
	min    uint64 // the fewest bytes that a value takes
	solid  []ref  // the fields that take bytes, so that skipping costs no time for the others
}

type member struct {
	name string
	typ  ref
}

// Hash returns the identity of the schema.
func (s *Schema) Hash() Hash { return s.hash }

// Bytes returns the encoding of the schema, which [ParseSchema] reads. The slice must not be changed.
func (s *Schema) Bytes() []byte { return s.bytes }

// SchemaOf returns the schema of values of t. The error describes why t cannot be encoded.
func SchemaOf(t reflect.Type) (*Schema, error) {
	if t == nil {
		return nil, encodeFault("a nil type has no schema")
	}
	p, err := planOf(t)
	if err != nil {
		return nil, err
	}
	return p.schema(), nil
}

func (p *plan) schema() *Schema {
	if s := p.described.Load(); s != nil {
		return s
	}
	d := describer{numbers: make(map[*plan]ref), schema: new(Schema)}
	d.schema.root = d.describe(p)
	d.schema.finish()
	p.described.CompareAndSwap(nil, d.schema)
	return p.described.Load()
}

// describer numbers types in the order in which a walk from the root meets them first: a type before its parts, parts in
// their order on the wire.
type describer struct {
	schema  *Schema
	numbers map[*plan]ref
}

func (d *describer) describe(p *plan) ref {
	if p.kind < pointerKind {
		return ref(p.kind)
	}
	if r, ok := d.numbers[p]; ok {
		return r
	}
	at := len(d.schema.defs)
	r := ref(at + firstDef)
	d.numbers[p] = r
	d.schema.defs = append(d.schema.defs, definition{})
	def := definition{kind: p.kind, length: uint64(p.length), min: p.min}
	switch p.kind {
	case structKind:
		def.name = p.typ.Name()
		if len(def.name) > maxNameBytes {
			def.name = def.name[:maxNameBytes]
		}
		for _, f := range p.fields {
			def.fields = append(def.fields, member{name: f.name, typ: d.describe(f.plan)})
		}
	case mapKind:
		def.key = d.describe(p.key)
		def.elem = d.describe(p.elem)
	default:
		def.elem = d.describe(p.elem)
	}
	d.schema.defs[at] = def
	return r
}

// finish sets what follows from the rest of s.
func (s *Schema) finish() {
	for i := range s.defs {
		for _, f := range s.defs[i].fields {
			if s.minAt(f.typ) > 0 {
				s.defs[i].solid = append(s.defs[i].solid, f.typ)
			}
		}
	}
	s.bytes = s.appendBytes(nil, true)
	sum := sha256.Sum256(s.appendBytes(nil, false))
	s.hash = Hash(sum[:8])
}

const schemaVersion = 1

func (s *Schema) appendBytes(dst []byte, names bool) []byte {
	dst = append(dst, schemaVersion)
	dst = appendUvarint(dst, uint64(s.root))
	dst = appendUvarint(dst, uint64(len(s.defs)))
	for i := range s.defs {
		def := &s.defs[i]
		dst = append(dst, byte(def.kind))
		switch def.kind {
		case structKind:
			name := def.name
			if !names {
				name = ""
			}
			dst = appendName(dst, name)
			dst = appendUvarint(dst, uint64(len(def.fields)))
			for _, f := range def.fields {
				dst = appendUvarint(appendName(dst, f.name), uint64(f.typ))
			}
			continue
		case arrayKind:
			dst = appendUvarint(dst, def.length)
		case mapKind:
			dst = appendUvarint(dst, uint64(def.key))
		}
		dst = appendUvarint(dst, uint64(def.elem))
	}
	return dst
}

func appendName(dst []byte, name string) []byte {
	return append(appendUvarint(dst, uint64(len(name))), name...)
}

// kindAt returns the kind of r.
func (s *Schema) kindAt(r ref) valueKind {
	if r < firstDef {
		return valueKind(r)
	}
	return s.defs[r-firstDef].kind
}

// minAt returns the fewest bytes that a value of r takes.
func (s *Schema) minAt(r ref) uint64 {
	if r < firstDef {
		return valueKind(r).minBytes()
	}
	return s.defs[r-firstDef].min
}

// nameAt names r for an error.
func (s *Schema) nameAt(r ref) string {
	if r < firstDef {
		return valueKind(r).String()
	}
	def := &s.defs[r-firstDef]
	if def.name == "" {
		return def.kind.String()
	}
	return def.kind.String() + " " + def.name
}

// headerBytes is the length of the schema's hash before a message of the plain codec and before every interface value.
const headerBytes = len(Hash{})

func appendHash(dst []byte, h Hash) []byte {
	return append(dst, h[:]...)
}
