package main

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
)

// shapes are the eight values, in the order of the tables.
var shapes = []string{"String", "PID", "ProcessID", "Simple Struct", "Complex Struct", "Nested Struct", "Map", "Nested Map"}

// codec is one library as it is set up here.
type codec struct {
	name    string
	entries []entry // in the order of shapes
}

// entry is one shape in one codec. Its functions are used by one goroutine.
type entry struct {
	// encode appends the encoding to dst, or returns a buffer of its own that the next call reuses.
	encode func(dst []byte) ([]byte, error)
	// decode decodes into a new value, as a server does with each message.
	decode func(data []byte) error
	// verify decodes the output of encode and compares the value with the original.
	verify func(data []byte) error
	// decodes is the input of decode, where that differs from the output of encode.
	decodes []byte
}

// codecs returns all codecs, in the order of the rows.
func codecs() []codec {
	return slices.Concat(nativeCodecs(), protobufCodecs(), vtprotobufCodecs(), gobCodecs(), edfCodecs(), msgpCodecs(), musCodecs(),
		bencCodecs(), cborCodecs(), avroCodecs(), sonicCodecs(), copyCodecs())
}

func codecOf(name string) (codec, error) {
	for _, c := range codecs() {
		if c.name == name {
			return c, nil
		}
	}
	return codec{}, fmt.Errorf("no codec is called %q", name)
}

// check encodes and decodes every shape once.
func (c codec) check() error {
	if len(c.entries) != len(shapes) {
		return fmt.Errorf("%s has %d shapes, want %d", c.name, len(c.entries), len(shapes))
	}
	var all []error
	for i, e := range c.entries {
		data, err := e.encode(nil)
		if err == nil {
			err = e.verify(data)
		}
		if err != nil {
			all = append(all, fmt.Errorf("%s, %s: %w", c.name, shapes[i], err))
		}
	}
	return errors.Join(all...)
}

// same says where two values differ.
func same(want, got any) error {
	if !reflect.DeepEqual(want, got) {
		return fmt.Errorf("decoded %+v, want %+v", got, want)
	}
	return nil
}
