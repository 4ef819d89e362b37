package main

import (
	"fmt"

	"github.com/sabir-go/sabir/codec/json"
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

const (
	packetVersion = "4"
	packetSender  = "node-100"
	packetID      = "5f9a6c1e-27d0-4b1c-9f43-8c7b0a1d2e3f"
)

func newPacket[D any](data D) packet[D] {
	return packet[D]{Ver: packetVersion, Sender: packetSender, ID: packetID, Meta: map[string]any{}, Success: true, Data: data}
}

func (p *packet[D]) problem() error {
	if p.ID != packetID || !p.Success {
		return fmt.Errorf("the packet has the id %q and success %t", p.ID, p.Success)
	}
	return nil
}

func (p *packet[D]) text() ([]byte, error) {
	if p.Meta == nil { // an empty map is one, also where a format gives nil for it
		p.Meta = map[string]any{}
	}
	return json.Codec.Append(nil, p)
}

// jsonInside is the packet as Moleculer's serializers with a schema write it: what is in data and meta is JSON. Its schemas
// give the fields these numbers, in Protocol Buffers and Thrift alike.
type jsonInside struct {
	Ver      string  `json:"ver"`
	Sender   string  `json:"sender"`
	ID       string  `json:"id"`
	Success  bool    `json:"success"`
	Data     *[]byte `json:"data"`
	DataType int32   `json:"dataType"`
	Error    *string `json:"error"`
	Meta     string  `json:"meta"`
	Stream   *bool   `json:"stream"`
	Seq      *int32  `json:"seq"`
}

// jsonType is the dataType of data that are JSON.
const jsonType = 2
