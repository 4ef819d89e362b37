package dubbo

import (
	"compress/gzip"
	"encoding/binary"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/codec/protobuf"
)

// Dubbo's client for JavaScript speaks Connect's protocol with Triple's headers and numbers of errors: a call is a message as the body, a stream has gRPC's framing and ends with
// a text in JSON. Values are messages of Protocol Buffers, in binary.
const (
	connectCall     = "application/proto"
	connectStream   = "application/connect+proto"
	connectEncoding = "Connect-Content-Encoding"
	flagEnd         = 2 // of the message that ends a stream
)

// isConnect reports whether a request is one of Connect's protocol in binary.
func isConnect(contentType string) bool {
	return contentType == connectCall || contentType == connectStream
}

// isConnectStream reports whether the request is a stream of Connect's protocol.
func (c *tripleCall) isConnectStream() bool {
	return c.r.Header.Get("Content-Type") == connectStream
}

// encoding is how messages of the request are compressed.
func (c *tripleCall) encoding() string {
	if c.isConnectStream() {
		return c.r.Header.Get(connectEncoding)
	}
	return c.r.Header.Get(headerEncoding)
}

// serveConnect answers a call or a stream of Connect's protocol.
func (c *tripleCall) serveConnect() {
	if c.r.Method != http.MethodPost {
		c.w.Header().Set("Allow", http.MethodPost)
		http.Error(c.w, "Connect's protocol needs POST here", http.StatusMethodNotAllowed)
		return
	}
	action, err := c.connectAction()
	switch {
	case err != nil:
	case action.Stream:
		if c.r.ProtoMajor == 1 {
			_ = c.control.EnableFullDuplex()
			c.w.Header().Set("Connection", "close") // what is left of the body of a stream that ends early would be taken for a request
		}
		err = c.serveStream(action)
	default:
		err = c.callConnect(action)
	}
	if err != nil || c.isConnectStream() {
		c.endConnect(err)
	}
}

// connectAction is the action that is called.
func (c *tripleCall) connectAction() (*sabir.Action, error) {
	if err := c.route(); err != nil {
		return nil, err
	}
	action := c.server.bridge.only(c.m, c.inv.method)
	switch {
	case action == nil:
		return nil, notFound(c.m, c.inv, c.server.bridge)
	case !c.m.inMessages(action):
		return nil, sabir.Errorf(sabir.CodeUnimplemented, sabir.ErrBadInput.Name, "the values of %s are no messages of Protocol Buffers: give %s dubbo.Protobuf, or call it by gRPC or JSON", c.inv.method, c.m.name)
	case action.Stream && !c.isConnectStream():
		return nil, sabir.Errorf(sabir.CodeUnimplemented, sabir.ErrStreamWanted.Name, "%s is a stream", c.inv.method)
	case !action.Stream && c.isConnectStream():
		return nil, sabir.Errorf(sabir.CodeUnimplemented, sabir.ErrNoStream.Name, "%s is no stream", c.inv.method)
	}
	return action, nil
}

// callConnect answers a call.
func (c *tripleCall) callConnect(action *sabir.Action) error {
	c.control.SetReadDeadline(time.Now().Add(bodyLimit))
	held := &c.server.bridge.bodies
	var body io.Reader = http.MaxBytesReader(c.w, c.r.Body, maxBody+1)
	switch c.r.Header.Get("Content-Encoding") {
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
	out, err := action.Serve(in, protobuf.Codec, nil, data)
	if err != nil {
		return err
	}
	if len(out) > maxBody {
		return sabir.Errorf(sabir.CodeResourceExhausted, sabir.ErrMessageTooLarge.Name, "the answer of %s has %d bytes: %d is the limit of Triple", c.inv.method, len(out), maxBody)
	}
	setAttachments(c.w.Header(), "", c.answer.taken())
	c.w.Header().Set("Content-Type", connectCall)
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
	if !c.isConnectStream() {
		text, _ := json.Append(nil, failed) // of texts, which have a form in any case
		c.w.Header().Set("Content-Type", "application/json")
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
	text, _ := json.Append(nil, struct {
		Error    *connectError       `json:"error,omitempty"`
		Metadata map[string][]string `json:"metadata,omitempty"`
	}{failed, metadata})
	c.begin()
	c.w.Write(append(binary.BigEndian.AppendUint32([]byte{flagEnd}, uint32(len(text))), text...)) // the same
}
