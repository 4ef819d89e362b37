package web

import (
	"net/http"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/memory"
	"github.com/sabir-go/sabir/web/exchange"
)

// accountOf is the account of a connection of net/http. Under [Handler] each request has its own.
func (s *server) accountOf(r *http.Request) *memory.Account {
	if a := memory.AccountOf(r.Context()); a != nil {
		return a
	}
	return s.memory.Connection()
}

// holdsTooMuch is the error of a request that there is no space for.
func (s *server) holdsTooMuch() error {
	e := *sabir.ErrTooManyCalls
	e.Node, e.Retryable = s.node.ID(), true
	e.Message = "node " + e.Node + " holds as much as it may for others"
	return &e
}

// writeCounted is write for an answer that counts while the client reads it. A client that stands still while others need the memory is
// cut off.
func writeCounted(w http.ResponseWriter, r *http.Request, x *exchange.Exchange, account *memory.Account) {
	if len(x.Out) < memory.Small {
		write(w, r, x)
		return
	}
	p := &readByParts{ResponseWriter: w}
	p.window = account.Window(p.cut)
	defer p.end()
	p.window.Add(len(x.Out))
	write(p, r, x)
}

// writePiece is the part of an answer after which a client counts as one that reads.
const writePiece = 64 << 10

// readByParts notes what the client has read of an answer.
type readByParts struct {
	http.ResponseWriter
	window *memory.Window

	mu    sync.Mutex
	ended bool // the response belongs to net/http again
}

// cut ends a write that waits.
func (p *readByParts) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		http.NewResponseController(p.ResponseWriter).SetWriteDeadline(time.Unix(1, 0))
	}
}

func (p *readByParts) end() {
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	p.window.Close()
}

func (p *readByParts) Write(out []byte) (written int, err error) {
	for err == nil && written < len(out) {
		var n int
		n, err = p.ResponseWriter.Write(out[written:min(len(out), written+writePiece)])
		written += n
		p.window.Progress()
	}
	return written, err
}
