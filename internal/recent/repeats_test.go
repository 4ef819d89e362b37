package recent

import (
	"fmt"
	"testing"
)

func TestANameIsKnownWhenItComesAgain(t *testing.T) {
	var seen Repeats
	for i := range 1000 {
		if name := fmt.Sprint("orders.", i); seen.Again(name) {
			t.Errorf("%s came for the first time", name)
		}
	}
	forgotten := 0
	for i := range 1000 {
		if !seen.Again(fmt.Sprint("orders.", i)) {
			forgotten++
		}
	}
	if forgotten > 100 {
		t.Errorf("%d of 1000 names are taken for new when they come again", forgotten)
	}
}

func TestNamesThatComeOnceDoNotMakeOthersKnown(t *testing.T) {
	var seen Repeats
	for i := range 200_000 {
		if name := fmt.Sprint("orders.", i); seen.Again(name) {
			t.Fatalf("%s came for the first time", name)
		}
	}
}
