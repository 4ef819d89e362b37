package channels

import (
	"errors"

	"github.com/nats-io/nats.go"

	"github.com/sabir-go/sabir/internal/cloudevent"
	"github.com/sabir-go/sabir/internal/engine"
)

// message reads a message that Publish wrote, or another program.
func message(header nats.Header, data []byte) (m engine.Message, err error) {
	var unread error
	m.Data = data
	m.Head, err = engine.ReadHead([]byte(header.Get(headHeader)))
	m.Attributes, unread = cloudevent.Attributes(func(yield func(string, string) bool) {
		for name, values := range header {
			for _, value := range values {
				if !yield(name, cloudevent.DecodeHeader(value)) {
					return
				}
			}
		}
	})
	return m, errors.Join(err, unread)
}

// setAttributes writes the attributes of an event. The names are those of the binding, in lower case: clients compare them as they are.
func setAttributes(header nats.Header, attributes map[string]string) {
	for name, value := range cloudevent.Headers(attributes) {
		if name != "Content-Type" {
			value = cloudevent.EncodeHeader(value)
		}
		header[name] = []string{value}
	}
}
