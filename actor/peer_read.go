package actor

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/sabir-go/sabir/codec/native"
)

// read handles a post of the session. It must not block: full mailboxes refuse, and what has to be said to the peer is said
// with say. An error is a fault of the peer.
func (s *session) read(post []byte) error {
	s.reading.Lock()
	defer s.reading.Unlock()
	if s.broken || s.ended.Load() {
		return nil
	}
	s.broken = true // until it is understood
	if !s.heard {
		return fmt.Errorf("%w: %s before hello", errMalformed, verb(post[0]))
	}
	r := parcel{data: post[1:]}
	var err error
	switch v := verb(post[0]); v {
	case verbSend:
		err = s.readSend(&r)
	case verbDeclare:
		err = s.readDeclare(&r)
	case verbImportant:
		err = s.readImportant(&r)
	case verbCall:
		err = s.readCall(&r)
	case verbAnswer:
		err = s.readAnswer(&r)
	case verbFailure:
		err = s.readFailure(&r)
	case verbDone:
		err = s.readDone(&r)
	case verbCancel:
		err = s.readCancel(&r)
	case verbExit:
		err = s.readExit(&r)
	case verbKill:
		err = s.readKill(&r)
	case verbLink, verbUnlink:
		err = s.readLink(&r, v == verbLink)
	case verbWatch, verbUnwatch:
		err = s.readWatch(&r, v == verbWatch)
	case verbDown:
		err = s.readDown(&r)
	case verbSpawn:
		err = s.readSpawn(&r)
	case verbSpawned:
		err = s.readSpawned(&r)
	} // posts that this version does not know are left out
	if err != nil {
		return fmt.Errorf("%s: %w", verb(post[0]), err)
	}
	s.broken = false
	return nil
}

// theirs is a process of the peer; the zero PID for 0.
func (s *session) theirs(id uint64) PID {
	if id == 0 {
		return PID{}
	}
	return PID{s.home, id}
}

func (s *session) ours(id uint64) PID { return PID{s.system.home, id} }

func (s *session) readDeclare(r *parcel) error {
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

func (s *session) typeOf(r *parcel) *declared {
	number := r.uvarint()
	if r.bad || number >= uint64(len(s.declared)) {
		r.bad = true
		return nil
	}
	return s.declared[number]
}

// head is what letters begin with.
type head struct {
	lane Priority
	from PID
	to   address
}

func (s *session) head(r *parcel) head {
	h := head{lane: Priority(r.byte()), from: s.theirs(r.uint64()), to: r.address()}
	if h.lane > PriorityLog {
		r.bad = true
	}
	return h
}

// deliver puts a letter into the mailbox of its receiver.
func (s *session) deliver(h head, l *letter) error {
	l.from, l.lane, l.away = h.from, h.lane, true
	to, err := s.system.find(h.to)
	if err != nil {
		s.system.dead.letters.Add(int64(l.count))
		return s.system.refuse(l, err)
	}
	return s.system.push(to, l, nil)
}

func (s *session) readSend(r *parcel) error {
	h, d := s.head(r), s.typeOf(r)
	if r.bad || len(r.data) == 0 {
		return errMalformed
	}
	values, err := d.reader(s.system.homeName())
	if err != nil {
		return s.skip(r, d, err)
	}
	for len(r.data) > 0 {
		l, err := values.letter(r)
		if l != nil {
			_ = s.deliver(h, l) // counted; the sender does not wait
		}
		if r.bad {
			return errMalformed
		}
		if err != nil {
			s.misunderstood(d, err)
		}
	}
	return nil
}

// complainEvery is how often it is logged at most that messages of a peer are not understood, of which there may be very many.
const complainEvery = time.Second

// misunderstood counts a message that could not be read.
func (s *session) misunderstood(d *declared, err error) {
	s.system.dead.unhandled.Add(1)
	now := s.system.clock.Now()
	if !s.complained.IsZero() && now.Sub(s.complained) < complainEvery {
		s.unsaid++
		return
	}
	s.system.log.Warn("message from another node not understood", "node", s.node, "type", d.name, "error", err, "notLogged", s.unsaid)
	s.complained, s.unsaid = now, 0
}

// skip counts messages that nothing here can read.
func (s *session) skip(r *parcel, d *declared, why error) error {
	for len(r.data) > 0 && !r.bad {
		r.bytes()
		s.system.dead.unhandled.Add(1)
	}
	s.system.log.Debug("messages from another node not handled", "node", s.node, "type", d.name, "error", why)
	return r.end()
}

func (s *session) readImportant(r *parcel) error {
	number := r.uvarint()
	h, d := s.head(r), s.typeOf(r)
	if r.bad {
		return errMalformed
	}
	values, err := d.reader(s.system.homeName())
	if err == nil {
		var l *letter
		if l, err = values.letter(r); r.end() != nil {
			if l != nil {
				l.body.free()
			}
			return errMalformed
		}
		if err == nil {
			err = s.deliver(h, l)
		}
	}
	if err != nil {
		s.fail(number, err)
		return nil
	}
	s.say(binary.AppendUvarint([]byte{byte(verbDone)}, number))
	return nil
}

// fail tells the peer that what it waits for has failed.
func (s *session) fail(number uint64, err error) {
	post := binary.AppendUvarint([]byte{byte(verbFailure)}, number)
	s.say(appendError(post, err, s.system.homeName()))
}

func (s *session) readAnswer(r *parcel) error {
	number, d := r.uvarint(), s.typeOf(r)
	if r.bad {
		return errMalformed
	}
	a := s.came(number)
	if a == nil {
		return nil
	}
	if a.done != nil {
		return errMalformed
	}
	if w, ok := a.request.to.(interface {
		cameAway(turn uint64, d *declared, data []byte)
	}); ok {
		w.cameAway(a.request.turn, d, r.data)
	} else {
		a.request.fail(problem(ErrNotHandled, s.node, "an answer of another node cannot be passed on"))
	}
	return nil
}

func (s *session) readFailure(r *parcel) error {
	number, err := r.uvarint(), r.error()
	if bad := r.end(); bad != nil || err == nil {
		return errMalformed
	}
	if a := s.came(number); a != nil {
		a.failed(err)
	}
	return nil
}

func (s *session) readDone(r *parcel) error {
	number := r.uvarint()
	if err := r.end(); err != nil {
		return err
	}
	if a := s.came(number); a != nil {
		if a.done == nil {
			a.request.fail(errMalformed)
			return errMalformed
		}
		a.done <- result{}
	}
	return nil
}

func (s *session) readExit(r *parcel) error {
	linked := r.byte() != 0
	e := Exit{From: s.theirs(r.uint64()), linked: linked}
	to := r.address()
	e.Reason = r.error()
	if err := r.end(); err != nil {
		return err
	}
	if e.Reason == nil {
		e.Reason = ErrShutdown
	}
	if pid, err := s.system.find(to); err == nil {
		s.system.push(pid, exitLetter(e), nil)
	}
	return nil
}

func (s *session) readKill(r *parcel) error {
	to := r.address()
	if err := r.end(); err != nil {
		return err
	}
	if pid, err := s.system.find(to); err == nil {
		_ = s.system.Kill(pid) // it has ended already
	}
	return nil
}

func (s *session) readLink(r *parcel, link bool) error {
	to, other := s.ours(r.uint64()), s.theirs(r.uint64())
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
	if err := s.heldEnough(); err != nil {
		s.say(s.exitPost(Exit{From: to, Reason: err, linked: true}, other))
	} else if err := s.system.link(to, other); err != nil {
		s.say(s.exitPost(Exit{From: to, Reason: ErrNoProcess, linked: true}, other))
	}
	return nil
}

func (s *session) exitPost(e Exit, to PID) []byte {
	var linked byte
	if e.linked {
		linked = 1
	}
	post := appendAddress(appendID([]byte{byte(verbExit), linked}, e.From.id), to)
	return appendError(post, e.Reason, s.system.homeName())
}

func (s *session) readWatch(r *parcel, watch bool) error {
	w := watched{Ref(r.uint64()), s.theirs(r.uint64())}
	to := r.address()
	if err := r.end(); err != nil {
		return err
	}
	if w.watcher.Zero() {
		return errMalformed
	}
	pid, err := s.system.find(to)
	if !watch {
		if err == nil {
			s.system.unwatch(pid, w.ref, w.watcher)
		}
		return nil
	}
	if err == nil {
		err = s.heldEnough()
	}
	if err == nil {
		err = s.system.monitor(pid, w.ref, w.watcher)
	}
	if err != nil {
		s.say(s.downPost(Down{Ref: w.ref, PID: pid, Reason: err}, w.watcher))
	}
	return nil
}

func (s *session) downPost(d Down, to PID) []byte {
	post := appendID(appendID([]byte{byte(verbDown)}, uint64(d.Ref)), to.id)
	return appendError(appendID(post, d.PID.id), d.Reason, s.system.homeName())
}

func (s *session) readDown(r *parcel) error {
	ref, to := Ref(r.uint64()), s.ours(r.uint64())
	d := Down{Ref: ref, PID: s.theirs(r.uint64()), Reason: r.error()}
	if err := r.end(); err != nil {
		return err
	}
	s.system.tellDown(to, d)
	return nil
}
