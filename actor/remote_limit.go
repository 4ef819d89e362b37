package actor

import (
	"sync/atomic"
	"unique"
)

// maxRemoteLinks bounds the links and monitors that the processes of one other node may have with those of this one. A request
// beyond that fails with ErrTooMany: a link by an Exit, a monitor by a Down, a spawn by its error.
const maxRemoteLinks = 4 << 20

// count adds to the number of links and monitors that this node has with a process of another. It does nothing for processes of
// this node.
func (n *network) count(other PID, change int64) {
	s := n.system
	if other.home == s.home {
		return
	}
	count, ok := n.remoteCounts.Load(other.home)
	if !ok {
		count, _ = n.remoteCounts.LoadOrStore(other.home, new(atomic.Int64))
	}
	count.(*atomic.Int64).Add(change)
}

// checkRemoteLimit returns an error if the peer has as many links and monitors as it may.
func (s *session) checkRemoteLimit() error {
	count, ok := s.system.remote.remoteCounts.Load(s.home)
	limit := maxRemoteLinks - s.system.remote.limitOffset
	if !ok || count.(*atomic.Int64).Load() < limit {
		return nil
	}
	return problem(ErrTooMany, s.system.nodeName(), "%d links and monitors with processes of %s", limit, s.node)
}

// forgetRemoteCounts removes the counts of earlier runs of a node.
func (n *network) forgetRemoteCounts(now unique.Handle[home]) {
	for known, count := range n.remoteCounts.Range {
		run := known.(unique.Handle[home])
		if run != now && run.Value().node == now.Value().node && count.(*atomic.Int64).Load() == 0 {
			n.remoteCounts.Delete(run)
		}
	}
}
