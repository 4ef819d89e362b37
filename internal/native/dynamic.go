package native

import (
	"fmt"
	"reflect"
	"unsafe"
)

// Dynamic is a [Type] of which the Go type is known only while the program runs, or which saves a program from compiling the same code for
// each of many types. Its methods take pointers to values of that type, and refuse all others. It does not change once made.
//
// Their names are not those of [codec.Codec]: a linker keeps what has the form of an interface's method, so each program without a cluster would have all of the codec.
type Dynamic struct {
	plan    *plan          // encodes
	read    *plan          // decodes; another one than plan where the writer has another schema
	pointer unsafe.Pointer // to the descriptor of the type's pointer type, as an interface that holds such a pointer has it
}

// Of returns the compiled form of a type. It compiles the type on first use. The error says why values of it cannot be encoded.
func Of(t reflect.Type) (*Dynamic, error) {
	if t == nil {
		return nil, fault(-1, "a nil type cannot be encoded")
	}
	p, err := planOf(t)
	if err != nil {
		return nil, err
	}
	pointer := reflect.PointerTo(t)
	return &Dynamic{plan: p, read: p, pointer: (*emptyInterface)(unsafe.Pointer(&pointer)).data}, nil
}

// Schema returns the description of what AppendValue writes.
func (d *Dynamic) Schema() *Schema { return d.plan.schema() }

// From returns a Dynamic that decodes what a writer with another schema wrote; it encodes as d does:
//
//   - fields are matched by name, then by the reader's aliases, in any order;
//   - a field that only the writer has is skipped, one that only the reader has becomes zero;
//   - an integer becomes a wider one of the same signedness, float32 float64, complex64 complex128, and T becomes *T.
//
// Two structs without a field in common are different things, not versions of one: they are refused, where they are the whole
// value, and so is a field whose name differs from a reader's in its case only. Everything else is a [*codec.Error] whose text names both types and
// whose Pointer is the field.
func (d *Dynamic) From(writer *Schema) (*Dynamic, error) {
	read, err := resolve(writer, d.plan)
	if err != nil {
		return nil, err
	}
	return &Dynamic{plan: d.plan, read: read, pointer: d.pointer}, nil
}

// AppendValue appends the encoding of what v points to, as [Type.Append] does.
func (d *Dynamic) AppendValue(dst []byte, v any) ([]byte, error) {
	at, err := d.address(v)
	if err != nil {
		return dst, err
	}
	out, err := d.plan.append(dst, at)
	if err != nil {
		return dst, err
	}
	return out, nil
}

// DecodeValue reads the value in data, all of it, into what v points to, as [Type.Decode] does.
func (d *Dynamic) DecodeValue(data []byte, v any) error {
	_, err := d.decode(data, v, shareNone)
	return err
}

// DecodeAlias is DecodeValue without copies, as [Type.DecodeAlias].
func (d *Dynamic) DecodeAlias(data []byte, v any) error {
	_, err := d.decode(data, v, shareAll)
	return err
}

// DecodeOwned is DecodeValue of data that the caller has no other use for, as [Type.DecodeOwned].
func (d *Dynamic) DecodeOwned(data []byte, v any) (shared bool, err error) {
	return d.decode(data, v, max(len(data)/4, 1))
}

func (d *Dynamic) decode(data []byte, v any, share int) (shared bool, err error) {
	at, err := d.address(v)
	if err != nil {
		return false, err
	}
	into := decoder{data: data, share: share}
	err = into.whole(d.read, at)
	return into.shared, err
}

// address returns the pointer in v, if it is one to a value of the type. See noescape.
func (d *Dynamic) address(v any) (unsafe.Pointer, error) {
	held := (*emptyInterface)(unsafe.Pointer(&v))
	if held.typ != d.pointer { // a program with plugins may have two descriptors of one type
		target, err := targetOf(v)
		if err != nil {
			return nil, err
		}
		if target != d.plan.typ {
			return nil, fault(-1, fmt.Sprintf("this is a *%s, want a *%s", target, d.plan.typ))
		}
	}
	if held.data == nil {
		return nil, fault(-1, nilTarget)
	}
	return noescape(held.data), nil
}
