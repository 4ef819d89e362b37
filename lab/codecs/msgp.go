package main

import (
	"github.com/tinylib/msgp/msgp"

	"github.com/sabir-go/sabir/lab/codecs/shape"
)

func msgpCodecs() []codec {
	return []codec{{name: "msgp", entries: []entry{
		msgpText(), msgpEntry(new(shape.NewPID())), msgpEntry(new(shape.NewProcessID())), msgpEntry(new(shape.NewSimple())),
		msgpEntry(new(shape.NewComplex())), msgpEntry(new(shape.NewNested())), msgpEntry(new(shape.NewItems())),
		msgpEntry(new(shape.NewGroups())),
	}}}
}

func msgpText() entry {
	v := shape.Text
	return entry{
		encode: func(dst []byte) ([]byte, error) { return msgp.AppendString(dst, v), nil },
		decode: func(data []byte) error {
			_, _, err := msgp.ReadStringBytes(data)
			return err
		},
		verify: func(data []byte) error {
			back, _, err := msgp.ReadStringBytes(data)
			if err != nil {
				return err
			}
			return same(v, back)
		},
	}
}

func msgpEntry[T any, P interface {
	*T
	msgp.Marshaler
	msgp.Unmarshaler
}](v P) entry {
	return entry{
		encode: v.MarshalMsg,
		decode: func(data []byte) error {
			_, err := P(new(T)).UnmarshalMsg(data)
			return err
		},
		verify: func(data []byte) error {
			back := P(new(T))
			if _, err := back.UnmarshalMsg(data); err != nil {
				return err
			}
			return same(v, back)
		},
	}
}
