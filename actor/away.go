package actor

import (
	"context"
	"encoding/binary"
	"errors"
	"unique"
)

// pushAway is push to a process of another node. It may wait where the link is full.
func (s *System) pushAway(to PID, l *letter, by *Process) error {
	session, err := s.reach(to)
	if err != nil {
		if l.lane != PrioritySystem {
			s.dead.letters.Add(int64(l.count - l.at))
		}
		return s.refuse(l, err)
	}
	switch b := l.body.(type) {
	case *batch[Exit]:
		err = session.tell(by, session.exitPost(b.items[0], to))
	case *batch[Down]:
		err = session.tell(by, session.downPost(b.items[0], to))
	case asked:
		if err = session.call(to, l, b, by); err != nil {
			return s.refuse(l, err)
		}
	default:
		if err = session.send(to, l, by); errors.Is(err, ErrNoConnection) {
			s.dead.letters.Add(int64(l.count - l.at)) // or some of them
		}
	}
	l.body.free()
	return err
}

// pushImportant sends a message and waits for the word that it lies in the mailbox.
func (s *System) pushImportant(ctx context.Context, to PID, l *letter, by *Process) error {
	session, err := s.reach(to)
	if err != nil {
		return s.refuse(l, err)
	}
	ctx, cancel := within(ctx)
	defer cancel()
	a, err := session.important(ctx, to, l, by)
	l.body.free()
	if err != nil {
		return s.late(ctx, err)
	}
	r, err := a.wait(ctx, by)
	if err != nil {
		return s.late(ctx, err)
	}
	return r.err
}

// within bounds what waits without a deadline of its own by CallTimeout.
func within(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, limited := ctx.Deadline(); limited {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, CallTimeout, ErrCallTimeout)
}

// late is ErrCallTimeout where that is why the waiting has ended.
func (s *System) late(ctx context.Context, err error) error {
	if ctx.Err() != nil && context.Cause(ctx) == error(ErrCallTimeout) {
		return ErrCallTimeout
	}
	return err
}

// wait waits for what is not a call.
func (a *awaited) wait(ctx context.Context, by *Process) (result, error) {
	if by != nil {
		by.leave()
		defer by.enter()
	}
	select {
	case r := <-a.done:
		return r, nil
	case <-ctx.Done():
		a.giveUp()
		return result{}, ctx.Err()
	}
}

func (s *session) important(ctx context.Context, to PID, l *letter, by *Process) (*awaited, error) {
	values, ok := l.body.(outgoing)
	if !ok {
		return nil, ErrNoWireForm
	}
	number, err := s.typeNumber(by, l.body.kind())
	if err != nil {
		return nil, err
	}
	a := &awaited{done: make(chan result, 1)}
	if err := s.await(a); err != nil {
		return nil, err
	}
	post := binary.AppendUvarint([]byte{byte(verbImportant)}, a.number)
	post = binary.AppendUvarint(appendHead(post, l, to), number)
	post, _, err = values.encode(post, 0, postBytes)
	if err == nil {
		_, err = s.post(ctx, by, post)
	}
	if err != nil {
		s.came(a.number)
		return nil, err
	}
	return a, nil
}

func (s *System) killAway(to PID) error {
	session, err := s.reach(to)
	if err != nil {
		return err
	}
	return session.tell(nil, appendAddress([]byte{byte(verbKill)}, to))
}

func (s *System) linkAway(to, other PID) error {
	session, err := s.reach(to)
	if err != nil {
		return err
	}
	return session.tell(nil, appendID(appendID([]byte{byte(verbLink)}, to.id), other.id))
}

func (s *System) unlinkAway(to, other PID) {
	if session, err := s.reach(to); err == nil {
		_ = session.tell(nil, appendID(appendID([]byte{byte(verbUnlink)}, to.id), other.id)) // lost with the link itself
	}
}

func (s *System) watchAway(to PID, ref Ref, watcher PID) error {
	if to.standsAt(s.homeName()) {
		pid, err := s.named(Name{Name: to.home.Value().name})
		if err != nil {
			return err
		}
		return s.monitor(pid, ref, watcher)
	}
	session, err := s.reach(to)
	if err != nil {
		return err
	}
	return session.tell(nil, watchPost(verbWatch, to, ref, watcher))
}

func (s *System) unwatchAway(to PID, ref Ref, watcher PID) {
	if to.standsAt(s.homeName()) {
		if pid, err := s.named(Name{Name: to.home.Value().name}); err == nil {
			s.unwatch(pid, ref, watcher)
		}
		return
	}
	if session, err := s.reach(to); err == nil {
		_ = session.tell(nil, watchPost(verbUnwatch, to, ref, watcher)) // lost with the link itself
	}
}

func watchPost(v verb, to PID, ref Ref, watcher PID) []byte {
	return appendAddress(appendID(appendID([]byte{byte(v)}, uint64(ref)), watcher.id), to)
}

// namedAway is a PID that stands for a name on another node, which resolves it.
func (s *System) namedAway(n Name) (PID, error) { return standIn(n), nil }

func standIn(n Name) PID { return PID{unique.Make(home{node: n.Node, name: n.Name}), 1} }

// aliasedAway is a PID that stands for an alias of another node.
func (s *System) aliasedAway(a Alias) (PID, error) {
	h := a.home.Value()
	h.alias = a.number
	return PID{unique.Make(h), 1}, nil
}

// standsAt tells whether a PID stands for a name on a node.
func (p PID) standsAt(node string) bool {
	if p.id == 0 {
		return false
	}
	h := p.home.Value()
	return h.name != "" && h.node == node
}
