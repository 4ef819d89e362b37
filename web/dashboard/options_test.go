package dashboard

import (
	"testing"
	"time"
)

func TestNodesAreNotAskedMoreOftenThanTenTimesASecond(t *testing.T) {
	for given, want := range map[time.Duration]time.Duration{5 * time.Second: 5 * time.Second, time.Millisecond: 100 * time.Millisecond} {
		if got := (Config{Every: given}).every(); got != want {
			t.Errorf("Every %v: got %v, want %v", given, got, want)
		}
	}
}
