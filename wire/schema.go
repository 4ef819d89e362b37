package wire

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/sabir-go/sabir/codec/native"
)

// Schema is one that the peer declared.
type Schema struct {
	*native.Schema
	// Readers is the owner's: what reads values of this schema, by Go type.
	Readers sync.Map
}

// DeclareSchema returns the number by which the peer knows s, after telling it where it does not yet. Schemas of equal
// hash share one. A peer accepts a bounded number: one too many is a *Failure with NameTooMuchDeclared.
func (l *Link) DeclareSchema(s *native.Schema) (uint32, error) {
	if number, ok := l.schemas.Load(s); ok {
		return number.(uint32), nil
	}
	l.mu.Lock()
	number, known := l.schemasSent[s.Hash()]
	if !known {
		if len(l.schemasSent) >= l.peer.Limits.Schemas {
			l.mu.Unlock()
			return 0, l.declaredTooMuch("schemas", l.peer.Limits.Schemas)
		}
		number = uint32(len(l.schemasSent) + 1)
		l.schemasSent[s.Hash()] = number
		if !l.closed {
			l.append(0, kindSchema, 0, append(binary.AppendUvarint(nil, uint64(number)), s.Bytes()...))
		}
	}
	l.mu.Unlock()
	// Keyed by pointer too, which is quicker to look up. Owners have one *native.Schema for each type, so this stays small;
	// beyond the bound it is only slower.
	if l.schemaPointers.Add(1) <= int64(4*l.peer.Limits.Schemas) {
		l.schemas.Store(s, number)
	}
	return number, nil
}

func (l *Link) declaredTooMuch(what string, limit int) *Failure {
	return &Failure{Code: codeResourceExhausted, Name: NameTooMuchDeclared, Node: l.config.Node,
		Message: fmt.Sprintf("node %s accepts no more than %d %s on a link", l.peer.Node, limit, what)}
}

// learnSchema is the peer's declaration of a schema.
func (r *reader) learnSchema(body []byte) error {
	in := fields{left: body}
	number := in.number(r.link.config.Limits.Schemas)
	if in.bad || number != len(r.schemas)+1 {
		return protocolError("a schema frame cannot be read, or declares too many schemas or not the next one")
	}
	parsed, err := native.ParseSchema(in.left)
	if err != nil {
		return protocolError("schema %d: %v", number, err)
	}
	r.schemas = append(r.schemas, &Schema{Schema: parsed})
	return nil
}

// value takes the schema number off a value.
func (r *reader) value(data []byte) (*Schema, []byte, error) {
	in := fields{left: data}
	number := in.number(len(r.schemas))
	if in.bad {
		return nil, nil, protocolError("a value begins with a schema number that was not declared")
	}
	if number == 0 {
		return nil, in.left, nil
	}
	return r.schemas[number-1], in.left, nil
}
