package membership

import (
	"sort"

	"github.com/cespare/xxhash/v2"
)

// Few returns the indexes of the candidates that a node should spread its calls over, where it has no links to most of them: most of them at the
// most, the nearest to its place first, and of those that are as near always the same, which are other ones for each node (rendezvous hashing). So
// each node needs few links, and each candidate gets about as many callers. See "deterministic subsetting" in Beyer, Jones, Petoff and Murphy 2016,
// "Site Reliability Engineering", chapter 20.
func Few(self string, at *Place, among []*Candidate, most int) []int {
	type ranked struct {
		index, closeness int
		score            uint64
	}
	seed := xxhash.Sum64String(self)
	list := make([]ranked, len(among))
	for i, c := range among {
		list[i] = ranked{i, at.closeness(&c.Place), mix(seed, c.hash)}
	}
	sort.Slice(list, func(i, j int) bool { // slices.SortFunc takes 20 KB of the program for each struct
		a, b := &list[i], &list[j]
		return a.closeness > b.closeness || a.closeness == b.closeness && a.score > b.score
	})
	few := make([]int, min(most, len(list)))
	for i := range few {
		few[i] = list[i].index
	}
	sort.Ints(few)
	return few
}
