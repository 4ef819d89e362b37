package main

import (
	"fmt"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/avro"
	"github.com/sabir-go/sabir/codec/cbor"
	"github.com/sabir-go/sabir/codec/gob"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/codec/msgpack"
	"github.com/sabir-go/sabir/codec/native"
	"github.com/sabir-go/sabir/codec/protobuf"
	"github.com/sabir-go/sabir/codec/thrift"
)

// packet is Moleculer's packet RES around a document: the same fields with the same values, in the same order.
type packet[D any] struct {
	Ver     string         `json:"ver"`
	Sender  string         `json:"sender"`
	ID      string         `json:"id"`
	Meta    map[string]any `json:"meta"`
	Success bool           `json:"success"`
	Data    D              `json:"data"`
}

func newPacket[D any](data D) packet[D] {
	return packet[D]{Ver: "4", Sender: "node-100", ID: "5f9a6c1e-27d0-4b1c-9f43-8c7b0a1d2e3f", Meta: map[string]any{}, Success: true, Data: data}
}

// jsonInside is the packet as Moleculer's serializers with a schema write it: what is in data and meta is JSON. Its schemas
// give the fields these numbers, in Protocol Buffers and Thrift alike.
type jsonInside struct {
	Ver      string  `json:"ver"`
	Sender   string  `json:"sender"`
	ID       string  `json:"id"`
	Success  bool    `json:"success"`
	Data     *[]byte `json:"data"`
	DataType int32   `json:"dataType"` // 2 is JSON
	Error    *string `json:"error"`
	Meta     string  `json:"meta"`
	Stream   *bool   `json:"stream"`
	Seq      *int32  `json:"seq"`
}

// gobAnyLimit is where the gob codec ends: it takes 1 MiB for a type with an any in it, and gob needs up to a quarter more than
// JSON. A document that is longer has no row with gob and an any.
const gobAnyLimit = 800 << 10

// packetRows are Sabir's codecs with packets around a document: with its Go type, and as an any.
func packetRows[D any](document D) ([]*row, error) {
	text, err := json.Append(nil, &document)
	if err != nil {
		return nil, err
	}
	loose, err := untyped(text, func(f float64) any { return int64(f) })
	if err != nil {
		return nil, err
	}
	fingerprints := avro.New(avro.Fingerprint())
	var rows []*row
	for _, c := range []struct {
		name, format string
		codec        codec.Codec
	}{
		{"json", "JSON", registered(json.Name)}, {"native", "native", registered(native.Name)}, {"msgpack", "MsgPack", registered(msgpack.Name)},
		{"cbor", "CBOR", registered(cbor.Name)}, {"avro", "Avro", fingerprints}, {"avro with schema", "Avro", registered(avro.Name)},
		{"protobuf", "ProtoBuf", registered(protobuf.Name)}, {"thrift", "Thrift", registered(thrift.Name)},
		{"thrift-compact", "Thrift", registered(thrift.CompactName)}, {"gob", "gob", registered(gob.Name)},
	} {
		// What knows its fields by name in each message, and JSON and its like, say the same whatever the Go type is.
		wire := func(form string) string { return c.name + " " + form }
		if c.format == "JSON" || c.format == "MsgPack" || c.format == "CBOR" {
			wire = func(string) string { return c.format }
		}
		rows = append(rows, &row{Name: c.name + ", struct", Format: c.format, Ours: true, wire: wire("struct"), runner: ofPacket(c.codec, document)})
		if c.name != gob.Name || len(text) < gobAnyLimit {
			rows = append(rows, &row{Name: c.name + ", any", Format: c.format, Ours: true, wire: wire("any"), runner: ofPacket(c.codec, loose)})
		}
		if c.name == "avro" || c.format == "ProtoBuf" || c.format == "Thrift" {
			head, wire := 0, c.format
			switch c.name {
			case "avro":
				head = 10 // Moleculer's Avro has no fingerprint before the value
			case "thrift-compact":
				wire = c.name // Moleculer has the binary protocol only
			}
			rows = append(rows,
				&row{Name: c.name + ", JSON inside, struct", Format: c.format, Ours: true, wire: wire, head: head, runner: ofJSONInside(c.codec, document)},
				&row{Name: c.name + ", JSON inside, any", Format: c.format, Ours: true, wire: wire, head: head, runner: ofJSONInside(c.codec, loose)})
		}
	}
	return rows, nil
}

func registered(name string) codec.Codec {
	c, ok := codec.Lookup(name)
	if !ok {
		panic("no codec is registered as " + name)
	}
	return c
}

func ofPacket[D any](c codec.Codec, document D) *local {
	return &local{
		encode: func(dst []byte) ([]byte, error) {
			p := newPacket(document)
			return c.Append(dst, &p)
		},
		decode: func(data []byte) (any, error) {
			p := new(packet[D])
			err := c.Decode(data, p)
			return p, err
		},
	}
}

func ofJSONInside[D any](c codec.Codec, document D) *local {
	var text, meta []byte // used again
	return &local{
		encode: func(dst []byte) (_ []byte, err error) {
			p := newPacket(document)
			if text, err = json.Append(text[:0], &p.Data); err != nil {
				return nil, err
			}
			if meta, err = json.Append(meta[:0], p.Meta); err != nil {
				return nil, err
			}
			inside := jsonInside{Ver: p.Ver, Sender: p.Sender, ID: p.ID, Success: p.Success, Data: &text, DataType: 2, Meta: string(meta)}
			return c.Append(dst, &inside)
		},
		decode: func(data []byte) (any, error) {
			var inside jsonInside
			if err := c.Decode(data, &inside); err != nil {
				return nil, err
			}
			if inside.Data == nil || inside.DataType != 2 {
				return nil, fmt.Errorf("the packet holds no JSON: data type %d", inside.DataType)
			}
			p := &packet[D]{Ver: inside.Ver, Sender: inside.Sender, ID: inside.ID, Success: inside.Success}
			if err := json.Decode(*inside.Data, &p.Data); err != nil {
				return nil, err
			}
			return p, json.Decode([]byte(inside.Meta), &p.Meta)
		},
	}
}
