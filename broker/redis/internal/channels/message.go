package channels

import (
	"errors"
	"maps"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir/internal/cloudevent"
	"github.com/sabir-go/sabir/internal/engine"
)

// fields are those of a message's entry in the stream. CloudEvents has no binding for Redis: attributes are fields named as the headers of NATS, with their texts as they are.
func fields(head []byte, m *engine.Message) []string {
	list := []string{"head", rueidis.BinaryString(head), "data", rueidis.BinaryString(m.Data)}
	for name, value := range cloudevent.Headers(m.Attributes) {
		list = append(list, name, value)
	}
	return list
}

// readMessage reads the fields of an entry.
func readMessage(fields map[string]string) (m engine.Message, err error) {
	var unread error
	m.Data = []byte(fields["data"])
	m.Head, err = engine.ReadHead([]byte(fields["head"]))
	m.Attributes, unread = cloudevent.Attributes(maps.All(fields))
	return m, errors.Join(err, unread)
}
