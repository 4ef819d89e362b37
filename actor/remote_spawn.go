package actor

import (
	"context"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/sabir-go/sabir/internal/identity"
	"github.com/sabir-go/sabir/internal/native"
	"github.com/sabir-go/sabir/internal/vouch"
	"github.com/sabir-go/sabir/internal/wire"
)

// AllowRemoteSpawn lets processes of other nodes start this behaviour here, by Spawn with a Node: those of the nodes named, or of every
// node of the cluster where none is. By default none may: they get ErrNotPermitted. What the process is started with
// travels like a message. Permitting a behaviour again replaces the nodes.
//
// In a cluster with cluster.Config.TLS or cluster.Config.NodeKeys, nodes are patterns of proven names, as sabir.Allow has them, and a node that
// proves none is refused; elsewhere they are ids, which nothing proves. Where nodes are named, the log has each verdict as "audit".
func (b *Behavior[S, A]) AllowRemoteSpawn(s *System, nodes ...string) {
	s.remote.permitted.Store(b.d.name, permission{slices.Clone(nodes), permitted[S, A]{b}})
}

type permission struct {
	nodes []string
	start starter
}

// permits reports whether the peer may start what is permitted, and logs that where nodes are named.
func (n *network) permits(behavior string, p permission, peer wire.Peer) bool {
	if len(p.nodes) == 0 {
		return true
	}
	var allowed bool
	if vouch.Of(n.system.node).ProvesNames() {
		allowed = identity.Takes(p.nodes, peer.Names)
	} else {
		allowed = slices.Contains(p.nodes, peer.Node)
	}
	n.audit(peer, "spawn "+behavior, allowed)
	return allowed
}

// starter is a permitted[S, A].
type starter interface {
	// args decodes the arguments of a process, and returns the function that starts it with them.
	args(d *declared, data []byte) (func(*System, *spawning) (PID, error), error)
}

type permitted[S, A any] struct{ b *Behavior[S, A] }

func (p permitted[S, A]) args(d *declared, data []byte) (func(*System, *spawning) (PID, error), error) {
	var args A
	if err := d.readAnswer(reflect.TypeFor[A](), data, &args); err != nil {
		return nil, err
	}
	return func(s *System, o *spawning) (PID, error) { return p.b.spawn(s, nil, args, o) }, nil
}

const (
	spawnLinked    = 1
	spawnMonitored = 2
)

// spawnRemote starts a process on another node. It waits as long as Init takes there, or until the node is lost.
func spawnRemote[S, A any](s *System, by *Process, b *Behavior[S, A], args A, o spawning) (PID, error) {
	// Not messagesOf[A]: arguments are no messages, and a type that is started by what handles messages would never end.
	return s.spawnRemote(by, b.d.name, reflect.TypeFor[A](), &args, o)
}

// spawnRemote is the part of the function of that name that a program has once, and not for each behaviour. args points to the arguments, of type t.
func (s *System) spawnRemote(by *Process, behavior string, t reflect.Type, args any, o spawning) (PID, error) {
	codec, err := native.Of(t)
	if err != nil {
		return PID{}, noWireForm(typeName(t), err)
	}
	if !s.running() {
		return PID{}, s.notRunning()
	}
	known, ok := s.remote.byNode.Load(o.node)
	if !ok {
		return PID{}, s.remote.noConnection(o.node)
	}
	session := known.(*session)
	if by != nil {
		by.box.flush()
	}
	ctx := context.Background()
	number, err := session.number(ctx, by, t, typeName(t), codec.Schema())
	if err != nil {
		return PID{}, err
	}
	a := &pendingReply{done: make(chan result, 1)}
	var flags byte
	if by != nil {
		a.parent, a.linked = by.pid, o.linked
		if o.linked {
			flags |= spawnLinked
		}
		if o.monitored {
			flags |= spawnMonitored
			a.ref = MonitorRef(s.refs.Add(1))
		}
	}
	if err := session.addPending(a); err != nil {
		return PID{}, err
	}
	post := binary.AppendUvarint([]byte{byte(opSpawn)}, a.number)
	post = append(appendID(post, a.parent.id), flags)
	post = appendID(post, uint64(a.ref))
	post = appendText(appendText(post, behavior), o.name)
	post = binary.AppendUvarint(post, uint64(max(o.bound, 1)))
	post = append(post, byte(o.rule))
	post = binary.AppendUvarint(post, uint64(max(o.initTimeout, 0)/time.Microsecond))
	post = binary.AppendUvarint(post, number)
	posted := false
	defer func() {
		if !posted { // also where what writes the arguments ends the goroutine
			session.takePending(a.number)
		}
	}()
	value, err := codec.AppendValue(nil, args)
	if err != nil {
		return PID{}, s.faults.contain("writing arguments", typeName(t), noWireForm(typeName(t), err))
	}
	post = append(binary.AppendUvarint(post, uint64(len(value))), value...)
	if _, err = session.post(ctx, by, post); err != nil {
		return PID{}, err
	}
	posted = true
	r, err := a.wait(ctx, by)
	if err != nil {
		return PID{}, err
	}
	return r.pid, r.err
}

// maxSpawns bounds how many processes start for one peer at once.
const maxSpawns = 10_000

func (s *session) readSpawn(r *postReader) error {
	number := r.uvarint()
	o := spawning{parent: s.peerPID(r.uint64())}
	flags := r.byte()
	o.linked, o.monitored = flags&spawnLinked != 0, flags&spawnMonitored != 0
	o.ref = MonitorRef(r.uint64())
	behavior := r.text(maxTypeName)
	o.name = r.text(maxName)
	o.bound = int(min(r.uvarint(), 1<<30))
	o.rule = Overflow(r.byte())
	o.initTimeout = time.Duration(min(r.uvarint(), uint64(maxTimeout/time.Microsecond))) * time.Microsecond
	d, value := s.typeOf(r), r.bytes()
	if r.end() != nil || o.rule > Wait || o.parent.Zero() && (o.linked || o.monitored) {
		return errMalformed
	}
	node := s.system.nodeName()
	known, ok := s.system.remote.permitted.Load(behavior)
	if !ok || !s.system.remote.permits(behavior, known.(permission), s.link.Peer()) {
		s.fail(number, problem(ErrNotPermitted, node, "to start %q here: see AllowRemoteSpawn of its Behavior", behavior))
		return nil
	}
	start, err := known.(permission).start.args(d, value)
	if err != nil {
		s.fail(number, s.system.faults.contain("reading arguments", d.name, err))
		return nil
	}
	if o.linked || o.monitored {
		if err := s.checkRemoteLimit(); err != nil {
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
	s.system.remote.gone.Go(func() { s.spawn(number, start, &o) }) // Init may block
	return nil
}

func (s *session) spawn(number uint64, start func(*System, *spawning) (PID, error), o *spawning) {
	o.ready = func(pid PID) { // by post and not by say: the notification of its end must not come first
		_ = s.notify(nil, appendID(binary.AppendUvarint([]byte{byte(opSpawned)}, number), pid.id)) // else seen below
	}
	returned := false
	defer func() {
		s.mu.Lock()
		s.spawns--
		s.mu.Unlock()
		if !returned {
			s.fail(number, problem(errPanic, s.system.nodeName(), "Init ended its goroutine"))
		}
	}()
	pid, err := start(s.system, o)
	returned = true
	if err != nil {
		s.fail(number, err) // of no use where it was ready, and killed since
	} else if s.ended.Load() && o.linked { // it may have been linked after all others were notified
		e := Exit{From: o.parent, Reason: s.system.remote.noConnection(s.node), linked: true}
		s.system.push(pid, exitEnvelope(e), nil)
	}
}

// notifyReady reports a successful Init to the node that asked for the process.
func (o *spawning) notifyReady(pid PID, err error) {
	if o.ready != nil && err == nil {
		o.ready(pid)
	}
}

// readSpawned links and monitors the new process before anything else that comes from it is read. If the caller no longer
// waits, the process is killed.
func (s *session) readSpawned(r *postReader) error {
	number, pid := r.uvarint(), s.peerPID(r.uint64())
	if err := r.end(); err != nil {
		return err
	}
	a := s.takePending(number)
	switch {
	case pid.Zero() || a != nil && a.done == nil:
		if a != nil {
			a.failed(errMalformed)
		}
		return fmt.Errorf("%w: no process was asked for", errMalformed)
	case a == nil:
		s.enqueue(appendAddress([]byte{byte(opKill)}, pid))
		return nil
	}
	if !a.parent.Zero() {
		_ = s.system.with(a.parent, func(at *entry) { // it waits, or was killed: then severed or its end see to the rest
			if a.linked && at.setLink(pid) {
				s.system.remote.count(pid, 1)
			}
			if a.ref != 0 {
				at.ensureCold().watches.set(a.ref, pid)
			}
		})
	}
	a.done <- result{pid: pid}
	return nil
}
