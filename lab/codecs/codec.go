package main

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
)

// shapes are the eight values, in the order of the tables.
var shapes = []string{"string", "PID", "process id", "simple struct", "complex struct", "nested struct", "map", "nested map"}

// codec is one library as it is set up here.
type codec struct {
	name     string
	evolves  string // whether a field can be added or removed without breaking the other side
	settings string
	quick    bool // takes part in -quick
	entries  []entry
}

// entry is one shape in one codec. Its functions are used by one goroutine.
type entry struct {
	// encode appends the encoding to dst, or returns a buffer of its own that the next call reuses.
	encode func(dst []byte) ([]byte, error)
	// decode decodes into a new value, as a server does with each message.
	decode func(data []byte) error
	// verify decodes and compares with what was encoded.
	verify func(data []byte) error
}

// codecs are all of them: Sabir's first, then what its ratios are measured against.
func codecs() []codec {
	return slices.Concat(nativeCodecs(), protobufCodecs(), vtprotobufCodecs(), gobCodecs(), msgpCodecs(), musCodecs(), bencCodecs(),
		cborCodecs(), avroCodecs(), sonicCodecs())
}

// missing says which codecs are not here, and why.
func missing() []string {
	return []string{"EDF (ergo.services/ergo): the module proxy answers 403 Forbidden, so the ratios are against google protobuf alone"}
}

// baselines are the codecs whose better one the ratios are measured against.
var baselines = []string{"google protobuf"}

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
