package main

import (
	"bytes"

	"github.com/fxamacker/cbor/v2"

	"github.com/sabir-go/sabir/lab/codecs/shape"
)

func cborCodecs() []codec {
	return []codec{{name: "cbor", entries: []entry{
		cborEntry(shape.Text), cborEntry(shape.NewPID()), cborEntry(shape.NewProcessID()), cborEntry(shape.NewSimple()),
		cborEntry(shape.NewComplex()), cborEntry(shape.NewNested()), cborEntry(shape.NewItems()), cborEntry(shape.NewGroups()),
	}}}
}

func cborEntry[T any](v T) entry {
	var out bytes.Buffer
	return entry{
		encode: func([]byte) ([]byte, error) {
			out.Reset()
			err := cbor.MarshalToBuffer(&v, &out)
			return out.Bytes(), err
		},
		decode: func(data []byte) error {
			var back T
			return cbor.Unmarshal(data, &back)
		},
		verify: func(data []byte) error {
			var back T
			if err := cbor.Unmarshal(data, &back); err != nil {
				return err
			}
			return same(v, back)
		},
	}
}
