package actor

import (
	"context"
	"time"
)

// Address is where a message goes: to a PID, to whoever has a Name, or to an Alias.
type Address interface{ PID | Name | Alias }

// Send sends a message to a process of this or another node and does not wait until it is handled. Messages from one
// process to another arrive in the order in which they were sent, once or not at all; those of a system, from several
// goroutines, in no certain order.
//
// What a callback sends to one process in a row is handed over together, at the latest when the callback returns or after
// a few milliseconds. So an error tells only what is known at once, and may be that of a message sent before: ErrNoProcess,
// ErrMailboxFull, ErrNoConnection, ErrStopped. That a message was sent to a process that has ended is no reason to worry
// for most; who must know uses SendImportant, or a call.
func Send[M any, A Address](from Sender, to A, message M) error {
	s, p := from.in(), from.process()
	pid, err := resolve(s, to)
	if err != nil {
		return err
	}
	if p == nil {
		return s.push(pid, &messagesOf[M]().letterOf(message).head, nil)
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
	err = begin(p, pid, message)
	b.mu.Unlock()
	return err
}

// begin is Send where nothing of this type is held back for the process, or a run is full. It runs under the outbox's mu.
func begin[M any](p *Process, to PID, message M) error {
	b := &p.box
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
	if b.to != to || p.worker == nil { // whom no worker runs, the watch does not see
		b.to = to
		one := m.letterOf(message)
		one.head.from = p.pid
		return p.system.push(to, &one.head, p)
	}
	run := m.run()
	run.items = append(run.items, message)
	run.head.from, run.head.count = p.pid, 1
	b.body = run
	b.held.Store(true)
	return err
}

// recent is messagesOf for the few types that a process sends most.
func recent[M any](p *Process) *messages[M] {
	for _, k := range p.recent {
		if m, ok := k.(*messages[M]); ok {
			return m
		}
	}
	m := messagesOf[M]()
	p.recent[p.place%uint8(len(p.recent))] = m
	p.place++
	return m
}

// SendPriority is Send in another lane of the mailbox. The message goes at once.
func SendPriority[M any, A Address](from Sender, to A, priority Priority, message M) error {
	s, p := from.in(), from.process()
	pid, err := resolve(s, to)
	if err != nil {
		return err
	}
	one := messagesOf[M]().letterOf(message)
	one.head.lane = min(priority, PriorityLog)
	if p != nil {
		one.head.from = p.pid
		p.box.flush()
	}
	return s.push(pid, &one.head, p)
}

// SendImportant is Send that knows: without an error the message lies in the mailbox of the process. Where that lives on
// another node, it waits for that node's word, as long as ctx allows, or for CallTimeout where ctx has no deadline; after
// ErrCallTimeout, ErrNoConnection and the error of ctx the message may lie there all the same.
func SendImportant[M any, A Address](ctx context.Context, from Sender, to A, message M) error {
	s, p := from.in(), from.process()
	pid, err := resolve(s, to)
	if err != nil {
		return err
	}
	one := messagesOf[M]().letterOf(message)
	if p != nil {
		one.head.from = p.pid
		p.box.flush()
	}
	if pid.home == s.home {
		return s.push(pid, &one.head, p)
	}
	return s.pushImportant(ctx, pid, &one.head, p)
}

// SendAfter sends a message when d is over. stop prevents that and tells whether it did. A process's own timers end with
// it.
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
		one := messagesOf[M]().letterOf(message)
		one.head.from = self
		s.push(pid, &one.head, nil)
	})
}
