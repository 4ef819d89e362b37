package actor

import (
	"context"
	"time"
)

// Address is the receiver of a message: a Ref, a PID, a Name or an Alias.
type Address interface {
	PID | Name | Alias | ~struct{ pid PID } // the last is Ref[S], for every S
}

// Send sends a message to a process of this or another node and does not wait until it is handled. Messages from one
// process to another arrive in the order in which they were sent, once or not at all; those of a system, from several
// goroutines, in no certain order.
//
// What a callback sends to one process in a row is handed over together, at the latest when the callback returns or after
// a few milliseconds. So an error reports only what is known at once, and may be that of a message sent before: ErrNoProcess,
// ErrNotHandled, ErrMailboxFull, ErrNoConnection, ErrSystemStopped. That a message was sent to a process that has ended is no reason
// to worry for most; a sender that must know uses SendConfirmed, or a call.
//
// A process of this node that has no handler for the message refuses it with ErrNotHandled. What handlers a process of another
// node has is not known here: there such a message is counted, in System.Stats, and logged once for its type.
//
// Where the state of the process is known, Tell has the message checked by the compiler.
func Send[M any, A Address](from Sender, to A, message M) error {
	s, p := from.in(), from.process()
	pid, err := resolve(s, to)
	if err != nil {
		return err
	}
	if p == nil {
		return s.push(pid, &messagesOf[M]().envelopeOf(message).head, nil)
	}
	b := &p.box
	b.mu.Lock()
	if b.to == pid {
		if run, ok := b.body.(*batch[M]); ok && len(run.items) < cap(run.items)-1 {
			run.items = append(run.items, message)
			run.head.count++
			b.mu.Unlock()
			return nil
		}
	}
	return startRun(p, pid, message)
}

// startRun is the slow half of Send: nothing of this type is held back for the receiver, or the run is full. It unlocks the
// outbox's mu, which the caller holds, also if encoding a message ends the goroutine.
func startRun[M any](p *Process, to PID, message M) error {
	b := &p.box
	defer b.mu.Unlock()
	m := recent[M](p)
	if run, ok := b.body.(*batch[M]); ok && b.to == to {
		run.items = append(run.items, message)
		run.head.count++
		return b.handOver(p)
	}
	var err error
	if b.body != nil {
		err = b.handOver(p)
	}
	if b.to != to || p.worker == nil { // the watch does not see an entry that no worker runs
		b.to, b.behavior = to, nil
		one := m.envelopeOf(message)
		one.head.from = p.pid
		return p.system.push(to, &one.head, p)
	}
	if b.behavior == nil {
		b.behavior = p.system.behaviorOf(to)
	}
	if b.behavior != nil && b.behavior.handler(&m.k, false) == nil {
		return p.system.refuseOutgoing(b.behavior, to, &m.k, p.pid)
	}
	run := m.run()
	run.items = append(run.items, message)
	run.head.from, run.head.count = p.pid, 1
	b.body = run
	b.held.Store(true)
	return err
}

// recent is messagesOf with a small cache for the types that a process sends most.
func recent[M any](p *Process) *messages[M] {
	for _, k := range p.recent {
		if m, ok := k.(*messages[M]); ok {
			return m
		}
	}
	m := messagesOf[M]()
	p.recent[p.recentNext%uint8(len(p.recent))] = m
	p.recentNext++
	return m
}

// SendPriority is Send with another priority. The message goes at once.
func SendPriority[M any, A Address](from Sender, to A, priority Priority, message M) error {
	s, p := from.in(), from.process()
	pid, err := resolve(s, to)
	if err != nil {
		return err
	}
	one := messagesOf[M]().envelopeOf(message)
	one.head.priority = min(priority, PriorityLog)
	if p != nil {
		one.head.from = p.pid
		p.box.flush()
	}
	return s.push(pid, &one.head, p)
}

// SendConfirmed is Send with a confirmation: it returns nil when the message was put into the mailbox of the process, with all
// that this process had sent there before, and an error when it was not. Where the process runs on another node, it waits for
// that node's answer, as long as ctx allows, or for 5 s where ctx has no deadline; after ErrCallTimeout,
// ErrNoConnection and the error of ctx the message may lie there all the same.
//
// A full mailbox answers by its rule: ErrMailboxFull of Reject and DropNewest, which lose the message; of Wait after
// 5 s, or the error of ctx when that ends first; DropOldest takes the message and loses the oldest. So in a mailbox with
// DropOldest a message that was confirmed may be lost to later ones.
//
// A process that has no handler for the message refuses it with ErrNotHandled, on this node and on others. Nil does not mean that
// the message will be handled: the process may end before, and one that passes messages on, such as a pool, may find no space
// where they go. A sender that must know that makes a call.
func SendConfirmed[M any, A Address](ctx context.Context, from Sender, to A, message M) error {
	s, p := from.in(), from.process()
	pid, err := resolve(s, to)
	if err != nil {
		return err
	}
	one := messagesOf[M]().envelopeOf(message)
	if p != nil {
		one.head.from = p.pid
		p.box.flush()
	}
	if pid.home == s.home {
		return s.pushKnown(ctx, pid, &one.head, p)
	}
	return s.remote.pushConfirmed(ctx, pid, &one.head, p)
}

// SendAfter sends a message after d. stop prevents that and reports whether it did. A process's own timers end with it.
func SendAfter[M any, A Address](from Sender, to A, d time.Duration, message M) (stop func() bool) {
	s := from.in()
	var self PID
	if p := from.process(); p != nil {
		self = p.pid
	}
	return s.clock.AfterFunc(d, func() {
		if !self.Zero() && !s.Alive(self) {
			return
		}
		pid, err := resolve(s, to)
		if err != nil {
			return
		}
		one := messagesOf[M]().envelopeOf(message)
		one.head.from = self
		s.push(pid, &one.head, nil)
	})
}
