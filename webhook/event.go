package webhook

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/sabir-go/sabir/internal/cloudevent"
)

// Event is a CloudEvent of version 1.0 (cloudevents.io). ID and Source together tell it from all others. As JSON it has the structured form.
type Event struct {
	ID      string // required
	Source  string // required: a URI reference, such as "/orders"
	Type    string // required, such as "com.example.orders.placed"
	Subject string
	Time    time.Time // zero for none
	Schema  string    // dataschema: a URI
	// DataType is the media type of Data (datacontenttype). "" stands for application/json; of an event that came without one and whose bytes are
	// no JSON it is application/octet-stream.
	DataType string
	// Data is the payload: JSON where DataType says so. nil for none.
	Data []byte
	// Extensions has all other attributes, by names of lower-case letters and digits. Their values are texts: a number or a truth value in JSON becomes one.
	Extensions map[string]string
}

// The bounds of what is read of an event.
const (
	maxAttributes = 64
	maxAttribute  = 8 << 10 // bytes
)

// check returns what is wrong with the attributes.
func (e *Event) check() error {
	switch {
	case e.ID == "":
		return errors.New("the event lacks an id")
	case e.Source == "":
		return errors.New("the event lacks a source")
	case e.Type == "":
		return errors.New("the event lacks a type")
	case len(e.Extensions) > maxAttributes:
		return fmt.Errorf("the event has more than %d extensions", maxAttributes)
	}
	if _, err := url.Parse(e.Source); err != nil {
		return errors.New("the source of the event is no URI reference")
	}
	if _, _, err := mime.ParseMediaType(e.DataType); e.DataType != "" && err != nil {
		return fmt.Errorf("the datacontenttype of the event is no media type: %w", err)
	}
	for name, value := range e.Extensions {
		if !extensionName(name) {
			return fmt.Errorf("the attribute %.40q of the event has a name that is not of lower-case letters and digits", name)
		}
		if err := checkText(name, value); err != nil {
			return err
		}
	}
	for name, value := range map[string]string{"id": e.ID, "source": e.Source, "type": e.Type, "subject": e.Subject, "dataschema": e.Schema, "datacontenttype": e.DataType} {
		if err := checkText(name, value); err != nil {
			return err
		}
	}
	if e.isJSON() && e.Data != nil && !json.Valid(e.Data) {
		return errors.New("the data of the event is not JSON, as its datacontenttype says")
	}
	return nil
}

func checkText(name, value string) error {
	if len(value) > maxAttribute {
		return fmt.Errorf("the attribute %s of the event has more than %d bytes", name, maxAttribute)
	}
	if !utf8.ValidString(value) || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r >= 0x7f && r <= 0x9f }) {
		return fmt.Errorf("the attribute %s of the event has control characters or is not UTF-8", name)
	}
	return nil
}

func extensionName(name string) bool {
	switch name {
	case "", "id", "source", "specversion", "type", "subject", "time", "datacontenttype", "dataschema", "data":
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}

// isJSON reports whether the data is JSON.
func (e *Event) isJSON() bool {
	if e.DataType == "" {
		return true
	}
	media, _, _ := mime.ParseMediaType(e.DataType)
	return media == "application/json" || media == "text/json" || strings.HasSuffix(media, "+json")
}

// MarshalJSON writes the structured form. Data that is no JSON is a text where it is UTF-8 of a type text/…, and base64 otherwise.
func (e Event) MarshalJSON() ([]byte, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	out := []byte(`{"specversion":"1.0"`)
	add := func(name, value string) {
		if value != "" {
			text, _ := json.Marshal(value) // of a string that was checked
			out = append(append(append(out, `,"`...), name+`":`...), text...)
		}
	}
	add("id", e.ID)
	add("source", e.Source)
	add("type", e.Type)
	add("subject", e.Subject)
	if !e.Time.IsZero() {
		add("time", e.Time.Format(time.RFC3339Nano))
	}
	add("dataschema", e.Schema)
	add("datacontenttype", e.DataType)
	for _, name := range slices.Sorted(maps.Keys(e.Extensions)) {
		add(name, e.Extensions[name])
	}
	switch {
	case e.Data == nil:
	case e.isJSON():
		out = append(append(out, `,"data":`...), e.Data...)
	case strings.HasPrefix(e.DataType, "text/") && utf8.Valid(e.Data):
		text, _ := json.Marshal(string(e.Data))
		out = append(append(out, `,"data":`...), text...)
	default:
		add("data_base64", base64.StdEncoding.EncodeToString(e.Data))
	}
	return append(out, '}'), nil
}

// UnmarshalJSON reads the structured form. Attributes that it does not know are extensions.
func (e *Event) UnmarshalJSON(text []byte) error {
	var members map[string]json.RawMessage
	if err := jsonv2.Unmarshal(text, &members); err != nil || members == nil { // two readers could take a name that is there twice in two ways
		return errors.New("the event is no JSON object, or has one name twice")
	}
	*e = Event{}
	version := ""
	var data json.RawMessage
	var encoded *string
	for name, value := range members {
		if name == "data" {
			data = value
			continue
		}
		if string(value) == "null" {
			continue // as if it were not there
		}
		if name == "data_base64" {
			encoded = new(string)
			if err := json.Unmarshal(value, encoded); err != nil {
				return errors.New("data_base64 of the event is no text")
			}
			continue
		}
		read, err := attributeText(name, value)
		if err != nil {
			return err
		}
		if name == "specversion" {
			version = read
		} else if err := e.set(name, read); err != nil {
			return err
		}
	}
	if err := checkVersion(version); err != nil {
		return err
	}
	switch {
	case data != nil && encoded != nil:
		return errors.New("the event has both data and data_base64")
	case encoded != nil:
		raw, err := base64.StdEncoding.DecodeString(*encoded)
		if err != nil {
			return errors.New("data_base64 of the event is not base64")
		}
		e.setBytes(raw)
	case data != nil && !e.isJSON() && data[0] == '"':
		var content string
		if err := json.Unmarshal(data, &content); err != nil {
			return err
		}
		e.Data = []byte(content)
	case data != nil:
		if !e.isJSON() {
			return errors.New("the data of the event is JSON, which its datacontenttype is not")
		}
		e.Data = bytes.Clone(data)
	}
	return e.check()
}

func checkVersion(version string) error {
	switch version {
	case "1.0":
		return nil
	case "":
		return errors.New("the event lacks a specversion")
	}
	return fmt.Errorf("the event has the specversion %.20q; 1.0 is spoken here", version)
}

// attributeText is the value of an attribute as a text.
func attributeText(name string, value json.RawMessage) (read string, err error) {
	switch value[0] {
	case '"':
		err = json.Unmarshal(value, &read)
		return read, err
	case '{', '[':
		return "", fmt.Errorf("the attribute %.40q of the event is neither a text nor a number", name)
	}
	return string(value), nil
}

// set sets an attribute other than specversion.
func (e *Event) set(name, value string) (err error) {
	switch name {
	case "id":
		e.ID = value
	case "source":
		e.Source = value
	case "type":
		e.Type = value
	case "subject":
		e.Subject = value
	case "dataschema":
		e.Schema = value
	case "datacontenttype":
		e.DataType = value
	case "time":
		if e.Time, err = time.Parse(time.RFC3339, value); err != nil {
			return fmt.Errorf("the time of the event is %.40q: want RFC 3339 with its zone", value)
		}
	default:
		if value == "" {
			return nil // as if it were not there
		}
		if e.Extensions == nil {
			e.Extensions = make(map[string]string)
		}
		e.Extensions[name] = value
	}
	return nil
}

// attributes are those of the binary form, by their names, with datacontenttype.
func (e *Event) attributes() (map[string]string, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	all := map[string]string{"specversion": "1.0", "id": e.ID, "source": e.Source, "type": e.Type}
	for name, value := range map[string]string{"subject": e.Subject, "dataschema": e.Schema, cloudevent.ContentType: e.DataType} {
		if value != "" {
			all[name] = value
		}
	}
	if e.DataType == "" && e.Data != nil {
		all[cloudevent.ContentType] = "application/json"
	}
	if !e.Time.IsZero() {
		all["time"] = e.Time.Format(time.RFC3339Nano)
	}
	maps.Copy(all, e.Extensions)
	return all, nil
}

// setAttributes makes e the event of the binary form with these attributes.
func (e *Event) setAttributes(attributes map[string]string, data []byte) error {
	*e = Event{}
	if err := checkVersion(attributes["specversion"]); err != nil {
		return err
	}
	for name, value := range attributes {
		if name == "specversion" {
			continue
		}
		if err := e.set(name, value); err != nil {
			return err
		}
	}
	if len(data) > 0 {
		e.setBytes(data)
	}
	return e.check()
}

// setBytes sets data whose type may be missing. It would be JSON then, but the SDK of CloudEvents for Python names no type for bytes.
func (e *Event) setBytes(data []byte) {
	e.Data = data
	if e.DataType == "" && !json.Valid(data) {
		e.DataType = "application/octet-stream"
	}
}
