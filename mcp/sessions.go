package mcp

import (
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// sessionHeader carries the id of a session in the revisions that have some.
const sessionHeader = "Mcp-Session-Id"

// sessionTable bounds the sessions, which the SDK does not: anybody who may call could begin one after the other.
type sessionTable struct {
	sdk  *sdk.Server
	most int

	mu     sync.Mutex
	used   map[string]time.Time // by id
	ending map[string]bool      // those that are being closed
}

func newSessionTable(server *sdk.Server, most int) *sessionTable {
	return &sessionTable{sdk: server, most: most, used: make(map[string]time.Time), ending: make(map[string]bool)}
}

// use notes a request in a session. Where there are too many, it closes the one that was unused for the longest.
func (t *sessionTable) use(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, known := t.used[id]; known {
		t.used[id] = time.Now()
		return
	}
	if t.ending[id] {
		return // to count it once more would end another one
	}
	open := make(map[string]*sdk.ServerSession)
	for session := range t.sdk.Sessions() {
		open[session.ID()] = session
	}
	if open[id] == nil {
		return // it has ended, or never was
	}
	t.used[id] = time.Now()
	if len(t.used) <= t.most {
		return
	}
	oldest := id
	for other, used := range t.used {
		if open[other] == nil {
			delete(t.used, other)
		} else if used.Before(t.used[oldest]) {
			oldest = other
		}
	}
	if len(t.used) > t.most && oldest != id {
		delete(t.used, oldest)
		t.ending[oldest] = true
		go t.end(open[oldest])
	}
}

// end closes a session, which waits for its calls.
func (t *sessionTable) end(session *sdk.ServerSession) {
	_ = session.Close() // what is wrong with its connection is nothing to this side
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.ending, session.ID())
}
