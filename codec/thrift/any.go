package thrift

import (
	"fmt"

	apache "github.com/apache/thrift/lib/go/thrift"

	"github.com/sabir-go/sabir/internal/layout"
)

// The fields of the struct that an any is, of which one is set, or none for nil.
const (
	anyBool   = 1
	anyI64    = 2
	anyDouble = 3
	anyString = 4
	anyBinary = 5
	anyList   = 6
	anyMap    = 7
)

func (e *encoder) any(v any, left int) {
	if left == 0 {
		e.fail(tooDeep + "; a value that contains itself cannot be encoded")
		return
	}
	plain, err := layout.Plain(v, rules)
	e.keep(err)
	if e.failed != nil {
		return
	}
	e.keep(e.WriteStructBegin(ctx, ""))
	switch v := plain.(type) {
	case bool:
		e.keep(e.WriteFieldBegin(ctx, "", apache.BOOL, anyBool))
		e.keep(e.WriteBool(ctx, v))
	case int64:
		e.keep(e.WriteFieldBegin(ctx, "", apache.I64, anyI64))
		e.keep(e.WriteI64(ctx, v))
	case uint64:
		e.fail(fmt.Sprintf("%d in an interface cannot be encoded: it is beyond the range of an i64; use a field of type uint64", v))
	case float64:
		e.keep(e.WriteFieldBegin(ctx, "", apache.DOUBLE, anyDouble))
		e.keep(e.WriteDouble(ctx, v))
	case string:
		e.keep(e.WriteFieldBegin(ctx, "", apache.STRING, anyString))
		e.text(v)
	case []byte:
		e.keep(e.WriteFieldBegin(ctx, "", apache.STRING, anyBinary))
		e.binary(v)
	case []any:
		e.keep(e.WriteFieldBegin(ctx, "", apache.LIST, anyList))
		e.anyList(v, left-1)
	case map[string]any:
		e.keep(e.WriteFieldBegin(ctx, "", apache.MAP, anyMap))
		e.anyMap(v, left-1)
	}
	e.keep(e.WriteFieldStop(ctx))
	e.keep(e.WriteStructEnd(ctx))
}

func (e *encoder) anyList(list []any, left int) {
	if !e.fits(len(list)) {
		return
	}
	e.keep(e.WriteListBegin(ctx, apache.STRUCT, len(list)))
	for i, v := range list {
		e.any(v, left)
		if e.failed != nil {
			layout.UnderIndex(e.failed, i)
			return
		}
	}
}

func (e *encoder) anyMap(m map[string]any, left int) {
	if !e.fits(len(m)) {
		return
	}
	e.keep(e.WriteMapBegin(ctx, apache.STRING, apache.STRUCT, len(m)))
	for key, v := range m {
		e.text(key)
		e.any(v, left)
		if e.failed != nil {
			layout.Under(e.failed, "/"+layout.Escape(key))
			return
		}
	}
}

func (d *decoder) any(left int) (decoded any) {
	if left == 0 {
		d.fail(tooDeep)
		return nil
	}
	_, err := d.ReadStructBegin(ctx)
	d.keep(err)
	for d.failed == nil {
		_, wire, id, err := d.ReadFieldBegin(ctx)
		d.keep(err)
		if d.failed != nil || wire == apache.STOP {
			break
		}
		decoded = d.anyField(id, wire, left-1)
	}
	d.keep(d.ReadStructEnd(ctx))
	return decoded
}

func (d *decoder) anyField(id int16, wire apache.TType, left int) (decoded any) {
	var err error
	switch {
	case id == anyBool && wire == apache.BOOL:
		decoded, err = d.ReadBool(ctx)
	case id == anyI64 && wire == apache.I64:
		decoded, err = d.ReadI64(ctx)
	case id == anyDouble && wire == apache.DOUBLE:
		decoded, err = d.ReadDouble(ctx)
	case id == anyString && wire == apache.STRING:
		decoded = d.text()
	case id == anyBinary && wire == apache.STRING:
		decoded = append([]byte{}, d.bytes()...)
	case id == anyList && wire == apache.LIST:
		decoded = d.anyList(left)
	case id == anyMap && wire == apache.MAP:
		decoded = d.anyMap(left)
	default:
		err = apache.Skip(ctx, d.TProtocol, wire, left)
	}
	d.keep(err)
	return decoded
}

func (d *decoder) anyList(left int) any {
	wire, n, err := d.ReadListBegin(ctx)
	d.keep(err)
	if n > 0 && wire != apache.STRUCT {
		d.fail("a list in an interface whose elements are no structs")
	}
	if !d.promise(n) {
		return nil
	}
	list := make([]any, n)
	for i := range list {
		d.promised--
		list[i] = d.any(left)
		if d.failed != nil {
			layout.UnderIndex(d.failed, i)
			break
		}
	}
	return list
}

func (d *decoder) anyMap(left int) any {
	key, elem, n, err := d.ReadMapBegin(ctx)
	d.keep(err)
	if n > 0 && (key != apache.STRING || elem != apache.STRUCT) {
		d.fail("a map in an interface that is not of strings to structs")
	}
	if !d.promise(n) {
		return nil
	}
	made := make(map[string]any, n)
	for range n {
		d.promised--
		name := d.text()
		made[name] = d.any(left)
		if d.failed != nil {
			layout.Under(d.failed, "/"+layout.Escape(name))
			return nil
		}
	}
	if len(made) != n {
		d.fail("a map with the same key twice")
	}
	return made
}
