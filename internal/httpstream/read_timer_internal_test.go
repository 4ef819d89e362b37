package httpstream

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestOnlyTheTimeSpentReadingCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		p := readTimer{set: func(time.Time) error { return nil }, expired: func() { ended = true }}
		p.renew(time.Second)
		p.rest()
		time.Sleep(time.Minute) // the handler is busy
		synctest.Wait()
		if ended {
			t.Error("it ended while nobody read")
		}
		p.renew(time.Second)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if !ended {
			t.Error("a read took longer than it may")
		}
	})
}
