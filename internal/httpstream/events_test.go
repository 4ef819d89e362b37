package httpstream_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gobwas/ws"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/httpstream"
)

type order struct {
	ID int64 `json:"id"`
}

func (s *served) emit(tb testing.TB, name string, payload any) {
	tb.Helper()
	if err := sabir.Emit(context.Background(), s.node, name, payload); err != nil {
		tb.Error(err)
	}
}

func TestEventsAsSSE(t *testing.T) {
	for _, settings := range [][]setting{nil, {http2}} {
		s := serve(t, patient, settings...)
		answer := s.ask(t, "GET", "/events?topic=orders.*", "")
		if kind := answer.Header.Get("Content-Type"); kind != sseAccept {
			t.Error(kind)
		}
		s.emit(t, "user.created", order{1}) // not asked for
		s.emit(t, "orders.a.b", order{1})   // not offered
		s.emit(t, "invoices.new", order{1}) // neither
		s.emit(t, "orders.new", order{1<<60 + 1})
		if err := sabir.Emit(t.Context(), s.node, "orders.gone", []byte{0, 255}); err != nil {
			t.Error(err)
		}
		if err := s.streams.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		text := readAll(t, answer)
		want := "event: orders.new\ndata: {\"event\":\"orders.new\",\"payload\":{\"id\":1152921504606846977},\"node\":\"n1\"}\n\n" +
			"event: orders.gone\ndata: {\"event\":\"orders.gone\",\"payload\":\"AP8=\",\"node\":\"n1\"}\n\n" +
			"event: error\ndata: {\"code\":\"Unavailable\""
		if !strings.HasPrefix(text, want) {
			t.Errorf("got %q, want %q", text, want)
		}
	}
}

func TestAnEventOverHTTPSaysHowItWasEmitted(t *testing.T) {
	s := serve(t, patient)
	p := s.open(t, "/events")
	if err := sabir.Emit(t.Context(), s.node, "orders.new", order{1}, sabir.Groups("mail", "stock")); err != nil {
		t.Error(err)
	}
	if err := sabir.Broadcast(t.Context(), s.node, "orders.new", order{2}); err != nil {
		t.Error(err)
	}
	p.want(`{"event":"orders.new","payload":{"id":1},"node":"n1","groups":["mail","stock"]}`, `{"event":"orders.new","payload":{"id":2},"node":"n1","broadcast":true}`)
}

func TestEventsOverWebSocket(t *testing.T) {
	s := serve(t, patient)
	p := s.open(t, "/events")
	s.emit(t, "user.created", order{1})
	s.emit(t, "orders.new", nil)
	p.want(`{"event":"user.created","payload":{"id":1},"node":"n1"}`, `{"event":"orders.new","payload":null,"node":"n1"}`)
	p.say(`{"value":1}`)
	p.wantError("BadInput", 1008)
	s.wantOpen(t, 0)
}

func TestTopicsThatAreRefused(t *testing.T) {
	s := serve(t, patient)
	wantProblem(t, s.ask(t, "GET", "/events?topic=orders.*&topic=secret.**", ""), 403, "EventNotOffered")
	wantProblem(t, s.ask(t, "GET", "/events?topic=o*", ""), 400, "BadName")
	wantProblem(t, s.ask(t, "GET", "/events?"+strings.Repeat("topic=orders.new&", 33), ""), 400, "BadInput")
	wantProblem(t, s.ask(t, "POST", "/events", "{}", "Content-Type", jsonBody), 405, "MethodNotAllowed")
	if answer := s.ask(t, "GET", "/events?topic=**.new&topic=user.*", ""); answer.StatusCode != 200 {
		t.Error(answer.Status)
	}
}

func TestPatternsThatAreNone(t *testing.T) {
	for _, patterns := range [][]string{nil, {""}, {"a", "b*"}} {
		if _, err := httpstream.NewEvents(patterns...); err == nil {
			t.Errorf("%q are patterns", patterns)
		}
	}
}

func TestAListenerThatDisconnectsIsRemoved(t *testing.T) {
	s := serve(t, patient)
	answer := s.ask(t, "GET", "/events", "")
	socket := s.open(t, "/events")
	if n := s.events.Listeners(); n != 2 {
		t.Errorf("%d listeners", n)
	}
	answer.Body.Close()
	socket.send(ws.NewCloseFrame(nil))
	s.wantOpen(t, 0)
	if n := s.events.Listeners(); n != 0 {
		t.Errorf("%d listeners", n)
	}
	s.emit(t, "orders.new", order{1})
}

// An emitter never waits for a listener, and one that is behind does not get later events as if nothing was missing.
func TestAListenerThatFallsBehindIsCutOff(t *testing.T) {
	s := serve(t, httpstream.Limits{Write: 250 * time.Millisecond})
	c := s.dialAndSay(t, "GET /events HTTP/1.1\r\nHost: a\r\n\r\n")
	c.SetReadBuffer(4 << 10)
	if _, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil {
		t.Fatal(err)
	}
	other := s.ask(t, "GET", "/events?topic=user.created", "")
	payload := map[string]string{"text": strings.Repeat("x", 60<<10)}
	deadline := time.Now().Add(until)
	for s.events.Listeners() == 2 {
		if time.Now().After(deadline) {
			t.Fatal("the listener is not cut off")
		}
		began := time.Now()
		s.emit(t, "orders.new", payload)
		if took := time.Since(began); took > until/4 {
			t.Errorf("the emitter waited %v", took)
		}
	}
	s.emit(t, "user.created", order{1})
	if got := nextLine(t, bufio.NewReader(other.Body)); got != "event: user.created" {
		t.Error(got)
	}
}

func TestAnEventOverTheLimitEndsItsListeners(t *testing.T) {
	s := serve(t, patient)
	answer := s.ask(t, "GET", "/events", "")
	s.emit(t, "orders.new", strings.Repeat("x", 1<<20))
	if text := readAll(t, answer); !strings.HasPrefix(text, "event: error\ndata: ") || !strings.Contains(text, "MessageTooLarge") {
		t.Errorf("%.200q", text)
	}
}

func TestSilenceOfEventsIsFilled(t *testing.T) {
	s := serve(t, quick)
	answer := s.ask(t, "GET", "/events", "")
	lines := bufio.NewReader(answer.Body)
	if got := nextLine(t, lines) + nextLine(t, lines) + nextLine(t, lines); got != "::" {
		t.Error(got)
	}
}
