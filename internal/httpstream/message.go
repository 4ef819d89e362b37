package httpstream

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The messages of a WebSocket.
var (
	valuePrefix = []byte(`{"value":`)
	valueSuffix = []byte(`}`)
	endMessage  = []byte(`{"end":true}`)
)

// envelopeOverhead bounds the bytes of a message around its value.
const envelopeOverhead = 256

// parseMessage takes a message of the caller's apart: either it has a value, or it is the last. The value is a part of text.
func parseMessage(text []byte) (value []byte, last bool, err error) {
	// The usual spelling is not worth a parser: what is between its ends is one value, or the text is no message.
	if inner, ok := bytes.CutPrefix(text, valuePrefix); ok && bytes.HasSuffix(inner, valueSuffix) {
		if inner = inner[:len(inner)-len(valueSuffix)]; jsontext.Value(inner).IsValid() {
			return inner, false, nil
		}
	}
	var message struct {
		Value jsontext.Value `json:"value"`
		End   jsontext.Value `json:"end"` // not a *bool: null is no more than any other value
	}
	if err := json.Unmarshal(text, &message, json.RejectUnknownMembers(true)); err != nil || (message.Value == nil) == (message.End == nil) || message.End != nil && string(message.End) != "true" {
		return nil, false, badInput(`a message is neither {"value":…} nor {"end":true}`)
	}
	return message.Value, message.End != nil, nil
}

// appendError appends the message of an error.
func appendError(dst, problem []byte) []byte {
	dst = append(dst, `{"error":`...)
	dst = append(dst, problem...)
	return append(dst, '}')
}
