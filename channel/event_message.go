package channel

import (
	"encoding/json"
	"reflect"

	"github.com/sabir-go/sabir"
	jsoncodec "github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/cloudevent"
	"github.com/sabir-go/sabir/internal/engine"
)

// eventMessage is a CloudEvent: a pointer to webhook.Event, whose attributes other programs find in the message's headers.
type eventMessage interface {
	WriteMessage(m *engine.Message, binary bool) error
	ReadMessage(m *engine.Message) error
}

// binaryEvents is the format of a channel in which events are in the binary mode.
const binaryEvents = "binary"

// maxAttributes bounds the attributes of an event in the binary mode, which brokers have to take beside the head: as they are, in bytes.
const maxAttributes = 16 << 10

// eventOf returns the event that is written or read in its own form; false for values that a codec writes and reads.
func eventOf(value any, format string) (eventMessage, bool) {
	if format != jsoncodec.Name && format != binaryEvents {
		return nil, false
	}
	e, ok := value.(eventMessage)
	return e, ok
}

// messageType describes the messages of a channel. Events in the binary mode have the media type of their data.
func messageType[T any](name, format string) sabir.MessageType {
	m := sabir.MessageType{Kind: "channel", Name: name, Type: reflect.TypeFor[T]()}
	if _, isEvent := eventOf(new(T), format); isEvent && format != binaryEvents {
		m.ContentType = cloudevent.StructuredType
	}
	return m
}

// signed returns the bytes that the proofs of a message cover besides its channel and its ID: its data, and the attributes that make an event of it in the binary mode.
func signed(m *engine.Message) []byte {
	if len(m.Attributes) == 0 || len(m.Attributes) == 1 && m.Attributes[cloudevent.ContentType] != "" {
		return m.Data
	}
	text, _ := json.Marshal(m.Attributes) // texts by names, which it sorts
	return append(append(text, 0), m.Data...)
}
