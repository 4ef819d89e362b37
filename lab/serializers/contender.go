package main

import (
	stdjson "encoding/json"
	"fmt"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/avro"
	"github.com/sabir-go/sabir/codec/cbor"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/codec/msgpack"
	"github.com/sabir-go/sabir/codec/protobuf"
	"github.com/sabir-go/sabir/codec/thrift"
	"github.com/sabir-go/sabir/internal/native"
)

// contender encodes one packet and decodes it.
type contender struct {
	encode func(dst []byte) ([]byte, error) // appends
	decode func(data []byte) (decoded, error)
	want   []byte // the packet as JSON
}

// decoded is a packet that was decoded.
type decoded interface {
	// problem checks the packet's own fields, and not the document; nil means that they are right.
	problem() error
	// text is the whole packet as JSON.
	text() ([]byte, error)
}

// contenders returns all contenders, by their rows' names, with the packet around a document: with its Go type and, where the
// name says so, as an any, or as JSON inside of another format.
func contenders[D any](document D) (map[string]contender, error) {
	text, err := json.Codec.Append(nil, &document)
	if err != nil {
		return nil, err
	}
	loose, err := untyped(text)
	if err != nil {
		return nil, err
	}
	all := map[string]contender{
		"native, any":           ofPacket(native.Codec(), loose),
		"json, any":             ofPacket(json.Codec, loose),
		"avro, JSON inside":     ofJSONInside(avro.SingleObject, document),
		"protobuf, JSON inside": ofJSONInside(protobuf.Codec, document),
		"thrift, JSON inside":   ofJSONInside(thrift.Codec, document),
		"avro":                  ofPacket(avro.SingleObject, document),
	}
	for _, c := range []codec.Codec{native.Codec(), json.Codec, msgpack.Codec, cbor.Codec, protobuf.Codec, thrift.Codec} {
		all[c.Name()] = ofPacket(c, document)
	}
	p := newPacket(document)
	want, err := json.Codec.Append(nil, &p)
	if err != nil {
		return nil, err
	}
	all["copy"] = ofCopy(want)
	for name, c := range all {
		c.want = want
		all[name] = c
	}
	return all, nil
}

// untyped decodes a document without a Go type: into maps, lists and numbers, which are integers where JavaScript would
// write them as integers too.
func untyped(text []byte) (any, error) {
	var v any
	if err := stdjson.Unmarshal(text, &v); err != nil {
		return nil, err
	}
	return withIntegers(v), nil
}

func withIntegers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			v[name] = withIntegers(v[name])
		}
	case []any:
		for i := range v {
			v[i] = withIntegers(v[i])
		}
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	}
	return v
}

func ofPacket[D any](c codec.Codec, document D) contender {
	return contender{
		encode: func(dst []byte) ([]byte, error) {
			p := newPacket(document)
			return c.Append(dst, &p)
		},
		decode: func(data []byte) (decoded, error) {
			p := new(packet[D])
			err := c.Decode(data, p)
			return p, err
		},
	}
}

func ofJSONInside[D any](c codec.Codec, document D) contender {
	var text, meta []byte // used again
	return contender{
		encode: func(dst []byte) (_ []byte, err error) {
			p := newPacket(document)
			if text, err = json.Codec.Append(text[:0], &p.Data); err != nil {
				return nil, err
			}
			if meta, err = json.Codec.Append(meta[:0], p.Meta); err != nil {
				return nil, err
			}
			inside := jsonInside{Ver: p.Ver, Sender: p.Sender, ID: p.ID, Success: p.Success, Data: &text, DataType: jsonType, Meta: string(meta)}
			return c.Append(dst, &inside)
		},
		decode: func(data []byte) (decoded, error) {
			var inside jsonInside
			if err := c.Decode(data, &inside); err != nil {
				return nil, err
			}
			if inside.Data == nil || inside.DataType != jsonType {
				return nil, fmt.Errorf("the packet holds no JSON: data type %d", inside.DataType)
			}
			p := &packet[D]{Ver: inside.Ver, Sender: inside.Sender, ID: inside.ID, Success: inside.Success}
			if err := json.Codec.Decode(*inside.Data, &p.Data); err != nil {
				return nil, err
			}
			return p, json.Codec.Decode([]byte(inside.Meta), &p.Meta)
		},
	}
}

// ofCopy copies the packet's JSON, in both directions.
func ofCopy(text []byte) contender {
	buffer := make([]byte, len(text))
	found := decoded(copied(buffer)) // made once: a copy is all that is measured
	return contender{
		encode: func(dst []byte) ([]byte, error) { return append(dst, text...), nil },
		decode: func(data []byte) (decoded, error) {
			copy(buffer, data)
			return found, nil
		},
	}
}

// copied is a packet that is only its text.
type copied []byte

func (copied) problem() error          { return nil }
func (c copied) text() ([]byte, error) { return c, nil }
