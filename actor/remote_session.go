package actor

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"
	"time"
	"unique"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/memory"
	"github.com/sabir-go/sabir/internal/native"
	"github.com/sabir-go/sabir/internal/wire"
)

// session is the conversation of two systems over one link: see network.
type session struct {
	system *System
	link   *wire.Link
	node   string
	turn   uint64 // its number among those that the node which chooses the link has opened
	ended  atomic.Bool
	memory *memory.Account // of what came from the peer and waits in mailboxes

	// run of the peer
	home                         unique.Handle[home] // the peer's
	helloSent, helloReceived, up bool

	// *kind, reflect.Type of spawn arguments or forwardedType, to the uint64 by which the peer knows the type
	types          sync.Map      // *kind, or reflect.Type of arguments, to uint64: the types that the peer knows by their number
	declaring      chan struct{} // has one value while a type is declared; a lock for which callers wait no longer than for their answers
	numbers        uint64        // declared types; guarded by declaring
	forwardedTypes int           // declared types of forwarded answers; guarded by declaring
	forwarding     atomic.Int64  // bytes of forwarded answers that wait for the link
	outbound       outbound

	mu      sync.Mutex
	next    uint64                   // last number of a call, a confirmed message or a spawn
	pending map[uint64]*pendingReply // requests of this side
	inbound map[uint64]*remoteCall   // calls of the peer
	spawns  int                      // spawns of the peer that run

	reading       sync.Mutex // held while a post is read; guards the fields below
	broken        bool       // the peer has sent something malformed: nothing more is read
	declared      []*declared
	declaredBytes int
	lastWarned    time.Time // when logUnreadable last logged
	suppressed    int       // messages not logged since then
}

// buffers holds the byte slices in which posts are written.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, postBytes+4<<10); return &b }}

const keepBuffer = 256 << 10

func giveBuffer(b *[]byte, data []byte) {
	if cap(data) <= keepBuffer {
		*b = data[:0]
		buffers.Put(b)
	}
}

// reach returns the session with the node of a process. to may be a placeholder for a name or an alias.
func (n *network) reach(to PID) (*session, error) {
	s := n.system
	if known, ok := n.byHome.Load(to.home); ok {
		return known.(*session), nil
	}
	if to.id == 0 {
		return nil, problem(ErrNoProcess, s.nodeName(), "the zero PID")
	}
	h := to.home.Value()
	known, ok := n.byNode.Load(h.node)
	switch {
	case ok && (h.name != "" || h.alias != 0 && h.instance == known.(*session).home.Value().instance):
		return known.(*session), nil
	case h.node == s.nodeName():
		return nil, problem(ErrNoProcess, h.node, "%s is of an earlier run of this node", to)
	case ok && h.instance < known.(*session).home.Value().instance:
		return nil, problem(ErrNoProcess, h.node, "%s is of an earlier run of its node", to)
	}
	return nil, n.noConnection(h.node)
}

// post sends a post over the link. If the link is full it waits, and by's worker is replaced meanwhile. reuse reports whether
// data may be written again: not if the context ended, because the link may still be sending it.
func (s *session) post(ctx context.Context, by *Process, data []byte) (reuse bool, err error) {
	if s.ended.Load() {
		return true, s.system.remote.noConnection(s.node)
	}
	if s.link.TryPost(linkTopic, data) {
		return true, nil
	}
	if by != nil {
		by.beginBlocking()
		defer by.endBlocking()
	}
	err = s.link.Post(ctx, linkTopic, data)
	if err == nil {
		return true, nil
	}
	if f, ok := errors.AsType[*wire.Failure](err); ok {
		e := sabir.NewError(sabir.Code(f.Code), f.Name, f.Message)
		e.Node = f.Node
		return true, e
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	return false, s.system.remote.noConnection(s.node)
}

// notify sends a short post that has no answer, from a goroutine that may wait.
func (s *session) notify(by *Process, data []byte) error {
	_, err := s.post(context.Background(), by, data)
	return err
}

// outbound queues posts from goroutines that must not wait, such as the reader of the link, while the link is full.
type outbound struct {
	mu      sync.Mutex
	list    [][]byte
	bytes   int
	running bool
}

// maxOutbound bounds the queue in bytes. A peer that keeps asking and does not read the answers loses its link.
const maxOutbound = 16 << 20

var errOutboundFull = errors.New("actor: the peer asks and does not take the answers")

// enqueue sends a post without waiting: what does not fit into the link is queued. It keeps data.
func (s *session) enqueue(data []byte) {
	q := &s.outbound
	q.mu.Lock()
	defer q.mu.Unlock()
	if s.ended.Load() || !q.running && s.link.TryPost(linkTopic, data) {
		return
	}
	if q.bytes += len(data); q.bytes > maxOutbound {
		s.link.Close(errOutboundFull)
		return
	}
	q.list = append(q.list, data)
	if !q.running {
		q.running = true
		s.system.remote.gone.Go(s.drainOutbound)
	}
}

func (s *session) drainOutbound() {
	q := &s.outbound
	for {
		q.mu.Lock()
		list := q.list
		q.list, q.bytes = nil, 0
		if len(list) == 0 {
			q.running = false
			q.mu.Unlock()
			return
		}
		q.mu.Unlock()
		for _, data := range list {
			if s.ended.Load() || s.link.Post(context.Background(), linkTopic, data) != nil {
				break
			}
		}
	}
}

// typeNumber returns the number by which the peer knows a type, and declares the type to the peer first if needed. Where the link is
// full, that waits until ctx ends.
func (s *session) typeNumber(ctx context.Context, by *Process, k *kind) (uint64, error) {
	if known, ok := s.types.Load(k); ok {
		return known.(uint64), nil
	}
	c, err := k.coded()
	if err != nil {
		return 0, err
	}
	return s.number(ctx, by, k, k.name, c.Schema())
}

// number is typeNumber for a type that this session knows by another key than its kind.
func (s *session) number(ctx context.Context, by *Process, key any, name string, schema *native.Schema) (uint64, error) {
	if err := s.lockDeclaring(ctx, by); err != nil {
		return 0, err
	}
	defer s.unlockDeclaring()
	if known, ok := s.types.Load(key); ok {
		return known.(uint64), nil
	}
	if s.numbers == maxDeclared {
		return 0, problem(ErrTooMany, s.system.nodeName(), "%s is one type too many: %d were sent to %s", name, maxDeclared, s.node)
	}
	post := binary.AppendUvarint([]byte{byte(opDeclare)}, s.numbers)
	post = appendText(post, name)
	post = append(post, schema.Bytes()...)
	if len(post) > postBytes {
		ctx = context.Background() // half a declaration would be the end of the session
	}
	if _, err := s.post(ctx, by, post); err != nil {
		return 0, err
	}
	number := s.numbers
	s.numbers++
	s.types.Store(key, number)
	return number, nil
}

func (s *session) lockDeclaring(ctx context.Context, by *Process) error {
	select {
	case s.declaring <- struct{}{}:
		return nil
	default:
	}
	if by != nil {
		by.beginBlocking()
		defer by.endBlocking()
	}
	select {
	case s.declaring <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *session) unlockDeclaring() { <-s.declaring }

// send encodes the messages of an envelope into as many posts as they need. Messages that cannot be encoded are left out; the
// error is the first one.
func (s *session) send(to PID, l *envelope, by *Process) error {
	values, ok := l.body.(outgoing)
	if !ok {
		return errNoWireForm
	}
	ctx := context.Background()
	number, err := s.typeNumber(ctx, by, l.body.kind())
	if err != nil {
		return err
	}
	buffer := buffers.Get().(*[]byte)
	data := append((*buffer)[:0], byte(opSend))
	data = appendHead(data, l, to)
	data = binary.AppendUvarint(data, number)
	head := len(data)
	var first error
	for i := int(l.at); i < int(l.count); {
		var failed error
		if data, i, failed = encode(data, values, i, postBytes); failed != nil {
			s.system.dead.undelivered.Add(1)
			if failed = s.system.faults.contain("writing a message", l.body.kind().name, failed); first == nil {
				first = failed
			}
		}
		if len(data) > head && (failed == nil || i == int(l.count)) {
			reuse, err := s.post(ctx, by, data)
			if err != nil && first == nil {
				first = err
			}
			if !reuse {
				return first
			}
			data = data[:head]
		}
	}
	giveBuffer(buffer, data)
	return first
}

// appendHead appends priority, sender and address of an envelope.
func appendHead(dst []byte, l *envelope, to PID) []byte {
	return appendAddress(appendID(append(dst, byte(l.priority)), l.from.id), to)
}

// pendingReply is a request to the peer that has no reply yet: a call, a confirmed message or a spawn.
type pendingReply struct {
	session *session
	number  uint64
	request Request     // of a call
	done    chan result // of a confirmed message or a spawn; has one place
	parent  PID         // of a spawn, as the two below
	linked  bool
	ref     MonitorRef
}

type result struct {
	pid PID
	err error
}

// addPending registers a request under a new number.
func (s *session) addPending(a *pendingReply) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended.Load() {
		return s.system.remote.noConnection(s.node)
	}
	s.next++
	a.session, a.number = s, s.next
	s.pending[a.number] = a
	return nil
}

// takePending removes and returns the request with a number. It is nil if the caller no longer waits.
func (s *session) takePending(number uint64) *pendingReply {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.pending[number]
	delete(s.pending, number)
	return a
}

// cancel drops the request and lets the peer know, unless it has replied.
func (a *pendingReply) cancel() {
	if a.session.takePending(a.number) != nil {
		a.session.enqueue(binary.AppendUvarint([]byte{byte(opCancel)}, a.number))
	}
}

func (a *pendingReply) failed(err error) {
	if a.done != nil {
		a.done <- result{err: err}
		return
	}
	a.request.fail(err)
}

// drop fails all pending requests and cancels the peer's calls, when the session has ended.
func (s *session) drop() {
	s.mu.Lock()
	waiting, inbound := s.pending, s.inbound
	s.pending, s.inbound = nil, nil
	s.mu.Unlock()
	lost := problem(ErrNoConnection, s.system.nodeName(), "node %s was lost", s.node)
	err := sabir.AsError(lost)
	err.Retryable = false // what was asked may have been done
	for _, a := range waiting {
		a.failed(err)
	}
	for _, c := range inbound {
		c.cancel()
	}
}
