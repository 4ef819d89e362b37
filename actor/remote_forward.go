package actor

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/sabir-go/sabir/internal/native"
)

// A call that was forwarded to a third node is answered by way of the node that forwarded it, which passes the answer on as
// it came: the caller's node translates it. That node keeps what every call from another node takes, and notifies the third when
// no caller waits any more.

// These constants bound what is forwarded.
const (
	maxForwardedTypes = 1024     // types of answers in a session
	maxForwarding     = 64 << 20 // bytes of answers that wait for one caller's node
)

// forwardedType is the key in session.types for a type of a third node's answer.
type forwardedType struct {
	name string
	hash native.Hash
}

// setAwaited keeps the request to the third node, to cancel it with this call.
func (c *remoteCall) setAwaited(a *pendingReply) {
	c.forwardedTo.Store(a)
	if c.answer.Load() { // timed out or cancelled meanwhile
		a.cancel()
	}
}

// receiveAnswer forwards the answer of a third node. It runs on the goroutine that reads the third node's link and must not
// wait.
func (c *remoteCall) receiveAnswer(_ *session, _ uint64, d *declared, data []byte) {
	s := c.session
	if number, known := s.types.Load(forwardedType{d.name, d.writer.Hash()}); known {
		post := answerPost(c.number, number.(uint64), data)
		if len(post) <= postBytes && c.claim() {
			c.cancelContext()
			s.enqueue(post)
			return
		}
	}
	size := int64(len(data))
	if before := s.forwarding.Add(size) - size; before > 0 && before+size > maxForwarding {
		s.forwarding.Add(-size)
		c.failed(0, problem(ErrTooMany, s.system.nodeName(), "%d bytes of answers wait for %s", before, s.node))
		return
	}
	name, writer, data := d.name, d.writer, slices.Clone(data)
	s.system.remote.gone.Go(func() {
		defer s.forwarding.Add(-size)
		c.forwardAnswer(name, writer, data)
	})
}

// forwardAnswer is the part of receiveAnswer that may wait.
func (c *remoteCall) forwardAnswer(name string, writer *native.Schema, data []byte) {
	s := c.session
	number, err := s.numberForwarded(name, writer)
	if err != nil {
		c.failed(0, err)
		return
	}
	if !c.claim() {
		return
	}
	c.cancelContext()
	if _, err = s.post(context.Background(), nil, answerPost(c.number, number, data)); err != nil && !s.ended.Load() {
		s.fail(c.number, err)
	}
}

func (s *session) numberForwarded(name string, writer *native.Schema) (uint64, error) {
	key := forwardedType{name, writer.Hash()}
	if err := s.lockDeclaring(context.Background(), nil); err != nil {
		return 0, err
	}
	_, known := s.types.Load(key)
	full := s.forwardedTypes >= maxForwardedTypes
	if !known && !full {
		s.forwardedTypes++
	}
	s.unlockDeclaring()
	if !known && full {
		return 0, problem(ErrTooMany, s.system.nodeName(), "answers of %d types of other nodes were passed on to %s", maxForwardedTypes, s.node)
	}
	return s.number(context.Background(), nil, key, name, writer)
}

func answerPost(number, of uint64, data []byte) []byte {
	post := make([]byte, 0, 1+2*binary.MaxVarintLen64+len(data))
	post = binary.AppendUvarint(append(post, byte(opAnswer)), number)
	return append(binary.AppendUvarint(post, of), data...)
}
