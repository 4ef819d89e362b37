package wire

import (
	"errors"
	"io"
)

const (
	firstBuffer   = 16 << 10
	largestBuffer = 128 << 10 // more than the longest frame
	// straightAbove is from how many missing bytes of a chunk on they are read into the value's own buffer.
	straightAbove = 8 << 10
	// betweenChunks is how much is read after a chunk while more of its value is to come: the next header, and small
	// frames between. What is beyond it can then be read straight again.
	betweenChunks = 4 << 10
)

// reader is the incoming side of a link, and the state that only its goroutine has. It takes all that has come at once,
// handles every whole frame in it, and only then wakes those who wait and writes what was answered.
type reader struct {
	link *Link

	buf        []byte
	start, end int // what is in buf and not handled

	routes  []*Route
	names   []string
	schemas []*Schema

	parts     map[partKey]*assembly
	partBytes int
	straight  *assembly // whose chunk is being read straight into its buffer
	missing   int       // how much of that chunk has not come
	flags     uint8     // of that chunk
	inChunks  bool      // the last frame was a chunk of a value of which more will come

	inline Inbound // for what is served here
	batch  batch
}

// batch is what one read brought, as far as it is handled together.
type batch struct {
	answers     []answer
	first, last *Inbound // jobs
	jobs        int32
	streams     []*Stream // whose receiver waits
	frames      uint64
	now         int64 // 0 where nothing needed it yet
	write       bool  // something was appended that must be written
}

func newReader(l *Link) *reader {
	r := &reader{link: l, buf: make([]byte, firstBuffer), parts: map[partKey]*assembly{}}
	r.inline.onReader = true
	return r
}

// run reads until the link ends, and returns why.
func (r *reader) run() error {
	defer r.dropParts()
	for {
		n, err := r.read()
		if n > 0 {
			r.link.in.reads.Add(1)
			r.link.in.bytes.Add(uint64(n))
			handled := r.frames()
			if finished := r.finishBatch(); handled == nil {
				handled = finished
			}
			if handled != nil {
				return handled
			}
		}
		if err != nil {
			return err
		}
		if n == 0 {
			return io.ErrNoProgress
		}
	}
}

// read reads once: the rest of a chunk into its value, or what there is into buf.
func (r *reader) read() (int, error) {
	if a := r.straight; a != nil {
		a.make(r.missing)
		n, err := r.link.conn.Read(a.buf[len(a.buf) : len(a.buf)+r.missing])
		a.buf = a.buf[:len(a.buf)+n]
		r.missing -= n
		return n, err
	}
	full := r.start == 0 && r.end == len(r.buf) || r.end == len(r.buf) && r.start <= headerSize
	if r.start == r.end {
		full = r.end == len(r.buf)
		r.start, r.end = 0, 0
	}
	if full && len(r.buf) < largestBuffer {
		grown := make([]byte, 2*len(r.buf))
		r.end = copy(grown, r.buf[r.start:r.end])
		r.buf, r.start = grown, 0
	} else if r.start > 0 {
		r.end = copy(r.buf, r.buf[r.start:r.end])
		r.start = 0
	}
	room := r.buf[r.end:]
	if r.inChunks && r.end < betweenChunks {
		room = room[:betweenChunks-r.end]
	}
	n, err := r.link.conn.Read(room)
	r.end += n
	return n, err
}

// frames handles all whole frames in buf, and the beginning of a chunk.
func (r *reader) frames() error {
	if r.straight != nil {
		if r.missing > 0 {
			return nil
		}
		a := r.straight
		r.straight = nil
		if err := r.partCame(a, r.flags); err != nil {
			return err
		}
	}
	for r.end-r.start >= headerSize {
		h, err := parseHeader(r.buf[r.start:r.end])
		if err != nil {
			return err
		}
		there := r.end - r.start - headerSize
		if there < h.length {
			if h.length-there >= straightAbove {
				return r.beginStraight(h, there)
			}
			return nil
		}
		body := r.buf[r.start+headerSize : r.start+headerSize+h.length : r.start+headerSize+h.length]
		r.start += headerSize + h.length
		r.batch.frames++
		r.inChunks = false
		if err := r.frame(h, body); err != nil {
			return err
		}
	}
	return nil
}

// frame handles one frame. body is a part of buf, which is overwritten after the batch.
func (r *reader) frame(h header, body []byte) error {
	l := r.link
	switch h.kind {
	case kindReply, kindError:
		return r.answer(h, body)
	case kindRequest:
		return r.request(h, body)
	case kindData:
		return r.data(h, body)
	case kindCredit:
		return r.credit(h, body)
	case kindChunk:
		return r.chunk(h, body)
	case kindCancel:
		return r.cancel(h)
	case kindOpen:
		return r.open(h, body)
	case kindEnd:
		return r.endOfStream(h, body)
	case kindPost:
		return r.post(h, body)
	case kindPing:
		return r.ping(body)
	case kindPong:
		return r.pong(body)
	case kindGoAway:
		return l.goAwayCame(h.flags)
	case kindRoute:
		return r.learnRoute(body)
	case kindSchema:
		return r.learnSchema(body)
	case kindName:
		return r.learnName(body)
	}
	return protocolError("a frame of unknown kind %d", h.kind)
}

// now is the time of this batch.
func (r *reader) now() int64 {
	if r.batch.now == 0 {
		r.batch.now = r.link.now()
	}
	return r.batch.now
}

// finishBatch gives the answers to their calls, the requests to workers, and writes what was answered here.
func (r *reader) finishBatch() error {
	b, l := &r.batch, r.link
	l.in.frames.Add(b.frames)
	b.frames, b.now = 0, 0
	var err error
	if len(b.answers) > 0 {
		err = r.finishAnswers()
	}
	for i, s := range b.streams {
		s.inBatch = false
		s.mu.Lock()
		s.wakeReceiver()
		s.mu.Unlock()
		b.streams[i] = nil
	}
	b.streams = b.streams[:0]
	if b.jobs > 0 {
		l.jobs.put(b.first, b.last, b.jobs)
		b.first, b.last, b.jobs = nil, nil, 0
	}
	if b.write {
		b.write = false
		l.flush()
	}
	return err
}

// reasonOfEOF is why the link ends whose peer has closed the connection. It runs under mu.
func (l *Link) reasonOfEOF() error {
	if l.leaving.agreed() {
		return ErrClosed
	}
	return errPeerGone
}

var errSilent = errors.New("nothing was heard of the peer for longer than SilenceLimit")
