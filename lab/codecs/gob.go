package main

import (
	"bytes"
	"encoding/gob"
	"fmt"

	"github.com/sabir-go/sabir/lab/codecs/shape"
)

func gobCodecs() []codec {
	return []codec{{name: "gob", evolves: "yes, types sent ahead", settings: "one stream, types sent before (its best case)", entries: []entry{
		gobEntry(shape.Text), gobEntry(shape.NewPID()), gobEntry(shape.NewProcessID()), gobEntry(shape.NewSimple()),
		gobEntry(shape.NewComplex()), gobEntry(shape.NewNested()), gobEntry(shape.NewItems()), gobEntry(shape.NewGroups()),
	}}}
}

// gobEntry has one encoder and one decoder for good, and has sent the types before: the bytes are those of the second
// message.
func gobEntry[T any](v T) entry {
	var out, in bytes.Buffer
	encoder, decoder := gob.NewEncoder(&out), gob.NewDecoder(&in)
	first := encoder.Encode(&v)
	in.Write(out.Bytes())
	if first == nil {
		first = decoder.Decode(new(T))
	}
	decode := func(data []byte, back *T) error {
		in.Write(data)
		return decoder.Decode(back)
	}
	return entry{
		encode: func([]byte) ([]byte, error) {
			out.Reset()
			err := encoder.Encode(&v)
			return out.Bytes(), err
		},
		decode: func(data []byte) error {
			var back T
			return decode(data, &back)
		},
		verify: func(data []byte) error {
			if first != nil {
				return fmt.Errorf("the first message, with the types: %w", first)
			}
			var back T
			if err := decode(data, &back); err != nil {
				return err
			}
			return same(v, back)
		},
	}
}
