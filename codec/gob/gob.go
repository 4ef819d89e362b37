package gob

import (
	"bytes"
	stdgob "encoding/gob"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/sabir-go/sabir/codec"
)

// codecName is the name of this codec in URLs, flags and handshakes.
const codecName = "gob"

// maxDepth is the depth to which a value of a recursive type, or one with interfaces in it, may nest when it is encoded.
const maxDepth = 128

// minRoom is the least capacity in bytes that Append offers the library.
const minRoom = 512

// Codec is the codec of this package as it is registered, for sabir.Codecs: see [codec.Codec].
var Codec = codec.Contained(plain{})

func init() {
	stdgob.Register(map[string]any{})
	stdgob.Register([]any{})
	codec.Register(Codec)
}

type plain struct{}

func (plain) Name() string { return codecName }

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func (plain) Append(dst []byte, v any) ([]byte, error) {
	value := reflect.ValueOf(v)
	// The library describes some types otherwise when it is given a pointer to one. A pointer may point to itself.
	for levels := 0; value.Kind() == reflect.Pointer && !value.IsNil() && levels < maxDepth; levels++ {
		value = value.Elem()
	}
	if !value.IsValid() || value.Kind() == reflect.Pointer {
		return dst, fault("a nil value, or a pointer to itself, has no form in gob")
	}
	traits := traitsOf(value.Type())
	if traits.refused != "" {
		return dst, fault(traits.refused)
	}
	if traits.deep && deeper(value, maxDepth) {
		return dst, fault(fmt.Sprintf("nested deeper than %d levels, or a value that contains itself", maxDepth))
	}
	out := slices.Grow(dst, minRoom)
	// The library is handed only the capacity behind out, so that it does not move what is before it.
	buffer := buffers.Get().(*bytes.Buffer)
	*buffer = *bytes.NewBuffer(out[len(out):])
	err := stdgob.NewEncoder(buffer).EncodeValue(value)
	text := buffer.Bytes()
	*buffer = bytes.Buffer{} // keep nothing of the caller's in the pool
	buffers.Put(buffer)
	if err != nil {
		return dst, libraryFault(err)
	}
	return append(out, text...), nil // already in place, unless the library had to grow the buffer
}

func (plain) Decode(data []byte, v any) error {
	target := reflect.ValueOf(v)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return fault(fmt.Sprintf("Decode needs a non-nil pointer, got %T", v))
	}
	traits := traitsOf(target.Type())
	if traits.refused != "" {
		return fault(traits.refused)
	}
	if err := inspect(data, traits.deep); err != nil {
		return err
	}
	reader := bytes.NewReader(data)
	err := stdgob.NewDecoder(reader).Decode(v)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &codec.Error{Codec: codecName, Offset: int64(len(data)), Message: "the data ends inside a value", Err: err}
	}
	if err != nil {
		return libraryFault(err)
	}
	if left := reader.Len(); left > 0 {
		return &codec.Error{Codec: codecName, Offset: int64(len(data) - left), Message: fmt.Sprintf("%d bytes after the end of the value", left)}
	}
	return nil
}

func fault(message string) *codec.Error {
	return &codec.Error{Codec: codecName, Offset: -1, Message: message}
}

// maxMessage bounds the library's text in an error, in bytes.
const maxMessage = 256

func libraryFault(err error) *codec.Error {
	text := strings.TrimPrefix(err.Error(), "gob: ")
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	return &codec.Error{Codec: codecName, Offset: -1, Message: strings.Map(printable, text), Err: err}
}
