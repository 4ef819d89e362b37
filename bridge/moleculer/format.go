package moleculer

import (
	"bytes"
	"encoding/base64"
	stdjson "encoding/json"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/json"
)

// format is JSON as Moleculer has it: a Buffer is {"type":"Buffer","data":[1,2,3]}, which fills a []byte here.
var format = codec.Contained(buffersJSON{})

type buffersJSON struct{}

func (buffersJSON) Name() string { return json.Name }

func (buffersJSON) Append(dst []byte, v any) ([]byte, error) { return json.Append(dst, v) }

func (buffersJSON) Decode(data []byte, v any) error {
	err := json.Decode(data, v)
	if err == nil || !hasBuffer(data) {
		return err // a target without a type keeps a Buffer as it came
	}
	text, changed := withBase64(data)
	if !changed {
		return err
	}
	return json.Decode(text, v)
}

// withBase64 returns the document with texts in base64 in place of Buffers, as Go's JSON has bytes.
func withBase64(data []byte) (text []byte, changed bool) {
	var value any
	d := stdjson.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if d.Decode(&value) != nil {
		return nil, false
	}
	value = replaceBuffers(value, &changed)
	if !changed {
		return nil, false
	}
	text, err := stdjson.Marshal(value)
	return text, err == nil
}

func replaceBuffers(value any, changed *bool) any {
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = replaceBuffers(v[i], changed)
		}
	case map[string]any:
		if list, ok := v["data"].([]any); ok && v["type"] == "Buffer" && len(v) == 2 {
			if data, ok := bytesOf(list); ok {
				*changed = true
				return base64.StdEncoding.EncodeToString(data)
			}
		}
		for key := range v {
			v[key] = replaceBuffers(v[key], changed)
		}
	}
	return value
}

func bytesOf(list []any) ([]byte, bool) {
	data := make([]byte, len(list))
	for i, one := range list {
		n, ok := one.(stdjson.Number)
		if !ok {
			return nil, false
		}
		v, err := n.Int64()
		if err != nil || v < 0 || v > 255 {
			return nil, false
		}
		data[i] = byte(v)
	}
	return data, true
}
