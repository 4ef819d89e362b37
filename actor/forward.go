package actor

// Forward passes the message or call that is being handled on to another process, as if its sender had sent it there: Sender
// is the original one, and a call is answered by that process, straight to who called. The handler of a call returns ErrLater
// after it. To another node goes the sender only if it is a process of this one; it is the zero PID there else. The answer to a
// call of another node comes back by way of this one: the caller gets ErrNoConnection when either is lost before.
//
// On an error nothing was passed on, and who called gets the error. Outside of handlers there is nothing to forward:
// ErrNotHandled.
func Forward[A Address](p *Process, to A) error {
	if p.current == nil {
		return problem(ErrNotHandled, p.system.homeName(), "%s handles nothing that could be forwarded", p.pid)
	}
	letter := p.current.body.(interface{ copied() *letter }).copied()
	pid, err := resolve(p.system, to)
	if err != nil {
		return p.system.refuse(letter, err)
	}
	if pid.home != p.system.home && letter.from.home != p.system.home {
		letter.from = PID{}
	}
	p.forwarded = letter.call
	p.box.flush() // what this process has sent there before goes before
	return p.system.push(pid, letter, p)
}

// Waiting is how many messages wait in the mailbox of a process, without that which is being handled; 0 where there is no such
// process on this node. It takes no lock, so a process that ends at this moment may be taken for the one after it.
func (s *System) Waiting(pid PID) int {
	at := s.table.find(pid.id)
	if at == nil || pid.home != s.home || pid.id == 0 {
		return 0
	}
	return int(at.waiting.Load())
}

// copied is the message that is being handled, in a letter of its own.
func (b *batch[T]) copied() *letter {
	l := &b.of.letterOf(b.items[b.head.at-1]).head
	l.from, l.lane = b.head.from, b.head.lane
	return l
}

// copied is the call.
func (c *call[In]) copied() *letter {
	other := c.of.call(c.in, c.request)
	other.ctx, other.head.from, other.head.lane = c.ctx, c.head.from, c.head.lane
	return &other.head
}
