package actor

import (
	"encoding/binary"
	"fmt"

	"github.com/sabir-go/sabir/internal/native"
)

// read handles one post. It must not block: full mailboxes refuse, and replies go through enqueue. An error is the peer's
// fault.
func (s *session) read(post []byte) error {
	s.reading.Lock()
	defer s.reading.Unlock()
	if s.broken || s.ended.Load() {
		return nil
	}
	s.broken = true // until it is understood
	if !s.helloReceived {
		return fmt.Errorf("%w: %s before hello", errMalformed, opcode(post[0]))
	}
	r := postReader{data: post[1:]}
	var err error
	switch v := opcode(post[0]); v {
	case opSend:
		err = s.readSend(&r)
	case opDeclare:
		err = s.readDeclare(&r)
	case opConfirmed:
		err = s.readConfirmed(&r)
	case opCall:
		err = s.readCall(&r)
	case opAnswer:
		err = s.readAnswer(&r)
	case opFailure:
		err = s.readFailure(&r)
	case opDone:
		err = s.readDone(&r)
	case opCancel:
		err = s.readCancel(&r)
	case opExit:
		err = s.readExit(&r)
	case opKill:
		err = s.readKill(&r)
	case opLink, opUnlink:
		err = s.readLink(&r, v == opLink)
	case opWatch, opUnwatch:
		err = s.readWatch(&r, v == opWatch)
	case opDown:
		err = s.readDown(&r)
	case opSpawn:
		err = s.readSpawn(&r)
	case opSpawned:
		err = s.readSpawned(&r)
	} // posts that this version does not know are left out
	if err != nil {
		return fmt.Errorf("%s: %w", opcode(post[0]), err)
	}
	s.broken = false
	return nil
}

// peerPID makes the PID of a process of the peer; the zero PID for 0.
func (s *session) peerPID(id uint64) PID {
	if id == 0 {
		return PID{}
	}
	return PID{s.home, id}
}

func (s *session) localPID(id uint64) PID { return PID{s.system.home, id} }

func (s *session) readDeclare(r *postReader) error {
	number, name := r.uvarint(), r.text(maxTypeName)
	if r.bad || name == "" {
		return errMalformed
	}
	if number != uint64(len(s.declared)) || number == maxDeclared {
		return fmt.Errorf("type %d declared after %d others", number, len(s.declared))
	}
	if s.declaredBytes += len(name) + len(r.data); s.declaredBytes > maxDeclaredBytes {
		return fmt.Errorf("the declared types have more than %d bytes", maxDeclaredBytes)
	}
	schema, err := native.ParseSchema(r.data)
	if err != nil {
		return err
	}
	s.declared = append(s.declared, &declared{name: name, writer: schema})
	return nil
}

func (s *session) typeOf(r *postReader) *declared {
	number := r.uvarint()
	if r.bad || number >= uint64(len(s.declared)) {
		r.bad = true
		return nil
	}
	return s.declared[number]
}

// envelopeHeader is the part of a post that describes an envelope.
type envelopeHeader struct {
	priority Priority
	from     PID
	to       address
}

func (s *session) head(r *postReader) envelopeHeader {
	h := envelopeHeader{priority: Priority(r.byte()), from: s.peerPID(r.uint64()), to: r.address()}
	if h.priority > PriorityLog {
		r.bad = true
	}
	return h
}

// deliver puts an envelope, which came in so many bytes, into the mailbox of its receiver.
func (s *session) deliver(h envelopeHeader, l *envelope, bytes int) error {
	l.from, l.priority, l.remote = h.from, h.priority, true
	if l.priority >= PriorityNormal && !l.hold(bytes, s.memory) {
		s.system.dead.dropped.Add(int64(l.count))
		return s.system.refuse(l, problem(ErrMailboxFull, s.system.nodeName(), "what came from %s and waits in mailboxes takes as much memory as it may", s.node))
	}
	to, err := h.to.resolve(s.system)
	if err != nil {
		s.system.dead.undelivered.Add(int64(l.count))
		return s.system.refuse(l, err)
	}
	return s.system.push(to, l, nil)
}

func (s *session) readSend(r *postReader) error {
	h, d := s.head(r), s.typeOf(r)
	if r.bad || len(r.data) == 0 {
		return errMalformed
	}
	values, err := d.reader(s.system.nodeName())
	if err != nil {
		return s.skipMessages(r, d, err)
	}
	for len(r.data) > 0 {
		before := len(r.data)
		l, err := values.envelope(r)
		if l != nil {
			_ = s.deliver(h, l, before-len(r.data)) // counted; the sender does not wait
		}
		if r.bad {
			return errMalformed
		}
		if err != nil {
			s.logUnreadable(d, err)
		}
	}
	return nil
}

// logUnreadable counts a message that could not be decoded, and logs it, once a second at most.
func (s *session) logUnreadable(d *declared, err error) {
	s.system.dead.unhandled.Add(1)
	s.warnUnreadable(d, err)
}

func (s *session) warnUnreadable(d *declared, err error) {
	if contain := s.system.faults.contain("reading a message from "+s.node, d.name, err); contain != err {
		return
	}
	now := s.system.clock.Now()
	if !s.lastWarned.IsZero() && now.Sub(s.lastWarned) < warnEvery {
		s.suppressed++
		return
	}
	s.system.log.Warn("message from another node not understood", "node", s.node, "type", d.name, "error", err, "not_logged", s.suppressed)
	s.lastWarned, s.suppressed = now, 0
}

// skipMessages counts the messages of a post that nothing here can decode.
func (s *session) skipMessages(r *postReader, d *declared, why error) error {
	for len(r.data) > 0 && !r.bad {
		r.bytes()
		s.system.dead.unhandled.Add(1)
	}
	if !d.warned {
		d.warned = true
		s.warnUnreadable(d, why)
	}
	return r.end()
}

func (s *session) readConfirmed(r *postReader) error {
	number := r.uvarint()
	h, d := s.head(r), s.typeOf(r)
	if r.bad {
		return errMalformed
	}
	values, err := d.reader(s.system.nodeName())
	if err == nil {
		var l *envelope
		size := len(r.data)
		if l, err = values.envelope(r); r.end() != nil {
			if l != nil {
				l.body.free()
			}
			return errMalformed
		}
		if err == nil {
			l.known = true
			err = s.deliver(h, l, size)
		}
	}
	if err != nil {
		s.fail(number, s.system.faults.contain("reading a message from "+s.node, d.name, err))
		return nil
	}
	s.enqueue(binary.AppendUvarint([]byte{byte(opDone)}, number))
	return nil
}

// fail reports to the peer that its request has failed.
func (s *session) fail(number uint64, err error) {
	post := binary.AppendUvarint([]byte{byte(opFailure)}, number)
	s.enqueue(appendError(post, err, s.system.nodeName(), s.system.faults.log))
}

func (s *session) readAnswer(r *postReader) error {
	number, d := r.uvarint(), s.typeOf(r)
	if r.bad {
		return errMalformed
	}
	a := s.takePending(number)
	if a == nil {
		return nil
	}
	if a.done != nil {
		return errMalformed
	}
	if w, ok := a.request.to.(interface {
		receiveAnswer(from *session, turn uint64, d *declared, data []byte)
	}); ok {
		w.receiveAnswer(s, a.request.turn, d, r.data)
	} else {
		a.request.fail(problem(ErrNotHandled, s.node, "an answer of another node cannot be passed on"))
	}
	return nil
}

func (s *session) readFailure(r *postReader) error {
	number, err := r.uvarint(), r.error()
	if bad := r.end(); bad != nil || err == nil {
		return errMalformed
	}
	if a := s.takePending(number); a != nil {
		a.failed(err)
	}
	return nil
}

func (s *session) readDone(r *postReader) error {
	number := r.uvarint()
	if err := r.end(); err != nil {
		return err
	}
	if a := s.takePending(number); a != nil {
		if a.done == nil {
			a.request.fail(errMalformed)
			return errMalformed
		}
		a.done <- result{}
	}
	return nil
}

func (s *session) readExit(r *postReader) error {
	linked := r.byte() != 0
	e := Exit{From: s.peerPID(r.uint64()), linked: linked}
	to := r.address()
	e.Reason = r.error()
	if err := r.end(); err != nil {
		return err
	}
	if e.Reason == nil {
		e.Reason = ErrShutdown
	}
	if pid, err := to.resolve(s.system); err == nil {
		s.system.push(pid, exitEnvelope(e), nil)
	}
	return nil
}

func (s *session) readKill(r *postReader) error {
	to := r.address()
	if err := r.end(); err != nil {
		return err
	}
	if pid, err := to.resolve(s.system); err == nil {
		_ = s.system.Kill(pid) // it has ended already
	}
	return nil
}

func (s *session) readLink(r *postReader, link bool) error {
	to, other := s.localPID(r.uint64()), s.peerPID(r.uint64())
	if err := r.end(); err != nil {
		return err
	}
	if other.Zero() {
		return errMalformed
	}
	if !link {
		s.system.unlink(to, other)
		return nil
	}
	if err := s.checkRemoteLimit(); err != nil {
		s.enqueue(s.exitPost(Exit{From: to, Reason: err, linked: true}, other))
	} else if err := s.system.link(to, other); err != nil {
		s.enqueue(s.exitPost(Exit{From: to, Reason: ErrNoProcess, linked: true}, other))
	}
	return nil
}

func (s *session) exitPost(e Exit, to PID) []byte {
	var linked byte
	if e.linked {
		linked = 1
	}
	post := appendAddress(appendID([]byte{byte(opExit), linked}, e.From.id), to)
	return appendError(post, e.Reason, s.system.nodeName(), s.system.faults.log)
}

func (s *session) readWatch(r *postReader, watch bool) error {
	w := watched{MonitorRef(r.uint64()), s.peerPID(r.uint64())}
	to := r.address()
	if err := r.end(); err != nil {
		return err
	}
	if w.watcher.Zero() {
		return errMalformed
	}
	pid, err := to.resolve(s.system)
	if !watch {
		if err == nil {
			s.system.unwatch(pid, w.ref, w.watcher)
		}
		return nil
	}
	if err == nil {
		err = s.checkRemoteLimit()
	}
	if err == nil {
		err = s.system.monitor(pid, w.ref, w.watcher)
	}
	if err != nil {
		s.enqueue(s.downPost(Down{Ref: w.ref, PID: pid, Reason: err}, w.watcher))
	}
	return nil
}

func (s *session) downPost(d Down, to PID) []byte {
	post := appendID(appendID([]byte{byte(opDown)}, uint64(d.Ref)), to.id)
	return appendError(appendID(post, d.PID.id), d.Reason, s.system.nodeName(), s.system.faults.log)
}

func (s *session) readDown(r *postReader) error {
	ref, to := MonitorRef(r.uint64()), s.localPID(r.uint64())
	d := Down{Ref: ref, PID: s.peerPID(r.uint64()), Reason: r.error()}
	if err := r.end(); err != nil {
		return err
	}
	s.system.sendDown(to, d)
	return nil
}
