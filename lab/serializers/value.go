package main

import (
	stdjson "encoding/json"

	dubbo "github.com/apache/dubbo-go-hessian2"
	"github.com/bytedance/sonic"
	"github.com/bytedance/sonic/encoder"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/hessian"
	"github.com/sabir-go/sabir/codec/json"
)

// complexObject is what the action "parse" of node-hsf's published benchmark returns.
type complexObject struct {
	String  string  `json:"string"`
	Number  float64 `json:"number"`
	Boolean bool    `json:"boolean"`
	Array   []any   `json:"array"`
	Obj     inner   `json:"obj"`
}

type inner struct {
	String  string   `json:"string"`
	Boolean bool     `json:"boolean"`
	Array   []string `json:"array"`
	Number  float64  `json:"number"`
	Obj     foo      `json:"obj"`
}

type foo struct {
	Foo string `json:"foo"`
}

func newComplexObject() complexObject {
	return complexObject{
		String: "hello world", Number: 1024.1, Boolean: true,
		Array: []any{"hello", 1024.12, true, map[string]any{"foo": "bar"}, []any{int32(1), int32(2), int32(3)}},
		Obj:   inner{String: "hello", Boolean: true, Array: []string{"hello", "world"}, Number: 1024.123, Obj: foo{Foo: "bar"}},
	}
}

// valueRows are Sabir's codecs and those of Go's peers on a bare value: with its Go type, and as an any.
func valueRows[D any](value D) ([]*row, error) {
	text, err := json.Append(nil, &value)
	if err != nil {
		return nil, err
	}
	loose, err := untyped(text, func(f float64) any { return int32(f) }) // an int of Java
	if err != nil {
		return nil, err
	}
	encoder := dubbo.NewEncoder()
	return []*row{
		{Name: "hessian, struct", Format: "Hessian", Ours: true, wire: "Hessian", runner: ofValue(registered(hessian.Name), value)},
		{Name: "hessian, any", Format: "Hessian", Ours: true, wire: "Hessian", runner: ofValue(registered(hessian.Name), loose)},
		{Name: "json, struct", Format: "JSON", Ours: true, wire: "JSON", runner: ofValue(registered(json.Name), value)},
		{Name: "json, any", Format: "JSON", Ours: true, wire: "JSON", runner: ofValue(registered(json.Name), loose)},
		{Name: "dubbo-go-hessian2, any", Format: "Hessian", wire: "Hessian", runner: &local{
			encode: func([]byte) ([]byte, error) {
				encoder.ReuseBufferClean()
				err := encoder.Encode(loose)
				return encoder.Buffer(), err
			},
			decode: func(data []byte) (any, error) { return dubbo.NewDecoder(data).Decode() },
		}},
		{Name: "encoding/json, struct", Format: "JSON", wire: "JSON", runner: ofEncodingJSON(value)},
		{Name: "encoding/json, any", Format: "JSON", wire: "JSON", runner: ofEncodingJSON(loose)},
		{Name: "sonic, struct", Format: "JSON", wire: "JSON", runner: ofSonic(value)},
		{Name: "sonic, any", Format: "JSON", wire: "JSON", runner: ofSonic(loose)},
	}, nil
}

func ofValue[D any](c codec.Codec, value D) *local {
	return &local{
		encode: func(dst []byte) ([]byte, error) { return c.Append(dst, &value) },
		decode: func(data []byte) (any, error) {
			v := new(D)
			err := c.Decode(data, v)
			return v, err
		},
	}
}

func ofEncodingJSON[D any](value D) *local {
	return &local{
		encode: func([]byte) ([]byte, error) { return stdjson.Marshal(&value) },
		decode: func(data []byte) (any, error) {
			v := new(D)
			err := stdjson.Unmarshal(data, v)
			return v, err
		},
	}
}

func ofSonic[D any](value D) *local {
	return &local{
		encode: func(dst []byte) ([]byte, error) {
			err := encoder.EncodeInto(&dst, &value, 0)
			return dst, err
		},
		decode: func(data []byte) (any, error) {
			v := new(D)
			err := sonic.Unmarshal(data, v)
			return v, err
		},
	}
}
