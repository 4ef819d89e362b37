package main

import (
	"fmt"
	"time"
)

// stallTimeout is the time without a message after which the missing messages count as lost.
const stallTimeout = 20 * time.Second

// settle waits until done is closed, or progress has not changed for stallTimeout. It reports whether done was closed.
func settle(done <-chan struct{}, progress func() uint64) bool {
	const look = 200 * time.Millisecond
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	last, still := progress(), time.Duration(0)
	for still < stallTimeout {
		select {
		case <-done:
			return true
		case <-ticker.C:
			still += look
			if now := progress(); now != last {
				last, still = now, 0
			}
		}
	}
	return false
}

// wait waits until all have counted themselves.
func (t *tally) wait(what string) error {
	if !settle(t.done, func() uint64 { return uint64(t.got.Load()) }) {
		return fmt.Errorf("only %d of %d processes have %s, and no more for %s", t.got.Load(), t.want, what, stallTimeout)
	}
	return nil
}
