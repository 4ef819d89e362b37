package wire

import (
	"encoding/binary"
	"errors"
)

// Failure is an error of the other side, or of this link on its behalf, as it travels. It is returned as *Failure.
type Failure struct {
	Code          uint8 // the class; the numbers are gRPC's
	Retryable     bool  // trying again may help, and does no harm
	Name, Message string
	Node          string // where it happened
	Data          []byte // JSON, nil for none
}

// Error is the message, with the name before it.
func (f *Failure) Error() string {
	switch {
	case f.Name == "":
		return f.Message
	case f.Message == "":
		return f.Name
	}
	return f.Name + ": " + f.Message
}

// The codes that this package gives itself. The numbers are gRPC's (https://grpc.io/docs/guides/status-codes).
const (
	codeCanceled          = 1
	codeDeadlineExceeded  = 4
	codeResourceExhausted = 8
	codeUnimplemented     = 12
	codeInternal          = 13
)

// Names of the failures that this package makes itself.
const (
	NameTooManyCalls    = "TooManyCalls"    // Limits.Calls or the Budget is used up; retryable, the call was not begun
	NameTooManyStreams  = "TooManyStreams"  // Limits.Streams is used up; retryable, the stream was not begun
	NameStreamTooSlow   = "StreamTooSlow"   // what waited in a stream was not taken while streams held more than they may; retryable, the stream had begun
	NameTooMuchDeclared = "TooMuchDeclared" // the peer's Limits.Routes or Limits.Schemas is used up
	NameMessageTooLarge = "MessageTooLarge" // a value is larger than Limits.Message of its receiver
	NameHeadTooLarge    = "HeadTooLarge"    // metadata, request id and caller are together larger than 48 KiB
	NameCanceled        = "Canceled"        // the peer gave up before it had sent all of its request, or cancelled a stream
	NameNotAnswered     = "NotAnswered"     // a Target returned without an answer
	NameBadCompression  = "BadCompression"  // a value of the peer cannot be decompressed
)

// ErrClosed is the error of a link that was closed on purpose, by this side or by the peer.
var ErrClosed = errors.New("wire: the link is closed")

// ErrGoingAway is the error of a call that was not sent, because the peer or this side takes no new work on the link.
var ErrGoingAway = errors.New("wire: the link takes no new work")

// LostError is the error of a call, an open stream or another send that ended by the loss of its link. It is returned as
// *LostError.
type LostError struct {
	// Sent reports whether any of it may have reached the peer. Where it is false, trying again elsewhere is safe.
	Sent bool
	Node string // the peer
	Err  error  // why the link ended, or ErrGoingAway where it still stands
}

func (e *LostError) Error() string {
	when := ": not sent: "
	if e.Sent {
		when = ": lost after it was sent: "
	}
	return "wire: link to " + e.Node + when + e.Err.Error()
}

// Unwrap is the reason.
func (e *LostError) Unwrap() error { return e.Err }

// maxFailureText bounds each text of a Failure on the wire, so that it always fits in one frame.
const maxFailureText = 8 << 10

// appendFailure appends f as it goes on the wire. What is too long for one frame is cut: texts end early, data is left out.
func appendFailure(dst []byte, f *Failure) []byte {
	retryable := byte(0)
	if f.Retryable {
		retryable = 1
	}
	dst = append(dst, f.Code, retryable)
	dst = appendString(dst, cut(f.Name))
	dst = appendString(dst, cut(f.Message))
	dst = appendString(dst, cut(f.Node))
	data := f.Data
	if len(data) > chunkSize {
		data = nil
	}
	dst = binary.AppendUvarint(dst, uint64(len(data)))
	return append(dst, data...)
}

func cut(s string) string {
	if len(s) > maxFailureText {
		return s[:maxFailureText]
	}
	return s
}

func parseFailure(body []byte) (*Failure, error) {
	in := fields{left: body}
	f := &Failure{Code: in.byte(), Retryable: in.byte() == 1, Name: in.string(), Message: in.string(), Node: in.string()}
	if data := in.bytes(); len(data) > 0 {
		f.Data = append([]byte(nil), data...)
	}
	if in.bad || len(in.left) > 0 {
		return nil, protocolError("an error frame cannot be read")
	}
	return f, nil
}
