package wire

import (
	"context"
	"sync"
)

// streamTables is the open streams of a link. An id is made as that of a call; the sides number theirs apart.
type streamTables struct {
	mu     sync.Mutex
	own    []*Stream // by the index in the id
	ids    []uint32  // the last id of each
	free   []uint32
	theirs []*Stream

	ownCount, theirsCount int // not yet ended
	ownBegun              uint64
}

// addOwn numbers a stream of this side and reports whether the peer has space for it.
func (t *streamTables) addOwn(s *Stream, limit int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	var index uint32
	if n := len(t.free); n > 0 {
		index = t.free[n-1]
		t.free = t.free[:n-1]
	} else if len(t.own) < min(limit, indexMask+1) {
		index = uint32(len(t.own))
		t.own = append(t.own, nil)
		t.ids = append(t.ids, index)
	} else {
		return false
	}
	if t.ids[index] += 1 << indexBits; t.ids[index]>>indexBits == 0 {
		t.ids[index] += 1 << indexBits
	}
	s.id = t.ids[index]
	t.own[index] = s
	t.ownCount++
	t.ownBegun++
	return true
}

// addTheirs lists a stream that the peer opened, and reports whether there was space for it.
func (t *streamTables) addTheirs(s *Stream, limit int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	index := int(s.id & indexMask)
	if index >= limit {
		return false
	}
	if index >= len(t.theirs) {
		t.theirs = append(t.theirs, make([]*Stream, index+1-len(t.theirs))...)
	}
	if t.theirs[index] != nil {
		return false
	}
	t.theirs[index] = s
	t.theirsCount++
	return true
}

// removeTheirs takes a stream out and reports whether it was there.
func (t *streamTables) removeTheirs(s *Stream) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	index := s.id & indexMask
	if t.theirs[index] != s {
		return false
	}
	t.theirs[index] = nil
	t.theirsCount--
	return true
}

func (t *streamTables) removeOwn(s *Stream) {
	t.mu.Lock()
	index := s.id & indexMask
	removed := t.own[index] == s
	if removed {
		t.own[index] = nil
		t.free = append(t.free, index)
		t.ownCount--
	}
	t.mu.Unlock()
	if removed {
		s.link.leaving.signal()
	}
}

// find is the stream that a frame of the peer means; nil where it has ended. own: numbered by this side.
func (t *streamTables) find(id uint32, own bool) *Stream {
	t.mu.Lock()
	defer t.mu.Unlock()
	table := t.theirs
	if own {
		table = t.own
	}
	if index := int(id & indexMask); index < len(table) && table[index] != nil && table[index].id == id {
		return table[index]
	}
	return nil
}

// counts returns the number of open streams of this side and of the peer. One of the two may end while the other is looked at,
// so they are not counted one after the other.
func (t *streamTables) counts() (own, theirs int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ownCount, t.theirsCount
}

func (t *streamTables) open() int {
	own, theirs := t.counts()
	return own + theirs
}

func (t *streamTables) ownOpen() int {
	own, _ := t.counts()
	return own
}

func (t *streamTables) theirsOpen() int {
	_, theirs := t.counts()
	return theirs
}

// failAll ends all streams with the loss of the link.
func (t *streamTables) failAll(err error) {
	t.mu.Lock()
	var all []*Stream
	for _, table := range [][]*Stream{t.own, t.theirs} {
		for _, s := range table {
			if s != nil {
				all = append(all, s)
			}
		}
	}
	t.mu.Unlock()
	for _, s := range all {
		s.mu.Lock()
		if !s.ended {
			s.finish(err)
		}
		s.mu.Unlock()
		s.end(context.Canceled)
	}
}
