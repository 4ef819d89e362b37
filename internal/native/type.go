package native

import (
	"reflect"
	"sync"
	"unsafe"
)

// Type is the compiled form of T. Its messages have no header: both sides must know by other means that they mean the
// same [Schema], as the two ends of a link do.
type Type[T any] struct {
	plan *plan // encodes
	read *plan // decodes; another one than plan where the writer has another schema
	err  error
}

// types holds the results of For: reflect.Type to *Type[T].
var types sync.Map

// For returns the compiled form of T. It compiles T on first use and looks it up after that, so call it once for a
// type, not for each message. Where T cannot be encoded the error is kept: [Type.Err], Append and Decode return it.
func For[T any]() *Type[T] {
	typ := reflect.TypeFor[T]()
	if t, ok := types.Load(typ); ok {
		return t.(*Type[T])
	}
	p, err := planOf(typ)
	t, _ := types.LoadOrStore(typ, &Type[T]{plan: p, read: p, err: err})
	return t.(*Type[T])
}

// Err describes why T cannot be encoded, or is nil.
func (t *Type[T]) Err() error { return t.err }

// Schema returns the description of what Append writes. It is nil where Err is not.
func (t *Type[T]) Schema() *Schema {
	if t.err != nil {
		return nil
	}
	return t.plan.schema()
}

// From returns a Type that decodes what a writer with another schema wrote; it encodes as t does. The error, a
// [*codec.Error], names both types and the field where the change is impossible.
func (t *Type[T]) From(writer *Schema) (*Type[T], error) {
	if t.err != nil {
		return nil, t.err
	}
	read, err := resolve(writer, t.plan)
	if err != nil {
		return nil, err
	}
	return &Type[T]{plan: t.plan, read: read}, nil
}

// Append appends the encoding of *v to dst and returns the longer slice. It allocates only where dst has too little
// capacity, and in types with methods of their own. On error it returns dst as it was given.
func (t *Type[T]) Append(dst []byte, v *T) ([]byte, error) {
	if t.err != nil {
		return dst, t.err
	}
	if v == nil {
		return dst, encodeFault(nilValue)
	}
	p := t.plan // the lines of plan.append, since one call more would be a tenth of the time of a small struct
	if !p.flat {
		return p.appendContained(dst, noescape(unsafe.Pointer(v)))
	}
	out, err := appendOps(dst, p.ops, noescape(unsafe.Pointer(v)), maxDepth)
	if err != nil {
		return dst, err
	}
	return out, nil
}

// Decode reads the value in data, all of it, into *v. Nothing in *v refers to data afterwards. Every field that has a name
// on the wire is replaced; skipped fields are left as they are. On error *v may be partly filled.
func (t *Type[T]) Decode(data []byte, v *T) error {
	_, err := t.decode(data, v, shareNone)
	return err
}

// DecodeAlias is Decode without copies: strings and byte slices in *v are parts of data. data must not change or be
// reused as long as any of them is in use.
func (t *Type[T]) DecodeAlias(data []byte, v *T) error {
	_, err := t.decode(data, v, shareAll)
	return err
}

// DecodeOwned is Decode of data that the caller has no other use for: what is large in it is not copied. Strings and byte
// slices that are at least a quarter of data become parts of it, the others are copied, so that no small string keeps a
// large message in memory. shared reports whether any did; if not, data may be reused.
func (t *Type[T]) DecodeOwned(data []byte, v *T) (shared bool, err error) {
	return t.decode(data, v, max(len(data)/4, 1))
}

func (t *Type[T]) decode(data []byte, v *T, share int) (shared bool, err error) {
	if t.err != nil {
		return false, t.err
	}
	if v == nil {
		return false, fault(-1, nilTarget)
	}
	d := decoder{data: data, share: share}
	err = d.whole(t.read, noescape(unsafe.Pointer(v)))
	return d.shared, err
}
