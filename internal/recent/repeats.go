package recent

import "sync/atomic"

// Repeats tells names that came before from those that come for the first time, so that a [Cache] which is filling up is not filled with
// names that come once. It has a mark of 32 bits for each of the last names, some thousands: two names that share a place there take it from
// each other, so a name may count as new several times, and one in four billion as known that is new. The zero Repeats has seen none.
//
// Any number of goroutines may use it.
type Repeats struct {
	marks atomic.Pointer[[repeatMarks]atomic.Uint32] // made at the first name: most programs never need it
}

// repeatMarks is four times the most names that a cache of events remembers.
const repeatMarks = 1 << 16

// Again notes the name and reports whether it came before.
func (r *Repeats) Again(name string) bool {
	marks := r.marks.Load()
	if marks == nil {
		r.marks.CompareAndSwap(nil, new([repeatMarks]atomic.Uint32))
		marks = r.marks.Load()
	}
	hash := uint64(14695981039346656037) // FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/
	for i := range len(name) {
		hash = (hash ^ uint64(name[i])) * 1099511628211
	}
	place, mark := &marks[hash%repeatMarks], uint32(hash>>32)|1 // never 0, which is a place that no name took yet
	if place.Load() == mark {
		return true
	}
	place.Store(mark)
	return false
}
