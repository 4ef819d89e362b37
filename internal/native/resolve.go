package native

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/layout"
)

// targetOf returns the type that v points to.
func targetOf(v any) (reflect.Type, error) {
	t := reflect.TypeOf(v)
	if t == nil || t.Kind() != reflect.Pointer || reflect.ValueOf(v).IsNil() {
		return nil, fault(-1, nilTarget)
	}
	return t.Elem(), nil
}

func resolve(writer *Schema, reader *plan) (*plan, error) {
	if writer == nil {
		return nil, fault(-1, "a nil schema cannot be read")
	}
	if writer.hash == reader.schema().hash {
		return reader, nil
	}
	r := resolver{writer: writer, done: make(map[pair]*plan)}
	p, err := r.translate(writer.root, reader)
	if err != nil {
		return nil, err
	}
	if err := unrelated(writer, reader); err != nil {
		return nil, err
	}
	return p, nil
}

// unrelated refuses two structs that both have fields, of which none is the other's.
func unrelated(writer *Schema, reader *plan) error {
	if writer.kindAt(writer.root) != structKind || reader.kind != structKind {
		return nil
	}
	def := &writer.defs[writer.root-firstDef]
	match, _ := matchFields(def, reader.fields)
	if len(match) == 0 || len(reader.fields) == 0 || slices.ContainsFunc(match, func(at int) bool { return at >= 0 }) {
		return nil
	}
	return fault(-1, fmt.Sprintf("the writer's %s and %s have no field in common", structName(def), reader.typ))
}

// pair is a writer's type read into a reader's.
type pair struct {
	from ref
	to   *plan
}

type resolver struct {
	writer *Schema
	done   map[pair]*plan // also those under way, which recursive types refer to
}

// widenings are the changes of kinds without parts that keep every value.
var widenings = map[[2]valueKind]opcode{
	{int8Kind, int16Kind}: opInt8To16, {int8Kind, int32Kind}: opInt8To32, {int8Kind, int64Kind}: opInt8To64,
	{int16Kind, int32Kind}: opInt32, {int16Kind, int64Kind}: opInt64, {int32Kind, int64Kind}: opInt64,
	{uint8Kind, uint16Kind}: opUint8To16, {uint8Kind, uint32Kind}: opUint8To32, {uint8Kind, uint64Kind}: opUint8To64,
	{uint16Kind, uint32Kind}: opUint32, {uint16Kind, uint64Kind}: opUint64, {uint32Kind, uint64Kind}: opUint64,
	{float32Kind, float64Kind}: opFloat32To64, {complex64Kind, complex128Kind}: opComplex64To128,
}

// translate returns a plan that reads from and stores as to.
func (r *resolver) translate(from ref, to *plan) (*plan, *codec.Error) {
	kind := r.writer.kindAt(from)
	if kind == to.kind && kind < pointerKind {
		return to, nil
	}
	if p, ok := r.done[pair{from, to}]; ok {
		return p, nil
	}
	p := &plan{typ: to.typ, kind: to.kind, size: to.size, min: r.writer.minAt(from), length: to.length, maps: to.maps, slices: to.slices}
	r.done[pair{from, to}] = p
	if code, ok := widenings[[2]valueKind{kind, to.kind}]; ok {
		if code == opInt64 || code == opUint64 {
			code = to.ops[0].code // an int of 32 bits checks its range
		}
		p.ops = []op{{code: code, sub: p}}
		return p, nil
	}
	if to.kind == pointerKind && kind != pointerKind && to.elem.kind != pointerKind {
		return p, r.parts(p, opBox, 0, from, to)
	}
	if kind != to.kind {
		return nil, r.impossible(from, to)
	}
	def := &r.writer.defs[from-firstDef]
	switch kind {
	case structKind:
		return p, r.structure(p, def, to)
	case arrayKind:
		if def.length != uint64(to.length) {
			return nil, r.impossible(from, to)
		}
		code := opArray
		if to.elem.kind == uint8Kind && def.elem == ref(uint8Kind) {
			code = opByteArray
		}
		return p, r.parts(p, code, 0, def.elem, to)
	case mapKind:
		return p, r.parts(p, opMap, def.key, def.elem, to)
	case sliceKind:
		return p, r.parts(p, opSlice, 0, def.elem, to)
	}
	return p, r.parts(p, opPointer, 0, def.elem, to)
}

// parts finishes p, whose only operation is code, with the translations of its key, if it has one, and its element. The
// operation is set first, since a recursive type may copy it before its parts are known.
func (r *resolver) parts(p *plan, code opcode, key, elem ref, to *plan) (err *codec.Error) {
	p.ops = []op{{code: code, sub: p}}
	if key != 0 {
		if p.key, err = r.translate(key, to.key); err != nil {
			return err
		}
	}
	p.elem, err = r.translate(elem, to.elem)
	return err
}

// structure matches fields and lists them in the writer's order.
func (r *resolver) structure(p *plan, def *definition, to *plan) *codec.Error {
	match, found := matchFields(def, to.fields)
	if err := misnamed(def, match, to); err != nil {
		return err
	}
	for i, w := range def.fields {
		path := "/" + escapePointer(w.name)
		if match[i] < 0 && r.writer.minAt(w.typ) == 0 {
			continue
		}
		if match[i] < 0 {
			skipped := &plan{skip: r.writer, place: w.typ}
			p.ops = append(p.ops, op{code: opSkip, sub: skipped, path: path})
			continue
		}
		f := &to.fields[match[i]]
		inner, err := r.translate(w.typ, f.plan)
		if err != nil {
			if err.Pointer == "" {
				err.Message = fmt.Sprintf("field %q of the writer's %s cannot be read into field %s of %s", w.name, structName(def), f.goName, to.typ)
			}
			return under(err, path)
		}
		p.ops = inline(p.ops, inner.ops, f.off, path)
	}
	for i := range to.fields {
		if f := &to.fields[i]; !found[i] && f.plan.size > 0 {
			p.ops = append(p.ops, op{code: opZero, off: f.off, sub: f.plan, path: "/" + escapePointer(f.name)})
		}
	}
	return nil
}

// misnamed refuses a field of the writer whose name differs from that of a reader's in its case only, see [layout.Names].
func misnamed(def *definition, match []int, to *plan) *codec.Error {
	names := make(layout.Names, len(to.fields))
	for i := range to.fields {
		names.Add(to.fields[i].name)
	}
	for i, w := range def.fields {
		if match[i] >= 0 {
			continue
		}
		if name := names.Like(w.name); name != "" {
			e := fault(-1, fmt.Sprintf("the field %q of the writer's %s differs from %q of %s in its case only", w.name, structName(def), name, to.typ))
			return under(e, "/"+escapePointer(w.name))
		}
	}
	return nil
}

func structName(def *definition) string {
	if def.name == "" {
		return "struct"
	}
	return def.name
}

// matchFields returns for each field of the writer the reader's field or -1, and which of the reader's were found. A
// name goes before every alias.
func matchFields(def *definition, fields []field) (match []int, found []bool) {
	places := make(map[string]int, len(def.fields))
	match, found = make([]int, len(def.fields)), make([]bool, len(fields))
	for i, w := range def.fields {
		places[w.name], match[i] = i, -1
	}
	take := func(i int, name string) {
		if w, ok := places[name]; ok && match[w] < 0 && !found[i] {
			match[w], found[i] = i, true
		}
	}
	for i := range fields {
		take(i, fields[i].name)
	}
	for i := range fields {
		for _, alias := range fields[i].aliases {
			take(i, alias)
		}
	}
	return match, found
}

func (r *resolver) impossible(from ref, to *plan) *codec.Error {
	want, got := to.kind.String(), r.writer.nameAt(from)
	if to.kind == arrayKind {
		want = fmt.Sprintf("array of %d", to.length)
	}
	if from >= firstDef && r.writer.kindAt(from) == arrayKind {
		got = fmt.Sprintf("array of %d", r.writer.defs[from-firstDef].length)
	}
	return &codec.Error{
		Codec: Name, Offset: -1, Want: fmt.Sprintf("%s (Go type %s)", want, to.typ), Got: got,
		Message: "the writer's type cannot become the reader's",
	}
}
