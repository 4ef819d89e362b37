package work

import (
	"testing"
	"time"

	"github.com/sabir-go/sabir/lab/child"
)

func TestAThousandMessagesInARowHaveTheSharesOfTheMix(t *testing.T) {
	for _, caller := range []int{0, 1, 99} {
		count := make([]int, len(mix))
		for sequence := 17; sequence < 1017; sequence++ {
			count[sizeOf(caller, sequence)]++
		}
		for i, m := range mix {
			if count[i] != m.share {
				t.Errorf("caller %d: %d messages of %d bytes, want %d", caller, count[i], m.size, m.share)
			}
		}
	}
}

func TestMixedSizesTellTheLatenciesOfSmallMessagesApart(t *testing.T) {
	measure := mixing(child.Order{Callers: 2}, func(_, size int) RoundTrip {
		return func(int, bool) error {
			if size > smallest {
				time.Sleep(20 * time.Millisecond)
			}
			return nil
		}
	})
	s, err := measure(100 * time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if s.Operations < 10 || s.Figures["megabytes"] <= 0 || s.Figures["small p99"] >= float64(20*time.Millisecond) {
		t.Errorf("%d operations, %v", s.Operations, s.Figures)
	}
}
