package moleculer

import (
	"bytes"
	"sync"
	"sync/atomic"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/errname"
)

const (
	// maxStreamWaits bounds the bytes of one stream that nobody has taken yet, and maxStreamsWait those of all of a bridge: Moleculer's streams
	// have nothing by which a receiver slows its sender down.
	maxStreamWaits = 16 << 20
	maxStreamsWait = 256 << 20
	// maxLate bounds the packets of a stream that came before others with lower numbers.
	maxLate = 1024
	// chunkCost is counted for each packet beside its value.
	chunkCost = 128
)

// chunk is a packet of a stream.
type chunk struct {
	value raw
	meta  raw
	last  bool
	err   error // of the last
}

// chunks are the packets of a stream from another node, in their order. Its methods may be called by several goroutines.
type chunks struct {
	waiting *atomic.Int64 // of all streams of the bridge
	wake    chan struct{}

	mu     sync.Mutex
	next   int // number of the packet that is put into ready next
	late   map[int]chunk
	ready  []chunk
	bytes  int
	failed error
	closed bool
}

func newChunks(waiting *atomic.Int64) *chunks {
	return &chunks{waiting: waiting, wake: make(chan struct{}, 1), next: 1, late: make(map[int]chunk)}
}

// put adds the packet with a number. One that has come before is left out. Where too much waits, the stream fails.
func (c *chunks) put(seq int, one chunk) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, twice := c.late[seq]; twice || seq < c.next || c.failed != nil || c.closed {
		return
	}
	cost := len(one.value) + chunkCost
	if c.bytes+cost > maxStreamWaits || len(c.late) >= maxLate || c.waiting.Load()+int64(cost) > maxStreamsWait {
		c.end(sabir.NewError(sabir.CodeResourceExhausted, errname.StreamTooSlow, "the stream was ended: its values came faster than they were taken"))
		return
	}
	c.bytes += cost
	c.waiting.Add(int64(cost))
	if c.late[seq] = one; seq != c.next {
		return
	}
	for {
		one, there := c.late[c.next]
		if !there {
			break
		}
		delete(c.late, c.next)
		c.next++
		c.ready = append(c.ready, one)
	}
	c.signal()
}

// fail ends the stream for its receiver.
func (c *chunks) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed == nil {
		c.end(err)
	}
}

// end drops what waits. The caller holds mu.
func (c *chunks) end(err error) {
	c.failed = err
	c.drop()
	c.signal()
}

func (c *chunks) drop() {
	c.waiting.Add(-int64(c.bytes))
	c.ready, c.bytes = nil, 0
	clear(c.late)
}

func (c *chunks) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// close drops what waits; nothing more is taken.
func (c *chunks) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.drop()
}

// take waits for the next packet. It is false when done is closed.
func (c *chunks) take(done <-chan struct{}) (chunk, bool) {
	for {
		c.mu.Lock()
		if c.failed != nil {
			err := c.failed
			c.mu.Unlock()
			return chunk{last: true, err: err}, true
		}
		if len(c.ready) > 0 {
			one := c.ready[0]
			c.ready[0] = chunk{}
			if c.ready = c.ready[1:]; len(c.ready) > 0 {
				c.signal()
			}
			cost := len(one.value) + chunkCost
			c.bytes -= cost
			c.waiting.Add(-int64(cost))
			c.mu.Unlock()
			return one, true
		}
		c.mu.Unlock()
		select {
		case <-c.wake:
		case <-done:
			return chunk{}, false
		}
	}
}

// uploads are the streams that calls of other nodes send, by sender and id of the call.
type uploads struct {
	mu   sync.Mutex
	byID map[string]*chunks
}

func uploadID(r *request) string { return r.Sender + " " + string(r.ID) }

// open adds the stream that a request begins; nil if it has begun already.
func (u *uploads) open(r *request, waiting *atomic.Int64) *chunks {
	u.mu.Lock()
	defer u.mu.Unlock()
	id := uploadID(r)
	if u.byID[id] != nil {
		return nil
	}
	if u.byID == nil {
		u.byID = make(map[string]*chunks)
	}
	c := newChunks(waiting)
	u.byID[id] = c
	return c
}

// put adds a further packet. One of a stream that has not begun, or has ended, is left out.
func (u *uploads) put(r *request, of *serializer) {
	u.mu.Lock()
	c := u.byID[uploadID(r)]
	u.mu.Unlock()
	if c == nil {
		return
	}
	if r.Stream {
		c.put(*r.Seq, chunk{value: of.present(r.Params)})
		return
	}
	c.put(*r.Seq, chunk{last: true, err: streamErrorOf(r)})
}

// fail ends a stream, if it has begun.
func (u *uploads) fail(r *request, err error) bool {
	u.mu.Lock()
	c := u.byID[uploadID(r)]
	u.mu.Unlock()
	if c == nil {
		return false
	}
	c.fail(err)
	return true
}

func (u *uploads) close(r *request, c *chunks) {
	u.mu.Lock()
	delete(u.byID, uploadID(r))
	u.mu.Unlock()
	c.close()
}

// streamErrorOf is the error with which the sender ended a stream; nil for its end.
func streamErrorOf(r *request) error {
	text := r.Headers
	if r.Version == "4" {
		text = r.Meta
	}
	var members struct {
		Error *wireError `json:"$streamError"`
	}
	if !bytes.Contains(text, []byte(streamError)) || json.Codec.Decode(text, &members) != nil || members.Error == nil {
		return nil
	}
	return errorFrom(members.Error, r.Sender)
}
