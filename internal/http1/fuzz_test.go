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

// FuzzBothEnginesTogetherUnderstandWhatNetHTTPAlone sends any bytes, in parts of any size, to the server and to one of net/http
// alone, and holds that the handlers of both see the same requests.
func FuzzBothEnginesTogetherUnderstandWhatNetHTTPAlone(f *testing.F) {
	for _, request := range unusuals {
		f.Add([]byte(get("/before")+request+get("/behind")), 7)
	}
	f.Add([]byte(strings.Repeat(post("/a?b", "{}"), 3)+"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf"), 64)
	f.Add([]byte(post("/a", strings.Repeat("x", 6000))+post("/b", strings.Repeat(get("/c"), 90))+get("/d")), 4096)
	f.Add([]byte("PUT / HTTP/1.1\r\nHost: a\r\nX: "+strings.Repeat("x", 5000)+"\r\nContent-Length: 20000\r\n\r\n"+strings.Repeat("y", 20000)+get("/d")), 5000)
	for _, lines := range []string{"\r\n", "\n", "\r\n\r\n", "\r\n\r\n\r\n"} {
		f.Add([]byte(post("/a", "b")+lines+get("/c")), 30)
		f.Add([]byte(post("/a", "b")+lines+post("/a", "b")+"GET"+lines), 77)
		f.Add([]byte(post("/a", "b")+lines+"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"), 1)
		f.Add([]byte(get("/a")+lines+get("/c")), 30)
	}
	var ours, theirs record
	silent := slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	our := newPipes()
	our.conns = make(chan net.Conn)
	s := NewServer(Config{Handler: ours.handler(), Fallback: &http.Server{Handler: &ours}})
	go s.Serve(our)
	their := newPipes()
	their.conns = make(chan net.Conn)
	plain := &http.Server{Handler: &theirs, Protocols: s.fallback.Protocols, ErrorLog: silent}
	go plain.Serve(their)
	f.Cleanup(func() {
		s.Close()
		plain.Close()
	})
	f.Fuzz(func(t *testing.T, text []byte, part int) {
		if part < 1 || len(text) > 100_000 || len(text)/part > 2000 {
			return
		}
		ours.seen, theirs.seen = nil, nil
		for _, l := range []*pipes{our, their} {
			c := newScript(text, part)
			l.conns <- c
			select {
			case <-c.closed:
			case <-time.After(waitLimit):
				t.Fatalf("%.2000q in parts of %d: the connection stays open (net/http alone: %t)", text, part, l == their)
			}
		}
		if n := len(ours.seen); n > 0 && n < len(theirs.seen) && strings.HasPrefix(theirs.seen[n], "PRI ") {
			theirs.seen = theirs.seen[:n] // HTTP/2's preface behind a request, which is refused here
		}
		if !slices.Equal(ours.seen, theirs.seen) {
			t.Fatalf("%.2000q in parts of %d is %.300q; by net/http alone %.300q", text, part, ours.seen, theirs.seen)
		}
	})
}
