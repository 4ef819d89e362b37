package store

import (
	"fmt"
	"testing"
)

func TestTheMemoryOfUnsettledWritesIsBounded(t *testing.T) {
	k := newKeeper(nil, defaultMaxState)
	for n := range maxUnsettled + 100 {
		k.remember(name{"k", fmt.Sprint(n)}, 1)
	}
	if len(k.unsettled) != maxUnsettled {
		t.Fatalf("it holds %d", len(k.unsettled))
	}
	last := name{"k", fmt.Sprint(maxUnsettled + 99)}
	if _, is := k.pending(last); !is {
		t.Fatal("the last one is not among them")
	}
}

func TestOfTwoUnsettledWritesTheLaterVersionCounts(t *testing.T) {
	k := newKeeper(nil, defaultMaxState)
	n := name{"k", "k"}
	k.remember(n, 7)
	k.remember(n, 5)
	if base, _ := k.pending(n); base != 7 {
		t.Fatalf("it is %d", base)
	}
}
