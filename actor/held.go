package actor

import (
	"sync/atomic"
	"unique"
)

// maxHeld bounds the links and monitors that the processes of one other node may have with those of this one. What is asked
// for beyond that fails with ErrTooMany: a link with an Exit, a monitor with a Down, a process to be started with the error
// of Spawn.
const maxHeld = 4 << 20

// hold counts the links and monitors that this node has with a process of another, in either direction for links. It does
// nothing for its own.
func (s *System) hold(other PID, change int64) {
	if other.home == s.home {
		return
	}
	count, ok := s.away.held.Load(other.home)
	if !ok {
		count, _ = s.away.held.LoadOrStore(other.home, new(atomic.Int64))
	}
	count.(*atomic.Int64).Add(change)
}

// heldEnough is an error where a peer may have no more of them.
func (s *session) heldEnough() error {
	count, ok := s.system.away.held.Load(s.home)
	limit := maxHeld - s.system.away.heldLess
	if !ok || count.(*atomic.Int64).Load() < limit {
		return nil
	}
	return problem(ErrTooMany, s.system.homeName(), "%d links and monitors with processes of %s", limit, s.node)
}

// forgetHeld lets go of the counts of earlier runs of a node.
func (n *network) forgetHeld(now unique.Handle[home]) {
	for known, count := range n.held.Range {
		run := known.(unique.Handle[home])
		if run != now && run.Value().node == now.Value().node && count.(*atomic.Int64).Load() == 0 {
			n.held.Delete(run)
		}
	}
}
