package trpc

import (
	"net/http"
	"sync"
	"time"
)

// writeLimit is the time for which a client may leave what is written to it unread, before it is cut off.
const writeLimit = 10 * time.Second

// lines writes an answer that comes in parts. The server's own time limit of an answer counts from its beginning, so each part gets its own here.
type lines struct {
	w       http.ResponseWriter
	control *http.ResponseController
	gone    func() // is called when the client takes no more

	mu     sync.Mutex
	failed bool
}

// write writes a part and sends it.
func (l *lines) write(p []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed {
		return
	}
	_ = l.control.SetWriteDeadline(time.Now().Add(writeLimit))
	if _, err := l.w.Write(p); err != nil || l.control.Flush() != nil {
		l.failed = true
		l.gone()
	}
}
