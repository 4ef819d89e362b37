package http_test

import (
	"errors"
	"io"
	"net"
	nethttp "net/http"
	"strings"
	"testing"
	"time"

	"github.com/gobwas/ws"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/httpstrict/stricttest"
	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/transport"
)

func listen(t *testing.T, address string) transport.Listener {
	t.Helper()
	l, err := transport.Listen(t.Context(), address, transport.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func host(l transport.Listener) string {
	u, _ := schemes.Parse(l.Addr())
	return u.Host
}

func TestRequestsThatAreNoLinksGetAnAnswer(t *testing.T) {
	l := listen(t, "http://:0")
	handshake := map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
		"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": "sabir"}
	with := func(name, value string) map[string]string {
		changed := map[string]string{name: value}
		for n, v := range handshake {
			if n != name {
				changed[n] = v
			}
		}
		return changed
	}
	for _, test := range []struct {
		name, method, path string
		headers            map[string]string
		status             int
		says               string
	}{
		{"a visit", "GET", "/sabir", nil, 426, "There is no page"},
		{"another path", "GET", "/", nil, 404, "/sabir"},
		{"another method", "POST", "/sabir", nil, 405, "GET"},
		{"a web page", "GET", "/sabir", with("Origin", "https://evil.example"), 403, "Web pages"},
		{"another protocol", "GET", "/sabir", with("Sec-WebSocket-Protocol", "chat, mqtt"), 400, "sabir"},
		{"an old version", "GET", "/sabir", with("Sec-WebSocket-Version", "8"), 426, ""},
		{"a bad key", "GET", "/sabir", with("Sec-WebSocket-Key", "x"), 400, ""},
		{"too much header", "GET", "/sabir", map[string]string{"X": strings.Repeat("x", 64<<10)}, 431, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			request, err := nethttp.NewRequest(test.method, "http://"+host(l)+test.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			for name, value := range test.headers {
				request.Header.Set(name, value)
			}
			client := nethttp.Transport{DisableKeepAlives: true}
			answer, err := client.RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			text, _ := io.ReadAll(answer.Body)
			if answer.StatusCode != test.status || !strings.Contains(string(text), test.says) {
				t.Errorf("answered %s: %s", answer.Status, text)
			}
		})
	}
}

func TestASilentStrangerIsCutOff(t *testing.T) {
	brokers.Long(t)
	t.Parallel() // it takes the five seconds that a request may take
	l := listen(t, "http://:0")
	conn, err := net.Dial("tcp", host(l))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(conn, "GET /sabir HTTP/1.1\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, conn); err != nil {
		t.Errorf("the connection was not closed: %v", err)
	}
}

func TestDiallingWhatIsNoNodeSaysWhatAnswers(t *testing.T) {
	l := listen(t, "http://:0/here")
	_, err := transport.Dial(t.Context(), "http://"+host(l)+"/elsewhere", transport.Config{})
	if err == nil || !strings.Contains(err.Error(), "404") || !strings.Contains(err.Error(), "/elsewhere") {
		t.Errorf("another path: %v", err)
	}

	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	_, err = transport.Dial(t.Context(), "http://"+mute.Addr().String(), transport.Config{DialTimeout: 50 * time.Millisecond})
	if timeout, ok := errors.AsType[net.Error](err); !ok || !timeout.Timeout() {
		t.Errorf("a server that says nothing: %v", err)
	}
}

// stranger is the client's side of a WebSocket that a test drives by hand.
func stranger(t *testing.T, l transport.Listener) (far, accepted net.Conn) {
	t.Helper()
	far, _, _, err := ws.Dialer{Protocols: []string{"sabir"}}.Dial(t.Context(), "ws://"+host(l)+"/sabir")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { far.Close() })
	if accepted, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { accepted.Close() })
	for _, c := range []net.Conn{far, accepted} {
		c.SetDeadline(time.Now().Add(time.Minute))
	}
	return far, accepted
}

func TestAPingIsAnsweredWhileReading(t *testing.T) {
	far, accepted := stranger(t, listen(t, "http://:0"))
	read := make(chan error)
	go func() {
		_, err := accepted.Read(make([]byte, 10))
		read <- err
	}()
	ws.WriteFrame(far, ws.MaskFrame(ws.NewPingFrame([]byte("there?"))))
	pong, err := ws.ReadHeader(far)
	payload := make([]byte, 6)
	if err != nil || pong.OpCode != ws.OpPong || pong.Length != 6 {
		t.Fatalf("answered %v, %v", pong, err)
	}
	if _, err := io.ReadFull(far, payload); err != nil || string(payload) != "there?" {
		t.Errorf("answered %q, %v", payload, err)
	}
	far.Close()
	if err := <-read; !errors.Is(err, io.EOF) {
		t.Errorf("a peer that is gone: %v", err)
	}
}

func TestAPeerThatBreaksTheProtocolIsAnError(t *testing.T) {
	far, accepted := stranger(t, listen(t, "http://:0"))
	ws.WriteFrame(far, ws.NewBinaryFrame([]byte("not masked")))
	for range 2 {
		if _, err := accepted.Read(make([]byte, 10)); !errors.Is(err, ws.ErrProtocolMaskRequired) {
			t.Errorf("read: %v", err)
		}
	}
}

func TestAddresses(t *testing.T) {
	for _, test := range []struct{ address, want string }{
		{"http://:7700x", "not a URL"},
		{"http://user:secret@127.0.0.1:0", "is not http://host:port/path"},
		{"http://127.0.0.1", "has no port"},
		{"http:opaque", "is not http://host:port/path"},
		{"https://:0", "certificate"},
	} {
		_, err := transport.Listen(t.Context(), test.address, transport.Config{})
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", test.address, err)
		}
	}
	for given, want := range map[string]string{"http://:0": "/sabir", "http://:0/": "/sabir", "http://:0/a%20b/c": "/a%20b/c"} {
		l := listen(t, given)
		if u, _ := schemes.Parse(l.Addr()); u.EscapedPath() != want {
			t.Errorf("%s is at %s", given, l.Addr())
		}
		conn, err := transport.Dial(t.Context(), l.Addr(), transport.Config{})
		if err != nil {
			t.Errorf("%s: %v", given, err)
			continue
		}
		conn.Close()
	}
}

func TestRequestsThatCanBeReadInTwoWaysAreRefused(t *testing.T) {
	stricttest.AllAreRefused(t, host(listen(t, "http://:0")))
}
