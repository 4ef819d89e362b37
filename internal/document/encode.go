package document

import (
	"reflect"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/layout"
)

const notUTF8 = "a string that is not valid UTF-8: use []byte for bytes"

func (e *engine) append(dst []byte, p *plan, at unsafe.Pointer, left int) ([]byte, *codec.Error) {
	f := e.format
	switch p.Kind {
	case layout.String:
		return e.appendText(dst, load[string](at))
	case layout.Int64:
		return f.AppendInt(dst, load[int64](at)), nil
	case layout.Struct:
		return e.appendStruct(dst, p, at, left)
	case layout.Slice:
		h := load[layout.SliceHeader](at)
		if h.Data == nil {
			return f.AppendNil(dst), nil
		}
		return e.appendList(dst, p, h.Data, h.Len, left)
	case layout.Array:
		return e.appendList(dst, p, at, p.Len, left)
	case layout.Map:
		if load[unsafe.Pointer](at) == nil {
			return f.AppendNil(dst), nil
		}
		return e.appendMap(dst, p, at, left)
	case layout.Pointer:
		to := load[unsafe.Pointer](at)
		if to == nil {
			return f.AppendNil(dst), nil
		}
		switch p.elem.Kind {
		case layout.Pointer: // of these alone a value can be made that contains itself
			if left--; left < 0 {
				return dst, e.fault(tooDeep)
			}
		case layout.Slice, layout.Map, layout.Bytes:
			if load[unsafe.Pointer](to) == nil {
				return e.appendEmpty(dst, p.elem.Kind), nil
			}
		}
		return e.append(dst, p.elem, to, left)
	case layout.Any:
		return e.appendAny(dst, load[any](at), left)
	}
	return e.appendScalar(dst, p, at)
}

func (e *engine) appendScalar(dst []byte, p *plan, at unsafe.Pointer) ([]byte, *codec.Error) {
	f := e.format
	switch p.Kind {
	case layout.Bool:
		return f.AppendBool(dst, load[bool](at)), nil
	case layout.Int8:
		return f.AppendInt(dst, int64(load[int8](at))), nil
	case layout.Int16:
		return f.AppendInt(dst, int64(load[int16](at))), nil
	case layout.Int32:
		return f.AppendInt(dst, int64(load[int32](at))), nil
	case layout.Uint8:
		return f.AppendUint(dst, uint64(load[uint8](at))), nil
	case layout.Uint16:
		return f.AppendUint(dst, uint64(load[uint16](at))), nil
	case layout.Uint32:
		return f.AppendUint(dst, uint64(load[uint32](at))), nil
	case layout.Uint64:
		return f.AppendUint(dst, load[uint64](at)), nil
	case layout.Float32:
		return f.AppendFloat32(dst, load[float32](at)), nil
	case layout.Float64:
		return f.AppendFloat64(dst, load[float64](at)), nil
	case layout.Bytes:
		b := load[[]byte](at)
		if b == nil {
			return f.AppendNil(dst), nil
		}
		return f.AppendBytes(dst, b), nil
	case layout.ByteArray:
		return f.AppendBytes(dst, unsafe.Slice((*byte)(at), p.Len)), nil
	case layout.Time:
		out, err := f.AppendTime(dst, load[time.Time](at))
		if err != nil {
			return dst, e.wrapped(err)
		}
		return out, nil
	}
	own, err := p.Marshal(nil, at)
	if err != nil {
		return dst, e.wrapped(err)
	}
	if p.Kind == layout.Text {
		return e.appendText(dst, unsafe.String(unsafe.SliceData(own), len(own)))
	}
	return f.AppendBytes(dst, own), nil
}

// appendEmpty writes an empty list or object for a pointer to a nil slice or map. Written as nil, the pointer would come back
// as nil itself. JSON has the same rule.
func (e *engine) appendEmpty(dst []byte, k layout.Kind) []byte {
	switch k {
	case layout.Slice:
		return e.format.AppendList(dst, 0)
	case layout.Map:
		return e.format.AppendMap(dst, 0)
	}
	return e.format.AppendBytes(dst, nil)
}

func (e *engine) appendText(dst []byte, s string) ([]byte, *codec.Error) {
	if !utf8.ValidString(s) {
		return dst, e.fault(notUTF8)
	}
	return e.format.AppendText(dst, s), nil
}

func (e *engine) appendStruct(dst []byte, p *plan, at unsafe.Pointer, left int) ([]byte, *codec.Error) {
	if left--; left < 0 {
		return dst, e.fault(tooDeep)
	}
	n := len(p.fields)
	if p.omits {
		for i := range p.fields {
			if f := &p.fields[i]; f.omits && f.written(at) == nil {
				n--
			}
		}
	}
	dst = e.format.AppendMap(dst, n)
	for i := range p.fields {
		f := &p.fields[i]
		var to unsafe.Pointer
		if !f.omits {
			to = unsafe.Add(at, f.off)
		} else if to = f.written(at); to == nil {
			continue
		}
		var fault *codec.Error
		if dst, fault = e.append(append(dst, f.key...), f.plan, to, left); fault != nil {
			return dst, layout.Under(fault, f.step)
		}
	}
	return dst, nil
}

func (e *engine) appendList(dst []byte, p *plan, first unsafe.Pointer, n, left int) ([]byte, *codec.Error) {
	if left--; left < 0 {
		return dst, e.fault(tooDeep)
	}
	dst = e.format.AppendList(dst, n)
	for i := range n {
		var fault *codec.Error
		if dst, fault = e.append(dst, p.elem, unsafe.Add(first, uintptr(i)*p.elem.Size), left); fault != nil {
			return dst, layout.UnderIndex(fault, i)
		}
	}
	return dst, nil
}

func (e *engine) appendMap(dst []byte, p *plan, at unsafe.Pointer, left int) (_ []byte, fault *codec.Error) {
	if p.Go == anyMap {
		return e.appendAnyMap(dst, load[map[string]any](at), left)
	}
	if left--; left < 0 {
		return dst, e.fault(tooDeep)
	}
	if p.Go == stringMap {
		return e.appendStringMap(dst, load[map[string]string](at))
	}
	entries, n := p.Entries(at)
	defer entries.Release()
	dst = e.format.AppendMap(dst, n)
	for i := 0; entries.Next(); i++ {
		if dst, fault = e.append(dst, p.key, entries.Key, left); fault == nil {
			dst, fault = e.append(dst, p.elem, entries.Elem, left)
		}
		if fault != nil {
			return dst, layout.Under(fault, entries.Step(i))
		}
	}
	return dst, nil
}

func (e *engine) appendStringMap(dst []byte, m map[string]string) (_ []byte, fault *codec.Error) {
	dst = e.format.AppendMap(dst, len(m))
	for key, value := range m {
		if dst, fault = e.appendText(dst, key); fault == nil {
			dst, fault = e.appendText(dst, value)
		}
		if fault != nil {
			return dst, layout.Under(fault, "/"+layout.Escape(key))
		}
	}
	return dst, nil
}

func (e *engine) appendAnyMap(dst []byte, m map[string]any, left int) (_ []byte, fault *codec.Error) {
	if left--; left < 0 {
		return dst, e.fault(tooDeep)
	}
	dst = e.format.AppendMap(dst, len(m))
	for key, value := range m {
		if dst, fault = e.appendText(dst, key); fault == nil {
			dst, fault = e.appendAny(dst, value, left)
		}
		if fault != nil {
			return dst, layout.Under(fault, "/"+layout.Escape(key))
		}
	}
	return dst, nil
}

// appendAny writes the value in an interface.
func (e *engine) appendAny(dst []byte, v any, left int) ([]byte, *codec.Error) {
	switch v := v.(type) {
	case nil:
		return e.format.AppendNil(dst), nil
	case string:
		return e.appendText(dst, v)
	case bool:
		return e.format.AppendBool(dst, v), nil
	case int:
		return e.format.AppendInt(dst, int64(v)), nil
	case int64:
		return e.format.AppendInt(dst, v), nil
	case float64:
		return e.format.AppendFloat64(dst, v), nil
	case map[string]any:
		if v == nil {
			return e.format.AppendNil(dst), nil
		}
		return e.appendAnyMap(dst, v, left)
	}
	t, at, ok := layout.Source(v)
	if !ok { // a nil pointer
		return e.format.AppendNil(dst), nil
	}
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface { // v is a pointer to one of these, so it may lead to itself
		if left--; left < 0 {
			return dst, e.fault(tooDeep)
		}
	}
	p, err := e.planOf(t)
	if err != nil {
		return dst, e.wrapped(err)
	}
	return e.append(dst, p, at, left)
}
