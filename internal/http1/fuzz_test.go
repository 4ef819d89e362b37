package http1

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/httpstrict/stricttest"
	"github.com/sabir-go/sabir/web/exchange"
)

// script is a connection whose other end sends what was written down, in parts of a size, and reads anything.
type script struct {
	text   []byte
	part   int
	closed chan struct{}
	once   sync.Once
}

func newScript(text []byte, part int) *script {
	return &script{text: text, part: part, closed: make(chan struct{})}
}

func (s *script) Read(p []byte) (int, error) {
	if len(s.text) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.text[:min(s.part, len(s.text))])
	s.text = s.text[n:]
	return n, nil
}

func (s *script) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}

func (s *script) Write(p []byte) (int, error)      { return len(p), nil }
func (s *script) LocalAddr() net.Addr              { return handoverAddr{} }
func (s *script) RemoteAddr() net.Addr             { return handoverAddr{} }
func (s *script) SetDeadline(time.Time) error      { return nil }
func (s *script) SetReadDeadline(time.Time) error  { return nil }
func (s *script) SetWriteDeadline(time.Time) error { return nil }

// FuzzBothEnginesTogetherUnderstandWhatNetHTTPAlone sends any bytes, in parts of any size, to the server, to one whose requests
// all go to net/http, and to one of net/http alone. The handlers of the first two see the same requests; the last one's see the
// same to begin with, and perhaps more, which the others refuse.
func FuzzBothEnginesTogetherUnderstandWhatNetHTTPAlone(f *testing.F) {
	for _, request := range unusuals {
		f.Add([]byte(get("/before")+request+get("/behind")), 7)
	}
	for _, test := range stricttest.Chunkings {
		f.Add([]byte(get("/before")+test.Request+get("/behind")), 9)
	}
	f.Add([]byte(strings.Repeat(post("/a?b", "{}"), 3)+"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf"), 64)
	f.Add([]byte(post("/a", strings.Repeat("x", 6000))+post("/b", strings.Repeat(get("/c"), 90))+get("/d")), 4096)
	f.Add([]byte("PUT / HTTP/1.1\r\nHost: a\r\nX: "+strings.Repeat("x", 5000)+"\r\nContent-Length: 20000\r\n\r\n"+strings.Repeat("y", 20000)+get("/d")), 5000)
	for _, lines := range []string{"\r\n", "\n", "\r", "\r\n\r\n", "\r\n\r\n\r\n"} {
		f.Add([]byte(post("/a", "b")+lines+get("/c")), 30)
		f.Add([]byte(post("/a", "b")+lines+post("/a", "b")+"GET"+lines), 77)
		f.Add([]byte(post("/a", "b")+lines+"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"), 1)
		f.Add([]byte("PURGE / HTTP/1.1\r\nHost: a\r\n\r\n"+post("/a", "b")+lines+get("/c")), 2)
		f.Add([]byte(get("/a")+lines+get("/c")), 30)
	}
	var ours, checked, alone record
	silent := slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	listen := func() *pipes {
		l := newPipes()
		l.conns = make(chan net.Conn)
		return l
	}
	our, their, bare := listen(), listen(), listen()
	s := NewServer(Config{Handler: ours.handler(), Fallback: &http.Server{Handler: &ours}})
	go s.Serve(our)
	handsOver := NewServer(Config{Handler: &handler{take: func(*exchange.Exchange) bool { return false }}, Fallback: &http.Server{Handler: &checked}})
	go handsOver.Serve(their)
	plain := &http.Server{Handler: &alone, Protocols: s.fallback.Protocols, ErrorLog: silent}
	go plain.Serve(bare)
	f.Cleanup(func() {
		s.Close()
		handsOver.Close()
		plain.Close()
	})
	f.Fuzz(func(t *testing.T, text []byte, part int) {
		if part < 1 || len(text) > 100_000 || len(text)/part > 2000 {
			return
		}
		ours.seen, checked.seen, alone.seen = nil, nil, nil
		for i, l := range []*pipes{our, their, bare} {
			c := newScript(text, part)
			l.conns <- c
			select {
			case <-c.closed:
			case <-time.After(waitLimit):
				t.Fatalf("%.2000q in parts of %d: the connection to server %d stays open", text, part, i)
			}
		}
		if n := len(ours.seen); !slices.Equal(ours.seen, checked.seen) || n > len(alone.seen) || !slices.Equal(ours.seen, alone.seen[:n]) {
			t.Fatalf("%.2000q in parts of %d is %.300q; without the engine %.300q, by net/http alone %.300q", text, part, ours.seen, checked.seen, alone.seen)
		}
	})
}
