package channels

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/sabir-go/sabir/internal/cloudevent"
	"github.com/sabir-go/sabir/internal/engine"
)

// attributePrefix begins the names of the headers with the attributes of an event, which are application properties to clients of AMQP 1.0. The
// binding allows "_" in place of the colon, which the SDK for Go does not read.
const attributePrefix = "cloudEvents:"

func publishing(m *engine.Message) (amqp091.Publishing, error) {
	head, err := engine.AppendHead(nil, &m.Head)
	p := amqp091.Publishing{Headers: amqp091.Table{headHeader: string(head)}, DeliveryMode: amqp091.Persistent, MessageId: m.ID, Timestamp: m.Time, Body: m.Data,
		ContentType: m.Attributes[cloudevent.ContentType]}
	for name, value := range m.Attributes {
		if name != cloudevent.ContentType {
			p.Headers[attributePrefix+name] = value
		}
	}
	return p, err
}

// messageOf reads a message that publishing made, or another program.
func messageOf(d *amqp091.Delivery) (m engine.Message, err error) {
	var unread error
	head, _ := d.Headers[headHeader].(string)
	m.Head, err = engine.ReadHead([]byte(head))
	m.Data = d.Body
	if m.ID == "" {
		m.ID = d.MessageId
	}
	m.Attributes, unread = cloudevent.Attributes(func(yield func(string, string) bool) {
		if d.ContentType != "" && !yield("Content-Type", d.ContentType) {
			return
		}
		for header, value := range d.Headers {
			if name, is := attribute(header); is && !yield(cloudevent.Prefix+name, textOf(value)) {
				return
			}
		}
	})
	return m, errors.Join(err, unread)
}

// attribute is the name of the attribute in a header; false for other headers.
func attribute(header string) (name string, is bool) {
	const length = len(attributePrefix)
	if len(header) <= length || !strings.HasPrefix(header, attributePrefix[:length-1]) || header[length-1] != ':' && header[length-1] != '_' {
		return "", false
	}
	return header[length:], true
}

// textOf is the value of an attribute as CloudEvents writes it. Other programs may send numbers, truth values, times and bytes as such.
func textOf(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case []byte:
		return base64.StdEncoding.EncodeToString(v)
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	case nil:
		return ""
	}
	return fmt.Sprint(value)
}
