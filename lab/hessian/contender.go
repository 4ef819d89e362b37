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

// contender is one library. It is used by one goroutine, for one value.
type contender struct {
	value  any
	encode func(dst []byte, v any) ([]byte, error)
	decode func(data []byte) (any, error)
}

// contenderOf is the one that a row of the table names.
func contenderOf(row string) (contender, error) {
	switch row {
	case "sabir hessian":
		return contender{complexObject(), hessian.Codec.Append, decodeAny(mustLookup("hessian"))}, nil
	case "sabir json":
		return contender{complexObject(), json.Codec.Append, decodeAny(mustLookup(json.Name))}, nil
	case "sabir hessian, struct":
		return typed(mustLookup("hessian"))
	case "sabir json, struct":
		return typed(mustLookup(json.Name))
	case "dubbo-go-hessian2":
		encoder := dubbo.NewEncoder()
		return contender{complexObject(), func(_ []byte, v any) ([]byte, error) {
			encoder.ReuseBufferClean()
			err := encoder.Encode(v)
			return encoder.Buffer(), err
		}, func(data []byte) (any, error) { return dubbo.NewDecoder(data).Decode() }}, nil
	case "encoding/json":
		return contender{complexObject(), func(_ []byte, v any) ([]byte, error) { return stdjson.Marshal(v) },
			func(data []byte) (v any, err error) { return v, stdjson.Unmarshal(data, &v) }}, nil
	}
	return contender{}, fmt.Errorf("no contender is called %q", row)
}

// typed is a codec with a Go type for the object, as a service has one.
func typed(c codec.Codec) (contender, error) {
	data, err := c.Append(nil, complexObject())
	if err != nil {
		return contender{}, err
	}
	decode := func(data []byte) (any, error) {
		v := new(complexStruct)
		err := c.Decode(data, v)
		return v, err
	}
	value, err := decode(data)
	return contender{value, c.Append, decode}, err
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
