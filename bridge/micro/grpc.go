package micro

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/trailersonly"
)

// go-micro's gRPC client and server are gRPC (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md) with JSON and bytes beside
// Protocol Buffers, over HTTP/2 without TLS. Here are the parts of it that calls need: one message each way.
const (
	grpcType    = "application/grpc"
	grpcStatus  = "Grpc-Status"
	grpcMessage = "Grpc-Message"
	grpcTimeout = "Grpc-Timeout"
	grpcScheme  = "grpc://" // of addresses in Static
	frameHead   = 5         // bytes: whether the message is compressed, and its length
)

func isGRPC(h http.Header) bool { return strings.HasPrefix(h.Get("Content-Type"), grpcType) }

// grpcName is the last part of a content type of gRPC.
func (f *format) grpcName() string {
	switch f.contentType {
	case "application/protobuf":
		return "proto"
	case "application/json":
		return "json"
	}
	return "bytes"
}

func grpcFormatOf(contentType string) (format, bool) {
	name := strings.TrimPrefix(strings.TrimPrefix(contentType, grpcType), "+")
	if name == "" {
		name = "proto"
	}
	for _, f := range formats {
		if f.grpcName() == name {
			return f, true
		}
	}
	return format{}, false
}

// grpcPath is the path of an endpoint: "/orders.Orders/Place".
func grpcPath(service, endpoint string) string {
	kind, method, _ := strings.Cut(endpoint, ".")
	return "/" + service + "." + kind + "/" + method
}

func parseGRPCPath(path string) (service, endpoint string) {
	full, method, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	dot := strings.LastIndexByte(full, '.')
	return full[:max(dot, 0)], full[dot+1:] + "." + method
}

// serveGRPC answers a call of go-micro's gRPC client.
func (b *bridge) serveGRPC(w http.ResponseWriter, r *http.Request) {
	w, end := trailersonly.Wrap(w, r)
	defer end()
	h := w.Header()
	h.Set("Content-Type", r.Header.Get("Content-Type"))
	out, err := b.callGRPC(w, r)
	control := http.NewResponseController(w)
	control.SetWriteDeadline(time.Now().Add(writeLimit))
	w.WriteHeader(http.StatusOK)
	status, message := 0, ""
	if err == nil {
		w.Write(out) // an error means that the caller is gone
	} else {
		e := errorTo(err)
		status, message = codeOf(e.Code).GRPCStatus(), e.header()
		if missing, ok := errors.AsType[*Error](err); ok && strings.HasPrefix(missing.Detail, "rpc: ") {
			status = sabir.CodeUnimplemented.GRPCStatus() // as go-micro's gRPC server has unknown endpoints
		}
	}
	h.Set(http.TrailerPrefix+grpcStatus, strconv.Itoa(status))
	if message != "" {
		h.Set(http.TrailerPrefix+grpcMessage, percentEncode(message))
	}
}

// callGRPC makes the call of a request, and returns the answer as a frame.
func (b *bridge) callGRPC(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	f, ok := grpcFormatOf(r.Header.Get("Content-Type"))
	if !ok {
		return nil, unsupported(r)
	}
	action, missing := b.exposed.Load().find(parseGRPCPath(r.URL.Path))
	if missing != nil {
		return nil, missing
	}
	if action.Stream {
		return nil, b.serveGRPCStream(w, r, action, f)
	}
	body, done, err := b.body(w, r, readFrame)
	if err != nil {
		return nil, err
	}
	defer done()
	in, err := inboundOf(w, r)
	if err != nil {
		return nil, err
	}
	in.Limit = limitOf(r.Header)
	out, err := action.Serve(in, f.codec, make([]byte, frameHead), f.input(body))
	if err != nil {
		return nil, err
	}
	return closeFrame(out), nil
}

// limitOf is the time that a client of gRPC waits; 0 where it does not say.
func limitOf(h http.Header) time.Duration {
	own, limit := timeoutOf(h), grpcTimeoutOf(h.Get(grpcTimeout))
	if limit > 0 && (own == 0 || limit < own) {
		return limit
	}
	return own
}

// closeFrame writes the head of a frame, which was left free.
func closeFrame(frame []byte) []byte {
	binary.BigEndian.PutUint32(frame[1:], uint32(len(frame)-frameHead))
	return frame
}

// readFrame reads one message.
func readFrame(r io.Reader) ([]byte, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	size := int64(binary.BigEndian.Uint32(head[1:]))
	if head[0] != 0 {
		return nil, errors.New("the message is compressed, which go-micro does not do")
	}
	if size > maxMessage {
		return nil, tooLarge(size)
	}
	data, err := io.ReadAll(io.LimitReader(r, size)) // memory grows as it comes
	if err == nil && int64(len(data)) < size {
		err = io.ErrUnexpectedEOF
	}
	return data, err
}

// grpcTimeoutOf is the value of the header: a number of at most eight digits, and a unit. 0 for none.
func grpcTimeoutOf(text string) time.Duration {
	if len(text) < 2 || len(text) > 9 {
		return 0
	}
	unit := map[byte]time.Duration{'H': time.Hour, 'M': time.Minute, 'S': time.Second, 'm': time.Millisecond, 'u': time.Microsecond, 'n': time.Nanosecond}[text[len(text)-1]]
	n, err := strconv.ParseUint(text[:len(text)-1], 10, 32)
	if err != nil || unit == 0 {
		return 0
	}
	return time.Duration(min(n, uint64(maxTimeout/unit))) * unit
}

// percentEncode is the form of a message in a trailer.
func percentEncode(text string) string {
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '%' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// grpcFailure is the error that a server of gRPC answered with; nil for none.
func grpcFailure(h http.Header, node string) error {
	status, err := strconv.ParseUint(h.Get(grpcStatus), 10, 8)
	if err != nil {
		return fmt.Errorf("the answer has the status %.20q", h.Get(grpcStatus))
	}
	if status == 0 {
		return nil
	}
	text, err := url.PathUnescape(h.Get(grpcMessage))
	if err != nil {
		text = h.Get(grpcMessage)
	}
	e := errorFrom(text, node)
	if origin, ok := errors.AsType[*Error](e); ok && origin.Code != 0 {
		return e
	}
	if e.Code == sabir.CodeUnknown {
		e.Code = sabir.Code(min(status, uint64(sabir.CodeUnauthenticated)))
	}
	switch {
	case e.Code == sabir.CodeUnimplemented && strings.HasPrefix(text, "unknown service "):
		e.Code, e.Name = sabir.ErrActionNotFound.Code, sabir.ErrActionNotFound.Name
	case e.Code == sabir.CodeDeadlineExceeded:
		e.Name = sabir.ErrDeadlineExceeded.Name
	}
	return e
}
