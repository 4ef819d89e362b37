package memory

import (
	"sort"
	"time"
)

const (
	// standstill is the time for which a receiver may take nothing while streams hold more than their share, and hardStandstill the
	// same while they hold more than twice their share. It counts from when the goroutine that ends streams has begun to look, and is
	// longer than TCP waits before it sends a lost packet again, some 200 to 300 ms, which is no fault of a receiver.
	standstill     = time.Second
	hardStandstill = standstill / 2
	// lookEvery is the pause between two looks at the windows.
	lookEvery = 25 * time.Millisecond
)

// startRelieving starts the goroutine that ends streams, if there is none.
func (b *Budget) startRelieving() {
	if b.relieving.CompareAndSwap(false, true) {
		go b.relieve()
	}
}

// relieve ends streams that stand still until the others hold no more than their share.
func (b *Budget) relieve() {
	for {
		over, ending := b.look(time.Now())
		if !over {
			b.relieving.Store(false)
			if b.anyOver() { // which a report has found while this goroutine was still there
				b.startRelieving()
			}
			return
		}
		for _, w := range ending {
			b.ended.Add(1)
			go w.end() // it may wait for locks
		}
		time.Sleep(lookEvery)
	}
}

func (b *Budget) anyOver() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for w := range b.windows {
		if w.reported.Load() > 0 && w.account.over() {
			return true
		}
	}
	return false
}

// look returns whether the streams of the node or of an account hold more than their share, and those that are to be ended for that.
func (b *Budget) look(now time.Time) (over bool, ending []*Window) {
	b.mu.Lock()
	defer b.mu.Unlock()
	// A process that is short of processors looks late, and its streams stand still with it: that time is nobody's fault. So no look counts
	// for more than its pause. On two processors beside eight loops a receiver who did read had 500 ms otherwise, and so has 175.
	passed := min(now.Sub(b.looked), lookEvery)
	b.looked = now
	var still []*Window
	excess := map[*Account]int64{nil: b.excess()} // by account; that of the node under nil
	for w := range b.windows {
		if taken := w.taken.Load(); taken != w.seen {
			w.seen, w.since, w.still = taken, now, 0
		} else {
			w.still += passed
		}
		held, a := w.reported.Load(), w.account
		if held == 0 || !a.over() {
			continue
		}
		over = true
		if _, known := excess[a]; !known {
			excess[a] = a.excess()
		}
		if w.ended { // it gives back what it holds in a moment
			excess[a] -= held
			excess[nil] -= held
		} else if w.still >= hardStandstill {
			still = append(still, w)
		}
	}
	sort.Slice(still, func(i, j int) bool { return still[i].since.Before(still[j].since) }) // slices.SortFunc takes 6 KB of the program for pointers
	for _, w := range still {
		held, a := w.reported.Load(), w.account
		// A value that waits alone is let wait, whatever its size.
		own := min(excess[a], a.streams.Load()-held)
		nodes := min(excess[nil], b.streams.Load()-held)
		hard := own > a.limit/StreamShare || nodes > b.limits.Node/StreamShare
		if own <= 0 && nodes <= 0 || !hard && w.still < standstill {
			continue
		}
		w.ended = true
		ending = append(ending, w)
		excess[a] -= held
		excess[nil] -= held
	}
	return over, ending
}
