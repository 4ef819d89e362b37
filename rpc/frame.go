package rpc

import (
	"errors"
	"net/http"
	"strings"

	"google.golang.org/protobuf/proto"
)

// frame is one message as it is on the wire, without its envelope.
type frame struct{ data []byte }

// frameCodec gives connect's handlers messages as bytes.
type frameCodec struct {
	name string
	json bool
}

func (c frameCodec) Name() string { return c.name }

// Marshal hands the bytes over, which the handler uses again for others: the frame is not read afterwards. The other messages are
// the google.rpc.Status of errors.
func (c frameCodec) Marshal(message any) ([]byte, error) {
	if own, ok := message.(*frame); ok {
		return own.data, nil
	}
	return proto.Marshal(message.(proto.Message))
}

func (c frameCodec) Unmarshal(data []byte, message any) error {
	if c.json && len(data) == 0 {
		return errors.New("no bytes at all are not a JSON object")
	}
	own, ok := message.(*frame)
	if !ok {
		return proto.Unmarshal(data, message.(proto.Message))
	}
	own.data = append([]byte(nil), data...) // data is used again
	return nil
}

// MarshalStable is asked for by clients that send a message in a URL.
func (c frameCodec) MarshalStable(message any) ([]byte, error) { return c.Marshal(message) }

func (c frameCodec) IsBinary() bool { return !c.json }

// isJSON reports whether the messages of a request are JSON.
func isJSON(r *http.Request) bool {
	if r.Method == http.MethodGet {
		return r.URL.Query().Get("encoding") == "json"
	}
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	return strings.HasSuffix(kind, "/json") || strings.HasSuffix(kind, "+json")
}

// isGRPC reports whether a content type is one of gRPC or gRPC-Web.
func isGRPC(contentType string) bool {
	return len(contentType) >= len("application/grpc") && strings.EqualFold(contentType[:len("application/grpc")], "application/grpc")
}

// isRPC reports whether a content type is one that only the protocols of this package have.
func isRPC(contentType string) bool {
	kind := strings.ToLower(contentType)
	return isGRPC(kind) || strings.HasPrefix(kind, "application/connect+") || strings.HasPrefix(kind, "application/proto")
}
