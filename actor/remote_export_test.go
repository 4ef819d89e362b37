package actor

import (
	"errors"
	"sync/atomic"
)

var errCut = errors.New("cut by the test")

// CutLink ends the link over which the system talks to another node, as a broken network would.
func (s *System) CutLink(node string) {
	if known, ok := s.remote.byNode.Load(node); ok {
		known.(*session).link.Close(errCut)
	}
}

// HoldAtMost bounds the links and monitors of a peer; before the system starts.
func (s *System) HoldAtMost(n int64) { s.remote.limitOffset = maxRemoteLinks - n }

// Held is the number of links and monitors with a node.
func (s *System) Held(node string) int64 {
	known, ok := s.remote.byNode.Load(node)
	if !ok {
		return 0
	}
	count, ok := s.remote.remoteCounts.Load(known.(*session).home)
	if !ok {
		return 0
	}
	return count.(*atomic.Int64).Load()
}

// Say posts to the system of another node what the test wants, and returns what reports whether the link that it went by is still
// the one that goes there.
func (s *System) Say(node string, post []byte) (stands func() bool) {
	said, ok := s.remote.byNode.Load(node)
	if ok {
		said.(*session).enqueue(post)
	}
	return func() bool {
		now, known := s.remote.byNode.Load(node)
		return ok && known && now == said
	}
}

// Errors that have names only, for tests of another package.
var (
	ErrNoTopic    = errNoTopic
	ErrSubscribed = errSubscribed
	ErrNoWireForm = errNoWireForm
)
