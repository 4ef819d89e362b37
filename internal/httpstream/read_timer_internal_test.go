package httpstream

import (
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
)

func TestOnlyTheTimeSpentReadingCounts(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		ended := false
		p := readTimer{set: func(time.Time) error { return nil }, expired: func() { ended = true }}
		p.renew(time.Second)
		p.rest()
		time.Sleep(time.Minute) // the handler is busy
		bubbletest.Wait()
		if ended {
			t.Error("it ended while nobody read")
		}
		p.renew(time.Second)
		time.Sleep(2 * time.Second)
		bubbletest.Wait()
		if !ended {
			t.Error("a read took longer than it may")
		}
	})
}
