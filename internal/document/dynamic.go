package document

import (
	"math"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/layout"
)

// dynamic decodes the value whose first token is in hand into plain Go types.
func (d *decoder) dynamic(left int) (any, *codec.Error) {
	switch d.token.Kind {
	case Nil:
		return nil, nil
	case Bool:
		return d.token.Bits == 1, nil
	case Int:
		return int64(d.token.Bits), nil
	case Uint:
		if d.token.Bits > math.MaxInt64 {
			return d.token.Bits, nil
		}
		return int64(d.token.Bits), nil
	case Float:
		return math.Float64frombits(d.token.Bits), nil
	case Text:
		text, fault := d.text()
		return text, fault
	case Bytes:
		return append(make([]byte, 0, len(d.token.Data)), d.token.Data...), nil
	case Time:
		return d.token.At, nil
	case List, Map:
		if left--; left < 0 {
			return nil, d.fail(d.start, tooDeep)
		}
		if d.token.Kind == List {
			return d.dynamicList(left)
		}
		n, fault := d.count(Map, 2)
		if fault != nil {
			return nil, fault
		}
		return d.dynamicMap(n, left)
	}
	return nil, d.mismatch("value")
}

func (d *decoder) dynamicList(left int) (any, *codec.Error) {
	n, fault := d.count(List, 1)
	if fault != nil {
		return nil, fault
	}
	list := make([]any, 0, d.ahead(n, 16))
	for i := 0; ; i++ {
		more, fault := d.more(i, n)
		if fault != nil {
			return nil, layout.UnderIndex(fault, i)
		}
		if !more {
			return list, nil
		}
		v, fault := d.dynamic(left)
		if fault != nil {
			return nil, layout.UnderIndex(fault, i)
		}
		list = append(list, v)
	}
}

func (d *decoder) dynamicMap(n, left int) (map[string]any, *codec.Error) {
	return textMap(d, n, func() (any, *codec.Error) {
		if fault := d.next(); fault != nil {
			return nil, fault
		}
		return d.dynamic(left)
	})
}
