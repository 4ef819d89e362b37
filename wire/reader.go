package wire

import (
	"errors"
	"io"
	"time"
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

// answer is a reply or an error to a call of this side.
type answer struct {
	id      uint32
	kind    kind
	flags   uint8
	body    []byte
	large   []byte // the buffer of body, where it was put together
	call    *Call
	refusal error // instead of a body
}

func newReader(l *Link) *reader {
	r := &reader{link: l, buf: make([]byte, firstBuffer), parts: map[partKey]*assembly{}}
	r.inline.onReader = true
	return r
}

// run reads until the link ends, and returns why.
func (r *reader) run() error {
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
	case kindRequest, kindEvent:
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

// answer notes a reply or an error, or the first part of a reply.
func (r *reader) answer(h header, body []byte) error {
	if h.flags&flagMore == 0 {
		r.batch.answers = append(r.batch.answers, answer{id: h.id, kind: h.kind, flags: h.flags, body: body})
		return nil
	}
	in := fields{left: body}
	total := in.number(maxInt32)
	if in.bad || h.kind != kindReply {
		return protocolError("the first part of a reply cannot be read")
	}
	r.link.mu.Lock()
	s, err := r.link.find(h.id)
	r.link.mu.Unlock()
	if err != nil {
		return err
	}
	if s == nil {
		r.link.in.strays.Add(1)
		return nil // and its chunks, which belong to nothing
	}
	a := &assembly{key: partKey{flagYours, h.id}, total: total, flags: h.flags}
	if err := r.begin(a, in.left); err == errTooMuchAtOnce {
		refusal := r.link.refuseLarge(total)
		r.batch.answers = append(r.batch.answers, answer{id: h.id, refusal: refusal})
		return nil
	} else if err != nil {
		return err
	}
	return r.partCame(a, h.flags)
}

// refuseLarge is the error for a value that is larger than this side accepts, alone or with others under way.
func (l *Link) refuseLarge(total int) *Failure {
	f := &Failure{Code: codeResourceExhausted, Name: NameMessageTooLarge, Node: l.config.Node}
	if total > l.config.Limits.Message {
		f.Message = "a value is larger than node " + l.config.Node + " accepts"
	} else {
		f.Message, f.Retryable = "node "+l.config.Node+" is receiving as many large values as it can hold", true
	}
	return f
}

// request begins a request or an event.
func (r *reader) request(h header, body []byte) error {
	l := r.link
	k := CallRoute
	if h.kind == kindEvent {
		k = EventRoute
	}
	head := fields{left: body}
	route, err := r.route(head.number(len(r.routes)), k)
	if err != nil {
		return err
	}
	in := &r.inline
	here := h.flags&(flagMore|flagCompressed) == 0 && route.target.Inline() && !l.outgoingFull()
	if !here {
		in = inboundPool.Get().(*Inbound)
	}
	in.link, in.Route, in.id, in.flags = l, route, h.id, h.flags
	in.answered = h.kind == kindEvent
	if err := r.meta(&head, h.flags, &in.Meta); err != nil {
		return err
	}
	if h.flags&flagTimeout != 0 {
		in.arrived = r.now()
	}
	if here {
		if in.schema, in.payload, err = r.value(head.left); err != nil {
			return err
		}
		in.serve()
		r.batch.write = true
		return nil
	}
	if !l.inbound.enter(l) || h.kind == kindRequest && int(h.id&indexMask) >= l.config.Limits.Calls {
		return r.refuse(in)
	}
	in.counted = true
	if h.flags&flagMore == 0 {
		in.copied = append(in.copied[:0], head.left...)
		return r.queue(in, in.copied)
	}
	a := &assembly{total: head.number(maxInt32), in: in, flags: h.flags}
	if a.key = (partKey{0, h.id}); h.kind == kindEvent {
		a.key.of = flagOfEvent
	}
	if head.bad {
		return protocolError("the head of a request cannot be read")
	}
	if err := r.begin(a, head.left); err == errTooMuchAtOnce {
		if h.kind == kindEvent {
			l.in.dropped.Add(1)
		}
		r.batch.write = true
		in.failHere(l.refuseLarge(a.total))
		return r.checkOutgoing()
	} else if err != nil {
		return err
	}
	return r.partCame(a, h.flags)
}

// meta reads what appendHead appended.
func (r *reader) meta(head *fields, flags uint8, m *Meta) error {
	if flags&flagTimeout != 0 {
		m.Timeout = time.Duration(head.number(int(maxTimeout/time.Microsecond))) * time.Microsecond
	}
	if flags&flagNested != 0 {
		m.Level = head.number(maxInt32)
		m.Caller = r.name(head)
	}
	if flags&flagRequestID != 0 {
		m.RequestID = head.string()
	}
	if flags&flagMetadata != 0 {
		n := head.number(len(head.left))
		m.Metadata = make(map[string]string, min(n, 64))
		for range n {
			key := r.name(head)
			m.Metadata[key] = head.string()
			if head.bad {
				break
			}
		}
	}
	if head.bad {
		return protocolError("the head of a request, an event or a stream cannot be read")
	}
	return nil
}

const (
	maxInt32   = 1<<31 - 1
	maxTimeout = 100 * 365 * 24 * time.Hour
)

// queue gives a request or event with its whole value to the workers, at the end of the batch.
func (r *reader) queue(in *Inbound, value []byte) (err error) {
	if in.schema, in.payload, err = r.value(value); err != nil {
		return err
	}
	if in.flags&(flagCancellable|flagTimeout) != 0 && !in.answered {
		r.link.inbound.add(in)
	}
	if r.batch.last == nil {
		r.batch.first = in
	} else {
		r.batch.last.next = in
	}
	r.batch.last = in
	r.batch.jobs++
	return nil
}

// refuse answers a request for which there is no place, and drops an event.
func (r *reader) refuse(in *Inbound) error {
	if in.answered {
		r.link.in.dropped.Add(1)
	}
	in.failHere(&Failure{Code: codeResourceExhausted, Retryable: true, Name: NameTooManyCalls, Node: r.link.config.Node,
		Message: "node " + r.link.config.Node + " serves as many calls as it accepts"})
	r.batch.write = true
	return r.checkOutgoing()
}

// failHere answers on the reader, which must not wait for room in the outgoing buffer, and releases in.
func (in *Inbound) failHere(f *Failure) {
	in.onReader = true
	in.Fail(f)
	in.onReader = false
	in.release()
}

// checkOutgoing ends the link of a peer that makes the reader answer without reading the answers.
func (r *reader) checkOutgoing() error {
	r.link.mu.Lock()
	defer r.link.mu.Unlock()
	if len(r.link.pending) > hardMark {
		return protocolError("more than %d bytes of answers wait, which the peer does not read while it asks for more", hardMark)
	}
	return nil
}

// outgoingFull tells whether those who append have to wait. What is served inline otherwise goes to the workers then, who
// can wait.
func (l *Link) outgoingFull() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.pending) >= highWater
}

// post hands a post to the owner.
func (r *reader) post(h header, body []byte) error {
	in := fields{left: body}
	topic := in.byte()
	if h.flags&flagMore == 0 {
		if in.bad {
			return protocolError("a post without a topic")
		}
		r.link.handler.Post(r.link, topic, in.left)
		return nil
	}
	a := &assembly{key: partKey{flagOfPost, h.id}, topic: topic, total: in.number(maxInt32), flags: h.flags}
	if in.bad {
		return protocolError("the first part of a post cannot be read")
	}
	if err := r.begin(a, in.left); err == errTooMuchAtOnce {
		r.link.in.dropped.Add(1)
		return nil
	} else if err != nil {
		return err
	}
	return r.partCame(a, h.flags)
}

// chunk continues a value. One that belongs to nothing is of a value that was refused or given up.
func (r *reader) chunk(h header, body []byte) error {
	a := r.parts[partKey{h.flags & flagsOf, h.id}]
	if a == nil {
		return nil
	}
	if len(a.buf)+len(body) > a.total {
		return protocolError("value %d is longer than it said", h.id)
	}
	a.make(len(body))
	a.buf = append(a.buf, body...)
	return r.partCame(a, h.flags)
}

// beginStraight takes what there is of a chunk and has the rest read into the buffer of its value.
func (r *reader) beginStraight(h header, there int) error {
	var a *assembly
	switch h.kind {
	case kindChunk:
		a = r.parts[partKey{h.flags & flagsOf, h.id}]
	case kindData:
		a = r.partOfStream(h)
	}
	if a == nil {
		return nil // it is handled when it is whole
	}
	if len(a.buf)+h.length > a.total {
		return protocolError("value %d is longer than it said", h.id)
	}
	a.make(h.length)
	a.buf = append(a.buf, r.buf[r.start+headerSize:r.end]...)
	r.start, r.end = 0, 0
	r.straight, r.missing, r.flags = a, h.length-there, h.flags
	r.batch.frames++
	return nil
}

// partCame goes on after a part of a value was added to it.
func (r *reader) partCame(a *assembly, flags uint8) error {
	if flags&flagMore != 0 {
		r.inChunks = true
		return nil
	}
	r.inChunks = false
	if len(a.buf) != a.total {
		return protocolError("a value ended after %d of %d bytes", len(a.buf), a.total)
	}
	r.forget(a)
	switch {
	case a.stream != nil:
		return r.dataCame(a.stream, a.flags, a.buf, true)
	case a.in != nil:
		a.in.large = a.buf
		return r.queue(a.in, a.buf)
	case a.key.of == flagOfPost:
		r.link.handler.Post(r.link, a.topic, a.buf)
		freeLarge(a.buf)
	default:
		r.batch.answers = append(r.batch.answers, answer{id: a.key.id, kind: kindReply, flags: a.flags, body: a.buf, large: a.buf})
	}
	return nil
}

// cancel is the peer giving up a request, a stream, or the rest of a value.
func (r *reader) cancel(h header) error {
	if h.flags&flagOfStream != 0 {
		return r.cancelStream(h)
	}
	a := r.parts[partKey{h.flags & flagsOf, h.id}]
	if a == nil {
		r.link.inbound.cancel(h.id)
		return nil
	}
	if a.in == nil && a.key.of != flagOfPost {
		return protocolError("a reply was cancelled")
	}
	r.forget(a)
	freeLarge(a.buf)
	if a.in != nil {
		a.in.failHere(&Failure{Code: codeCanceled, Name: NameCanceled, Node: r.link.config.Node, Message: "given up by the caller before all of the request was sent"})
		r.batch.write = true
	}
	return nil
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

// finishAnswers takes all calls of a batch out of their slots under one lock, and then copies the answers and wakes the
// callers without it.
func (r *reader) finishAnswers() error {
	l, answers := r.link, r.batch.answers
	var err error
	l.mu.Lock()
	for i := range answers {
		a := &answers[i]
		s, wrong := l.find(a.id)
		if wrong != nil {
			err = wrong
		} else if s == nil {
			l.in.strays.Add(1)
		} else {
			if a.call = s.call; a.call == nil {
				l.in.strays.Add(1)
			}
			l.release(a.id)
		}
	}
	l.mu.Unlock()
	for i := range answers {
		a := &answers[i]
		if c := a.call; c != nil {
			if wrong := r.fill(c, a); wrong != nil {
				c.err, err = wrong, wrong
			}
			c.done <- struct{}{}
		} else {
			freeLarge(a.large)
		}
		*a = answer{}
	}
	r.batch.answers = answers[:0]
	return err
}

// fill sets the result of a call.
func (r *reader) fill(c *Call, a *answer) (err error) {
	if a.refusal != nil {
		c.err = a.refusal
		return nil
	}
	if a.kind == kindError {
		f, err := parseFailure(a.body)
		if err == nil {
			c.err = f
		}
		return err
	}
	if c.schema, c.reply, err = r.value(a.body); err != nil {
		return err
	}
	c.compressed = a.flags&flagCompressed != 0
	if c.large = a.large; a.large == nil {
		c.small = append(c.small[:0], c.reply...)
		c.reply = c.small
	}
	return nil
}

// reasonOfEOF is why the link ends whose peer has closed the connection. It runs under mu.
func (l *Link) reasonOfEOF() error {
	if l.leaving.agreed() {
		return ErrClosed
	}
	return errPeerGone
}

var errSilent = errors.New("nothing was heard of the peer for longer than SilenceLimit")
