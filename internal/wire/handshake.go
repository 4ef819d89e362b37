package wire

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/sabir-go/sabir/internal/seal"
)

// Messages of the handshake, after the preambles: kind uint8 | length uint32, little endian | body. The layout, and that of
// a refusal, is the same in all versions.
const (
	messageHello   = 1 // JSON, see hello
	messageSealed  = 2 // where both sides have a key, all messages of a turn, sealed: see turn and say
	messageOK      = 3 // empty
	messageRefusal = 4 // number of the reason uint8 | UTF-8 text for users
	messageProof   = 5 // behind a hello that is sealed: see package identity

	messageHeader = 5
	maxHello      = 64 << 10 // of messageSealed too
	maxRefusal    = 1 + 1<<10
)

// Handshake identifies the other end of conn and agrees on the protocol, before New makes a link of it or a gossip
// library takes it. dialled is true on the side that dialled. p is the purpose of a dialler, "" for ForLink, or the purpose
// that the accepting side serves, "" for every one. What follows goes over the connection that it returns, which may be conn
// itself.
//
// Both sides are then sure that both agreed, that they are of one cluster and not one node, and, with Config.Keys, that
// both have a key in common. With a key, what both send over the returned connection is encrypted and authenticated: by conn where that
// does it by itself, as TLS does (one with ConnectionState, as *tls.Conn has), to which the handshake is bound; else by records. So
// do not wrap a TLS connection in something that hides that on one side only.
//
// It ends by HandshakeTimeout, or earlier by ctx, whatever the peer does. It reads not one byte more than belongs to the
// handshake, keeps at most 64 KiB of what the peer sends, and leaves conn without a deadline. After an error, which is always
// a [*HandshakeError], conn is closed; the reason has been sent to the peer where that was possible.
//
// A program that accepts connections runs one Handshake for each on a goroutine of its own, so bound their number with a
// [Budget].
func Handshake(ctx context.Context, conn net.Conn, c Config, dialled bool, p Purpose) (net.Conn, Peer, error) {
	own := preamble{oldest: oldestVersion, newest: newestVersion}
	rand.Read(own.nonce[:]) // never fails, see its documentation
	if seal.HasAES() {
		own.flags |= flagAES
	}
	return handshake(ctx, conn, c, dialled, p, own, rand.Reader)
}

// handshake is Handshake with the versions, the nonce and flagAES of own.
func handshake(ctx context.Context, conn net.Conn, c Config, dialled bool, p Purpose, own preamble, random io.Reader) (net.Conn, Peer, error) {
	h := &handshaker{conn: conn, dialled: dialled, want: p, config: c.withDefaults(), own: own, random: random}
	peer, err := h.bounded(ctx)
	if err != nil {
		conn.Close()
		return nil, Peer{}, h.explain(ctx, err)
	}
	if h.sealing() {
		conn = newSealedConn(conn, h.channel, h.config.Refusals)
	}
	return conn, peer, nil
}

// handshaker is one side of one handshake.
type handshaker struct {
	conn    net.Conn
	dialled bool
	want    Purpose
	config  Config // with defaults
	random  io.Reader

	own     preamble
	flags   uint8 // those that both sides have
	version int
	peer    string // the node's id, once it sent it

	// With a key. See turn and say.
	prologue []byte // the preambles of the dialler and the acceptor, and the binding
	offer    *seal.Offer
	answer   *seal.Answer
	channel  *seal.Channel
}

// keyed reports whether this side has a key; so has the other, once they have agreed.
func (h *handshaker) keyed() bool { return !h.config.Keys.None() }

// sealing reports whether what follows the handshake goes in records.
func (h *handshaker) sealing() bool { return h.keyed() && h.flags&(flagBound|flagPlain) == 0 }

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
	if h.keyed() {
		h.own.flags |= flagKeyed
	}
	if h.config.Plain {
		h.own.flags |= flagPlain
	}
	if isBound(h.conn) {
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
	first := h.own.append(nil)
	if err := h.write(first); err != nil {
		return Peer{}, err
	}
	theirs, raw, err := readPreamble(h.conn)
	if err != nil {
		return Peer{}, err
	}
	if err := h.agree(h.own, theirs); err != nil {
		return Peer{}, err // the other side comes to the same answer
	}
	if err := h.bind(first, raw); err != nil {
		return Peer{}, err
	}
	own := helloOf(h.config, h.want)
	if err := h.say(helloMessage(own)); err != nil {
		return Peer{}, err
	}
	turn, err := h.turn()
	if err != nil {
		return Peer{}, h.refuse(err)
	}
	data, err := readMessage(turn, messageHello, maxHello)
	if err == nil {
		_, err = readMessage(turn, messageOK, 0) // all of the peer's turn, before this side's
	}
	if err != nil {
		return Peer{}, h.refuse(err)
	}
	peer, _, err := h.judge(own, data, turn)
	if err != nil {
		return Peer{}, h.refuse(err)
	}
	return peer, h.say(appendMessage(nil, messageOK, nil))
}

// accept is the accepting side. With a key, it sends nothing but its preamble to a caller that has not proven it.
func (h *handshaker) accept() (Peer, error) {
	theirs, raw, err := readPreamble(h.conn)
	if err != nil {
		return Peer{}, err
	}
	first := h.own.append(nil)
	if err := h.agree(theirs, h.own); err != nil {
		refusal, _ := errors.AsType[*HandshakeError](err)
		h.write(appendRefusal(first, refusal)) // whether it arrives or not, the handshake is over
		return Peer{}, err
	}
	if err := h.write(first); err != nil {
		return Peer{}, err
	}
	if err := h.bind(raw, first); err != nil {
		return Peer{}, h.refuse(err)
	}
	turn, err := h.turn()
	if err != nil {
		return Peer{}, h.refuse(err)
	}
	data, err := readMessage(turn, messageHello, maxHello)
	if err != nil {
		return Peer{}, h.refuse(err)
	}
	peer, own, err := h.judge(helloOf(h.config, h.want), data, turn)
	if err != nil {
		return Peer{}, h.refuse(err)
	}
	messages := appendMessage(helloMessage(own), messageOK, nil)
	if h.keyed() {
		messages = h.appendProof(messages, h.answer.OwnTie)
	}
	if err := h.say(messages); err != nil {
		return Peer{}, err
	}
	turn, err = h.turn()
	if err == nil {
		_, err = readMessage(turn, messageOK, 0)
	}
	if err != nil {
		return Peer{}, h.refuse(err)
	}
	return peer, nil
}

// agree decides by the two preambles.
func (h *handshaker) agree(dialler, acceptor preamble) error {
	version, refusal := agree(dialler, acceptor)
	if refusal != nil {
		return refusal
	}
	h.version, h.flags = version, dialler.flags&acceptor.flags
	return nil
}

// bind makes the prologue, with which both sides make sure that they see the same preambles on the same connection. It must be called
// after the first bytes from the peer, since the TLS handshake may not be done before.
func (h *handshaker) bind(dialler, acceptor []byte) error {
	if !h.keyed() {
		return nil
	}
	binding, err := bindingOf(h.conn)
	if err != nil {
		return &HandshakeError{Reason: ReasonBinding, Detail: "this TLS connection cannot be bound to: is it older than TLS 1.3?", Err: err}
	}
	h.prologue = slices.Concat(dialler, acceptor, binding, make([]byte, bindingSize-len(binding)))
	return nil
}

// say sends the messages of a turn of this side. With a key they are sealed: the first of each side as the payload of its message of
// the Noise handshake, what follows by the keys that come of that.
func (h *handshaker) say(messages []byte) error {
	if !h.keyed() {
		return h.write(messages)
	}
	var body []byte
	var err error
	switch {
	case h.channel != nil:
		body = h.channel.Out.Seal(nil, messages, nil)
	case h.dialled:
		body, h.offer, err = h.config.Keys.Offer(h.random, h.suites(), h.prologue, func(tie []byte) []byte { return h.appendProof(slices.Clip(messages), tie) })
	case h.answer != nil:
		body, h.channel, err = h.answer.Reply(messages)
	default: // the peer has not proven the key: this can only be a refusal
		return h.write(messages)
	}
	if err != nil {
		return &HandshakeError{Reason: ReasonConfig, Err: err}
	}
	return h.write(appendMessage(nil, messageSealed, body))
}

// turn returns what the messages of the peer's turn are read from: the connection, or with a key what was sealed. Nothing
// looks into that before the key is proven by it.
func (h *handshaker) turn() (io.Reader, error) {
	if !h.keyed() {
		return h.conn, nil
	}
	body, err := readMessage(h.conn, messageSealed, maxHello)
	if err != nil {
		return nil, err
	}
	var messages []byte
	side := "dialling"
	switch {
	case h.dialled:
		messages, h.channel, err = h.offer.Finish(body)
		side = "accepting"
	case h.answer == nil:
		h.answer, messages, err = h.config.Keys.Answer(h.random, h.suites(), h.prologue, body)
	default:
		messages, err = h.channel.In.Open(nil, body, nil)
	}
	if err != nil {
		return nil, &HandshakeError{Reason: ReasonKey, Detail: "the proof of the " + side +
			" side does not match: the two have different cluster keys, or something between them changes what they say"}
	}
	return bytes.NewReader(messages), nil
}

// suites is the one cipher that follows from both preambles.
func (h *handshaker) suites() []seal.Suite { return []seal.Suite{seal.Agreed(h.flags&flagAES != 0)} }

// judge decides about the peer by its hello, and by what follows that in its turn; own is completed where it answers one.
func (h *handshaker) judge(own hello, data []byte, turn io.Reader) (Peer, hello, error) {
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
	peer.Version, peer.Dialled, peer.Keyed = h.version, h.dialled, h.keyed()
	peer.Names = namesOf(h.conn)
	if h.config.NodeKeys != nil {
		if err := h.checkProof(theirs.Node, turn); err != nil {
			return Peer{}, own, err
		}
		peer.Names = append(peer.Names, theirs.Node)
	}
	peer.Sealed = h.sealing() || h.flags&flagBound != 0
	if h.config.Admit != nil {
		if err := h.config.Admit(peer); err != nil {
			if refusal, ok := errors.AsType[*HandshakeError](err); ok {
				return Peer{}, own, refusal
			}
			return Peer{}, own, &HandshakeError{Reason: ReasonRefused, Detail: err.Error()}
		}
	}
	return peer, own, nil
}

// refuse sends err to the peer where it is a refusal of this side, and returns err.
func (h *handshaker) refuse(err error) error {
	refusal, ok := errors.AsType[*HandshakeError](err)
	if !ok || refusal.ByPeer {
		return err
	}
	// Whether it arrives or not, the handshake is over.
	if h.dialled && h.channel == nil {
		h.write(appendRefusal(nil, refusal)) // what was to give the keys was not understood
	} else {
		h.say(appendRefusal(nil, refusal))
	}
	return err
}

func (h *handshaker) write(data []byte) error {
	_, err := h.conn.Write(data)
	return err
}

// readMessage returns the body of the next message, which must be of the kind and at most that long. A refusal instead of it
// is the error.
func readMessage(from io.Reader, kind uint8, most int) ([]byte, error) {
	var header [messageHeader]byte
	if _, err := io.ReadFull(from, header[:]); err != nil {
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
	if _, err := io.ReadFull(from, body); err != nil {
		return nil, err
	}
	if refused {
		return nil, parseRefusal(body)
	}
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
		if alert, ok := errors.AsType[*net.OpError](err); ok && alert.Op == "remote error" { // one of TLS
			e.Detail = "the peer may not accept this node's certificate, and its log says why"
		}
	}
	e.Node = h.peer
	if addr := h.conn.RemoteAddr(); addr != nil {
		e.Addr = addr.String()
	}
	return e
}

// helloMessage is the message that holds a hello.
func helloMessage(h hello) []byte {
	data, err := json.Marshal(h)
	if err != nil {
		panic(err) // there is nothing in it that JSON cannot hold
	}
	return appendMessage(nil, messageHello, data)
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
