package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir/internal/busypoll"
	"github.com/sabir-go/sabir/internal/memory"
	"github.com/sabir-go/sabir/internal/native"
	"github.com/sabir-go/sabir/internal/transports"
)

// Link is a framed, multiplexed connection to another node over which both sides call, open streams, emit and post. All
// its methods may be called from any number of goroutines.
//
// The way of a call is Call.Do (call.go), the outgoing buffer (writer.go), the peer's reader (reader.go), its Inbound
// (inbound.go) on a worker (jobs.go), and back by the same way.
type Link struct {
	conn    net.Conn
	source  io.Reader // reads from conn
	under   net.Conn  // what is written to: conn, or the connection that its records go over
	sealer  *sealer   // makes these records, for the goroutine with the writer's role; nil where conn is not sealed by this package
	peer    Peer
	config  Config
	handler Handler
	started time.Time // zero of all times in nanoseconds
	gathers bool
	groups  bool            // both sides know groups in the head of an event
	memory  *memory.Account // of the values that wait

	// mu guards the outgoing buffer and the calls that wait for a reply, so that a call takes one lock. Nothing under it
	// blocks or calls out of this package.
	mu     sync.Mutex
	closed bool
	err    error
	writer
	calls

	// What this side declared.
	routes      numbers[routeKey]
	names       numbers[string]
	frame       uint64 // counts the frames that hold numbers of these
	head        []byte // of the frame that is being made
	schemasSent map[native.Hash]uint32
	schemaBytes int

	// Schemas again, for looking them up without mu.
	schemas        sync.Map // *native.Schema to uint32
	schemaPointers atomic.Int64

	unused  sync.Pool // of *Call; of the link, since its calls' channels belong where the link does (see testing/synctest)
	jobs    jobs
	inbound inboundTable
	streams streamTables
	parts   atomic.Uint32 // ids of large posts
	turn    readTurn

	health
	leaving

	context  *callContext  // ends with the link
	done     chan struct{} // closed when the link has ended
	failed   chan struct{} // closed when all that was under way then has been reported
	finished chan struct{} // closed when its reader and writer are gone and Closed was called
	in       counters
}

// counters are the counters of the reader.
type counters struct {
	frames, bytes, reads, strays, dropped atomic.Uint64
}

// Stats counts the traffic of a link since its start.
type Stats struct {
	FramesIn, FramesOut uint64
	BytesIn, BytesOut   uint64
	Reads, Writes       uint64 // of the connection
	Strays              uint64 // answers that nothing waited for: of abandoned calls, or sent twice
	Dropped             uint64 // posts that were too large to be taken
}

// New makes a link of a connection whose Handshake is done, and starts its reader and its writer. h receives what the
// peer does from now on, first with Opened and at the end with Closed. The link closes conn.
func New(conn net.Conn, peer Peer, c Config, h Handler) *Link {
	l := &Link{
		conn:        conn,
		source:      conn,
		under:       conn,
		peer:        peer,
		config:      c.withDefaults(),
		handler:     h,
		started:     time.Now(),
		schemasSent: map[native.Hash]uint32{},
		context:     &callContext{},
		done:        make(chan struct{}),
		failed:      make(chan struct{}),
		finished:    make(chan struct{}),
	}
	l.context.link, l.groups = l, slices.Contains(peer.Features, groupsFeature)
	if sealed, ok := conn.(*sealedConn); ok {
		l.under, l.sealer = sealed.Conn, &sealed.sealer
	}
	l.gathers = l.sealer == nil && transports.Gathers(conn)
	l.routes.start(peer.Limits.Routes)
	l.names.start(peer.Limits.Names)
	l.writer.wake = make(chan struct{}, 1)
	l.writer.raw = newRawWriter(l.under)
	l.calls.limit = peer.Limits.Calls
	if c.CallersRead {
		if sealed, ok := conn.(*sealedConn); ok {
			sealed.source = busypoll.NewReader(sealed.Conn)
		} else {
			l.source = busypoll.NewReader(conn)
		}
		l.turn.read, l.turn.back = (*Call).readAnswer, make(chan struct{}, 1)
	}
	l.jobs.init(l)
	l.leaving.start()
	if c.Memory == nil {
		c.Memory = memory.New(memory.Limits{})
	}
	l.memory = c.Memory.Connection()
	idle.join()
	l.health.start(l)
	go l.run()
	return l
}

// run outlives all other goroutines of the link.
func (l *Link) run() {
	written := make(chan struct{})
	go func() {
		defer close(written)
		l.writeLoop()
	}()
	l.handler.Opened(l)
	l.read(newReader(l), written)
}

// read reads until the link ends. A target that is served inline may end the goroutine, by runtime.Goexit: another then goes on
// where it was.
func (l *Link) read(r *reader, written <-chan struct{}) {
	over := false
	defer func() {
		if !over {
			go l.read(r, written)
		}
	}()
	err := r.run()
	over = true
	r.dropParts()
	l.fail(err)
	<-l.failed // by another goroutine, which may still be at it
	<-written
	l.health.stop()
	l.handler.Closed(l, l.Err())
	idle.leave()
	close(l.finished)
}

// Peer returns the description of the other side, as found out by the handshake.
func (l *Link) Peer() Peer { return l.peer }

// Done is closed when the link has ended; Err then returns why.
func (l *Link) Done() <-chan struct{} { return l.done }

// Context ends when the link has ended. It carries no values, and is always the same.
func (l *Link) Context() context.Context { return l.context }

// Err is nil as long as the link stands. Afterwards it is why it ended: ErrClosed after Close(nil) or Drain of either
// side, a *ProtocolError, or the connection's error.
func (l *Link) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Close ends the link at once: calls in flight fail with a *LostError that holds err, or ErrClosed for nil. Handler.Closed
// is called before long, on another goroutine. For an end without losses see Drain.
func (l *Link) Close(err error) {
	if err == nil {
		err = ErrClosed
	}
	l.fail(err)
}

// fail ends the link for the reason given. Only the first reason counts.
func (l *Link) fail(err error) {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return
	}
	if errors.Is(err, io.EOF) {
		err = l.reasonOfEOF()
	}
	l.closed, l.err = true, err
	lost := l.takeAllCalls()
	l.pending, l.large = nil, nil
	l.mu.Unlock()

	close(l.done)
	for _, c := range lost {
		c.done <- struct{}{}
	}
	l.context.end(context.Canceled)
	l.inbound.cancelAll()
	l.streams.failAll(&LostError{Sent: true, Node: l.peer.Node, Err: err})
	close(l.failed)
	// Last, since TLS sends a goodbye in it, which can take seconds where the peer does not read.
	l.conn.Close()
}

var errPeerGone = errors.New("the peer closed the connection, or its process ended")

// lost is the error of what was not sent because the link has ended. It runs under mu.
func (l *Link) lost() error {
	return &LostError{Node: l.peer.Node, Err: l.err}
}

// lostBy is lost without mu, where done is closed.
func (l *Link) lostBy(sent bool) error {
	return &LostError{Sent: sent, Node: l.peer.Node, Err: l.Err()}
}

// now is the time since the link started, in nanoseconds; never 0.
func (l *Link) now() int64 { return int64(time.Since(l.started)) + 1 }

// InFlight is the number of open calls and streams of this side.
func (l *Link) InFlight() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls.taken + l.streams.ownOpen()
}

// Begun is the number of calls and streams that this side has begun on the link.
func (l *Link) Begun() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.streams.mu.Lock()
	defer l.streams.mu.Unlock()
	return l.calls.begun + l.streams.ownBegun
}

// Stats returns the counts so far.
func (l *Link) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Stats{
		FramesIn: l.in.frames.Load(), FramesOut: l.framesOut,
		BytesIn: l.in.bytes.Load(), BytesOut: uint64(l.bytesTaken),
		Reads: l.in.reads.Load(), Writes: l.writes.Load(),
		Strays: l.in.strays.Load(), Dropped: l.in.dropped.Load(),
	}
}

// Post sends data to the peer's Handler.Post under a topic, which the owners agree on. It waits, as long as ctx allows,
// while more than a mebibyte of the link is still to be written, and for data of more than 64 KiB until all of it is written.
// It works as long as the link is open, also after GoAway of either side; only Drain of this side, which waits for
// what was posted, refuses it from the moment on at which everything is sent.
//
// Posts arrive in order: one that Post or TryPost had taken before another was begun arrives before it, whatever their
// sizes. One without an error is on its way; it is lost if the link ends otherwise than by Drain of this side before
// the peer has read it, or if the peer has no space for a value that comes in parts (see Stats.Dropped), which takes
// hundreds of mebibytes under way at once.
//
// The error is a *Failure where data is as long as the peer's Limits.Message or longer, ctx.Err(), or a *LostError when the
// link has ended or is about to; LostError.Sent reports whether part of data may have reached the peer. data of up to 64 KiB was
// not sent where there is an error. With more, the peer may have it all the same after ctx has ended. data may be reused
// when Post has returned nil, and with up to 64 KiB in any case.
func (l *Link) Post(ctx context.Context, topic uint8, data []byte) error {
	if len(data) >= l.peer.Limits.Message {
		return l.tooLarge(len(data))
	}
	if err := l.lockWithSpace(ctx, nil, len(data)); err != nil {
		return err
	}
	if l.leaving.closing {
		l.mu.Unlock()
		return &LostError{Node: l.peer.Node, Err: ErrClosed}
	}
	if len(data) <= chunkSize {
		l.appendPost(topic, data)
		l.unlockAndWrite(writeInBackground)
		return nil
	}
	l.leaving.sending.Add(1) // under mu, so that Drain waits for it
	l.mu.Unlock()
	defer l.leaving.sent()
	m := largeMessage{kind: kindPost, of: flagOfPost, id: l.nextPart(), head: []byte{topic}, value: data}
	return l.sendAndRetract(ctx, &m)
}

// TryPost is Post for data of less than 64 KiB that does not wait: it reports whether the data was given to the link. It is
// not where the outgoing buffer is full, the data too long or the link ended. data may be reused in any case.
func (l *Link) TryPost(topic uint8, data []byte) bool {
	if len(data) >= chunkSize || len(data) >= l.peer.Limits.Message {
		return false
	}
	l.mu.Lock()
	if l.closed || l.leaving.closing || len(l.pending) >= highWater {
		l.mu.Unlock()
		return false
	}
	l.appendPost(topic, data)
	l.unlockAndWrite(writeInBackground)
	return true
}

// appendPost appends a small post. It runs under mu.
func (l *Link) appendPost(topic uint8, data []byte) {
	l.framesOut++
	l.pending = appendHeader(l.pending, 1+len(data), 0, kindPost, 0)
	l.pending = append(append(l.pending, topic), data...)
}

// nextPart is an id for a large post; never 0. Reused after 2^32 of them, long after the first is complete.
func (l *Link) nextPart() uint32 {
	for {
		if id := l.parts.Add(1); id != 0 {
			return id
		}
	}
}
