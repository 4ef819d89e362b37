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
	"github.com/sabir-go/sabir/codec/native"
	"github.com/sabir-go/sabir/wire"
)

// session is a time in which two systems talk over one link; see network.
type session struct {
	system *System
	link   *wire.Link
	node   string
	ended  atomic.Bool

	// Guarded by network.mu; home does not change after the session is up.
	home               unique.Handle[home] // the peer's
	greeted, heard, up bool

	// Outgoing.
	types     sync.Map // *kind, or reflect.Type of arguments, to uint64: the types that the peer knows by their number
	declaring sync.Mutex
	numbers   uint64       // of types; guarded by declaring
	relays    int          // of those, for answers that are passed on
	relaying  atomic.Int64 // bytes of such answers that wait
	queue     queue

	mu      sync.Mutex
	next    uint64               // number of a call, an important message or a spawn
	waiting map[uint64]*awaited  // of this side
	inbound map[uint64]*awayCall // of the peer
	spawns  int                  // of the peer, that are under way

	reading       sync.Mutex // held while a post is read; below is the reader's
	broken        bool       // the peer has said something that cannot be: nothing more of it is read
	declared      []*declared
	declaredBytes int
	complained    time.Time // when it was last logged that a message was not understood
	unsaid        int       // such messages since, see misunderstood
}

// buffers is what posts are written in.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, postBytes+4<<10); return &b }}

const keepBuffer = 256 << 10

func giveBuffer(b *[]byte, data []byte) {
	if cap(data) <= keepBuffer {
		*b = data[:0]
		buffers.Put(b)
	}
}

// reach finds the session with the node of a process, or of what stands for a name or an alias there.
func (s *System) reach(to PID) (*session, error) {
	if known, ok := s.away.byHome.Load(to.home); ok {
		return known.(*session), nil
	}
	if to.id == 0 {
		return nil, problem(ErrNoProcess, s.homeName(), "the zero PID")
	}
	h := to.home.Value()
	known, ok := s.away.byNode.Load(h.node)
	switch {
	case ok && (h.name != "" || h.alias != 0 && h.instance == known.(*session).home.Value().instance):
		return known.(*session), nil
	case h.node == s.homeName():
		return nil, problem(ErrNoProcess, h.node, "%s is of an earlier run of this node", to)
	case ok && h.instance < known.(*session).home.Value().instance:
		return nil, problem(ErrNoProcess, h.node, "%s is of an earlier run of its node", to)
	}
	return nil, s.noConnection(h.node)
}

func (s *System) noConnection(node string) error {
	return problem(ErrNoConnection, s.homeName(), "%s", node)
}

// post gives a post to the link. Where that is full it waits, and another worker takes the place of by's meanwhile. data may
// be used again when reuse says so.
func (s *session) post(ctx context.Context, by *Process, data []byte) (reuse bool, err error) {
	if s.ended.Load() {
		return true, s.system.noConnection(s.node)
	}
	if s.link.TryPost(Topic, data) {
		return true, nil
	}
	if by != nil {
		by.leave()
		defer by.enter()
	}
	err = s.link.Post(ctx, Topic, data)
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
	return false, s.system.noConnection(s.node)
}

// tell is post of a short post that nobody waits for, from a goroutine that may wait.
func (s *session) tell(by *Process, data []byte) error {
	_, err := s.post(context.Background(), by, data)
	return err
}

// queue is posts of those who must not wait, such as the reader, for which the link had no room.
type queue struct {
	mu      sync.Mutex
	list    [][]byte
	bytes   int
	running bool
}

// queueBytes is how much may lie in the queue: a peer that asks on and on and takes no answers loses its link.
const queueBytes = 16 << 20

var errQueueFull = errors.New("actor: the peer asks and does not take the answers")

// say is tell for those who must not wait. It keeps data.
func (s *session) say(data []byte) {
	q := &s.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if s.ended.Load() || !q.running && s.link.TryPost(Topic, data) {
		return
	}
	if q.bytes += len(data); q.bytes > queueBytes {
		s.link.Close(errQueueFull)
		return
	}
	q.list = append(q.list, data)
	if !q.running {
		q.running = true
		s.system.away.gone.Go(s.drainQueue)
	}
}

func (s *session) drainQueue() {
	q := &s.queue
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
			if s.ended.Load() || s.link.Post(context.Background(), Topic, data) != nil {
				break
			}
		}
	}
}

// typeNumber is the number by which the peer knows a type, which it is told first.
func (s *session) typeNumber(by *Process, k *kind) (uint64, error) {
	if known, ok := s.types.Load(k); ok {
		return known.(uint64), nil
	}
	schema, err := k.typed.schema()
	if err != nil {
		return 0, err
	}
	return s.number(by, k, k.name, schema)
}

// number is typeNumber of a type that is known in this session by key.
func (s *session) number(by *Process, key any, name string, schema *native.Schema) (uint64, error) {
	s.declaring.Lock()
	defer s.declaring.Unlock()
	if known, ok := s.types.Load(key); ok {
		return known.(uint64), nil
	}
	if s.numbers == maxDeclared {
		return 0, problem(ErrTooMany, s.system.homeName(), "%s is one type too many: %d were sent to %s", name, maxDeclared, s.node)
	}
	post := binary.AppendUvarint([]byte{byte(verbDeclare)}, s.numbers)
	post = appendText(post, name)
	post = append(post, schema.Bytes()...)
	if err := s.tell(by, post); err != nil { // without ctx: half a declaration would be the end of the session
		return 0, err
	}
	number := s.numbers
	s.numbers++
	s.types.Store(key, number)
	return number, nil
}

// send sends the messages of a letter, in as many posts as they need. Those that cannot be encoded are left out, and the
// error is that of the first.
func (s *session) send(to PID, l *letter, by *Process) error {
	values, ok := l.body.(outgoing)
	if !ok {
		return ErrNoWireForm
	}
	ctx := context.Background()
	number, err := s.typeNumber(by, l.body.kind())
	if err != nil {
		return err
	}
	buffer := buffers.Get().(*[]byte)
	data := append((*buffer)[:0], byte(verbSend))
	data = appendHead(data, l, to)
	data = binary.AppendUvarint(data, number)
	head := len(data)
	var first error
	for i := int(l.at); i < int(l.count); {
		var failed error
		if data, i, failed = values.encode(data, i, postBytes); failed != nil && first == nil {
			first = failed
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

// appendHead appends lane, sender and address of a letter.
func appendHead(dst []byte, l *letter, to PID) []byte {
	return appendAddress(appendID(append(dst, byte(l.lane)), l.from.id), to)
}

// awaited is what this side waits for: the answer of a call, the word that an important message has come, or a process.
type awaited struct {
	session *session
	number  uint64
	request Request     // of a call
	done    chan result // of the others
	parent  PID         // of a spawn, with the two below
	linked  bool
	ref     Ref
}

type result struct {
	pid PID
	err error
}

// await gives a number to what this side waits for.
func (s *session) await(a *awaited) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended.Load() {
		return s.system.noConnection(s.node)
	}
	s.next++
	a.session, a.number = s, s.next
	s.waiting[a.number] = a
	return nil
}

// came takes what was waited for out of the table; nil where nobody waits any more.
func (s *session) came(number uint64) *awaited {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.waiting[number]
	delete(s.waiting, number)
	return a
}

// giveUp says that nobody waits any more; it tells the peer, if that has not answered.
func (a *awaited) giveUp() {
	if a.session.came(a.number) != nil {
		a.session.say(binary.AppendUvarint([]byte{byte(verbCancel)}, a.number))
	}
}

func (a *awaited) failed(err error) {
	if a.done != nil {
		a.done <- result{err: err}
		return
	}
	a.request.fail(err)
}

// drop fails all who wait, and lets go of the peer's calls. The session has ended.
func (s *session) drop() {
	s.mu.Lock()
	waiting, inbound := s.waiting, s.inbound
	s.waiting, s.inbound = nil, nil
	s.mu.Unlock()
	lost := problem(ErrNoConnection, s.system.homeName(), "node %s was lost", s.node)
	err := sabir.AsError(lost)
	err.Retryable = false // what was asked may have been done
	for _, a := range waiting {
		a.failed(err)
	}
	for _, c := range inbound {
		c.cancel()
	}
}
