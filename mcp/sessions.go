package mcp

import (
	"context"
	"strings"
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
	open   map[string]*session // by id
	ending map[string]bool     // those that are being closed
}

type session struct {
	used     time.Time
	requests inFlight
}

func newSessionTable(server *sdk.Server, most int) *sessionTable {
	return &sessionTable{sdk: server, most: most, open: make(map[string]*session), ending: make(map[string]bool)}
}

// use notes a request in a session, and returns what is in flight there; nil for a session that has ended, or never was. Where there are too
// many sessions, it closes the one that was unused for the longest.
func (t *sessionTable) use(id string) *inFlight {
	t.mu.Lock()
	defer t.mu.Unlock()
	if known := t.open[id]; known != nil {
		known.used = time.Now()
		return &known.requests
	}
	if t.ending[id] {
		return nil // to count it once more would end another one
	}
	open := make(map[string]*sdk.ServerSession)
	for session := range t.sdk.Sessions() {
		open[session.ID()] = session
	}
	if open[id] == nil {
		return nil
	}
	begun := &session{used: time.Now()}
	t.open[id] = begun
	if len(t.open) <= t.most {
		return &begun.requests
	}
	oldest := id
	for other, s := range t.open {
		if open[other] == nil {
			delete(t.open, other)
		} else if s.used.Before(t.open[oldest].used) {
			oldest = other
		}
	}
	if len(t.open) > t.most && oldest != id {
		delete(t.open, oldest)
		t.ending[oldest] = true
		go t.end(open[oldest])
	}
	return &begun.requests
}

// end closes a session, which waits for its calls.
func (t *sessionTable) end(session *sdk.ServerSession) {
	_ = session.Close() // what is wrong with its connection is nothing to this side
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.ending, session.ID())
}

// keepLittle takes from what clients say of themselves what nobody reads: the SDK keeps all of it as long as the session, and of a
// megabyte of JSON that is 46 MB.
func keepLittle(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		switch p := req.GetParams().(type) {
		case *sdk.InitializeParams:
			if p == nil {
				break
			}
			p.Meta, p.ProtocolVersion = nil, beginning(p.ProtocolVersion)
			if p.ClientInfo != nil {
				p.ClientInfo = &sdk.Implementation{Name: beginning(p.ClientInfo.Name), Version: beginning(p.ClientInfo.Version)}
			}
			if p.Capabilities != nil {
				p.Capabilities.Experimental, p.Capabilities.Extensions = nil, nil
			}
		case *sdk.InitializedParams:
			if p != nil {
				p.Meta = nil
			}
		}
		return next(ctx, method, req)
	}
}

// beginning is a copy of the first bytes of a text.
func beginning(text string) string { return strings.Clone(text[:min(len(text), 100)]) }
