package inbound

import (
	"log/slog"
	"sync"
	"time"
)

// Drops logs what was refused, the first and then once in a while, since anybody who reaches a bridge can cause it.
type Drops struct {
	mu    sync.Mutex
	count int
	last  time.Time
}

const dropInterval = 10 * time.Second

// Note counts one more and logs it with the arguments, unless another was logged less than ten seconds ago.
func (d *Drops) Note(log *slog.Logger, what string, arguments ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.count++
	if time.Since(d.last) < dropInterval {
		return
	}
	log.Warn(what, append(arguments, "count", d.count)...)
	d.count, d.last = 0, time.Now()
}
