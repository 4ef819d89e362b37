package actor

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/sabir-go/sabir/codec/native"
)

// A call that was forwarded to a third node is answered by way of the node that forwarded it, which passes the answer on as
// it came: who waits for it translates it. That node keeps what every call from another node takes, and tells the third when
// nobody waits any more.

// The bounds of what is passed on.
const (
	maxRelayed    = 1024     // types of answers that a session knows for that
	relayingBytes = 64 << 20 // of answers that wait until the caller's node takes them, for each caller's node
)

// relayed is a type of another node, as a session knows it whose peer is told of it.
type relayed struct {
	name string
	hash native.Hash
}

// sentAway notes where the call went on to.
func (c *awayCall) sentAway(a *awaited) {
	c.onward.Store(a)
	if c.answer.Load() { // given up meanwhile
		a.giveUp()
	}
}

// cameAway gets the answer of a third node. It runs where that is read, and must not wait.
func (c *awayCall) cameAway(_ uint64, d *declared, data []byte) {
	s := c.session
	if number, known := s.types.Load(relayed{d.name, d.writer.Hash()}); known {
		post := answerPost(c.number, number.(uint64), data)
		if len(post) <= postBytes && c.claim() {
			c.released()
			s.say(post)
			return
		}
	}
	size := int64(len(data))
	if before := s.relaying.Add(size) - size; before > 0 && before+size > relayingBytes {
		s.relaying.Add(-size)
		c.failed(0, problem(ErrTooMany, s.system.homeName(), "%d bytes of answers wait for %s", before, s.node))
		return
	}
	name, writer, data := d.name, d.writer, slices.Clone(data)
	s.system.away.gone.Go(func() {
		defer s.relaying.Add(-size)
		c.relay(name, writer, data)
	})
}

// relay may wait.
func (c *awayCall) relay(name string, writer *native.Schema, data []byte) {
	s := c.session
	number, err := s.numberRelayed(name, writer)
	if err != nil {
		c.failed(0, err)
		return
	}
	if !c.claim() {
		return
	}
	c.released()
	if _, err = s.post(context.Background(), nil, answerPost(c.number, number, data)); err != nil && !s.ended.Load() {
		s.fail(c.number, err)
	}
}

func (s *session) numberRelayed(name string, writer *native.Schema) (uint64, error) {
	key := relayed{name, writer.Hash()}
	s.declaring.Lock()
	_, known := s.types.Load(key)
	full := s.relays >= maxRelayed
	if !known && !full {
		s.relays++
	}
	s.declaring.Unlock()
	if !known && full {
		return 0, problem(ErrTooMany, s.system.homeName(), "answers of %d types of other nodes were passed on to %s", maxRelayed, s.node)
	}
	return s.number(nil, key, name, writer)
}

func answerPost(number, of uint64, data []byte) []byte {
	post := make([]byte, 0, 1+2*binary.MaxVarintLen64+len(data))
	post = binary.AppendUvarint(append(post, byte(verbAnswer)), number)
	return append(binary.AppendUvarint(post, of), data...)
}
