package grain

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/native"
)

// The forms of saved states: the first byte of each.
const (
	formJSON   = 'j' // JSON follows
	formNative = 'n' // the length of the writer's schema (uvarint), the schema, and the value follow
)

// maxSchema bounds the schema in a saved state, in bytes.
const maxSchema = 1 << 20

// encodeState appends a state to dst in one of the forms.
func encodeState[T any](dst []byte, form byte, value *T) (state []byte, err error) {
	defer codec.Contain("json", &err) // the native codec does so itself
	if form == formNative {
		c := native.For[T]()
		if err := c.Err(); err != nil {
			return nil, err
		}
		schema := c.Schema().Bytes()
		dst = binary.AppendUvarint(append(dst, formNative), uint64(len(schema)))
		return c.Append(append(dst, schema...), value)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return append(append(dst, formJSON), text...), nil
}

// decodeState reads a state in whatever form it was saved.
func decodeState[T any](data []byte, value *T) (err error) {
	defer codec.Contain("json", &err)
	if len(data) == 0 {
		return fmt.Errorf("it is empty")
	}
	switch form, rest := data[0], data[1:]; form {
	case formJSON:
		return json.Unmarshal(rest, value)
	case formNative:
		n, length := binary.Uvarint(rest)
		if length <= 0 || n > maxSchema || n > uint64(len(rest)-length) {
			return fmt.Errorf("its schema is cut off or too long")
		}
		rest = rest[length:]
		return decodeNative(rest[:n], rest[n:], value)
	default:
		return fmt.Errorf("its first byte is %#x: it was saved by a later version of this program, or by another", form)
	}
}

func decodeNative[T any](schema, data []byte, value *T) error {
	c := native.For[T]()
	if err := c.Err(); err != nil {
		return err
	}
	writer, err := native.ParseSchema(schema)
	if err != nil {
		return err
	}
	if writer.Hash() != c.Schema().Hash() {
		if c, err = c.From(writer); err != nil {
			return err
		}
	}
	return c.Decode(data, value)
}
