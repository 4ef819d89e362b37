package main

import (
	"github.com/bytedance/sonic"
	"github.com/bytedance/sonic/encoder"

	"github.com/sabir-go/sabir/lab/codecs/shape"
)

func sonicCodecs() []codec {
	return []codec{{name: "sonic", entries: []entry{
		sonicEntry(shape.Text), sonicEntry(shape.NewPID()), sonicEntry(shape.NewProcessID()), sonicEntry(shape.NewSimple()),
		sonicEntry(shape.NewComplex()), sonicEntry(shape.NewNested()), sonicEntry(shape.NewItems()), sonicEntry(shape.NewGroups()),
	}}}
}

func sonicEntry[T any](v T) entry {
	return entry{
		encode: func(dst []byte) ([]byte, error) {
			err := encoder.EncodeInto(&dst, &v, 0)
			return dst, err
		},
		decode: func(data []byte) error {
			var back T
			return sonic.Unmarshal(data, &back)
		},
		verify: func(data []byte) error {
			var back T
			if err := sonic.Unmarshal(data, &back); err != nil {
				return err
			}
			return same(v, back)
		},
	}
}
