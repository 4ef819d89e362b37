package grain

import (
	"fmt"
	"testing"
)

func viewOf(among int, nodes ...string) *view {
	serving := map[string][]string{}
	for _, n := range nodes {
		serving[n] = []string{"k"}
	}
	return newView(nodes[0], among, serving)
}

func TestAllNodesFindTheSameOwner(t *testing.T) {
	a, b := viewOf(1, "a", "b", "c"), viewOf(1, "c", "a", "b")
	for i := range 1000 {
		of := Address{"k", fmt.Sprint(i)}
		x, err1 := a.owner(of)
		y, err2 := b.owner(of)
		if x != y || err1 != nil || err2 != nil {
			t.Fatalf("%s: %s by one, %s by the other (%v, %v)", of, x, y, err1, err2)
		}
	}
}

func TestWhenANodeComesOnlyWhatItOwnsMovesAndEachHasItsShare(t *testing.T) {
	const n = 30_000
	three, four := viewOf(1, "a", "b", "c"), viewOf(1, "a", "b", "c", "d")
	share := map[string]int{}
	for i := range n {
		of := Address{"k", fmt.Sprint(i)}
		before, _ := three.owner(of)
		after, _ := four.owner(of)
		share[after]++
		if after != before && after != "d" {
			t.Fatalf("%s moved from %s to %s", of, before, after)
		}
	}
	for node, k := range share {
		if k < n/4*9/10 || k > n/4*11/10 {
			t.Errorf("%s has %d of %d", node, k, n)
		}
	}
}

func TestKindAndKeyDoNotRunTogether(t *testing.T) {
	if (Address{"ab", "c"}).hash() == (Address{"a", "bc"}).hash() {
		t.Fatal("same hash")
	}
}
