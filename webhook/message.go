package webhook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"strings"

	jsoncodec "github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/cloudevent"
	"github.com/sabir-go/sabir/internal/engine"
)

// WriteMessage makes the event a message of a durable channel: package channel calls it for a channel of events. In the binary mode the attributes are
// headers of the broker and the data is that of the event, else the message is the event as one JSON object.
func (e *Event) WriteMessage(m *engine.Message, binary bool) (err error) {
	if !binary {
		m.Codec, m.Attributes = jsoncodec.Name, map[string]string{cloudevent.ContentType: structuredType}
		m.Data, err = e.MarshalJSON() // json.Marshal would write the data anew
		return err
	}
	if m.Codec = ""; e.isJSON() {
		m.Codec = jsoncodec.Name
	}
	m.Data = bytes.Clone(e.Data) // brokers may read it when Publish has given up
	m.Attributes, err = e.attributes()
	return err
}

// ReadMessage reads what WriteMessage wrote, or another program, in either mode: structured where the content type says so, or where there are no attributes.
func (e *Event) ReadMessage(m *engine.Message) error {
	declared := m.Attributes[cloudevent.ContentType]
	if cloudevent.IsStructured(declared) {
		media, params, err := mime.ParseMediaType(declared)
		if err != nil || media != structuredType || params["charset"] != "" && !strings.EqualFold(params["charset"], "utf-8") {
			return fmt.Errorf("the message is an event of the form %.100q; want %s, or the binary mode", declared, structuredType)
		}
		return json.Unmarshal(m.Data, e)
	}
	if others := len(m.Attributes); others > 1 || others == 1 && declared == "" {
		return e.setAttributes(m.Attributes, bytes.Clone(m.Data)) // a handler that changes it and fails changes no dead letter
	}
	if err := json.Unmarshal(m.Data, e); err != nil {
		return fmt.Errorf("the message has no attributes of an event, and is none in the structured mode: %w", err)
	}
	return nil
}
