package dubbo

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/codec/protobuf"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/internal/grpcweb"
	"github.com/sabir-go/sabir/internal/protojson"
)

// Dubbo's client for JavaScript speaks Connect's protocol with Triple's headers and numbers of errors: a call is a message as the body, or in the query of
// a GET, a stream has gRPC's framing and ends with a text in JSON. Values are messages of Protocol Buffers, in binary or in the JSON of those.
const (
	jsonType        = "application/json"
	connectEncoding = "Connect-Content-Encoding"
	headerProtocol  = "Tri-Protocol-Version"
	queryOfConnect  = "triple=v1." // begins that of a GET
	flagEnd         = 2            // of the message that ends a stream
)

// messageForm is how a request writes messages of Protocol Buffers.
type messageForm struct {
	connect bool // else gRPC
	web     bool // gRPC-Web, whose trailers are the last message
	stream  bool // of Connect's protocol
	status  bool // errors are a status in any case: the client of Dubbo for Go panics where it gets an exception
	codec   codec.Codec
}

// formOf is the form of a request; without a codec for one that is neither gRPC nor Connect's protocol.
func formOf(r *http.Request) messageForm {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	switch kind {
	case "application/grpc":
		return messageForm{codec: protobuf.Codec}
	case "application/grpc+hessian2": // Dubbo for Go names what is in the wrapper
		return messageForm{status: true, codec: protobuf.Codec}
	case "application/grpc+json":
		return messageForm{codec: protojson.Codec}
	case grpcweb.Type, grpcweb.Type + "+proto":
		return messageForm{web: true, codec: protobuf.Codec}
	case grpcweb.Type + "+json":
		return messageForm{web: true, codec: protojson.Codec}
	case "application/proto":
		return messageForm{connect: true, codec: protobuf.Codec}
	case "application/connect+proto":
		return messageForm{connect: true, stream: true, codec: protobuf.Codec}
	case "application/connect+json":
		return messageForm{connect: true, stream: true, codec: protojson.Codec}
	case jsonType:
		if r.Header.Get(headerProtocol) != "" { // else it is JSON without a protocol, which serveJSON answers
			return messageForm{connect: true, codec: protojson.Codec}
		}
	}
	if strings.HasPrefix(kind, "application/grpc+") { // "proto", or another name: Dubbo for Python says "data"
		return messageForm{codec: protobuf.Codec}
	}
	if r.Method == http.MethodGet && strings.HasPrefix(r.URL.RawQuery, queryOfConnect) {
		if r.URL.Query().Get("encoding") == "json" {
			return messageForm{connect: true, codec: protojson.Codec}
		}
		return messageForm{connect: true, codec: protobuf.Codec}
	}
	return messageForm{}
}

// encoding is how messages of the request are compressed.
func (c *tripleCall) encoding() string {
	if c.form.stream {
		return c.r.Header.Get(connectEncoding)
	}
	return c.r.Header.Get(headerEncoding)
}

// serveConnect answers a call or a stream of Connect's protocol.
func (c *tripleCall) serveConnect() {
	if c.r.Method != http.MethodPost && c.r.Method != http.MethodGet {
		c.w.Header().Set("Allow", "GET, POST")
		http.Error(c.w, "Connect's protocol needs GET or POST here", http.StatusMethodNotAllowed)
		return
	}
	action, err := c.connectAction()
	switch {
	case err != nil:
	case action.Stream:
		err = c.serveStream(action)
	default:
		err = c.callConnect(action)
	}
	if err != nil || c.form.stream {
		c.endConnect(err)
	}
}

// connectAction is the action that is called.
func (c *tripleCall) connectAction() (*sabir.Action, error) {
	if c.r.Method == http.MethodGet && c.server.bridge.pages.fromOtherSite(c.r.Header) {
		return nil, sabir.NewError(sabir.CodePermissionDenied, sabir.CodePermissionDenied.String(), "a page of another site asks: use POST")
	}
	if err := c.route(); err != nil {
		return nil, err
	}
	action := c.server.bridge.only(c.m, c.inv.method)
	switch {
	case action == nil:
		return nil, notFound(c.m, c.inv, c.server.bridge)
	case !c.m.inMessages(action):
		return nil, noMessages(c.m, c.inv)
	case action.Stream && !c.form.stream:
		return nil, sabir.Errorf(sabir.CodeUnimplemented, errname.StreamWanted, "%s is a stream", c.inv.method)
	case !action.Stream && c.form.stream:
		return nil, sabir.Errorf(sabir.CodeUnimplemented, errname.NoStream, "%s is no stream", c.inv.method)
	}
	return action, nil
}

// noMessages is the error of a call in a form that only messages of Protocol Buffers have.
func noMessages(m *mapping, inv *invocation) error {
	return &refusal{sabir.Errorf(sabir.CodeUnimplemented, sabir.ErrBadInput.Name, "the values of %s are no messages of Protocol Buffers: set Protobuf of the dubbo.Interface %s, or call it by Dubbo's client for Java or by JSON without a protocol", inv.method, m.name)}
}

// connectBody is the message of a call, and how it is compressed.
func (c *tripleCall) connectBody() (body io.Reader, encoding string) {
	if c.r.Method == http.MethodPost {
		return http.MaxBytesReader(c.w, c.r.Body, maxBody+1), c.r.Header.Get("Content-Encoding")
	}
	query := c.r.URL.Query()
	body = strings.NewReader(query.Get("message"))
	if query.Get("base64") == "1" {
		body = base64.NewDecoder(base64.RawURLEncoding, body)
	}
	return body, query.Get("compression")
}

// callConnect answers a call.
func (c *tripleCall) callConnect(action *sabir.Action) error {
	c.control.SetReadDeadline(time.Now().Add(bodyLimit))
	held := &c.server.bridge.bodies
	body, encoding := c.connectBody()
	switch encoding {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(body)
		if err != nil {
			return unreadable(err)
		}
		body = z
	default:
		return unreadable(errCompression)
	}
	data, err := readAll(body, maxBody, held)
	if err != nil {
		return unreadable(err)
	}
	defer held.free(len(data))
	c.control.SetReadDeadline(time.Time{})
	in, err := c.inv.inbound(c.r.Context(), &c.answer)
	if err != nil {
		return err
	}
	out, err := action.Serve(in, c.form.codec, nil, data)
	if err != nil {
		return err
	}
	if len(out) > maxBody {
		return sabir.Errorf(sabir.CodeResourceExhausted, sabir.ErrMessageTooLarge.Name, "the answer of %s has %d bytes: %d is the limit of Triple", c.inv.method, len(out), maxBody)
	}
	setAttachments(c.w.Header(), "", c.answer.taken())
	c.w.Header().Set("Content-Type", "application/proto")
	if c.form.codec == protojson.Codec {
		c.w.Header().Set("Content-Type", jsonType)
	}
	c.control.SetWriteDeadline(time.Now().Add(bodyLimit))
	c.w.Write(out) // an error means that the caller is gone
	c.control.SetWriteDeadline(time.Time{})
	return nil
}

// connectError is an error as Dubbo has it here, where Connect itself has the name of a code.
type connectError struct {
	Status  int    `json:"status"` // gRPC's
	Message string `json:"message,omitempty"`
}

// endConnect ends a stream, or answers a call with an error.
func (c *tripleCall) endConnect(err error) {
	var failed *connectError
	var e *sabir.Error
	if err != nil {
		e = sabir.AsError(cause(err))
		status, message := tripleStatus(err)
		failed = &connectError{status, strings.ToValidUTF8(message, "")}
	}
	if !c.form.stream {
		text, _ := json.Codec.Append(nil, failed) // of texts, which have a form in any case
		c.w.Header().Set("Content-Type", jsonType)
		c.w.WriteHeader(e.HTTPStatus())
		c.w.Write(text) // an error means that the caller is gone
		return
	}
	metadata := make(map[string][]string)
	trailers := make(http.Header)
	setAttachments(trailers, "", c.answer.taken())
	for name, values := range trailers {
		metadata[strings.ToLower(name)] = values
	}
	text, _ := json.Codec.Append(nil, struct {
		Error    *connectError       `json:"error,omitempty"`
		Metadata map[string][]string `json:"metadata,omitempty"`
	}{failed, metadata})
	c.begin()
	c.w.Write(append(binary.BigEndian.AppendUint32([]byte{flagEnd}, uint32(len(text))), text...)) // the same
}
