package micro

import (
	"bytes"
	"encoding/binary"
	stdjson "encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/codec/protobuf"
)

// envelope opens and seals what some content types of go-micro's HTTP transport have around a value. It names the endpoint once more, but go-micro
// goes by the headers.
type envelope interface {
	// open returns the value in the body of a request.
	open(body []byte) ([]byte, error)
	// seal returns the body of an answer with the headers, which is a value or an error.
	seal(h http.Header, value []byte, failed string) []byte
}

// enveloped are the formats that only clients of go-micro's HTTP transport have.
var enveloped = []format{
	{"application/json-rpc", json.Codec, "null", jsonRPC{}},
	{"application/proto-rpc", protobuf.Codec, "", protoRPC{}},
}

// httpFormatOf is the format of a message over the HTTP transport.
func httpFormatOf(contentType string) (format, bool) {
	if f, ok := formatOf(contentType); ok {
		return f, true
	}
	contentType, _, _ = strings.Cut(contentType, ";")
	contentType = strings.TrimSpace(contentType)
	for _, f := range enveloped {
		if f.contentType == contentType {
			return f, true
		}
	}
	if !strings.HasPrefix(contentType, grpcType) {
		return format{}, false
	}
	f, ok := grpcFormatOf(contentType)
	f.contentType, f.around = contentType, frames{}
	return f, ok
}

// open returns the value in the body of a message as the codec takes it.
func (f *format) open(body []byte) ([]byte, error) {
	if f.around == nil || len(body) == 0 {
		return f.input(body), nil
	}
	value, err := f.around.open(body)
	if err != nil {
		return nil, sabir.Errorf(sabir.ErrBadInput.Code, sabir.ErrBadInput.Name, "the message is not %s: %w", f.contentType, err)
	}
	return f.input(value), nil
}

// seal returns the body of an answer.
func (f *format) seal(h http.Header, value []byte, failed string) []byte {
	if f.around == nil {
		return value
	}
	return f.around.seal(h, value, failed)
}

// jsonRPC is JSON-RPC 1.0 with one parameter.
type jsonRPC struct{}

func (jsonRPC) open(body []byte) ([]byte, error) {
	var request struct {
		Params []stdjson.RawMessage `json:"params"`
	}
	if err := json.Codec.Decode(body, &request); err != nil || len(request.Params) == 0 {
		return nil, err
	}
	return request.Params[0], nil
}

func (jsonRPC) seal(h http.Header, value []byte, failed string) []byte {
	if len(value) == 0 {
		value = []byte("null")
	}
	out, _ := json.Codec.Append([]byte(`{"id":`), strings.ToValidUTF8(header(h, headerID), "")) // texts
	out = append(append(append(out, `,"result":`...), value...), `,"error":`...)
	if failed == "" {
		return append(out, "null}"...)
	}
	out, _ = json.Codec.Append(out, strings.ToValidUTF8(failed, ""))
	return append(out, '}')
}

// protoRPC has two messages of Protocol Buffers, each behind its length in four bytes: the method, the number of the call and the error, and the
// value.
type protoRPC struct{}

func (protoRPC) open(body []byte) ([]byte, error) {
	_, rest, err := cutMessage(body)
	if err != nil {
		return nil, err
	}
	value, _, err := cutMessage(rest)
	return value, err
}

// cutMessage cuts off the first message.
func cutMessage(data []byte) (message, rest []byte, err error) {
	const head = 4
	if len(data) < head {
		return nil, nil, io.ErrUnexpectedEOF
	}
	size := binary.BigEndian.Uint32(data)
	if data = data[head:]; uint64(size) > uint64(len(data)) {
		return nil, nil, io.ErrUnexpectedEOF
	}
	return data[:size], data[size:], nil
}

// The members of the first message of an answer, as go-micro's envelope.proto numbers them.
const (
	envelopeMethod = 1
	envelopeNumber = 2
	envelopeError  = 3
)

func (protoRPC) seal(h http.Header, value []byte, failed string) []byte {
	head := appendMember(nil, envelopeMethod, header(h, headerMethod))
	if n, err := strconv.ParseUint(header(h, headerID), 10, 64); err == nil {
		head = protowire.AppendFixed64(protowire.AppendTag(head, envelopeNumber, protowire.Fixed64Type), n)
	}
	head = appendMember(head, envelopeError, failed)
	return appendMessage(appendMessage(nil, head), value)
}

func appendMember(dst []byte, number protowire.Number, text string) []byte {
	return protowire.AppendString(protowire.AppendTag(dst, number, protowire.BytesType), strings.ToValidUTF8(text, ""))
}

func appendMessage(dst, message []byte) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(message))), message...)
}

// frames has a value as gRPC has it.
type frames struct{}

func (frames) open(body []byte) ([]byte, error) { return readFrame(bytes.NewReader(body)) }

func (frames) seal(_ http.Header, value []byte, failed string) []byte {
	if failed != "" {
		return nil
	}
	return closeFrame(append(make([]byte, frameHead, frameHead+len(value)), value...))
}
