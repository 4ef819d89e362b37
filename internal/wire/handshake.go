package wire

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// Messages of the handshake, after the preambles: kind uint8 | length uint32, little endian | body. The layout, and that of
// a refusal, is the same in all versions.
const (
	messageHello   = 1 // JSON, see hello
	messageProof   = 2 // proofSize bytes, see prove; only where both sides have a key
	messageOK      = 3 // empty
	messageRefusal = 4 // number of the reason uint8 | UTF-8 text for users

	messageHeader = 5
	maxHello      = 64 << 10
	maxRefusal    = 1 + 1<<10
)

// Handshake identifies the other end of conn and agrees on the protocol, before New makes a link of it or a gossip
// library takes it. dialled is true on the side that dialled. p is the purpose of a dialler, "" for ForLink, or the purpose
// that the accepting side serves, "" for every one.
//
// Both sides are then sure that both agreed, that they are of one cluster and not one node, and, with Config.Key, that
// both have the key. A conn that sees TLS (one with ConnectionState, as *tls.Conn has) binds the proof to it; do not wrap
// it in something that hides that on one side only.
//
// It ends by HandshakeTimeout, or earlier by ctx, whatever the peer does. It reads not one byte more than belongs to the
// handshake, keeps at most 64 KiB of what the peer sends, and leaves conn without a deadline. After an error, which is always
// a [*HandshakeError], conn is closed; the reason has been sent to the peer where that was possible.
//
// A program that accepts connections runs one Handshake for each on a goroutine of its own, so bound their number with a
// [Budget].
func Handshake(ctx context.Context, conn net.Conn, c Config, dialled bool, p Purpose) (Peer, error) {
	own := preamble{oldest: oldestVersion, newest: newestVersion}
	rand.Read(own.nonce[:]) // never fails, see its documentation
	return handshake(ctx, conn, c, dialled, p, own)
}

// handshake is Handshake with the versions and the nonce of own.
func handshake(ctx context.Context, conn net.Conn, c Config, dialled bool, p Purpose, own preamble) (Peer, error) {
	h := &handshaker{conn: conn, dialled: dialled, want: p, config: c.withDefaults(), own: own, transcript: sha256.New()}
	peer, err := h.bounded(ctx)
	if err != nil {
		conn.Close()
		return Peer{}, h.explain(ctx, err)
	}
	return peer, nil
}

// handshaker is one side of one handshake.
type handshaker struct {
	conn    net.Conn
	dialled bool
	want    Purpose
	config  Config // with defaults

	own        preamble
	version    int
	transcript hash.Hash // of all that both sides sent, in order
	peer       string    // the node's id, once it sent it
}

// bounded runs the handshake between setting a deadline on conn and clearing it.
func (h *handshaker) bounded(ctx context.Context) (Peer, error) {
	if err := h.config.Validate(); err != nil {
		return Peer{}, &HandshakeError{Reason: ReasonConfig, Err: err}
	}
	deadline := time.Now().Add(h.config.HandshakeTimeout)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	if err := h.conn.SetDeadline(deadline); err != nil {
		return Peer{}, err
	}
	interrupted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		h.conn.SetDeadline(time.Unix(1, 0)) // long past: ends a read or write that waits
		close(interrupted)
	})
	peer, err := h.run()
	if !stop() {
		<-interrupted // else its deadline could come after ours was cleared
		if err == nil {
			err = ctx.Err()
		}
	}
	if err != nil {
		return Peer{}, err
	}
	return peer, h.conn.SetDeadline(time.Time{})
}

func (h *handshaker) run() (Peer, error) {
	if h.config.Key != nil {
		h.own.flags |= flagKeyed
	}
	if _, ok := h.conn.(tlsConn); ok {
		h.own.flags |= flagBound
	}
	if h.dialled {
		h.own.flags |= flagDialled
		return h.dial()
	}
	return h.accept()
}

// dial is the dialling side. It is the first to prove the key: more programs can reach a listening node than
// can listen at the address of one, and so only the second kind gets anything that depends on the key.
func (h *handshaker) dial() (Peer, error) {
	if h.want == "" {
		h.want = ForLink
	}
	if err := h.send(h.own.append(nil)); err != nil {
		return Peer{}, err
	}
	theirs, raw, err := readPreamble(h.conn)
	if err != nil {
		return Peer{}, err
	}
	h.transcript.Write(raw)
	version, refusal := agree(h.own, theirs)
	if refusal != nil {
		return Peer{}, refusal // the other side comes to the same answer
	}
	h.version = version

	own := helloOf(h.config, h.want)
	binding, err := h.binding()
	if err != nil {
		return Peer{}, err
	}
	if err := h.sendHello(own, diallerLabel, binding, nil); err != nil {
		return Peer{}, err
	}
	data, proven, err := h.readHello(acceptorLabel, binding)
	if err != nil {
		return Peer{}, h.refuse(err)
	}
	if _, err := h.read(messageOK, 0); err != nil { // all of the peer's turn, before this side's
		return Peer{}, h.refuse(err)
	}
	peer, _, err := h.judge(own, data, proven)
	if err != nil {
		return Peer{}, h.refuse(err)
	}
	return peer, h.send(appendMessage(nil, messageOK, nil))
}

// accept is the accepting side. With a key, it sends nothing but its preamble to a caller that has not proven it.
func (h *handshaker) accept() (Peer, error) {
	theirs, raw, err := readPreamble(h.conn)
	if err != nil {
		return Peer{}, err
	}
	h.transcript.Write(raw)
	version, refusal := agree(theirs, h.own)
	first := h.own.append(nil)
	if refusal != nil {
		h.send(appendRefusal(first, refusal)) // whether it arrives or not, the handshake is over
		return Peer{}, refusal
	}
	h.version = version
	if err := h.send(first); err != nil {
		return Peer{}, err
	}

	binding, err := h.binding()
	if err != nil {
		return Peer{}, h.refuse(err)
	}
	data, proven, err := h.readHello(diallerLabel, binding)
	if err != nil {
		return Peer{}, h.refuse(err)
	}
	peer, own, err := h.judge(helloOf(h.config, h.want), data, proven)
	if err != nil {
		return Peer{}, h.refuse(err)
	}
	if err := h.sendHello(own, acceptorLabel, binding, appendMessage(nil, messageOK, nil)); err != nil {
		return Peer{}, err
	}
	if _, err := h.read(messageOK, 0); err != nil {
		return Peer{}, h.refuse(err)
	}
	return peer, nil
}

// binding returns the value that binds the proofs to the TLS connection, zero without a key. It must be called after the first
// bytes from the peer, since the TLS handshake may not be done before.
func (h *handshaker) binding() (binding [bindingSize]byte, err error) {
	if h.config.Key == nil {
		return binding, nil
	}
	binding, err = tlsBinding(h.conn)
	if err != nil {
		return binding, &HandshakeError{Reason: ReasonBinding, Detail: "this TLS connection cannot be bound to: is it older than TLS 1.3?", Err: err}
	}
	return binding, nil
}

// sendHello sends this side's hello, its proof where there is a key, and then more, all in one write.
func (h *handshaker) sendHello(own hello, label string, binding [bindingSize]byte, more []byte) error {
	data, err := json.Marshal(own)
	if err != nil {
		return &HandshakeError{Reason: ReasonConfig, Err: err}
	}
	out := appendMessage(nil, messageHello, data)
	if h.config.Key != nil {
		h.transcript.Write(out)
		proof := appendMessage(nil, messageProof, prove(h.config.Key, label, binding, h.transcript.Sum(nil)))
		h.transcript.Write(proof)
		out = append(out, proof...)
	}
	return h.write(append(out, more...))
}

// readHello returns the bytes of the peer's hello, and whether its proof is right. Where there is a key nothing looks into
// these bytes before it is.
func (h *handshaker) readHello(label string, binding [bindingSize]byte) (data []byte, proven bool, err error) {
	data, err = h.read(messageHello, maxHello)
	if err != nil || h.config.Key == nil {
		return data, err == nil, err
	}
	want := prove(h.config.Key, label, binding, h.transcript.Sum(nil))
	got, err := h.read(messageProof, proofSize)
	if err != nil {
		return nil, false, err
	}
	return data, hmac.Equal(got, want), nil
}

// judge decides about the peer by its hello; own is completed where it answers one.
func (h *handshaker) judge(own hello, data []byte, proven bool) (Peer, hello, error) {
	if !proven {
		side := "accepting"
		if !h.dialled {
			side = "dialling"
		}
		return Peer{}, own, &HandshakeError{Reason: ReasonKey, Detail: "the proof of the " + side +
			" side does not match: the two have different cluster keys, or something between them changes what they say"}
	}
	theirs, err := parseHello(data)
	if err != nil {
		text := err.Error() // may quote the peer
		return Peer{}, own, &HandshakeError{Reason: ReasonMalformed, Detail: printable([]byte(text[:min(len(text), 256)]))}
	}
	h.peer = theirs.Node
	var refusal *HandshakeError
	if h.dialled {
		refusal = judge(own, theirs, "")
	} else {
		own.Purpose = theirs.Purpose
		refusal = judge(theirs, own, h.want)
	}
	if refusal != nil {
		return Peer{}, own, refusal
	}
	peer := peerOf(own, theirs)
	peer.Version, peer.Dialled, peer.Keyed = h.version, h.dialled, h.config.Key != nil
	if h.config.Admit != nil {
		if err := h.config.Admit(peer); err != nil {
			return Peer{}, own, &HandshakeError{Reason: ReasonRefused, Detail: err.Error()}
		}
	}
	return peer, own, nil
}

// refuse sends err to the peer where it is a refusal of this side, and returns err.
func (h *handshaker) refuse(err error) error {
	refusal, ok := errors.AsType[*HandshakeError](err)
	if ok && !refusal.ByPeer {
		h.write(appendRefusal(nil, refusal)) // whether it arrives or not, the handshake is over
	}
	return err
}

// send writes bytes that belong to the transcript.
func (h *handshaker) send(data []byte) error {
	h.transcript.Write(data)
	return h.write(data)
}

func (h *handshaker) write(data []byte) error {
	_, err := h.conn.Write(data)
	return err
}

// read returns the body of the next message, which must be of the kind and at most that long. A refusal instead of it
// is the error.
func (h *handshaker) read(kind uint8, most int) ([]byte, error) {
	var header [messageHeader]byte
	if _, err := io.ReadFull(h.conn, header[:]); err != nil {
		return nil, err
	}
	refused := header[0] == messageRefusal
	if refused {
		most = maxRefusal
	} else if header[0] != kind {
		return nil, &HandshakeError{Reason: ReasonMalformed, Detail: fmt.Sprintf("message of kind %d instead of %d", header[0], kind)}
	}
	size := binary.LittleEndian.Uint32(header[1:])
	if size > uint32(most) {
		return nil, &HandshakeError{Reason: ReasonMalformed, Detail: fmt.Sprintf("message of kind %d with %d bytes, at most %d are allowed", header[0], size, most)}
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(h.conn, body); err != nil {
		return nil, err
	}
	if refused {
		return nil, parseRefusal(body)
	}
	h.transcript.Write(header[:])
	h.transcript.Write(body)
	return body, nil
}

// explain returns err as a HandshakeError that names the peer.
func (h *handshaker) explain(ctx context.Context, err error) *HandshakeError {
	e, ok := errors.AsType[*HandshakeError](err)
	ended, hasEnd := ctx.Deadline()
	switch {
	case ok:
	case errors.Is(ctx.Err(), context.Canceled):
		e = &HandshakeError{Reason: ReasonCanceled, Err: context.Canceled}
	case hasEnd && !time.Now().Before(ended):
		e = &HandshakeError{Reason: ReasonTimeout, Detail: "the peer did not finish it in time", Err: context.DeadlineExceeded}
	case errors.Is(err, os.ErrDeadlineExceeded):
		e = &HandshakeError{Reason: ReasonTimeout, Detail: "the peer did not finish it in time", Err: err}
	default:
		e = &HandshakeError{Reason: ReasonLost, Err: err}
	}
	e.Node = h.peer
	if addr := h.conn.RemoteAddr(); addr != nil {
		e.Addr = addr.String()
	}
	return e
}

// appendMessage appends one message of the handshake.
func appendMessage(dst []byte, kind uint8, body []byte) []byte {
	dst = append(dst, kind)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(body)))
	return append(dst, body...)
}

// appendRefusal appends the message that describes e to the peer. What is below e stays here.
func appendRefusal(dst []byte, e *HandshakeError) []byte {
	body := []byte{0}
	for number, reason := range reasonNumbers {
		if reason == e.Reason {
			body[0] = uint8(number)
		}
	}
	text := e.Detail[:min(len(e.Detail), maxRefusal-1)]
	return appendMessage(dst, messageRefusal, append(body, strings.ToValidUTF8(text, "")...))
}

// parseRefusal reads the peer's reason for refusing. A number that is not known is a reason of a later version.
func parseRefusal(body []byte) *HandshakeError {
	if len(body) == 0 {
		return &HandshakeError{Reason: ReasonMalformed, Detail: "an empty refusal"}
	}
	e := &HandshakeError{Reason: ReasonRefused, Detail: printable(body[1:]), ByPeer: true}
	if number := int(body[0]); number < len(reasonNumbers) && number > 0 {
		e.Reason = reasonNumbers[number]
	}
	return e
}

// printable removes from a peer's text whatever could disturb a terminal or a log.
func printable(text []byte) string {
	return strings.Map(func(r rune) rune {
		if isControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(string(text), ""))
}
