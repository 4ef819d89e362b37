package avro

import (
	"errors"
	"strings"

	avro "github.com/twmb/avro"
)

// kind is a type of Avro.
type kind string

// The types there are (https://avro.apache.org/docs/1.12.0/specification/#schema-declaration). An "error" is a record.
const (
	kindNull    kind = "null"
	kindBoolean kind = "boolean"
	kindInt     kind = "int"
	kindLong    kind = "long"
	kindFloat   kind = "float"
	kindDouble  kind = "double"
	kindBytes   kind = "bytes"
	kindString  kind = "string"
	kindFixed   kind = "fixed"
	kindEnum    kind = "enum"
	kindArray   kind = "array"
	kindMap     kind = "map"
	kindUnion   kind = "union"
	kindRecord  kind = "record"
)

// schema is a parsed schema in which a name that stands for a type is a pointer to that type, so a record may contain itself.
type schema struct {
	kind     kind
	logical  string        // the logical type, "" for none
	name     string        // of a record, an enum and a fixed, with its namespace
	size     int           // of a fixed
	symbols  []string      // of an enum
	elem     *schema       // of an array and a map
	branches []*schema     // of a union
	fields   []schemaField // of a record
}

type schemaField struct {
	name string
	typ  *schema
}

// newSchema resolves the names in a tree of the library.
func newSchema(parsed *avro.Schema) (*schema, error) {
	r := resolver{named: make(map[string]*schema)}
	s := r.of(parsed.Root(), "")
	if r.unknown != "" {
		return nil, errors.New("it names a type that it does not define: " + r.unknown)
	}
	return s, nil
}

// resolver resolves the names of one schema. A name is defined before it is used, in the order in which of visits the types.
type resolver struct {
	named   map[string]*schema
	unknown string // the first name that is not defined
}

// of returns the schema of a node; names without a namespace in it belong to space.
func (r *resolver) of(n *avro.SchemaNode, space string) *schema {
	s := &schema{kind: kind(n.Type), logical: n.LogicalType}
	switch s.kind {
	case kindNull, kindBoolean, kindInt, kindLong, kindFloat, kindDouble, kindBytes, kindString:
	case kindFixed:
		s.size = n.Size
		r.define(s, n)
	case kindEnum:
		s.symbols = n.Symbols
		r.define(s, n)
	case kindArray:
		s.elem = r.of(n.Items, space)
	case kindMap:
		s.elem = r.of(n.Values, space)
	case kindUnion:
		for i := range n.Branches {
			s.branches = append(s.branches, r.of(&n.Branches[i], space))
		}
	case kindRecord, "error":
		s.kind = kindRecord
		space = r.define(s, n)
		for i := range n.Fields {
			s.fields = append(s.fields, schemaField{n.Fields[i].Name, r.of(&n.Fields[i].Type, space)})
		}
	default:
		return r.reference(n.Type, space)
	}
	return s
}

// define names a type and returns its namespace.
func (r *resolver) define(s *schema, n *avro.SchemaNode) (space string) {
	s.name = n.Name
	if n.Namespace != "" && !strings.Contains(n.Name, ".") {
		s.name = n.Namespace + "." + n.Name
	}
	r.named[s.name] = s
	return s.name[:max(0, strings.LastIndexByte(s.name, '.'))]
}

func (r *resolver) reference(name, space string) *schema {
	if s, ok := r.named[name]; ok {
		return s
	}
	if s, ok := r.named[space+"."+name]; ok {
		return s
	}
	if r.unknown == "" {
		r.unknown = name
	}
	return &schema{kind: kindNull}
}
