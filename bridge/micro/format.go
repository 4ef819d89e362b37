package micro

import (
	"fmt"
	"strings"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/codec/protobuf"
)

// format is a codec of go-micro with its content type.
type format struct {
	contentType string
	codec       codec.Codec
	empty       string   // what stands for an empty body, which go-micro does not decode
	around      envelope // nil for none
}

var formats = []format{
	{"application/json", json.Codec, "null", nil},
	{"application/protobuf", protobuf.Codec, "", nil},
	{"application/octet-stream", Bytes, "", nil},
}

// formatOf is the format of a message. go-micro takes one without a content type as Protocol Buffers.
func formatOf(contentType string) (format, bool) {
	contentType, _, _ = strings.Cut(contentType, ";")
	if contentType = strings.TrimSpace(contentType); contentType == "" {
		contentType = "application/protobuf"
	}
	for _, f := range formats {
		if f.contentType == contentType {
			return f, true
		}
	}
	return format{}, false
}

// eventFormatOf is the format of an event, which clients of go-micro's gRPC name as they do in calls.
func eventFormatOf(contentType string) (format, bool) {
	contentType, _, _ = strings.Cut(contentType, ";")
	switch contentType = strings.TrimSpace(contentType); {
	case contentType == "application/proto":
		return formatOf("application/protobuf")
	case strings.HasPrefix(contentType, grpcType):
		return grpcFormatOf(contentType)
	}
	return formatOf(contentType)
}

// input is the body of a message as its codec takes it.
func (f *format) input(body []byte) []byte {
	if len(body) == 0 {
		return []byte(f.empty)
	}
	return body
}

// Bytes is go-micro's codec for values that are bytes already: inputs and answers have the type []byte.
var Bytes codec.Codec = codec.Contained(bytesFormat{})

type bytesFormat struct{}

func (bytesFormat) Name() string { return "bytes" }

func (bytesFormat) Append(dst []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case *[]byte:
		return append(dst, *v...), nil
	case []byte:
		return append(dst, v...), nil
	}
	return dst, noBytes(v)
}

func (bytesFormat) Decode(data []byte, v any) error {
	to, ok := v.(*[]byte)
	if !ok {
		return noBytes(v)
	}
	*to = append([]byte(nil), data...)
	return nil
}

func noBytes(v any) error {
	return &codec.Error{Codec: "bytes", Offset: -1, Message: fmt.Sprintf("a value of type %T is no []byte: call with application/json or application/protobuf", v)}
}
