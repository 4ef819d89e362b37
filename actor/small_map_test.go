package actor

import (
	"maps"
	"math/rand/v2"
	"testing"
)

func TestFewHoldsWhatAMapWould(t *testing.T) {
	for _, keys := range []int{1, 2, 9, 40} {
		var f smallMap[int, int]
		want := map[int]int{}
		for i := range 2000 {
			key := 1 + rand.IntN(keys)
			_, had := want[key]
			if rand.IntN(2) == 0 {
				if f.drop(key) != had {
					t.Fatalf("%d of %d keys: drop does not tell what there was", key, keys)
				}
				delete(want, key)
			} else {
				if f.set(key, i) == had {
					t.Fatalf("%d of %d keys: set does not tell what there was", key, keys)
				}
				want[key] = i
			}
			if got := maps.Collect(f.all()); !maps.Equal(got, want) || f.len() != len(want) {
				t.Fatalf("it holds %v, %d entries, not %v", got, f.len(), want)
			}
			value, ok := f.get(key)
			if w, has := want[key]; value != w || ok != has {
				t.Fatalf("get(%d) is %d, %t", key, value, ok)
			}
		}
		if _, ok := f.get(0); ok || f.drop(0) {
			t.Error("the zero key is a key")
		}
	}
}
