package dashboard

import (
	"testing"
	"time"
)

func TestNodesAreNotAskedMoreOftenThanTenTimesASecond(t *testing.T) {
	for given, want := range map[time.Duration]time.Duration{5 * time.Second: 5 * time.Second, time.Millisecond: 100 * time.Millisecond} {
		var c config
		if Every(given)(&c); c.every != want {
			t.Errorf("Every(%v): got %v, want %v", given, c.every, want)
		}
	}
}
