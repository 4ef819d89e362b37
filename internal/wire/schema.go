package wire

import (
	"encoding/binary"
	"fmt"
	"reflect"

	"github.com/sabir-go/sabir/internal/native"
	"github.com/sabir-go/sabir/internal/recent"
)

const (
	// maxSchemaBytes bounds the schemas that one side declares on a link, together.
	maxSchemaBytes = 4 << 20
	// maxReaders is the number of pairs of a schema of a link and a Go type for which the owner's readers are kept. A peer
	// could otherwise have every type of this side translated from each of its schemas.
	maxReaders = 4 << 10
)

// Schema is a schema that the peer declared.
type Schema struct {
	*native.Schema
	readers *recent.Cache[readerKey, any] // of all schemas of the link
}

type readerKey struct {
	schema *Schema
	of     reflect.Type
}

// Reader returns the value given to KeepReader for the type, or nil if none is kept.
func (s *Schema) Reader(of reflect.Type) any {
	reader, _ := s.readers.Get(readerKey{s, of})
	return reader
}

// KeepReader keeps the reader of values of this schema into a Go type, for the owner of the link, until the link ends or there
// are too many readers. It returns the reader that is kept: where two are given at once, the first.
func (s *Schema) KeepReader(of reflect.Type, reader any) any {
	return s.readers.Add(readerKey{s, of}, reader)
}

// DeclareSchema returns the number by which the peer knows s, after declaring it where it does not yet. Schemas of equal
// hash share one. A peer accepts a bounded number, of at most 4 MiB together: one too many is a *Failure with NameTooMuchDeclared.
// Numbers of schemas stand inside values, which their owners keep, so unlike those of routes they are not given again.
func (l *Link) DeclareSchema(s *native.Schema) (uint32, error) {
	if number, ok := l.schemas.Load(s); ok {
		return number.(uint32), nil
	}
	l.mu.Lock()
	number, known := l.schemasSent[s.Hash()]
	if !known {
		if len(l.schemasSent) >= l.peer.Limits.Schemas || l.schemaBytes+len(s.Bytes()) > maxSchemaBytes {
			l.mu.Unlock()
			return 0, &Failure{Code: codeResourceExhausted, Name: NameTooMuchDeclared, Node: l.config.Node,
				Message: fmt.Sprintf("node %s accepts no more than %d schemas on a link, and %d bytes of them", l.peer.Node, l.peer.Limits.Schemas, maxSchemaBytes)}
		}
		l.schemaBytes += len(s.Bytes())
		number = uint32(len(l.schemasSent) + 1)
		l.schemasSent[s.Hash()] = number
		if !l.closed {
			l.append(0, kindSchema, 0, append(binary.AppendUvarint(nil, uint64(number)), s.Bytes()...))
		}
	}
	l.unlockAndWrite(writeInBackground) // a value need not follow, and pings wait behind what is not written
	// Keyed by pointer too, which is quicker to look up. Owners have one *native.Schema for each type, so this stays small;
	// beyond the bound it is only slower.
	if l.schemaPointers.Add(1) <= int64(4*l.peer.Limits.Schemas) {
		l.schemas.Store(s, number)
	}
	return number, nil
}

// learnSchema is the peer's declaration of a schema.
func (r *reader) learnSchema(body []byte) error {
	in := fields{left: body}
	number := in.number(r.link.config.Limits.Schemas)
	if in.bad || number != len(r.schemas)+1 {
		return protocolError("a schema frame cannot be read, or declares too many schemas or not the next one")
	}
	if r.schemaBytes += len(in.left); r.schemaBytes > maxSchemaBytes {
		return protocolError("more than %d bytes of schemas", maxSchemaBytes)
	}
	parsed, err := native.ParseSchema(in.left)
	if err != nil {
		return protocolError("schema %d: %v", number, err)
	}
	r.schemas = append(r.schemas, &Schema{Schema: parsed, readers: r.readers})
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
