package avro

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	avro "github.com/twmb/avro"

	"github.com/sabir-go/sabir/internal/layout"
)

// Schema returns the schema of values of t as JSON, as messages have it.
func Schema(t reflect.Type) (string, error) {
	if t == nil {
		return "", fault(-1, "no type to describe")
	}
	p, wrong := planOf(t)
	if wrong != nil {
		return "", wrong
	}
	return p.text, nil
}

// describer writes the schema of one type.
type describer struct {
	strings.Builder
	names map[*layout.Type]string // of the records that are written
	fixes map[string]bool         // the fixed types that are written
	any   bool                    // the record for interfaces is written
	taken map[string]bool         // names that a record cannot have
	boxes map[*layout.Type]*layout.Type

	// open are the lists and maps that are being described. Avro refers to a type by its name, which only records have.
	open map[*layout.Type]bool
}

// anyName is the record that an interface is.
const anyName = "Any"

func describe(t *layout.Type) (text string, err error) {
	d := describer{names: make(map[*layout.Type]string), fixes: make(map[string]bool), boxes: make(map[*layout.Type]*layout.Type), open: make(map[*layout.Type]bool)}
	d.taken = map[string]bool{anyName: true}
	err = d.write(t)
	return d.String(), err
}

var primitives = map[layout.Kind]string{
	layout.Bool: `"boolean"`, layout.Int8: `"int"`, layout.Int16: `"int"`, layout.Int32: `"int"`, layout.Int64: `"long"`,
	layout.Uint8: `"int"`, layout.Uint16: `"int"`, layout.Uint32: `"long"`, layout.Float32: `"float"`, layout.Float64: `"double"`,
	layout.String: `"string"`, layout.Text: `"string"`, layout.Bytes: `"bytes"`, layout.Binary: `"bytes"`,
	layout.Time: `{"type":"long","logicalType":"timestamp-micros"}`,
}

func (d *describer) write(t *layout.Type) error {
	if primitive, ok := primitives[t.Kind]; ok {
		d.WriteString(primitive)
		return nil
	}
	switch t.Kind {
	case layout.Uint64:
		d.fixed("uint64", 8)
	case layout.ByteArray:
		d.fixed("bytes"+strconv.Itoa(t.Len), t.Len)
	case layout.Any:
		d.anyRecord()
	case layout.Pointer:
		d.WriteString(`["null",`)
		err := d.write(pointed(t, d.boxes))
		d.WriteString(`]`)
		return err
	case layout.Slice, layout.Array, layout.Map:
		if d.open[t] {
			return fmt.Errorf("%s cannot be encoded: it contains itself, and only a struct has a name to refer to in Avro", t.Go)
		}
		d.open[t] = true
		defer delete(d.open, t)
		if t.Kind == layout.Map {
			return d.mapping(t)
		}
		d.WriteString(`{"type":"array","items":`)
		err := d.write(t.Elem)
		d.WriteString(`}`)
		return err
	case layout.Struct:
		return d.record(t)
	}
	return nil
}

// pointed returns the element type of the Pointer t. An element that is itself a pointer comes in a box, since Avro has no
// union in a union.
func pointed(t *layout.Type, boxes map[*layout.Type]*layout.Type) *layout.Type {
	if t.Elem.Kind != layout.Pointer {
		return t.Elem
	}
	if boxes[t.Elem] == nil {
		boxes[t.Elem] = layout.Box(t.Elem)
	}
	return boxes[t.Elem]
}

func textKeys(t *layout.Type) bool { return t.Key.Kind == layout.String || t.Key.Kind == layout.Text }

// fixed writes a type whose name begins with a small letter, as no record's does.
func (d *describer) fixed(name string, size int) {
	if d.fixes[name] {
		d.WriteString(strconv.Quote(name))
		return
	}
	d.fixes[name] = true
	fmt.Fprintf(d, `{"type":"fixed","name":%q,"size":%d}`, name, size)
}

func (d *describer) anyRecord() {
	if d.any {
		d.WriteString(strconv.Quote(anyName))
		return
	}
	d.any = true
	d.WriteString(`{"type":"record","name":"Any","fields":[{"name":"value","type":["null","boolean","long","double","string","bytes",` +
		`{"type":"array","items":"Any"},{"type":"map","values":"Any"}]}]}`)
}

// mapping writes an Avro map, or, since its keys are strings only, a list of entries.
func (d *describer) mapping(t *layout.Type) error {
	if textKeys(t) {
		d.WriteString(`{"type":"map","values":`)
		err := d.write(t.Elem)
		d.WriteString(`}`)
		return err
	}
	name := d.free(t.Name() + "Entry")
	fmt.Fprintf(d, `{"type":"array","items":{"type":"record","name":%q,"fields":[{"name":"key","type":`, name)
	if err := d.write(t.Key); err != nil {
		return err
	}
	d.WriteString(`},{"name":"value","type":`)
	err := d.write(t.Elem)
	d.WriteString(`}]}}`)
	return err
}

func (d *describer) record(t *layout.Type) error {
	if name, ok := d.names[t]; ok {
		d.WriteString(strconv.Quote(name))
		return nil
	}
	d.names[t] = d.free(t.Name())
	outside := d.open
	d.open = make(map[*layout.Type]bool) // a list that this record is in may occur in it again, and then ends at its name
	defer func() { d.open = outside }()
	fmt.Fprintf(d, `{"type":"record","name":%q,"fields":[`, d.names[t])
	taken := make(map[string]string, len(t.Fields))
	for i, f := range t.Fields {
		name := layout.Identifier(f.Name)
		if other, ok := taken[name]; ok {
			return fmt.Errorf("fields %s and %s of %s are both named %q in Avro: rename one with an avro tag", other, f.GoName, t.Go, name)
		}
		taken[name] = f.GoName
		if i > 0 {
			d.WriteByte(',')
		}
		fmt.Fprintf(d, `{"name":%q,"type":`, name)
		if err := d.write(f.Type); err != nil {
			return err
		}
		d.WriteByte('}')
	}
	d.WriteString(`]}`)
	return nil
}

// free is name, or name and a number where it is taken.
func (d *describer) free(name string) string {
	unique := name
	for i := 2; d.taken[unique]; i++ {
		unique = fmt.Sprintf("%s_%d", name, i)
	}
	d.taken[unique] = true
	return unique
}

// Bounds on schemas that came in messages.
const (
	maxSchemaBytes = 64 << 10
	maxSchemaDepth = 128
)

// parse reads a schema from an untrusted writer.
func parse(text string) (parsed *avro.Schema, err error) {
	if len(text) > maxSchemaBytes {
		return nil, fmt.Errorf("a schema of %d bytes, at most %d are possible", len(text), maxSchemaBytes)
	}
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		if depth > maxSchemaDepth {
			return nil, fmt.Errorf("a schema that nests deeper than %d levels", maxSchemaDepth)
		}
	}
	if !json.Valid([]byte(text)) {
		return nil, fmt.Errorf("a schema that is not JSON")
	}
	defer func() { // the library's parser was written for schemas of the program's own
		if problem := recover(); problem != nil {
			parsed, err = nil, fmt.Errorf("a schema that makes the parser panic: %v", problem)
		}
	}()
	parsed, err = avro.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("a schema that cannot be read: %.200q", err.Error())
	}
	return parsed, nil
}
