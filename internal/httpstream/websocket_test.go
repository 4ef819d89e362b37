package httpstream_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gobwas/ws"

	"github.com/sabir-go/sabir/internal/httpstream"
)

// peer is the other side of a WebSocket, which sends what a test wants and answers nothing by itself.
type peer struct {
	tb   testing.TB
	conn net.Conn
	r    io.Reader
}

func (s *served) open(tb testing.TB, path string) *peer {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), until)
	defer cancel()
	dialer := ws.Dialer{Protocols: []string{"other", "sabir.v1"}, TLSConfig: &tls.Config{InsecureSkipVerify: true}}
	conn, ahead, hs, err := dialer.Dial(ctx, "ws"+strings.TrimPrefix(s.web.URL, "http")+path)
	if err != nil {
		tb.Fatal(err)
	}
	if hs.Protocol != "sabir.v1" {
		tb.Errorf("the protocol is %q", hs.Protocol)
	}
	conn.SetDeadline(time.Now().Add(until))
	tb.Cleanup(func() { conn.Close() })
	p := &peer{tb, conn, conn}
	if ahead != nil {
		p.r = ahead
	}
	return p
}

func (p *peer) send(frames ...ws.Frame) {
	p.tb.Helper()
	var b bytes.Buffer
	for _, f := range frames {
		if err := ws.WriteFrame(&b, ws.MaskFrame(f)); err != nil {
			p.tb.Fatal(err)
		}
	}
	if _, err := p.conn.Write(b.Bytes()); err != nil {
		p.tb.Fatal(err)
	}
}

func (p *peer) say(texts ...string) {
	p.tb.Helper()
	for _, text := range texts {
		p.send(ws.NewTextFrame([]byte(text)))
	}
}

func (p *peer) next() ws.Frame {
	p.tb.Helper()
	h, err := ws.ReadHeader(p.r)
	f := ws.Frame{Header: h}
	if err == nil && h.Length <= 2<<20 {
		f.Payload = make([]byte, h.Length)
		_, err = io.ReadFull(p.r, f.Payload)
	}
	if err != nil {
		p.tb.Fatal(err)
	}
	if f.Header.Masked {
		p.tb.Fatal("a server does not mask")
	}
	return f
}

func (p *peer) want(texts ...string) {
	p.tb.Helper()
	for _, text := range texts {
		if f := p.next(); f.Header.OpCode != ws.OpText || string(f.Payload) != text {
			p.tb.Fatalf("got %v %q, want %q", f.Header.OpCode, f.Payload, text)
		}
	}
}

// wantError expects the message of an error, and the Close behind it.
func (p *peer) wantError(name string, code ws.StatusCode) {
	p.tb.Helper()
	if f := p.next(); !bytes.HasPrefix(f.Payload, []byte(`{"error":{`)) || !bytes.Contains(f.Payload, []byte(`"name":"`+name+`"`)) {
		p.tb.Fatalf("got %q, want the error %s", f.Payload, name)
	}
	p.wantClose(code)
}

func (p *peer) wantClose(code ws.StatusCode) {
	p.tb.Helper()
	p.wantLast(code, true)
}

// wantLast expects a Close and nothing behind it.
func (p *peer) wantLast(code ws.StatusCode, answer bool) {
	p.tb.Helper()
	f := p.next()
	if f.Header.OpCode != ws.OpClose || len(f.Payload) < 2 || ws.StatusCode(binary.BigEndian.Uint16(f.Payload)) != code {
		p.tb.Fatalf("got %v %q, want a Close of %d", f.Header.OpCode, f.Payload, code)
	}
	if answer { // the other side waits for it for a moment only, and may be gone
		ws.WriteFrame(p.conn, ws.MaskFrame(ws.NewCloseFrame(f.Payload)))
	}
	if n, err := p.r.Read(make([]byte, 1)); err != io.EOF && !(answer && errors.Is(err, syscall.ECONNRESET)) {
		p.tb.Fatalf("behind the Close: %d bytes, %v", n, err)
	}
}

func TestWebSocketBothWays(t *testing.T) {
	encrypted := func(_ *served, w *httptest.Server) { w.EnableHTTP2 = true } // offers HTTP/2, and the WebSocket takes HTTP/1.1
	for _, settings := range [][]setting{nil, {encrypted}} {
		s := serve(t, patient, settings...)
		p := s.open(t, "/t.double")
		p.say(`{"value":{"n":1}}`)
		p.want(`{"value":{"n":2}}`)
		p.say("\n{ \"value\" : {\"n\":2} }", `{"value":{"n":3}}`, `{"end":true}`)
		p.want(`{"value":{"n":4}}`, `{"value":{"n":6}}`, `{"end":true}`)
		p.wantClose(ws.StatusNormalClosure)
	}
}

func TestWebSocketOfBytes(t *testing.T) {
	s := serve(t, patient)
	p := s.open(t, "/t.flip")
	p.say(`{"value":"AAE="}`, `{"end":true}`)
	p.want(`{"value":"//4="}`, `{"end":true}`)
}

func TestWebSocketErrors(t *testing.T) {
	s := serve(t, patient)
	for _, test := range []struct {
		name, path string
		say        []string
		want       []string
		error      string
		code       ws.StatusCode
	}{
		{"of the handler", "/t.failAfter", []string{`{"value":{"n":1}}`}, []string{`{"value":{"n":0}}`}, "OutOfStock", 1011},
		{"of the handler, retryable", "/t.busy", nil, nil, "Busy", 1013},
		{"rules", "/t.double", []string{`{"value":{"n":-1}}`}, nil, "ValidationFailed", 1011},
		{"another shape", "/t.double", []string{`{"value":[]}`}, nil, "BadInput", 1007},
		{"no JSON", "/t.double", []string{`{"value":`}, nil, "BadInput", 1007},
		{"two members", "/t.double", []string{`{"value":1,"end":true}`}, nil, "BadInput", 1007},
		{"another member", "/t.double", []string{`{"Value":1}`}, nil, "BadInput", 1007},
		{"no member", "/t.double", []string{`{}`}, nil, "BadInput", 1007},
		{"an end that is none", "/t.double", []string{`{"end":false}`}, nil, "BadInput", 1007},
		{"an empty message", "/t.double", []string{``}, nil, "BadInput", 1007},
		{"a value after the end", "/t.failAfter", []string{`{"end":true}`, `{"value":{"n":1}}`}, nil, "", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := s.open(t, test.path)
			if test.code == 0 {
				p = s.open(t, "/t.silent")
				p.say(test.say...)
				p.wantError("BadInput", 1008)
				s.wantEnd(t)
				return
			}
			p.say(test.say...)
			p.want(test.want...)
			p.wantError(test.error, test.code)
		})
	}
}

func TestWebSocketFrames(t *testing.T) {
	s := serve(t, patient)
	for _, test := range []struct {
		name   string
		frames []ws.Frame
		error  string
		code   ws.StatusCode
	}{
		{"binary", []ws.Frame{ws.NewBinaryFrame([]byte("x"))}, "BadInput", 1003},
		{"no UTF-8", []ws.Frame{ws.NewTextFrame([]byte("{\"value\":\"\xff\"}"))}, "BadInput", 1007},
		{"too large", []ws.Frame{ws.NewTextFrame(make([]byte, 1<<20+300))}, "InputTooLarge", 1009},
		{"too large in parts", []ws.Frame{ws.NewFrame(ws.OpText, false, make([]byte, 1<<20)), ws.NewFrame(ws.OpContinuation, true, make([]byte, 300))}, "InputTooLarge", 1009},
		{"a continuation of nothing", []ws.Frame{ws.NewFrame(ws.OpContinuation, true, nil)}, "BadInput", 1002},
		{"a message within a message", []ws.Frame{ws.NewFrame(ws.OpText, false, []byte("{")), ws.NewTextFrame([]byte("{}"))}, "BadInput", 1002},
		{"a reserved bit", []ws.Frame{{Header: ws.Header{Fin: true, Rsv: ws.Rsv(true, false, false), OpCode: ws.OpText}}}, "BadInput", 1002},
		{"a ping in parts", []ws.Frame{ws.NewFrame(ws.OpPing, false, nil)}, "BadInput", 1002},
		{"a long ping", []ws.Frame{ws.NewFrame(ws.OpPing, true, make([]byte, 126))}, "BadInput", 1002},
		{"an unknown code", []ws.Frame{ws.NewFrame(0x3, true, nil)}, "BadInput", 1002},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := s.open(t, "/t.silent")
			p.send(test.frames...)
			p.wantError(test.error, test.code)
			s.wantEnd(t)
		})
	}
	t.Run("not masked", func(t *testing.T) {
		p := s.open(t, "/t.silent")
		ws.WriteFrame(p.conn, ws.NewTextFrame([]byte("{}")))
		p.wantError("BadInput", 1002)
		s.wantEnd(t)
	})
	t.Run("a message in parts, a ping between", func(t *testing.T) {
		p := s.open(t, "/t.double")
		p.send(ws.NewFrame(ws.OpText, false, []byte(`{"val`)), ws.NewPingFrame([]byte("hi")), ws.NewFrame(ws.OpContinuation, false, nil), ws.NewFrame(ws.OpContinuation, true, []byte(`ue":{"n":4}}`)))
		pong, value := p.next(), p.next()
		if value.Header.OpCode == ws.OpPong {
			pong, value = value, pong
		}
		if pong.Header.OpCode != ws.OpPong || string(pong.Payload) != "hi" || string(value.Payload) != `{"value":{"n":8}}` {
			t.Errorf("got %q and %q", pong.Payload, value.Payload)
		}
	})
	t.Run("a frame byte by byte", func(t *testing.T) {
		p := s.open(t, "/t.double")
		var b bytes.Buffer
		ws.WriteFrame(&b, ws.MaskFrame(ws.NewTextFrame([]byte(`{"value":{"n":4}}`))))
		for _, c := range b.Bytes() {
			p.conn.Write([]byte{c})
		}
		p.want(`{"value":{"n":8}}`)
	})
}

func TestTheCloseOfAClientIsAnsweredWithItsCodeOrWithWhatIsWrongWithIt(t *testing.T) {
	s := serve(t, patient)
	for payload, want := range map[string]ws.StatusCode{
		"\x03\xe8": 1000, "\x03\xe9bye": 1001, "\x0b\xb8": 3000, "\x13\x87": 4999,
		"\x00\x00": 1002, "\x03\xed": 1002, "\x03\xee": 1002, "\x03\xf7": 1002, "\x07\xd0": 1002, "\xff\xff": 1002, "x": 1002,
		"\x03\xe8\xed\xa0\x80": 1007,
	} {
		p := s.open(t, "/t.silent")
		p.send(ws.NewCloseFrame([]byte(payload)))
		p.wantLast(want, false)
		s.wantEnd(t)
	}
}

func TestALargeValueOverWebSocketComesWhole(t *testing.T) {
	s := serve(t, patient)
	p := s.open(t, "/t.document")
	text := `"` + strings.Repeat("x", 1<<20-4) + `"`
	p.say(`{"value":"` + strings.ReplaceAll(text, `"`, `\"`) + `"}`)
	if f := p.next(); len(f.Payload) != len(text)+len(`{"value":}`) {
		t.Errorf("got %d bytes", len(f.Payload))
	}
}

func TestAWebSocketThatIsClosedEndsTheHandler(t *testing.T) {
	s := serve(t, patient)
	for name, leave := range map[string]func(*peer){
		"with a Close":            func(p *peer) { p.send(ws.NewCloseFrame(ws.NewCloseFrameBody(1000, "bye"))); p.wantLast(1000, false) },
		"with a code of its own":  func(p *peer) { p.send(ws.NewCloseFrame(ws.NewCloseFrameBody(4001, ""))); p.wantLast(4001, false) },
		"with half a code":        func(p *peer) { p.send(ws.NewCloseFrame([]byte{3})); p.wantLast(1002, false) },
		"with a code that is not": func(p *peer) { p.send(ws.NewCloseFrame([]byte{0, 9})); p.wantLast(1002, false) },
		"without":                 func(p *peer) { p.conn.Close() },
		"half":                    func(p *peer) { p.conn.(*net.TCPConn).CloseWrite() },
	} {
		t.Run(name, func(t *testing.T) {
			p := s.open(t, "/t.greet")
			p.want(`{"value":{"n":1}}`)
			leave(p)
			s.wantEnd(t)
			s.wantOpen(t, 0)
		})
	}
}

func TestAWebSocketThatIsNotReadIsCutOff(t *testing.T) {
	s := serve(t, quick)
	began := time.Now()
	s.open(t, "/t.flood")
	s.wantEnd(t)
	if took := time.Since(began); took < quick.Write || took > quick.Write+until/2 {
		t.Errorf("cut off after %v, the limit is %v", took, quick.Write)
	}
	s.wantOpen(t, 0)
}

func TestAWebSocketIsPingedAndCutOffWhenNothingComes(t *testing.T) {
	for limits := quick; ; limits.Write *= 2 {
		silence := 2*limits.Heartbeat + limits.Write // that is allowed
		s := serve(t, limits)
		p := s.open(t, "/t.silent")
		last, paused, err := p.answerPings(silence + silence/2)
		s.wantEnd(t) // nothing is sent any more
		took := time.Since(last)
		if err == nil && took >= silence/2 {
			if took > silence+until/2 {
				t.Errorf("cut off after %v, the limit is %v", took, silence)
			}
			return
		}
		if paused < silence/2 || silence > until/4 {
			t.Fatalf("cut off after %v: %v; the longest pause between two answers was %v, the limit is %v", took, err, paused, silence)
		}
		// Where the machine kept this side waiting for as long as that, it may have been cut off with right.
	}
}

// answerPings answers pings for so long, and returns the time of the last answer and the longest one between two.
func (p *peer) answerPings(d time.Duration) (last time.Time, paused time.Duration, err error) {
	last = time.Now()
	for began := last; time.Since(began) < d; {
		h, err := ws.ReadHeader(p.r)
		if err == nil && (h.OpCode != ws.OpPing || h.Length > 0) {
			p.tb.Fatalf("got %v", h.OpCode)
		}
		if err == nil {
			err = ws.WriteFrame(p.conn, ws.MaskFrame(ws.NewPongFrame(nil)))
		}
		now := time.Now()
		paused = max(paused, now.Sub(last))
		if err != nil {
			return last, paused, err
		}
		last = now
	}
	return last, paused, nil
}

func TestAStopEndsWebSockets(t *testing.T) {
	s := serve(t, patient)
	p := s.open(t, "/t.greet")
	p.want(`{"value":{"n":1}}`)
	stopped := make(chan error, 1)
	go func() { stopped <- s.streams.Stop(context.Background()) }()
	p.wantError("ServiceUnavailable", 1001)
	s.wantEnd(t)
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

func TestHandshakesThatAreRefused(t *testing.T) {
	s := serve(t, patient)
	good := map[string]string{"Connection": "keep-alive, Upgrade", "Upgrade": "WebSocket", "Sec-WebSocket-Version": "13",
		"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": "sabir.v1", "Origin": "http://a"}
	for _, test := range []struct {
		name, header, value string
		status              int
		error               string
	}{
		{"nothing wrong", "", "", 101, ""},
		{"no subprotocol", "Sec-WebSocket-Protocol", "", 400, "BadInput"},
		{"another subprotocol", "Sec-WebSocket-Protocol", "chat, sabir.v2", 400, "BadInput"},
		{"the subprotocol in another case", "Sec-WebSocket-Protocol", "SABIR.V1", 400, "BadInput"},
		{"an old version", "Sec-WebSocket-Version", "8", 400, "BadInput"},
		{"no key", "Sec-WebSocket-Key", "", 400, "BadInput"},
		{"another site", "Origin", "http://evil.example", 403, "CrossOrigin"},
		{"an opaque origin", "Origin", "null", 403, "CrossOrigin"},
		{"a site that may", "Origin", "https://friend.example", 101, ""},
		{"no browser", "Origin", "", 101, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var head strings.Builder
			for name, value := range good {
				if name == test.header {
					value = test.value
				}
				if value != "" {
					head.WriteString(name + ": " + value + "\r\n")
				}
			}
			c := s.dialAndSay(t, "GET /t.greet HTTP/1.1\r\nHost: a\r\n%s\r\n", head.String())
			answer, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			if test.status != 101 {
				wantProblem(t, answer, test.status, test.error)
				return
			}
			if answer.StatusCode != 101 || answer.Header.Get("Sec-WebSocket-Accept") != "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" || answer.Header.Get("X-Request-Id") != "r1" {
				t.Error(answer.Status, answer.Header)
			}
			c.Close()
			s.wantEnd(t)
		})
	}
}

func TestAHandshakeWithABodyIsRefusedSinceItsBytesWouldBeTakenForMessages(t *testing.T) {
	s := serve(t, patient)
	for _, body := range []string{"Content-Length: 3\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"} {
		c := s.dialAndSay(t, "GET /t.greet HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"+
			"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: sabir.v1\r\n%s", body)
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		wantProblem(t, answer, 400, "BadInput")
	}
}

func TestAMessageMayComeWithTheHandshake(t *testing.T) {
	s := serve(t, patient)
	var frame bytes.Buffer
	ws.WriteFrame(&frame, ws.MaskFrame(ws.NewTextFrame([]byte(`{"value":{"n":4}}`))))
	c := s.dialAndSay(t, "GET /t.double HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"+
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: sabir.v1\r\n\r\n%s", frame.String())
	r := bufio.NewReader(c)
	if _, err := http.ReadResponse(r, nil); err != nil {
		t.Fatal(err)
	}
	p := &peer{t, c, r}
	p.want(`{"value":{"n":8}}`)
}

func TestWebSocketsAreCounted(t *testing.T) {
	s := serve(t, httpstream.Limits{Open: 1})
	p := s.open(t, "/t.greet")
	_, _, _, err := (ws.Dialer{Protocols: []string{"sabir.v1"}}).Dial(t.Context(), "ws"+strings.TrimPrefix(s.web.URL, "http")+"/t.greet")
	if status, ok := err.(ws.StatusError); !ok || status != 429 {
		t.Error(err)
	}
	p.conn.Close()
	s.wantEnd(t)
}
