package actor

import (
	"context"
	"encoding/binary"
	"errors"
	"unique"
)

// push is System.push for a process of another node. It may wait if the link is full.
func (n *network) push(to PID, l *envelope, by *Process) error {
	s := n.system
	if to.isPlaceholder() {
		resolved, err := resolveRef(s, to)
		if err != nil {
			return s.undelivered(l, err)
		}
		if to = resolved; to.home == s.home {
			return s.push(to, l, by)
		}
	}
	session, err := n.reach(to)
	if err != nil {
		return s.undelivered(l, err)
	}
	switch b := l.body.(type) {
	case *batch[Exit]:
		err = session.notify(by, session.exitPost(b.items[0], to))
	case *batch[Down]:
		err = session.notify(by, session.downPost(b.items[0], to))
	case callBody:
		if err = session.call(to, l, b, by); err != nil {
			return s.refuse(l, err)
		}
	default:
		if err = session.send(to, l, by); errors.Is(err, ErrNoConnection) {
			s.dead.undelivered.Add(int64(l.count - l.at)) // or some of them
		}
	}
	l.body.free()
	return err
}

// pushImportant sends a message and waits until the peer confirms that it is in the mailbox.
func (n *network) pushConfirmed(ctx context.Context, to PID, l *envelope, by *Process) error {
	s := n.system
	session, err := n.reach(to)
	if err != nil {
		return s.refuse(l, err)
	}
	ctx, cancel := withCallTimeout(ctx)
	defer cancel()
	a, err := session.confirmed(ctx, to, l, by)
	l.body.free()
	if err != nil {
		return asCallTimeout(ctx, err)
	}
	r, err := a.wait(ctx, by)
	if err != nil {
		return asCallTimeout(ctx, err)
	}
	return r.err
}

// withCallTimeout bounds a context that has no deadline by callTimeout.
func withCallTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, limited := ctx.Deadline(); limited {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, callTimeout, ErrCallTimeout)
}

// asCallTimeout returns ErrCallTimeout in place of err if the timeout of withCallTimeout ended ctx.
func asCallTimeout(ctx context.Context, err error) error {
	if ctx.Err() != nil && context.Cause(ctx) == error(ErrCallTimeout) {
		return ErrCallTimeout
	}
	return err
}

// wait waits for the reply to a confirmed message or a spawn.
func (a *pendingReply) wait(ctx context.Context, by *Process) (result, error) {
	if by != nil {
		by.beginBlocking()
		defer by.endBlocking()
	}
	select {
	case r := <-a.done:
		return r, nil
	case <-ctx.Done():
		a.cancel()
		return result{}, ctx.Err()
	}
}

func (s *session) confirmed(ctx context.Context, to PID, l *envelope, by *Process) (*pendingReply, error) {
	values, ok := l.body.(outgoing)
	if !ok {
		return nil, errNoWireForm
	}
	number, err := s.typeNumber(ctx, by, l.body.kind())
	if err != nil {
		return nil, err
	}
	a := &pendingReply{done: make(chan result, 1)}
	if err := s.addPending(a); err != nil {
		return nil, err
	}
	post := binary.AppendUvarint([]byte{byte(opConfirmed)}, a.number)
	post = binary.AppendUvarint(appendHead(post, l, to), number)
	posted := false
	defer func() {
		if !posted { // also where what writes the message ends the goroutine
			s.takePending(a.number)
		}
	}()
	if post, _, err = encode(post, values, 0, postBytes); err != nil {
		return nil, s.system.faults.contain("writing a message", l.body.kind().name, err)
	}
	if _, err = s.post(ctx, by, post); err != nil {
		return nil, err
	}
	posted = true
	return a, nil
}

func (n *network) kill(to PID) error {
	session, err := n.reach(to)
	if err != nil {
		return err
	}
	return session.notify(nil, appendAddress([]byte{byte(opKill)}, to))
}

func (n *network) link(to, other PID) error {
	session, err := n.reach(to)
	if err != nil {
		return err
	}
	return session.notify(nil, appendID(appendID([]byte{byte(opLink)}, to.id), other.id))
}

func (n *network) unlink(to, other PID) {
	if session, err := n.reach(to); err == nil {
		_ = session.notify(nil, appendID(appendID([]byte{byte(opUnlink)}, to.id), other.id)) // lost with the link itself
	}
}

func (n *network) monitor(to PID, ref MonitorRef, watcher PID) error {
	s := n.system
	if to.isPlaceholderOn(s.nodeName()) {
		pid, err := resolveName(s, Name{Name: to.home.Value().name})
		if err != nil {
			return err
		}
		return s.monitor(pid, ref, watcher)
	}
	session, err := n.reach(to)
	if err != nil {
		return err
	}
	return session.notify(nil, monitorPost(opWatch, to, ref, watcher))
}

func (n *network) demonitor(to PID, ref MonitorRef, watcher PID) {
	s := n.system
	if to.isPlaceholderOn(s.nodeName()) {
		if pid, err := resolveName(s, Name{Name: to.home.Value().name}); err == nil {
			s.unwatch(pid, ref, watcher)
		}
		return
	}
	if session, err := n.reach(to); err == nil {
		_ = session.notify(nil, monitorPost(opUnwatch, to, ref, watcher)) // lost with the link itself
	}
}

func monitorPost(v opcode, to PID, ref MonitorRef, watcher PID) []byte {
	return appendAddress(appendID(appendID([]byte{byte(v)}, uint64(ref)), watcher.id), to)
}

// placeholder makes the PID that stands for a name on another node. That node resolves it.
func placeholder(n Name) PID {
	return PID{unique.Make(home{node: n.Node, name: n.Name}), placeholderID}
}

// placeholderID is the id of placeholders. No process has it, since generations begin with 1.
const placeholderID = 1

func (p PID) isPlaceholder() bool { return p.id == placeholderID }

// aliasPlaceholder makes the PID that stands for an alias of another node. That node resolves it.
func aliasPlaceholder(a Alias) PID {
	h := a.home.Value()
	h.alias = a.number
	return PID{unique.Make(h), placeholderID}
}

// isPlaceholderOn reports whether a PID stands for a name on a node.
func (p PID) isPlaceholderOn(node string) bool {
	if p.id == 0 {
		return false
	}
	h := p.home.Value()
	return h.name != "" && h.node == node
}
