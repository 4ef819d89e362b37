package wire

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"
)

// health checks once per PingInterval whether a link's peer is alive. It runs on a timer, so no goroutine waits.
//
// Over a socket of the system only the side that dialled pings: the other one sees by these pings that the peer is alive, and learns its load and
// the round trip from them. Where none came since the last look it pings too. Over a broker both do, since it says that a peer has gone only
// where something is sent to it.
type health struct {
	rtt       atomic.Int64
	pinged    atomic.Bool  // the peer did, since the last look, and said how long its last ping took
	answered  atomic.Int64 // the stamp of the newest ping that the peer has answered
	load      atomic.Pointer[Load]
	suspected atomic.Bool

	mu       sync.Mutex // guards the rest
	timer    *time.Timer
	listens  bool  // sends no ping where the peer does
	phase    int64 // nanoseconds by which this node looks later than another one
	stopped  bool
	received uint64        // bytes in at the last look
	silence  time.Duration // how long that number has not changed, in looks, so that a stop of this process does not count
	writing  int64         // when the write began that was under way at the last look; 0 for none
	stuck    time.Duration // for how long it has been the same, in looks too
	suspicion
}

const (
	loadSize = 12
	pingSize = 8 + loadSize
	tripSize = 8 // behind the load of a ping: the round trip in nanoseconds. Earlier versions neither send nor read it
)

func (h *health) start(l *Link) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.listens = !l.peer.Dialled && l.raw != nil
	h.phase = int64(xxhash.Sum64String(l.config.Node) >> 1)
	h.timer = time.AfterFunc(h.untilLook(l.config.PingInterval), l.look)
	h.glancer, h.glancing = time.AfterFunc(l.config.PingInterval/glances, l.glance), true
}

func (h *health) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopped = true
	h.timer.Stop()
	h.glancer.Stop()
}

// untilLook returns the time until the next look, from half to one and a half intervals. All links of a node look at the same moments, since
// the processor's wake is most of what a look costs, and nodes at different ones. It goes by the clock, which the simulation controls.
func (h *health) untilLook(interval time.Duration) time.Duration {
	left := interval - time.Duration((time.Now().UnixNano()+h.phase%int64(interval))%int64(interval))
	if left < interval/2 {
		left += interval
	}
	return left
}

// RTT is about how long a ping took to be answered lately; 0 before the first answer.
func (l *Link) RTT() time.Duration { return time.Duration(l.health.rtt.Load()) }

// Load is the load that the peer last sent; zero before its first ping.
func (l *Link) Load() Load {
	if load := l.health.load.Load(); load != nil {
		return *load
	}
	return Load{}
}

// Answers reports whether the peer answers a ping that is sent now, before ctx ends. What came of it before, and is read only now, does not
// count: its process may have ended since.
func (l *Link) Answers(ctx context.Context) bool {
	asked := l.now()
	l.sendSign(kindPing, uint64(asked))
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for l.health.answered.Load() < asked {
		select {
		case <-again.C:
		case <-l.done:
			return false
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// look ends the link where the peer is silent or does not read, and sends a ping.
func (l *Link) look() {
	h := &l.health
	interval := l.config.PingInterval
	h.mu.Lock()
	if received := l.in.bytes.Load(); received != h.received {
		h.received, h.silence = received, 0
	} else {
		h.silence += interval
	}
	silent := h.silence > l.config.SilenceLimit
	if writing := l.writeStart.Load(); writing == 0 || writing != h.writing {
		h.writing, h.stuck = writing, 0
	} else {
		h.stuck += interval
	}
	stuck := h.stuck >= l.config.WriteTimeout
	if !h.stopped {
		h.timer.Reset(h.untilLook(interval))
		h.glanceSoon(interval / glances)
	}
	pinged := h.pinged.Swap(false) && h.listens
	h.mu.Unlock()

	switch {
	case silent:
		l.fail(errSilent)
	case stuck:
		l.fail(fmt.Errorf("wire: the peer took no byte for %v", l.config.WriteTimeout))
	case !pinged:
		l.sendSign(kindPing, uint64(l.now()))
	}
}

// sendSign sends a ping or a pong where it is of use: a peer that has a buffer full of bytes to read will answer those.
func (l *Link) sendSign(k kind, stamp uint64) {
	load := l.config.Load()
	body := make([]byte, pingSize, pingSize+tripSize)
	binary.LittleEndian.PutUint64(body[:], stamp)
	binary.LittleEndian.PutUint32(body[8:], math.Float32bits(load.CPU))
	binary.LittleEndian.PutUint32(body[12:], load.Calls)
	binary.LittleEndian.PutUint32(body[16:], load.Waiting)
	if trip := l.rtt.Load(); k == kindPing && trip > 0 {
		body = binary.LittleEndian.AppendUint64(body, uint64(trip))
	}
	l.mu.Lock()
	if l.closed || l.leaving.closing || len(l.pending) > highWater {
		l.mu.Unlock()
		return
	}
	l.append(0, k, 0, body)
	l.unlockAndWrite(writeInBackground)
}

func (r *reader) ping(body []byte) error {
	stamp, err := r.sign(body)
	if err != nil {
		return err
	}
	if l := r.link; !l.peer.Dialled && len(body) >= pingSize+tripSize {
		trip := binary.LittleEndian.Uint64(body[pingSize:])
		l.rtt.Store(int64(max(1, min(trip, uint64(l.config.SilenceLimit)))))
		l.pinged.Store(true)
	}
	r.link.sendSign(kindPong, stamp)
	return nil
}

func (r *reader) pong(body []byte) error {
	stamp, err := r.sign(body)
	if err != nil {
		return err
	}
	r.link.health.answered.Store(int64(stamp))
	took := r.link.now() - int64(stamp)
	if took <= 0 {
		return nil // not a stamp of ours
	}
	if before := r.link.rtt.Load(); before != 0 {
		took = before + (took-before)/8
	}
	r.link.rtt.Store(took)
	return nil
}

// sign reads a ping or a pong. What is behind the load is for later versions.
func (r *reader) sign(body []byte) (stamp uint64, err error) {
	if len(body) < pingSize {
		return 0, protocolError("a ping of %d bytes", len(body))
	}
	load := Load{
		CPU:     math.Float32frombits(binary.LittleEndian.Uint32(body[8:])),
		Calls:   binary.LittleEndian.Uint32(body[12:]),
		Waiting: binary.LittleEndian.Uint32(body[16:]),
	}
	if math.IsNaN(float64(load.CPU)) {
		load.CPU = -1
	}
	r.link.load.Store(&load)
	return binary.LittleEndian.Uint64(body), nil
}
