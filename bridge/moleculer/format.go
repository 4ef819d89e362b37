package moleculer

import (
	"bytes"
	"encoding/base64"
	"reflect"
	"strconv"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/jsonmethods"
)

// format is JSON as Moleculer has it: bytes are a Buffer, {"type":"Buffer","data":[1,2,3]}.
var format = codec.Contained(buffersJSON{})

type buffersJSON struct{}

func (buffersJSON) Name() string { return json.Name }

func (buffersJSON) Append(dst []byte, v any) ([]byte, error) {
	out, err := json.Codec.Append(dst, v)
	if err != nil || !holdsBytes(reflect.ValueOf(v)) {
		return out, err
	}
	text, err := jsonv2.Marshal(v, withBuffers)
	if err != nil {
		return dst, err
	}
	return append(dst, text...), nil
}

// withBuffers writes as package codec/json does, but for bytes.
var withBuffers = jsonv2.JoinOptions(
	jsonv2.Deterministic(true),
	jsonv1.FormatByteArrayAsArray(true),
	jsonv1.FormatBytesWithLegacySemantics(true),
	jsonv1.FormatDurationAsNano(true),
	jsonv1.OmitEmptyWithLegacySemantics(true),
	jsonv1.StringifyWithLegacySemantics(true),
	jsonv2.WithMarshalers(jsonv2.MarshalToFunc(func(to *jsontext.Encoder, data []byte) error { return to.WriteValue(appendBuffer(nil, data)) })),
)

// bufferForms holds the beginning and the end of a Buffer as JSON.stringify writes it, and with its members in the order of the alphabet, as Go writes
// maps. Quotes within a text have a backslash, so no text has these.
var bufferForms = [...]struct{ begin, end string }{{`{"type":"Buffer","data":[`, `]}`}, {`{"data":[`, `],"type":"Buffer"}`}}

func appendBuffer(dst, data []byte) []byte {
	dst = append(dst, bufferForms[0].begin...)
	for i, b := range data {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendUint(dst, uint64(b), 10)
	}
	return append(dst, bufferForms[0].end...)
}

// bytesTypes remembers which types may hold bytes: reflect.Type to bool. It grows with the types of the program, never with input.
var bytesTypes sync.Map

// holdsBytes reports whether a value, which does not contain itself, may hold a []byte. Interfaces within other types may.
func holdsBytes(v reflect.Value) bool {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v = v.Elem(); !v.IsValid() {
			return false
		}
	}
	if !v.IsValid() {
		return false
	}
	switch t := v.Type(); {
	case t == anyMap:
		for _, one := range v.Interface().(map[string]any) {
			if holdsBytes(reflect.ValueOf(one)) {
				return true
			}
		}
		return false
	case t == anyList:
		for _, one := range v.Interface().([]any) {
			if holdsBytes(reflect.ValueOf(one)) {
				return true
			}
		}
		return false
	default:
		if known, ok := bytesTypes.Load(t); ok {
			return known.(bool)
		}
		holds := typeHoldsBytes(t, make(map[reflect.Type]bool))
		bytesTypes.Store(t, holds)
		return holds
	}
}

var (
	anyMap    = reflect.TypeFor[map[string]any]()
	anyList   = reflect.TypeFor[[]any]()
	bytesType = reflect.TypeFor[[]byte]()
)

func typeHoldsBytes(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] || t.Kind() != reflect.Pointer && jsonmethods.Write(t) {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Array, reflect.Map:
		return typeHoldsBytes(t.Elem(), seen)
	case reflect.Slice:
		return t == bytesType || typeHoldsBytes(t.Elem(), seen)
	case reflect.Struct:
		for f := range t.Fields() {
			if f.Tag.Get("json") != "-" && (f.IsExported() || f.Anonymous) && typeHoldsBytes(f.Type, seen) {
				return true
			}
		}
	}
	return false
}

func (buffersJSON) Decode(data []byte, v any) error {
	err := decode(data, v)
	if err == nil || !bytes.Contains(data, []byte(`"Buffer"`)) {
		return err // a target without a type keeps a Buffer as it came
	}
	return decode(withBase64(data), v)
}

// withBase64 returns the document with texts in base64 in place of Buffers, as Go's JSON has bytes.
func withBase64(data []byte) []byte {
	if text := jsontext.Value(bytes.Clone(data)); text.Compact() == nil { // Python, for one, writes spaces
		data = text
	}
	out := make([]byte, 0, len(data))
	for {
		at := bytes.IndexByte(data, '{')
		if at < 0 {
			return append(out, data...)
		}
		out = append(out, data[:at]...)
		held, size := readBuffer(data[at:])
		if size == 0 {
			size = 1
			out = append(out, '{')
		} else {
			out = append(base64.StdEncoding.AppendEncode(append(out, '"'), held), '"')
		}
		data = data[at+size:]
	}
}

// readBuffer reads the Buffer that text, which has no spaces, begins with. The size is that of its text, or 0 where it is none.
func readBuffer(text []byte) (data []byte, size int) {
	form := bufferForms[0]
	if !bytes.HasPrefix(text, []byte(form.begin)) {
		form = bufferForms[1]
	}
	if !bytes.HasPrefix(text, []byte(form.begin)) {
		return nil, 0
	}
	data = []byte{}
	for at := len(form.begin); at < len(text); {
		n, digits := 0, 0
		for ; at < len(text) && text[at] >= '0' && text[at] <= '9' && digits < 4; at++ {
			n, digits = 10*n+int(text[at]-'0'), digits+1
		}
		if at == len(text) || n > 255 {
			return nil, 0
		}
		if digits > 0 {
			data = append(data, byte(n))
		}
		switch c := text[at]; {
		case c == ',' && digits > 0:
			at++
		case (digits > 0 || len(data) == 0) && bytes.HasPrefix(text[at:], []byte(form.end)):
			return data, at + len(form.end)
		default:
			return nil, 0
		}
	}
	return nil, 0
}
