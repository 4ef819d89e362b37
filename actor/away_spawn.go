package actor

import (
	"context"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/sabir-go/sabir/codec/native"
)

// Permit lets processes of other nodes start this behaviour here, by Spawn with OnNode: those of the nodes named, or of every
// node of the cluster where none is. Without it nobody does: they get ErrNotPermitted. What the process is started with
// travels like a message. Permitting a behaviour again replaces the nodes.
func Permit[S, A any](s *System, b *Behavior[S, A], nodes ...string) {
	s.away.permitted.Store(b.d.name, permission{slices.Clone(nodes), permitted[S, A]{b}})
}

type permission struct {
	nodes []string
	start starter
}

func (p permission) includes(node string) bool {
	return len(p.nodes) == 0 || slices.Contains(p.nodes, node)
}

// starter is a permitted[S, A].
type starter interface {
	// args reads what the process is started with, and returns what starts it.
	args(d *declared, data []byte) (func(*System, *spawning) (PID, error), error)
}

type permitted[S, A any] struct{ b *Behavior[S, A] }

func (p permitted[S, A]) args(d *declared, data []byte) (func(*System, *spawning) (PID, error), error) {
	c, err := answerOf[A](d)
	if err != nil {
		return nil, err
	}
	var args A
	if err := c.Decode(data, &args); err != nil {
		return nil, err
	}
	return func(s *System, o *spawning) (PID, error) { return p.b.spawn(s, nil, args, o) }, nil
}

const (
	spawnLinked    = 1
	spawnMonitored = 2
)

// spawnAway starts a process on another node. It waits as long as Init there needs, or until the node is lost.
func spawnAway[S, A any](s *System, by *Process, b *Behavior[S, A], args A, o spawning) (PID, error) {
	if !s.running() {
		return PID{}, ErrStopped
	}
	known, ok := s.away.byNode.Load(o.node)
	if !ok {
		return PID{}, s.noConnection(o.node)
	}
	session := known.(*session)
	if by != nil {
		by.box.flush()
	}
	ctx := context.Background()
	// Not messagesOf[A]: arguments are no messages, and a type that is started by what handles messages would never end.
	codec, t := native.For[A](), reflect.TypeFor[A]()
	if err := codec.Err(); err != nil {
		return PID{}, noWireForm(typeName(t), err)
	}
	number, err := session.number(by, t, typeName(t), codec.Schema())
	if err != nil {
		return PID{}, err
	}
	a := &awaited{done: make(chan result, 1)}
	var flags byte
	if by != nil {
		a.parent, a.linked = by.pid, o.linked
		if o.linked {
			flags |= spawnLinked
		}
		if o.monitored {
			flags |= spawnMonitored
			a.ref = Ref(s.refs.Add(1))
		}
	}
	if err := session.await(a); err != nil {
		return PID{}, err
	}
	post := binary.AppendUvarint([]byte{byte(verbSpawn)}, a.number)
	post = append(appendID(post, a.parent.id), flags)
	post = appendID(post, uint64(a.ref))
	post = appendText(appendText(post, b.d.name), o.name)
	post = binary.AppendUvarint(post, uint64(max(o.bound, 1)))
	post = append(post, byte(o.rule))
	post = binary.AppendUvarint(post, uint64(max(o.initTimeout, 0)/time.Microsecond))
	post = binary.AppendUvarint(post, number)
	value, err := codec.Append(nil, &args)
	if err != nil {
		err = noWireForm(typeName(t), err)
	} else {
		post = append(binary.AppendUvarint(post, uint64(len(value))), value...)
		_, err = session.post(ctx, by, post)
	}
	if err != nil {
		session.came(a.number)
		return PID{}, err
	}
	r, err := a.wait(ctx, by)
	if err != nil {
		return PID{}, err
	}
	return r.pid, r.err
}

// maxSpawns is how many processes start for a peer at once.
const maxSpawns = 10_000

func (s *session) readSpawn(r *parcel) error {
	number := r.uvarint()
	o := spawning{parent: s.theirs(r.uint64())}
	flags := r.byte()
	o.linked, o.monitored = flags&spawnLinked != 0, flags&spawnMonitored != 0
	o.ref = Ref(r.uint64())
	behavior := r.text(maxTypeName)
	o.name = r.text(maxName)
	o.bound = int(min(r.uvarint(), 1<<30))
	o.rule = Overflow(r.byte())
	o.initTimeout = time.Duration(min(r.uvarint(), uint64(maxTimeout/time.Microsecond))) * time.Microsecond
	d, value := s.typeOf(r), r.bytes()
	if r.end() != nil || o.rule > Wait || o.parent.Zero() && (o.linked || o.monitored) {
		return errMalformed
	}
	node := s.system.homeName()
	known, ok := s.system.away.permitted.Load(behavior)
	if !ok || !known.(permission).includes(s.node) {
		s.fail(number, problem(ErrNotPermitted, node, "to start %q here: see actor.Permit", behavior))
		return nil
	}
	start, err := known.(permission).start.args(d, value)
	if err != nil {
		s.fail(number, err)
		return nil
	}
	if o.linked || o.monitored {
		if err := s.heldEnough(); err != nil {
			s.fail(number, err)
			return nil
		}
	}
	s.mu.Lock()
	full := s.spawns >= maxSpawns
	if !full {
		s.spawns++
	}
	s.mu.Unlock()
	if full {
		s.fail(number, problem(ErrTooMany, node, "%d start for %s at once", maxSpawns, s.node))
		return nil
	}
	s.system.away.gone.Go(func() { s.spawn(number, start, &o) }) // Init may block
	return nil
}

func (s *session) spawn(number uint64, start func(*System, *spawning) (PID, error), o *spawning) {
	o.ready = func(pid PID) { // by post and not by say: the word of its end must not come first
		_ = s.tell(nil, appendID(binary.AppendUvarint([]byte{byte(verbSpawned)}, number), pid.id)) // else seen below
	}
	pid, err := start(s.system, o)
	s.mu.Lock()
	s.spawns--
	s.mu.Unlock()
	if err != nil {
		s.fail(number, err) // of no use where it was ready, and killed since
	} else if s.ended.Load() && o.linked { // it may have been linked after all others were told
		e := Exit{From: o.parent, Reason: s.system.noConnection(s.node), linked: true}
		s.system.push(pid, exitLetter(e), nil)
	}
}

// tellReady is the moment after Init.
func (o *spawning) tellReady(pid PID, err error) {
	if o.ready != nil && err == nil {
		o.ready(pid)
	}
}

// readSpawned links and monitors the new process before anything else of it is read. Where nobody waits any more, it is
// killed.
func (s *session) readSpawned(r *parcel) error {
	number, pid := r.uvarint(), s.theirs(r.uint64())
	if err := r.end(); err != nil {
		return err
	}
	a := s.came(number)
	switch {
	case pid.Zero() || a != nil && a.done == nil:
		if a != nil {
			a.failed(errMalformed)
		}
		return fmt.Errorf("%w: no process was asked for", errMalformed)
	case a == nil:
		s.say(appendAddress([]byte{byte(verbKill)}, pid))
		return nil
	}
	if !a.parent.Zero() {
		_ = s.system.with(a.parent, func(at *slot) { // it waits, or was killed: then severed or its end see to the rest
			if a.linked && at.setLink(pid) {
				s.system.hold(pid, 1)
			}
			if a.ref != 0 {
				at.extra().watches.set(a.ref, pid)
			}
		})
	}
	a.done <- result{pid: pid}
	return nil
}
