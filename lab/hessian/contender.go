package main

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"

	dubbo "github.com/apache/dubbo-go-hessian2"
	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/hessian"
	"github.com/sabir-go/sabir/codec/json"
)

// contender is one library. Its functions are used by one goroutine.
type contender struct {
	name   string
	format string // contenders of one format must understand each other
	encode func(dst []byte, v any) ([]byte, error)
	decode func(data []byte) (any, error)
}

func contenders() []contender {
	encoder := dubbo.NewEncoder()
	return []contender{
		{"Sabir hessian", "hessian", hessian.Append, decodeAny(mustLookup(hessian.Name))},
		{"dubbo-go-hessian2", "hessian", func(dst []byte, v any) ([]byte, error) {
			encoder.ReuseBufferClean()
			err := encoder.Encode(v)
			return encoder.Buffer(), err
		}, func(data []byte) (any, error) { return dubbo.NewDecoder(data).Decode() }},
		{"Sabir json", "json", json.Append, decodeAny(mustLookup(json.Name))},
		{"encoding/json", "json", func(dst []byte, v any) ([]byte, error) { return stdjson.Marshal(v) }, func(data []byte) (v any, err error) {
			return v, stdjson.Unmarshal(data, &v)
		}},
	}
}

func mustLookup(name string) codec.Codec {
	c, ok := codec.Lookup(name)
	if !ok {
		panic("no codec is registered as " + name)
	}
	return c
}

func decodeAny(c codec.Codec) func(data []byte) (any, error) {
	return func(data []byte) (v any, err error) {
		err = c.Decode(data, &v)
		return v, err
	}
}

// typed are Sabir's codecs with a Go type for the complex object, as a service has one.
func typed() []contender {
	var all []contender
	for _, name := range []string{hessian.Name, json.Name} {
		c := mustLookup(name)
		all = append(all, contender{"Sabir " + name + ", struct", name, c.Append, func(data []byte) (any, error) {
			v := new(complexStruct)
			err := c.Decode(data, v)
			return v, err
		}})
	}
	return all
}

// check has each contender read what all others of its format wrote, and compares the answers as JSON.
func check(all []contender) error {
	var wrong []error
	for _, value := range values {
		want, err := stdjson.Marshal(value.value)
		if err != nil {
			return err
		}
		for _, writer := range all {
			data, err := writer.encode(nil, value.value)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", writer.name, value.name, err)
			}
			data = append([]byte(nil), data...)
			for _, reader := range all {
				if reader.format != writer.format {
					continue
				}
				got, err := reader.decode(data)
				if err == nil {
					err = sameJSON(want, got)
				}
				if err != nil {
					wrong = append(wrong, fmt.Errorf("%s from %s, %s: %w", reader.name, writer.name, value.name, err))
				}
			}
		}
	}
	return errors.Join(wrong...)
}

// sameJSON compares values that may have other Go types for the same numbers and maps.
func sameJSON(want []byte, got any) error {
	text, err := stdjson.Marshal(plain(got))
	if err != nil {
		return err
	}
	var a, b any
	if err := errors.Join(stdjson.Unmarshal(want, &a), stdjson.Unmarshal(text, &b)); err != nil {
		return err
	}
	if !reflect.DeepEqual(a, b) {
		return fmt.Errorf("got %s, want %s", text, want)
	}
	return nil
}

// plain makes map[string]any of the map[any]any that dubbo-go-hessian2 gives.
func plain(v any) any {
	switch v := v.(type) {
	case map[any]any:
		m := make(map[string]any, len(v))
		for key, value := range v {
			m[fmt.Sprint(key)] = plain(value)
		}
		return m
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	}
	return v
}
