package bus

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// wants is a set of packets that a session still has to send, a bit for each kind. Code that must not block sets a bit, and
// the hub's goroutine sends the packet.
type wants uint8

const (
	wantAccept wants = 1 << iota // to report that the session is there
	wantProbe                    // to ask what has arrived
	wantAck                      // to report what has arrived
	wantAgain                    // to report that something is missing
	wantResend                   // to send again what the other side misses
	wantClose                    // to report where the stream ends
	wantReset                    // to report that the session is over
)

// want has the hub's goroutine send something. It runs under mu.
func (c *conn) want(w wants) {
	c.wants |= w
	if !c.queued {
		c.queued = true
		c.hub.queue(c)
	}
}

// serve sends the packets that are wanted.
func (c *conn) serve() {
	c.mu.Lock()
	w := c.wants
	c.wants, c.queued = 0, false
	ack := c.packet(kindAck)
	ack.at, ack.taken = c.in.received, c.in.taken
	c.in.reported = c.in.taken
	c.mu.Unlock()
	if w&wantReset != 0 {
		c.send(c.packet(kindReset))
		return
	}
	if w&wantAccept != 0 {
		accept := c.packet(kindAccept)
		accept.text = c.sealing.accept // it is not changed
		c.send(accept)
	}
	if w&wantAgain != 0 {
		ack.kind = kindAgain
		c.send(ack)
	} else if w&wantAck != 0 {
		c.send(ack)
	}
	if w&wantResend != 0 {
		c.sendAgain()
	}
	if w&wantClose != 0 {
		c.sendClose()
	}
	if w&wantProbe != 0 {
		c.sendProbe()
	}
}

// sendAgain sends the messages that the other side reported missing.
func (c *conn) sendAgain() {
	c.sending.Lock()
	defer c.sending.Unlock()
	c.mu.Lock()
	missing := c.out.behind(c.out.arrived)
	c.out.busy++
	c.mu.Unlock()
	for _, m := range missing {
		c.publish(m.data, c.hub.broker.Publish)
	}
	c.mu.Lock()
	c.out.busy--
	c.mu.Unlock()
}

// sendClose sends where the stream ends, behind everything that was written.
func (c *conn) sendClose() {
	c.sending.Lock()
	defer c.sending.Unlock()
	p := c.packet(kindClose)
	c.mu.Lock()
	if c.state == over {
		c.mu.Unlock()
		return
	}
	c.out.ended = true
	p.at, p.taken = c.out.sent, c.in.taken
	p.text = []byte(c.hub.inbox)
	data := p.append(nil)
	c.out.add(data, 1)
	c.progress, c.pause = time.Now(), probeAfter
	c.mu.Unlock()
	c.publish(data, c.hub.broker.Publish)
}

// sendProbe asks what of the stream has arrived, behind everything that was written, and whether the peer is still there.
func (c *conn) sendProbe() {
	c.sending.Lock()
	defer c.sending.Unlock()
	p := c.packet(kindProbe)
	c.mu.Lock()
	p.at, p.taken = c.out.sent, c.in.taken
	c.mu.Unlock()
	p.text = []byte(c.hub.inbox)
	c.publish(p.append(nil), c.hub.broker.Probe)
}

// arrived takes a packet, which the other side made, and reports whether that shows for the first time that it has the keys. It does
// not block.
func (c *conn) arrived(p *packet) (proven bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == over {
		return false
	}
	c.unheardSince = time.Time{}
	proven = c.keyed && !c.dialled && !c.sealing.proven
	c.sealing.proven = true
	c.take(p)
	return proven
}

// take runs under mu.
func (c *conn) take(p *packet) {
	switch p.kind {
	case kindOpen: // it asks again
		c.want(wantAccept)
		return
	case kindRefuse:
		if c.state == opening {
			c.finish(os.NewSyscallError("connect", syscall.ECONNREFUSED))
		}
		return
	case kindReset:
		c.finish(os.NewSyscallError("read", syscall.ECONNRESET))
		return
	}
	if c.state == opening {
		c.state = open
		close(c.opened)
	}
	arrived := c.out.arrived
	if p.kind == kindAck || p.kind == kindAgain {
		arrived = p.at
	}
	before := c.out.read + c.out.arrived
	if !c.out.confirm(arrived, p.taken) {
		c.violated("it confirms what was not sent")
		return
	}
	if c.out.read+c.out.arrived != before {
		c.progress, c.pause = time.Now(), probeAfter
		c.writable.Broadcast()
	}
	switch p.kind {
	case kindData:
		c.data(p)
	case kindProbe:
		if c.state == closing {
			c.in.received = max(c.in.received, p.at)
		}
		if p.at > c.in.received {
			c.want(wantAgain)
		} else {
			c.want(wantAck)
		}
	case kindAgain:
		c.want(wantResend)
	case kindClose:
		c.ended(p.at)
	}
	if c.state == closing && c.out.ended && c.out.arrived == c.out.sent {
		c.finish(nil)
	}
}

func (c *conn) data(p *packet) {
	if c.state == closing { // it will not be read
		c.in.received = max(c.in.received, p.at+uint64(len(p.text)))
		return
	}
	missing, ok := c.in.add(p.at, p.text)
	switch {
	case !ok:
		c.violated("it sends more than the window has room for")
	case missing:
		c.want(wantAgain)
	default:
		c.readable.Signal()
	}
}

// ended takes in where the other side's stream ends.
func (c *conn) ended(at uint64) {
	if c.in.finish(at) {
		c.want(wantAgain)
		return
	}
	c.want(wantAck)
	c.readable.Broadcast()
	c.writable.Broadcast()
}

// violated ends a session whose other side does not keep to the protocol. It runs under mu.
func (c *conn) violated(how string) {
	c.want(wantReset)
	c.finish(fmt.Errorf("the other side broke the rules of the session: %s", how))
}

// look is called every now and then.
func (c *conn) look(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.state == over:
	case c.keyed && !c.dialled && !c.sealing.proven:
		c.awaitProof(now)
	case c.state == closing && now.Sub(c.closedAt) > lingerLimit:
		c.want(wantReset)
		c.finish(nil)
	case !c.unheardSince.IsZero() && now.Sub(c.unheardSince) > unheardLimit:
		c.finish(os.NewSyscallError("read", syscall.ECONNRESET))
	case c.state != opening && c.out.arrived < c.out.sent && now.Sub(c.progress) > c.pause:
		c.progress = now
		if c.unheardSince.IsZero() {
			c.pause = min(2*c.pause, maxProbePause)
		}
		c.want(wantProbe)
	}
}

// unheard is called when the broker reports no subscriber of the other side's inbox, which may be a matter of a moment: the
// other side may be connecting to the broker again.
func (c *conn) unheard() {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.state == opening:
		c.finish(os.NewSyscallError("connect", syscall.ECONNREFUSED))
	case c.state != over && c.unheardSince.IsZero():
		c.unheardSince, c.pause = time.Now(), probeAfter
	}
}
