package main

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"io"

	"github.com/sabir-go/sabir/lab/codecs/shape"
)

// gobCodecs are two ways of decoding: with a new decoder for each message, which has the types ahead of the value, as Ergo's
// benchmark does it; and with one decoder for all, whose types have come before. Both encode with one encoder.
func gobCodecs() []codec {
	one := codec{name: "Gob, one stream", entries: []entry{
		gobEntry(shape.Text), gobEntry(shape.NewPID()), gobEntry(shape.NewProcessID()), gobEntry(shape.NewSimple()),
		gobEntry(shape.NewComplex()), gobEntry(shape.NewNested()), gobEntry(shape.NewItems()), gobEntry(shape.NewGroups()),
	}}
	each := codec{name: "Gob", entries: []entry{
		gobEachEntry(shape.Text), gobEachEntry(shape.NewPID()), gobEachEntry(shape.NewProcessID()), gobEachEntry(shape.NewSimple()),
		gobEachEntry(shape.NewComplex()), gobEachEntry(shape.NewNested()), gobEachEntry(shape.NewItems()), gobEachEntry(shape.NewGroups()),
	}}
	return []codec{each, one}
}

// gobEachEntry decodes the first message of a stream. To verify what is encoded, which is a later one, it decodes both.
func gobEachEntry[T any](v T) entry {
	var first bytes.Buffer
	failure := gob.NewEncoder(&first).Encode(&v)
	e := gobEntry(v)
	e.decodes = first.Bytes()
	e.decode = func(data []byte) error {
		var back T
		return gob.NewDecoder(bytes.NewReader(data)).Decode(&back)
	}
	e.verify = func(data []byte) error {
		if failure != nil {
			return failure
		}
		decoder := gob.NewDecoder(io.MultiReader(bytes.NewReader(e.decodes), bytes.NewReader(data)))
		for range 2 {
			var back T
			if err := decoder.Decode(&back); err != nil {
				return err
			}
			if err := same(v, back); err != nil {
				return err
			}
		}
		return nil
	}
	return e
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
