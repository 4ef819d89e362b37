package httpstrict

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestAnAnswerThatDoesNotWaitForTheBodyIsReadByAClientThatSendsAllOfItFirst(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "too large", http.StatusRequestEntityTooLarge)
	})}
	go Serve(server, l)
	defer server.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	body := strings.Repeat("x", 50_000_000) // more than the buffers of a connection take
	if _, err := io.WriteString(c, fmt.Sprintf("POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: %d\r\n\r\n%s", len(body), body)); err != nil {
		t.Fatalf("while it sent the body: %v", err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); answer.StatusCode != http.StatusRequestEntityTooLarge || string(text) != "too large\n" || err != nil {
		t.Errorf("%s %q, %v", answer.Status, text, err)
	}
}

// halved is a connection of which half can be closed, as Linger wants it.
type halved struct {
	net.Conn
	read int
}

func (*halved) CloseWrite() error { return nil }

func (h *halved) Read(to []byte) (int, error) {
	n, err := h.Conn.Read(to)
	h.read += n
	return n, err
}

func TestLingeringEndsWhateverTheOtherEndDoes(t *testing.T) {
	for about, send := range map[string]func(net.Conn){
		"nothing": func(net.Conn) {},
		"a byte from time to time": func(c net.Conn) {
			for err := error(nil); err == nil; _, err = c.Write([]byte{1}) {
				time.Sleep(LingerTime / 20)
			}
		},
		"all that a fast network takes": func(c net.Conn) {
			for err := error(nil); err == nil; _, err = c.Write(make([]byte, 1<<20)) {
				time.Sleep(time.Millisecond)
			}
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			near, far := net.Pipe()
			var sending sync.WaitGroup
			sending.Go(func() { send(far) })
			began, c := time.Now(), &halved{Conn: near}
			if err := Linger(c); err != nil {
				t.Errorf("%s: %v", about, err)
			}
			took := time.Since(began)
			near.Close()
			sending.Wait()
			if took > LingerTime+lingerPart {
				t.Errorf("%s: %v, %d bytes", about, took, c.read)
			}
		})
	}
}

// stoodStill is a connection of a program that stood still in the first read, for longer than any limit.
type stoodStill struct {
	halved
	woke bool
}

func (s *stoodStill) Read(to []byte) (int, error) {
	if !s.woke {
		s.woke = true
		time.Sleep(10 * LingerTime)
		return 0, os.ErrDeadlineExceeded
	}
	return s.halved.Read(to)
}

func TestWhatCameWhileTheProgramStoodStillIsReadBeforeTheConnectionIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		go func() {
			far.Write([]byte("the rest"))
			far.Close()
		}()
		c := &stoodStill{halved: halved{Conn: near}}
		if err := Linger(c); err != nil || c.read != len("the rest") {
			t.Errorf("%d bytes, %v", c.read, err)
		}
	})
}
