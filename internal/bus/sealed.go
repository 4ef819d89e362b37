package bus

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/sabir-go/sabir/internal/seal"
)

// With a cluster key each packet of a session is sealed, so that what others publish to its inboxes is dropped before it has
// any effect, and the session goes on. Open and accept carry the two messages of the handshake. In all other packets at, taken and
// text are sealed, behind the number of the packet:
//
//	1 byte kind, 16 bytes session, number uint64, sealed (varint at, varint taken, text)
//
// A packet is taken only if its number is higher than all before: brokers keep the order, and lose packets, whose bytes are sent again in
// packets with other numbers.

const (
	headSize       = 1 + len(sessionID{})
	numberSize     = 8
	sealedOverhead = numberSize + seal.Overhead

	// openLimit is the time in which a side that dialled must show that it has the keys, and maxUnproven how many that have not shown it
	// there are at once. Somebody who sends an old open packet again never can.
	openLimit   = 5 * time.Second
	maxUnproven = 1024

	plainMark = "+plain" // ends the fragment of a hub's address that takes sessions which are not sealed
)

// prologue returns the bytes that both sides of a session's handshake must agree on.
func prologue(session sessionID, dialler, acceptor string) []byte {
	return append(append([]byte("sabir bus 3"), session[:]...), dialler+"\x00"+acceptor...)
}

// sealing is the state of a session that is sealed.
type sealing struct {
	offer    *seal.Offer       // of the side that dialled, until it is answered
	openSum  [sha256.Size]byte // of the open packet that began it, on the other side
	accept   []byte            // the text of its accept packets
	proven   bool              // the other side has shown that it has the keys
	openedAt time.Time
}

// publish hands a packet to the broker, sealed where the session is. data is the packet as it is without that.
func (c *conn) publish(data []byte, hand func(subject string, data []byte) error) error {
	channel := c.channel.Load()
	switch {
	case !c.keyed, !kind(data[0] &^ towardsDialler).sealed():
		return hand(c.peer, data)
	case channel == nil:
		return nil // nobody would believe it; the other side forgets the session after openLimit
	}
	c.numbering.Lock()
	defer c.numbering.Unlock()
	out := append(c.sealedPacket[:0], data[:headSize]...)
	out = binary.LittleEndian.AppendUint64(out, channel.Out.Next())
	c.sealedPacket = channel.Out.Seal(out, data[headSize:], out)
	return hand(c.peer, c.sealedPacket)
}

// sealed reports whether packets of the kind are sealed where the session is; the others make it so.
func (k kind) sealed() bool { return k != kindOpen && k != kindAccept && k != kindRefuse }

// unseal opens the rest of a packet where it is. The driver's goroutine alone calls it.
func (c *conn) unseal(message []byte) ([]byte, bool) {
	channel := c.channel.Load()
	if channel == nil || len(message) < headSize+sealedOverhead {
		return nil, false
	}
	head, sealed := message[:headSize+numberSize], message[headSize+numberSize:]
	rest, err := channel.In.OpenAt(binary.LittleEndian.Uint64(head[headSize:]), sealed[:0], sealed, head)
	return rest, err == nil
}

// ChannelBinding is the same on both sides of this session and in no other, and nil where it is not sealed. The handshake of a
// link is bound to it.
func (c *conn) ChannelBinding() []byte {
	if channel := c.channel.Load(); channel != nil {
		return channel.Binding[:]
	}
	return nil
}

// handshake takes a packet of the handshake of a sealed session, and reports whether the other side may have made it. It runs
// under mu.
func (c *conn) handshake(p *packet) bool {
	switch {
	case p.kind == kindOpen && !c.dialled:
		if sha256.Sum256(p.text) != c.sealing.openSum {
			return false
		}
		c.want(wantAccept) // it asks again
	case p.kind == kindOpen:
		return false
	case !c.dialled:
		return false
	case c.state == opening:
		verdict, channel, err := c.sealing.offer.Finish(p.text)
		if err != nil || len(verdict) != 1 || kind(verdict[0]) != p.kind {
			return false
		}
		c.unheardSince = time.Time{}
		if p.kind == kindRefuse {
			c.finish(os.NewSyscallError("connect", syscall.ECONNREFUSED))
			return true
		}
		c.channel.Store(channel)
		c.state = open
		close(c.opened)
		c.want(wantAck) // by which the other side sees that this one has the keys
	case c.state == open && p.kind == kindAccept:
		c.want(wantAck) // it has not come
	}
	return true
}

// openedSealed takes in a session that another hub began with an offer.
func (h *Hub) openedSealed(p *packet, from string, offer []byte, l *listener) {
	answer, _, err := h.config.Keys.Answer(rand.Reader, seal.Own(), prologue(p.session, from, h.inbox), offer)
	if err != nil {
		h.config.Refusals.Note("the broker", from)
		return
	}
	verdict := kindAccept
	if l == nil || !l.takes() || !h.waitsForMore() {
		verdict = kindRefuse
	}
	reply, channel, err := answer.Reply([]byte{byte(verdict)})
	if err != nil {
		return // of the other side's key, which no honest one sends
	}
	if verdict == kindRefuse {
		h.refuse(from, packet{kind: kindRefuse, toDialler: true, session: p.session, text: reply})
		return
	}
	c := newConn(h, end{p.session, false}, from)
	c.state = open
	c.keyed = true
	c.sealing = sealing{openSum: sha256.Sum256(p.text), accept: reply, openedAt: time.Now()}
	c.progress = c.sealing.openedAt
	c.channel.Store(channel)
	if h.add(c) != nil {
		return
	}
	h.mu.Lock()
	h.unproven[c] = struct{}{}
	h.mu.Unlock()
	c.mu.Lock()
	c.want(wantAccept)
	c.mu.Unlock()
}

// waitsForMore reports whether another session may wait for its other side to show that it has the keys.
func (h *Hub) waitsForMore() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.closed && len(h.unproven) < maxUnproven
}

// proven gives a session to the listener, once the side that dialled has shown that it has the keys.
func (h *Hub) proven(c *conn) {
	h.mu.Lock()
	delete(h.unproven, c)
	l := h.listener
	h.mu.Unlock()
	if l != nil && l.offer(c) {
		return
	}
	c.mu.Lock()
	c.want(wantReset)
	c.finish(nil)
	c.mu.Unlock()
}

// awaitProof says again that a session is there, until its other side has shown that it has the keys or too much time has passed. It
// runs under mu.
func (c *conn) awaitProof(now time.Time) {
	if now.Sub(c.sealing.openedAt) > openLimit {
		c.finish(nil)
		return
	}
	if now.Sub(c.progress) > c.pause {
		c.progress, c.pause = now, min(2*c.pause, maxProbePause)
		c.want(wantAccept)
	}
}

// seals reports whether sessions to an address whose fragment is given are sealed, and returns the inbox in it.
func (h *Hub) seals(fragment string) (inbox string, sealed bool) {
	inbox, plain := strings.CutSuffix(fragment, plainMark)
	return inbox, !h.config.Keys.None() && !(plain && h.config.Plain)
}
