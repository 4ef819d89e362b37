package wire

import (
	"context"
	"encoding/binary"
	"io"
	"sync"

	"github.com/sabir-go/sabir/internal/memory"
)

// Stream is one end of a stream of messages in both directions. One goroutine may send while another receives; neither Send
// nor Recv may be called by two at once. The other methods may be called from any number of goroutines.
//
// Each direction has credit in bytes, Limits.Window of its receiver: Send waits while what the other side has not taken by
// Recv amounts to more. While the streams of a link, or of the node, hold much, each gets less credit; a stream whose receiver then takes
// nothing is ended with NameStreamTooSlow, see package memory.
type Stream struct {
	// Route is the one it was opened along.
	Route *Route

	link *Link
	id   uint32
	own  bool // opened by this side
	meta Meta

	ctx  context.Context
	end  func(error)   // ends ctx; on the side that was called
	over chan struct{} // closed when nothing can be sent any more
	stop func() bool   // of the watch on the opener's context

	// mu guards what is below. Where Link.mu is needed too, it is taken inside mu.
	mu      sync.Mutex
	credit  int64 // bytes that may still be sent
	waiting bool  // Send waits for credit
	more    chan struct{}
	half    bool  // no more messages from this side
	ended   bool  // over is closed
	err     error // how the stream ended, nil for in peace

	inbox         inbox
	receiveCredit int64 // bytes that the peer may still send
	recvWaits     bool
	arrived       chan struct{}
	recvEnd       bool // no more messages from the peer
	window        int64

	in, out *memory.Window // what waits here for Recv, and in Send for the peer

	// Of the goroutine that receives.
	taken    inbox
	at       int   // the next of its items
	offset   int   // where the next short one is
	returned int64 // bytes received whose credit was not given back yet
	owed     int64 // and of those that were kept back, since streams hold much; guarded by mu
	freed    int   // bytes received that in still counts
	owned    bool  // the last value has a buffer of its own

	// Of the reader.
	part      *assembly // a message of which a part has come
	cancelled bool      // by the opener: parts of a message may still be on their way
	inBatch   bool      // the receiver is to be woken at the end of the batch
}

// inbox is received messages, one after the other.
type inbox struct {
	data  []byte
	items []message
}

type message struct {
	size   int
	cost   int64 // the credit it took
	held   int   // the memory it takes
	flags  uint8
	schema *Schema
	large  []byte // where it was put together; else it is in data
}

// keepInbox is the largest buffer of an inbox that is kept while nothing is in it.
const keepInbox = 1 << 20

func newStream(l *Link, r *Route, m Meta, id uint32, own bool) *Stream {
	s := &Stream{
		Route: r, link: l, id: id, own: own, meta: m,
		over:          make(chan struct{}),
		more:          make(chan struct{}, 1),
		arrived:       make(chan struct{}, 1),
		credit:        int64(l.peer.Limits.Window),
		receiveCredit: int64(l.config.Limits.Window),
		window:        int64(l.config.Limits.Window),
	}
	s.in, s.out = l.memory.Window(s.tooSlow), l.memory.Window(s.tooSlow)
	return s
}

// tooSlow ends the stream, since nothing was taken while the streams of the node held more than they may.
func (s *Stream) tooSlow() {
	s.reset(&Failure{Code: codeResourceExhausted, Name: NameStreamTooSlow, Node: s.link.config.Node, Retryable: true,
		Message: "a stream of " + s.Route.Name + " was not received while the streams of node " + s.link.config.Node + " held more than they may, and was ended"})
}

// Open opens a stream along r, which must be a StreamRoute. When ctx ends the stream is cancelled. The stream must be used
// until Recv returns an error, or cancelled.
//
// Where the peer has Limits.Streams of this side's streams open already, the error is a *Failure with NameTooManyStreams.
func (l *Link) Open(ctx context.Context, r *Route, m Meta) (*Stream, error) {
	if err := l.checkHead(r, &m); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := l.lockWithSpace(ctx, nil, 0); err != nil {
		return nil, err
	}
	if err := l.takesNew(); err != nil {
		l.mu.Unlock()
		return nil, err
	}
	s := newStream(l, r, m, 0, true)
	s.ctx, s.end = ctx, func(error) {}
	if !l.streams.addOwn(s, l.peer.Limits.Streams) {
		l.mu.Unlock()
		return nil, l.tooManyStreams(l.peer.Node)
	}
	number, head, flags := l.headOf(r, &m)
	l.appendHeaded(s.id, kindOpen, flags, number, head, nil)
	l.unlockAndWrite(writeInBackground)
	if ctx.Done() != nil {
		stop := context.AfterFunc(ctx, func() { s.reset(ctx.Err()) })
		s.mu.Lock()
		s.stop = stop
		if s.ended {
			stop()
		}
		s.mu.Unlock()
	}
	return s, nil
}

func (l *Link) tooManyStreams(node string) *Failure {
	return &Failure{Code: codeResourceExhausted, Retryable: true, Name: NameTooManyStreams, Node: l.config.Node,
		Message: "node " + node + " has as many streams of a link open as it accepts"}
}

// Link is the link the stream goes over.
func (s *Stream) Link() *Link { return s.link }

// Meta returns the Meta with which the stream was opened.
func (s *Stream) Meta() Meta { return s.meta }

// Context is the one given to Open; on the other side one that ends when the opener cancels, its timeout is over, the
// link is lost, or ServeStream has returned.
func (s *Stream) Context() context.Context { return s.ctx }

// Send sends a message, which begins with a schema number (see AppendRef), and waits while there is no credit or the
// outgoing buffer is full. It does not wait until the peer has it.
//
// When the stream has ended it returns io.EOF, and Recv returns why. After another error, that of ctx or of the link, the
// value may still be in use and the stream is cancelled if a part of the value was sent; after nil it may be reused.
func (s *Stream) Send(ctx context.Context, value []byte) error {
	l := s.link
	value, flags, err := l.shrink(value)
	if err != nil {
		return err
	}
	if len(value) >= memory.Small {
		s.out.Add(len(value))
		defer s.out.Remove(len(value))
	}
	if err := s.takeCredit(ctx, messageCost(len(value))); err != nil {
		return err
	}
	flags |= s.yours()
	if len(value) > chunkSize {
		m := largeMessage{kind: kindData, flags: flags, id: s.id, value: value}
		err := l.sendLarge(ctx, s.over, &m)
		if err == errStopped {
			return io.EOF
		}
		if err != nil && m.begun {
			s.reset(err)
		}
		return err
	}
	if err := l.lockWithSpace(ctx, s.over, 0); err != nil {
		if err == errStopped {
			return io.EOF
		}
		return err
	}
	l.framesOut++
	l.pending = append(appendHeader(l.pending, len(value), s.id, kindData, flags), value...)
	l.unlockAndWrite(writeInBackground)
	return nil
}

// takeCredit takes the credit for a message, as soon as there is any: a message may be longer than the window.
func (s *Stream) takeCredit(ctx context.Context, size int64) error {
	s.mu.Lock()
	for {
		if s.ended || s.half {
			s.mu.Unlock()
			return io.EOF
		}
		if s.credit > 0 {
			s.credit -= size
			s.mu.Unlock()
			return nil
		}
		s.waiting = true
		s.mu.Unlock()
		select {
		case <-s.more:
		case <-s.over:
		case <-ctx.Done():
			return ctx.Err()
		}
		s.mu.Lock()
	}
}

// yours is the flag of frames that tell which side chose their id.
func (s *Stream) yours() uint8 {
	if s.own {
		return 0
	}
	return flagYours
}

// Recv waits for the next message and returns it without its schema number, and the schema, nil where it has none. The value
// is valid until the next Recv.
//
// At the end it returns io.EOF where the peer sent its last message or ended in peace, the peer's *Failure, the opener's
// context error, or a *LostError.
func (s *Stream) Recv() (value []byte, schema *Schema, err error) {
	for {
		if s.at < len(s.taken.items) {
			return s.next()
		}
		if s.returned > 0 {
			s.returnCredit()
		}
		s.mu.Lock()
		if len(s.inbox.items) > 0 {
			s.taken.empty()
			s.taken, s.inbox = s.inbox, s.taken
			s.at, s.offset = 0, 0
			s.mu.Unlock()
			continue
		}
		if s.recvEnd || s.ended {
			err := s.err
			s.mu.Unlock()
			s.in.Close()
			if err == nil {
				err = io.EOF
			}
			return nil, nil, err
		}
		s.recvWaits = true
		s.mu.Unlock()
		<-s.arrived
	}
}

// Owned reports whether the value that Recv returned last has a buffer of its own, as long ones do, and may be kept.
func (s *Stream) Owned() bool { return s.owned }

// next is the next of the messages that were taken out of the inbox together.
func (s *Stream) next() ([]byte, *Schema, error) {
	m := &s.taken.items[s.at]
	s.at++
	value := m.large
	if value == nil {
		value = s.taken.data[s.offset : s.offset+m.size : s.offset+m.size]
		s.offset += m.size
	} else {
		value = value[len(value)-m.size:]
	}
	if m.flags&flagCompressed != 0 {
		plain, err := s.link.expand(value)
		if err != nil {
			s.Cancel()
			return nil, nil, err
		}
		value = plain
	}
	schema := m.schema
	s.owned = m.large != nil
	s.returned += m.cost
	s.freed += m.held
	s.in.Progress()
	if s.returned >= s.window/4 {
		s.returnCredit()
	}
	m.large = nil
	return value, schema, nil
}

// messageCost is the credit that a message of so many bytes takes: something for each, so that a window is not filled with
// any number of empty ones.
func messageCost(size int) int64 { return int64(size) + headerSize }

// crowdedShare is the part of its window that a stream may use while streams hold much: an eighth.
const crowdedShare = 8

// returnCredit lets the peer send as much more as was received.
func (s *Stream) returnCredit() {
	n := s.returned
	s.in.Remove(s.freed)
	s.returned, s.freed = 0, 0
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.recvEnd || s.ended {
		return
	}
	if n, s.owed = n+s.owed, 0; s.link.memory.Crowded() {
		all := n
		n = min(all, max(s.window/crowdedShare-s.receiveCredit, 0))
		s.owed = all - n
	}
	if n == 0 {
		return
	}
	s.receiveCredit += n
	s.sendFrame(kindCredit, 0, binary.AppendUvarint(make([]byte, 0, 10), uint64(n)))
}

// sendFrame appends a frame of the stream that does not wait for space.
func (s *Stream) sendFrame(k kind, flags uint8, body []byte) {
	l := s.link
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return
	}
	l.append(s.id, k, flags|s.yours(), body)
	l.unlockAndWrite(writeInBackground)
}

// EndSends announces that this side sends no more messages; the peer's Recv then returns io.EOF. It is not called CloseSend, as a method of sabir.ForeignStream
// is: the linker would keep it, with the sealing of links, in programs without a cluster.
func (s *Stream) EndSends() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.half || s.ended {
		return
	}
	s.half = true
	s.sendFrame(kindEnd, flagHalf, nil)
}

// End ends the stream, for the side that was called: in peace, or with the failure that the opener's Recv returns after the
// messages that were sent before. On the opener's side it is Cancel.
func (s *Stream) End(f *Failure) {
	if s.own {
		s.Cancel()
		return
	}
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return
	}
	var err error
	flags, body := uint8(0), []byte(nil)
	if f != nil {
		err = f
		flags, body = flagFailed, appendFailure(nil, f)
	}
	s.finish(err)
	s.mu.Unlock()
	s.sendEnd(flags, body)
}

// sendEnd notifies the opener that the stream is over, once. The opener may then use its number for another, so the stream
// leaves the table first.
func (s *Stream) sendEnd(flags uint8, body []byte) {
	l := s.link
	l.mu.Lock() // around both, so that Drain does not find the stream gone and its end not yet among what is to be written
	if l.streams.removeTheirs(s) && !l.closed {
		l.append(s.id, kindEnd, flags|s.yours(), body)
	}
	l.unlockAndWrite(writeInBackground)
	s.end(context.Canceled)
	l.leaving.signal()
}

// Cancel ends the stream for both sides, without waiting for messages that are under way. A stream that has ended is left
// as it is.
func (s *Stream) Cancel() { s.reset(nil) }

// reset ends the stream for both sides. Recv then returns err, or a Failure with the code for cancelled calls if err is nil.
func (s *Stream) reset(err error) {
	canceled := &Failure{Code: codeCanceled, Name: NameCanceled, Node: s.link.config.Node, Message: "the stream was cancelled"}
	if !s.own {
		s.dropInbox()
		if f, ok := err.(*Failure); ok {
			canceled = f
		}
		s.End(canceled)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	if err == nil {
		err = canceled
	}
	s.inbox = inbox{}
	s.in.Close()
	s.finish(err)
	// The id stays taken until the peer has answered with its end.
	s.sendFrame(kindCancel, flagOfStream, nil)
}

// dropInbox drops what was received and not taken.
func (s *Stream) dropInbox() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inbox = inbox{}
	s.in.Close()
}

// finish is the end in both directions. It runs under mu.
func (s *Stream) finish(err error) {
	s.out.Close()
	s.ended, s.recvEnd, s.err = true, true, err
	close(s.over)
	s.wakeReceiver()
	if s.stop != nil {
		s.stop()
	}
}

// wakeReceiver runs under mu.
func (s *Stream) wakeReceiver() {
	if s.recvWaits {
		s.recvWaits = false
		s.arrived <- struct{}{}
	}
}

func (b *inbox) empty() {
	if cap(b.data) > keepInbox {
		b.data = nil
	}
	b.data, b.items = b.data[:0], b.items[:0]
}
