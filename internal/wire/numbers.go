package wire

// numbers gives numbers, from 1 to limit, to what this side sends so often that it is declared to the peer once. When all of
// them are given, what is new gets the number of what was not used for longest, and that is declared to the peer. Link.mu
// guards it.
//
// A number can be given again while requests and streams that used it are open, since the peer looks numbers up as it reads
// frames, and keeps what it found. So a number means what was declared last before the frame that holds it. This is
// right only while a number is taken from here and put into the outgoing buffer under one hold of Link.mu: a frame that gets its
// place in the order later, such as a part of a large value, must hold no number. TestNumbersThatAreGivenAgainMixUpNothing
// breaks where it does.
type numbers[K comparable] struct {
	limit int
	known map[K]*numbered[K]
	ring  numbered[K] // ring.older was used last, and ring.newer not for longest
}

// numbered is something with a number.
type numbered[K comparable] struct {
	key          K
	number       uint32 // 0 when it was given to another
	frame        uint64 // the last one that it was used in
	older, newer *numbered[K]
}

func (t *numbers[K]) start(limit int) {
	t.limit, t.known = limit, make(map[K]*numbered[K])
	t.ring.older, t.ring.newer = &t.ring, &t.ring
}

// use finds the number of key for a frame. Where it has none it gets one and declare is true: it must be declared to the
// peer. It is nil where all numbers are in that frame already.
func (t *numbers[K]) use(key K, frame uint64) (n *numbered[K], declare bool) {
	if n = t.known[key]; n != nil {
		t.used(n, frame)
		return n, false
	}
	n = &numbered[K]{key: key}
	if last := t.ring.newer; len(t.known) < t.limit {
		n.number = uint32(len(t.known) + 1)
	} else if last.frame == frame {
		return nil, false
	} else {
		n.number, last.number = last.number, 0
		delete(t.known, last.key)
		last.leave()
	}
	t.known[key] = n
	t.used(n, frame)
	return n, true
}

// used notes that n is in a frame.
func (t *numbers[K]) used(n *numbered[K], frame uint64) {
	n.frame = frame
	if t.ring.older == n {
		return
	}
	n.leave()
	n.newer, n.older = &t.ring, t.ring.older
	n.older.newer, t.ring.older = n, n
}

// leave takes n out of the ring.
func (n *numbered[K]) leave() {
	if n.older != nil {
		n.older.newer, n.newer.older = n.newer, n.older
	}
}
