package wire

import (
	"errors"
	"io"

	"github.com/sabir-go/sabir/internal/recent"
)

const (
	firstBuffer   = 16 << 10
	largestBuffer = 128 << 10 // more than the longest frame
	// straightAbove is the number of bytes of a chunk that must be missing for the reader to read them directly into the buffer
	// of the value, which saves a copy, rather than into its own.
	straightAbove = 8 << 10
	// betweenChunks is the number of bytes read at once after a chunk if more of its value is to come: enough for the next
	// header and some small frames. A larger read would take in the next chunk too, which then could not be read directly.
	betweenChunks = 4 << 10
)

// reader is the incoming side of a link. Only the goroutine that reads uses it, its own or that of a caller (see readTurn), so it
// needs no lock. It reads all that has come at once,
// handles every whole frame in it, and only then wakes the callers that wait and writes the answers: one write and one
// round of wake-ups for many frames.
//
// The reader must never block, because credit, pings and the answers that others wait for come through it: what it appends
// to the outgoing buffer does not wait for space, and requests that may block go to workers (jobs).
//
// buf is overwritten by the next read. A frame's body is a part of buf, so whatever outlives the batch is copied: small values
// into the buffer of their Call or Inbound, chunks into the buffer of their assembly.
type reader struct {
	link *Link

	buf        []byte
	start, end int // the part of buf that was not handled yet

	routes  []*Route
	names   []string
	schemas []*Schema

	schemaBytes int
	readers     *recent.Cache[readerKey, any] // of the schemas, see Schema.KeepReader

	parts    map[partKey]*assembly
	straight *assembly // the value whose chunk is being read directly into its buffer
	missing  int       // how many bytes of that chunk have not come yet
	flags    uint8     // of that chunk
	inChunks bool      // the last frame was a chunk of a value of which more will come

	inline      Inbound // for requests that are served on this goroutine; used again for each
	batch       batch
	byCaller    bool // a caller reads, see readTurn
	alone       int  // how many answers came in a row, with nothing else
	interrupted bool // a target ended the goroutine (runtime.Goexit) while it handled what was read
}

// batch holds the frames of one read that are handled together.
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
	r := &reader{link: l, buf: make([]byte, firstBuffer), parts: map[partKey]*assembly{},
		readers: recent.New[readerKey, any](maxReaders)}
	r.inline.onReader = true
	return r
}

// run reads until the link ends, and returns why. If a target ends the goroutine, run is called again on a new one.
func (r *reader) run() error {
	if r.interrupted {
		if err := r.handle(); err != nil {
			return err
		}
	}
	for {
		if err := r.readOnce(); err != nil {
			return err
		}
		if r.link.config.CallersRead && r.isAlone() {
			if err := r.giveTurn(); err != nil {
				return err
			}
			if err := r.handle(); err != nil { // what a caller left
				return err
			}
		}
	}
}

// readOnce reads what has come, and handles it.
func (r *reader) readOnce() error {
	n, err := r.read()
	if n > 0 {
		r.link.in.reads.Add(1)
		r.link.in.bytes.Add(uint64(n))
		if wrong := r.handle(); wrong != nil {
			return wrong
		}
	}
	if err == nil && n == 0 {
		return io.ErrNoProgress
	}
	return err
}

// handle handles all that was read. If a target ends the goroutine meanwhile, the next run continues with the next frame.
func (r *reader) handle() error {
	r.interrupted = true
	err := r.frames()
	if finished := r.finishBatch(); err == nil {
		err = finished
	}
	r.interrupted = false
	return err
}

// read reads once: the rest of a chunk directly into its value, or whatever has come into buf.
func (r *reader) read() (int, error) {
	if a := r.straight; a != nil {
		a.make(r.missing)
		n, err := r.link.source.Read(a.buf[len(a.buf) : len(a.buf)+r.missing])
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
	free := r.buf[r.end:]
	if r.inChunks && r.end < betweenChunks {
		free = free[:betweenChunks-r.end]
	}
	n, err := r.link.source.Read(free)
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
		if r.byCaller && h.kind != kindReply && h.kind != kindError {
			return errStopped
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

// finishBatch wakes the calls that were answered and the receivers of streams, passes requests to workers, and writes what was
// appended while the batch was handled. Until here it must not have been written: see writer.
func (r *reader) finishBatch() error {
	b, l := &r.batch, r.link
	l.in.frames.Add(b.frames)
	if b.frames == 1 && len(b.answers) == 1 {
		r.alone++
	} else if b.frames > 0 {
		r.alone = 0
	}
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
		l.jobs.put(b.first)
		b.first, b.last, b.jobs = nil, nil, 0
	}
	if b.write {
		b.write = false
		l.flush()
	}
	return err
}

// reasonOfEOF returns the error of a link whose peer has closed the connection. It runs under mu.
func (l *Link) reasonOfEOF() error {
	if l.leaving.agreed() {
		return ErrClosed
	}
	return errPeerGone
}

var errSilent = errors.New("nothing was received from the peer for longer than SilenceLimit")
