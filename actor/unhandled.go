package actor

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// accepts reports whether a process of the behaviour does something with an envelope. Exits, notices of the end of a monitored
// process or event, and inspections need no handler.
func (d *definition) accepts(l *envelope) bool {
	k := l.body.kind()
	return d.handler(k, l.call) != nil || k == exitKind || k == downKind || k == inspectKind
}

// behaviorOf returns the behaviour of a process; nil if there is no such process on this node.
func (s *System) behaviorOf(pid PID) *definition {
	at := s.processes.find(pid.id)
	if at == nil || pid.home != s.home || pid.id == 0 {
		return nil
	}
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.id != pid.id || at.phase == terminated {
		return nil
	}
	return at.behavior
}

// notAccepted refuses an envelope for which the process has no handler. Call it with at.mu held; it unlocks it.
func (s *System) notAccepted(at *entry, to PID, l *envelope) error {
	d := at.behavior
	at.mu.Unlock()
	if !l.call {
		s.dead.unhandled.Add(int64(l.left()))
		if !l.known { // else the sender is notified
			s.warnNotHandled(d, to, l.body.kind(), l.from)
		}
	}
	return s.refuse(l, s.errNotHandled(d, to, l.body.kind(), l.call))
}

// refuseOutgoing reports that the receiver of a message, which was not put into an envelope yet, has no handler for it.
func (s *System) refuseOutgoing(d *definition, to PID, k *kind, from PID) error {
	s.dead.unhandled.Add(1)
	s.warnNotHandled(d, to, k, from)
	return s.errNotHandled(d, to, k, false)
}

// notHandled counts the messages of an envelope that are in a mailbox and have no handler, such as those to a group. A call
// fails.
func (s *System) notHandled(pid PID, d *definition, l *envelope) {
	if c, ok := l.body.(callBody); ok {
		c.replyTo().fail(s.errNotHandled(d, pid, l.body.kind(), true))
		return
	}
	s.dead.unhandled.Add(int64(l.left()))
	s.warnNotHandled(d, pid, l.body.kind(), l.from)
}

func (s *System) errNotHandled(d *definition, pid PID, k *kind, call bool) error {
	what := "message"
	if call {
		what = "call"
	}
	return problem(ErrNotHandled, s.nodeName(), "%s %s has no handler for a %s of type %s%s", d.name, pid, what, k.of, d.nearest(k, call))
}

// nearest describes the handler that the sender may have meant.
func (d *definition) nearest(k *kind, call bool) string {
	if d.find(k, !call) != nil {
		if call {
			return "; it takes that as a message: use Tell or Send"
		}
		return "; it takes that as a call: use Ask or Call"
	}
	var others []string
	for _, e := range d.handlers {
		if e.calls != call {
			continue
		}
		if pointee(e.kind.of) == pointee(k.of) || pointee(e.kind.of).Name() == pointee(k.of).Name() && pointee(k.of).Name() != "" {
			return fmt.Sprintf("; it has a handler for %s, not for %s", qualified(e.kind.of, k.of), qualified(k.of, e.kind.of))
		}
		if !slices.Contains(notices, e.kind) {
			others = append(others, e.kind.of.String())
		}
	}
	if len(others) == 0 {
		return ""
	}
	if n := len(others) - maxNearest; n > 0 {
		others = append(others[:maxNearest], fmt.Sprintf("%d more", n))
	}
	return "; it has handlers for " + strings.Join(others, ", ")
}

// maxNearest bounds how many handlers an error lists.
const maxNearest = 8

func pointee(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// qualified returns the name of a type, with the whole path of its package if the short one does not tell it from another.
func qualified(t, from reflect.Type) string {
	if t.String() != from.String() {
		return t.String()
	}
	return typeName(t)
}

// notices are the kinds of messages that the runtime itself sends.
var notices = []*kind{
	exitKind, downKind,
	&messagesOf[NodeChange]().k, &messagesOf[GroupChange]().k,
}

// unhandledLog remembers which behaviours were logged to have no handler for which type, so that each is logged once.
type unhandledLog struct {
	mu     sync.Mutex
	logged map[unhandledMessage]struct{}
}

type unhandledMessage struct{ behavior, kind string }

// maxUnhandledLogged bounds the memory of an unhandledLog. What comes after is counted and not logged.
const maxUnhandledLogged = 1000

func (u *unhandledLog) first(d *definition, k *kind) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	key := unhandledMessage{d.name, k.name}
	if _, known := u.logged[key]; known || len(u.logged) >= maxUnhandledLogged {
		return false
	}
	if u.logged == nil {
		u.logged = map[unhandledMessage]struct{}{}
	}
	u.logged[key] = struct{}{}
	return true
}

// warnNotHandled logs once for a behaviour and a type that a message was not handled. A process need not have handlers for all
// that the runtime sends.
func (s *System) warnNotHandled(d *definition, pid PID, k *kind, from PID) {
	if slices.Contains(notices, k) || !s.unhandled.first(d, k) {
		return
	}
	s.log.Warn("message not handled, which is logged once for each behavior and type", "behavior", d.name, "type", k.of.String(),
		"pid", pid.String(), "from", from.String(), "nearest", strings.TrimPrefix(d.nearest(k, false), "; "))
}
