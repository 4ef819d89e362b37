package httpstream_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/httpstream"
)

func TestACallerThatDisconnectsEndsTheHandler(t *testing.T) {
	for _, settings := range [][]setting{nil, {http2}} {
		s := serve(t, patient, settings...)
		for _, accept := range []string{sseAccept, linesBody} {
			answer := s.ask(t, "GET", "/t.greet", "", "Accept", accept)
			if _, err := answer.Body.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			s.wantEnd(t)
			s.wantOpen(t, 0)
		}
	}
}

func TestACallerThatDisconnectsBeforeTheHeadEndsTheHandler(t *testing.T) {
	s := serve(t, patient)
	c := s.dialAndSay(t, "GET /t.silent HTTP/1.1\r\nHost: a\r\n\r\n")
	<-s.arrived // a stream is open before its handler runs
	c.Close()
	s.wantEnd(t)
}

func TestACallerThatDisconnectsWhileItSendsEndsTheHandler(t *testing.T) {
	s := serve(t, patient)
	c := s.dialAndSay(t, "POST /t.greet HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{\"n\":1}\n\r\n")
	if _, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil {
		t.Fatal(err)
	}
	c.Close()
	s.wantEnd(t)
	s.wantOpen(t, 0)
}

func TestToCloseTheSendingHalfIsToGo(t *testing.T) {
	s := serve(t, patient)
	c := s.dialAndSay(t, "GET /t.greet HTTP/1.1\r\nHost: a\r\n\r\n")
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || answer.StatusCode != 200 {
		t.Fatal(err)
	}
	c.CloseWrite()
	s.wantEnd(t)
}

func TestACallerThatDoesNotReadIsCutOff(t *testing.T) {
	for _, settings := range [][]setting{nil, {http2}} {
		s := serve(t, quick, settings...)
		for path, accept := range map[string]string{"/t.flood": sseAccept, "/t.flood?": linesBody, "/t.floodBytes": ""} {
			began := time.Now()
			answer := s.ask(t, "GET", path, "", "Accept", accept) // and never reads the body
			s.wantEnd(t)
			if took := time.Since(began); took < quick.Write || took > quick.Write+until/2 {
				t.Errorf("%s %s: cut off after %v, the limit is %v", answer.Proto, path, took, quick.Write)
			}
			s.wantOpen(t, 0)
			answer.Body.Close()
		}
	}
}

func TestACallerThatReadsSlowlyIsNotCutOff(t *testing.T) {
	for limit := time.Second; ; limit *= 2 {
		s := serve(t, httpstream.Limits{Write: limit})
		c := s.dialAndSay(t, "GET /t.floodBytes HTTP/1.1\r\nHost: a\r\n\r\n")
		c.SetReadBuffer(4 << 10)
		paused, err := readSlowly(c, limit+limit/2)
		c.Close()
		s.wantEnd(t)
		if err == nil {
			return
		}
		if paused < limit/2 || limit > until/4 {
			t.Fatalf("cut off: %v; the longest pause between two reads was %v, the limit is %v", err, paused, limit)
		}
		// Where the machine kept the reader waiting for as long as that, it may have been cut off with right.
	}
}

// readSlowly reads for so long, a little every 5 ms, and returns the longest time between two reads.
func readSlowly(c net.Conn, d time.Duration) (paused time.Duration, err error) {
	buf := make([]byte, 256<<10)
	pace := time.NewTicker(5 * time.Millisecond)
	defer pace.Stop()
	last := time.Now()
	for began := last; time.Since(began) < d; <-pace.C {
		_, err := c.Read(buf)
		now := time.Now()
		paused = max(paused, now.Sub(last))
		if err != nil {
			return paused, err
		}
		last = now
	}
	return paused, nil
}

// What the server's own timeouts would end goes on: a stream has no length.
func TestTheServersTimeoutsAreNotForStreams(t *testing.T) {
	limits := patient
	limits.Heartbeat = quick.Heartbeat
	s := serve(t, limits, func(_ *served, w *httptest.Server) {
		w.Config.ReadTimeout, w.Config.WriteTimeout = 100*time.Millisecond, 100*time.Millisecond
		w.Config.ReadHeaderTimeout = until // the request's beginning comes in time for certain
	})
	answer := s.ask(t, "POST", "/t.greet", `{"n":1}`, "Content-Type", jsonBody, "Accept", sseAccept)
	got := make([]byte, len("id: 1\ndata: {\"n\":1}\n\n")+6*len(":\n\n")) // 6 heartbeats are 300 ms
	if _, err := io.ReadFull(answer.Body, got); err != nil {
		t.Fatalf("after %q: %v", got, err)
	}
	answer.Body.Close()
	s.wantEnd(t)
}

// Where path and query have the input, a body is read and dropped, so that the connection is good for the next request.
func TestABodyBesidesABoundInputCountsForNothing(t *testing.T) {
	s := serve(t, patient)
	c := s.dial(t)
	answers := bufio.NewReader(c)
	for range 2 {
		io.WriteString(c, "POST /t.sum?in=%7B%22n%22:4%7D HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 3\r\n\r\nxyz")
		answer, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		if text := readAll(t, answer); text != "{\"n\":4}\n" {
			t.Fatal(text)
		}
	}
	half := serve(t, quick).dial(t)
	io.WriteString(half, "POST /t.sum?in=%7B%22n%22:4%7D HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 3\r\n\r\nxy")
	answer, err := http.ReadResponse(bufio.NewReader(half), nil)
	if err != nil {
		t.Fatal(err)
	}
	wantProblem(t, answer, 400, "BadInput")
}

func TestAStopEndsLiveStreams(t *testing.T) {
	for _, settings := range [][]setting{nil, {http2}} {
		for accept, want := range map[string]string{
			sseAccept: "id: 1\ndata: {\"n\":1}\n\nevent: error\ndata: {\"code\":\"Unavailable\"",
			linesBody: "{\"n\":1}\n{\"code\":\"Unavailable\"",
		} {
			s := serve(t, patient, settings...)
			answer := s.ask(t, "GET", "/t.greet", "", "Accept", accept)
			if err := s.streams.Stop(t.Context()); err != nil {
				t.Error(err)
			}
			s.wantEnd(t)
			text, err := io.ReadAll(answer.Body)
			if got := string(text); !strings.HasPrefix(got, want) || !strings.Contains(got, `"retryable":true`) || (err != nil) != (accept == linesBody) {
				t.Errorf("%s: got %q, %v", answer.Proto, text, err)
			}
			wantProblem(t, s.ask(t, "GET", "/t.greet", ""), 503, "ServiceUnavailable")
		}
	}
}

func TestAStopBeforeTheFirstValueIsAPlainAnswer(t *testing.T) {
	s := serve(t, patient)
	c := s.dialAndSay(t, "GET /t.silent HTTP/1.1\r\nHost: a\r\n\r\n")
	<-s.arrived // a stream is open before its handler runs
	if err := s.streams.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	wantProblem(t, answer, 503, "ServiceUnavailable")
	s.wantEnd(t)
}

func TestAStopLetsTransfersFinish(t *testing.T) {
	s := serve(t, patient)
	body, sending := io.Pipe()
	go io.WriteString(sending, "half")
	stopped := make(chan error, 1)
	go func() {
		<-s.arrived
		go func() { stopped <- s.streams.Stop(context.Background()) }()
		for s.ask(t, "GET", "/t.sum", "").StatusCode != 503 { // until the stop has begun
		}
		io.WriteString(sending, " and half")
		sending.Close()
	}()
	answer := s.askWith(t, "POST", "/t.upload", body, "Content-Type", bytesBody, "Accept", jsonBody)
	if text := readAll(t, answer); !strings.Contains(text, `"size":13`) {
		t.Error(text)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

func TestAStopCutsOffTransfersWhenItsTimeIsUp(t *testing.T) {
	s := serve(t, patient)
	answer := s.ask(t, "GET", "/t.floodBytes", "")
	go io.Copy(io.Discard, answer.Body)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := s.streams.Stop(ctx)
	if err == nil || !strings.Contains(err.Error(), "1 streams were cut off") {
		t.Error(err)
	}
	s.wantEnd(t)
}
