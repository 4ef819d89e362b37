package openapi

import (
	"bytes"
	"encoding/json"
)

// object is a JSON object whose members keep their order, so that documents of the same API are the same bytes and read in
// a sensible order.
type object []member

type member struct {
	key   string
	value any
}

// add appends a member.
func (o *object) add(key string, value any) { *o = append(*o, member{key, value}) }

// addText appends a member unless the text is empty.
func (o *object) addText(key, text string) {
	if text != "" {
		o.add(key, text)
	}
}

// get is the value of a member, nil where there is none.
func (o object) get(key string) any {
	for i := range o {
		if o[i].key == key {
			return o[i].value
		}
	}
	return nil
}

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	err := write(&b, o)
	return b.Bytes(), err
}

// write writes a value. Objects and lists are walked here: left to package json, each would be read again at every level
// around it.
func write(b *bytes.Buffer, v any) error {
	switch v := v.(type) {
	case object:
		b.WriteByte('{')
		for i, m := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := write(b, m.key); err != nil {
				return err
			}
			b.WriteByte(':')
			if err := write(b, m.value); err != nil {
				return err
			}
		}
		b.WriteByte('}')
		return nil
	case []any:
		b.WriteByte('[')
		for i := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := write(b, v[i]); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	}
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// text is a document as its bytes: indented, with a line end behind it.
func text(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// ref is a reference to a component of the document.
func ref(kind, name string) object {
	return object{{"$ref", "#/components/" + kind + "/" + name}}
}
