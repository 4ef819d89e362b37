package httpstream_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"testing"
	"time"

	"github.com/gobwas/ws"

	"github.com/sabir-go/sabir"
)

// The gateway knows no types of another node's actions: the request determines what is bytes.
func TestStreamsOfAnotherNode(t *testing.T) {
	s, owner := serveRemote(t, patient)
	for _, test := range []struct{ path, body, kind, accept, wantKind, want string }{
		{"/t.count", `{"n":2}`, jsonBody, "", linesBody, "{\"n\":0}\n{\"n\":1}\n"},
		{"/t.count", `{"n":1}`, jsonBody, sseAccept, sseAccept, "id: 1\ndata: {\"n\":0}\n\n" + endOfSSE},
		{"/t.sum", "{\"n\":1}\n{\"n\":2}\n", linesBody, jsonBody, jsonBody, `{"n":3}`},
		{"/t.download", `{"n":3}`, jsonBody, bytesBody, bytesBody, "ddd"},
		{"/t.download", `{"n":2}`, jsonBody, "", linesBody, "\"ZGQ=\"\n"},
		{"/t.flip", "\x00\x01", bytesBody, bytesBody, bytesBody, "\xff\xfe"},
	} {
		answer := s.ask(t, "POST", test.path, test.body, "Content-Type", test.kind, "Accept", test.accept)
		if text := readAll(t, answer); answer.Header.Get("Content-Type") != test.wantKind || text != test.want {
			t.Errorf("%s: got %s, %q; want %s, %q", test.path, answer.Header.Get("Content-Type"), text, test.wantKind, test.want)
		}
	}
	content := noise(1 << 20)
	wantFile(t, s.ask(t, "POST", "/t.upload", string(content), "Content-Type", bytesBody, "Accept", jsonBody), content, "", bytesBody)
	wantProblem(t, s.ask(t, "POST", "/t.failAfter", `{"n":0}`, "Content-Type", jsonBody), 409, "OutOfStock")
	wantProblem(t, s.ask(t, "POST", "/t.count", "file", "Content-Type", bytesBody), 400, "BadInput") // takes no files

	p := s.open(t, "/t.double")
	p.say(`{"value":{"n":1}}`, `{"end":true}`)
	p.want(`{"value":{"n":2}}`, `{"end":true}`)
	p.wantClose(ws.StatusNormalClosure)

	answer := s.ask(t, "GET", "/t.greet", "", "Accept", sseAccept)
	nextLine(t, bufio.NewReader(answer.Body))
	answer.Body.Close()
	s.wantEnd(t)

	answer = s.ask(t, "GET", "/events?topic=orders.new", "")
	if err := sabir.Emit(t.Context(), owner, "orders.new", order{1<<60 + 1}); err != nil {
		t.Error(err)
	}
	lines := bufio.NewReader(answer.Body)
	nextLine(t, lines)
	if got := nextLine(t, lines); got != `data: {"event":"orders.new","payload":{"id":1152921504606846977},"node":"n2"}` {
		t.Error(got)
	}
}

func TestALostNodeEndsTheStreamWithAnError(t *testing.T) {
	s, owner := serveRemote(t, patient)
	answer := s.ask(t, "GET", "/t.greet", "", "Accept", sseAccept)
	lines := bufio.NewReader(answer.Body)
	nextLine(t, lines)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	owner.Stop(ctx) // does not wait for the stream
	rest, err := io.ReadAll(lines)
	if err != nil || !bytes.Contains(rest, []byte("event: error\ndata: ")) {
		t.Errorf("%q, %v", rest, err)
	}
}
