package httpstream_test

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
)

const (
	jsonBody   = "application/json"
	linesBody  = "application/x-ndjson"
	sseAccept  = "text/event-stream"
	bytesBody  = "application/octet-stream"
	endOfSSE   = "event: end\ndata: {}\n\n"
	ownProblem = `{"code":"FailedPrecondition","message":"not enough in stock","name":"OutOfStock","retryable":false,"status":409}`
)

func TestWireForms(t *testing.T) {
	tests := []struct {
		name, path, body, kind, accept string
		wantKind, want                 string
	}{
		{"NDJSON without a word", "/t.count", `{"n":3}`, jsonBody, "", linesBody, "{\"n\":0}\n{\"n\":1}\n{\"n\":2}\n"},
		{"NDJSON where anything is taken", "/t.count", `{"n":1}`, jsonBody, "*/*", linesBody, "{\"n\":0}\n"},
		{"NDJSON where nothing there is is taken", "/t.count", `{"n":1}`, jsonBody, "text/html", linesBody, "{\"n\":0}\n"},
		{"NDJSON of no values", "/t.count", `{"n":0}`, jsonBody, linesBody, linesBody, ""},
		{"SSE", "/t.count", `{"n":2}`, jsonBody, sseAccept, sseAccept, "id: 1\ndata: {\"n\":0}\n\nid: 2\ndata: {\"n\":1}\n\n" + endOfSSE},
		{"SSE of no values", "/t.count", `{"n":0}`, jsonBody, sseAccept, sseAccept, endOfSSE},
		{"SSE before JSON where both are taken", "/t.count", `{"n":1}`, jsonBody, "application/json, text/event-stream", sseAccept, "id: 1\ndata: {\"n\":0}\n\n" + endOfSSE},
		{"JSON where it is liked better", "/t.count", `{"n":1}`, jsonBody, "application/json, text/event-stream;q=0.5", jsonBody, `{"n":0}`},
		{"JSON of one value", "/t.count", `{"n":1}`, jsonBody, "application/json", jsonBody, `{"n":0}`},
		{"input bound from path and query", "/t.count?in=%7B%22n%22:1%7D", "", "", "", linesBody, "{\"n\":0}\n"},
		{"many inputs", "/t.double", "{\"n\":1}\n\n  {\"n\":2}\r\n{\"n\":3}", linesBody, "", linesBody, "{\"n\":2}\n{\"n\":4}\n{\"n\":6}\n"},
		{"many inputs, one output", "/t.sum", "{\"n\":1}\n{\"n\":2}\n", linesBody, jsonBody, jsonBody, `{"n":3}`},
		{"many inputs, SSE", "/t.double", "{\"n\":1}\n", linesBody, sseAccept, sseAccept, "id: 1\ndata: {\"n\":2}\n\n" + endOfSSE},
		{"no input", "/t.sum", "", "", "", linesBody, "{\"n\":0}\n"},
		{"a download", "/t.download", `{"n":5}`, jsonBody, "", bytesBody, "ddddd"},
		{"an empty download", "/t.download", `{"n":0}`, jsonBody, "*/*", bytesBody, ""},
		{"bytes as JSON", "/t.download", `{"n":2}`, jsonBody, jsonBody, jsonBody, `"ZGQ="`},
		{"bytes as NDJSON", "/t.download", `{"n":2}`, jsonBody, linesBody, linesBody, "\"ZGQ=\"\n"},
		{"bytes as SSE", "/t.download", `{"n":2}`, jsonBody, sseAccept, sseAccept, "id: 1\ndata: \"ZGQ=\"\n\n" + endOfSSE},
		{"bytes in as JSON", "/t.flip", "\"AAE=\"\n", linesBody, linesBody, linesBody, "\"//4=\"\n"},
		{"bytes in and out", "/t.flip", "\x00\x01", bytesBody, "", bytesBody, "\xff\xfe"},
		{"a text with line breaks", "/t.text", `{"n":1}`, jsonBody, sseAccept, sseAccept, "id: 1\ndata: \"é\\n\"\n\n" + endOfSSE},
		{"a handler's own document in one line", "/t.document", `"{\"a\":\r\n1\n}"`, jsonBody, sseAccept, sseAccept, "id: 1\ndata: {\"a\":1}\n\n" + endOfSSE},
	}
	for _, settings := range [][]setting{nil, {http2}} {
		s := serve(t, patient, settings...)
		for _, test := range tests {
			method := "POST"
			if test.body == "" {
				method = "GET"
			}
			answer := s.ask(t, method, test.path, test.body, "Content-Type", test.kind, "Accept", test.accept)
			text := readAll(t, answer)
			if kind := answer.Header.Get("Content-Type"); answer.StatusCode != 200 || kind != test.wantKind || text != test.want {
				t.Errorf("%s, %s: got %s, %s, %q; want %s, %q", test.name, answer.Proto, answer.Status, kind, text, test.wantKind, test.want)
			}
			if answer.Header.Get("X-Request-Id") != "r1" {
				t.Errorf("%s: the headers that were set before are lost", test.name)
			}
		}
	}
}

func TestAnErrorBeforeTheFirstValueIsAPlainAnswer(t *testing.T) {
	s := serve(t, patient)
	for _, test := range []struct {
		name, path, body, kind, accept string
		status                         int
		error                          string
	}{
		{"of the handler", "/t.failAfter", `{"n":0}`, jsonBody, "", 409, "OutOfStock"},
		{"of the handler, SSE", "/t.failAfter", `{"n":0}`, jsonBody, sseAccept, 409, "OutOfStock"},
		{"of the handler, JSON", "/t.failAfter", `{"n":0}`, jsonBody, jsonBody, 409, "OutOfStock"},
		{"of the handler, after a value that JSON cannot keep", "/t.failAfter", `{"n":1}`, jsonBody, jsonBody, 409, "OutOfStock"},
		{"of a download", "/t.breaks", `{"n":0}`, jsonBody, "", 409, "OutOfStock"},
		{"rules", "/t.count", `{"n":-1}`, jsonBody, "", 422, "ValidationFailed"},
		{"another shape", "/t.count", `{"n":"x"}`, jsonBody, "", 400, "BadInput"},
		{"no JSON", "/t.count", `{"n":`, jsonBody, "", 400, "BadInput"},
		{"a name twice", "/t.document", `{"n":1,"n":2}`, jsonBody, "", 400, "BadInput"},
		{"no UTF-8", "/t.document", "\"\xff\"", jsonBody, "", 400, "BadInput"},
		{"two values for JSON", "/t.count", `{"n":2}`, jsonBody, jsonBody, 400, "ManyValues"},
		{"a line that is no JSON", "/t.sum", "{\"n\":1}\n\n{n:1}\n", linesBody, "", 400, "BadInput"},
		{"a line that does not fit", "/t.sum", "{\"n\":1}\n[]\n", linesBody, "", 400, "BadInput"},
		{"a body of another type", "/t.count", "n=1", "application/x-www-form-urlencoded", "", 415, "UnsupportedMediaType"},
		{"a body without a type", "/t.count", "{}", "", "", 415, "UnsupportedMediaType"},
		{"a body in Latin-1", "/t.count", "{}", "application/json; charset=latin1", "", 415, "UnsupportedMediaType"},
		{"a file for an action that takes none", "/t.count", "{}", bytesBody, "", 415, "UnsupportedMediaType"},
		{"a document that is none", "/t.document", `"{a"`, jsonBody, "", 500, "BadOutput"},
		{"bytes that are no base64", "/t.flip", `"%"`, jsonBody, "", 400, "BadInput"},
		{"bytes that are no string", "/t.flip", `{}`, jsonBody, "", 400, "BadInput"},
	} {
		t.Run(test.name, func(t *testing.T) {
			wantProblem(t, s.ask(t, "POST", test.path, test.body, "Content-Type", test.kind, "Accept", test.accept), test.status, test.error)
		})
	}
}

func TestAMalformedLineIsNamedByItsNumber(t *testing.T) {
	s := serve(t, patient)
	text := wantProblem(t, s.ask(t, "POST", "/t.sum", "{\"n\":1}\n\n{n:1}\n", "Content-Type", linesBody), 400, "BadInput")
	if !strings.Contains(text, "the body's line 3: ") {
		t.Error(text)
	}
}

func TestACompressedBodyIsRefused(t *testing.T) {
	s := serve(t, patient)
	wantProblem(t, s.ask(t, "POST", "/t.count", "x", "Content-Type", jsonBody, "Content-Encoding", "gzip"), 415, "UnsupportedMediaType")
}

func TestAStreamHasNoHead(t *testing.T) {
	s := serve(t, patient)
	if answer := s.ask(t, "HEAD", "/t.silent", ""); answer.StatusCode != 405 {
		t.Error(answer.Status)
	}
}

func TestOneOutputThatIsMissingIs204(t *testing.T) {
	s := serve(t, patient)
	answer := s.ask(t, "POST", "/t.count", `{"n":0}`, "Content-Type", jsonBody, "Accept", jsonBody)
	if text := readAll(t, answer); answer.StatusCode != 204 || text != "" {
		t.Error(answer.Status, text)
	}
}

func TestAnErrorAfterTheFirstValueIsTheLastEventOfSSE(t *testing.T) {
	s := serve(t, patient)
	answer := s.ask(t, "POST", "/t.failAfter", `{"n":1}`, "Content-Type", jsonBody, "Accept", sseAccept)
	want := "id: 1\ndata: {\"n\":0}\n\nevent: error\ndata: " + ownProblem + "\n\n"
	if text := readAll(t, answer); text != want {
		t.Errorf("got %q, want %q", text, want)
	}
}

func TestAnErrorAfterTheFirstValueBreaksOffNDJSONBehindTheProblem(t *testing.T) {
	for _, settings := range [][]setting{nil, {http2}} {
		s := serve(t, patient, settings...)
		answer := s.ask(t, "POST", "/t.failAfter", `{"n":1}`, "Content-Type", jsonBody)
		text, err := io.ReadAll(answer.Body)
		if want := "{\"n\":0}\n" + ownProblem + "\n"; string(text) != want || err == nil {
			t.Errorf("%s: got %q, %v; want %q and an error", answer.Proto, text, err, want)
		}
	}
}

func TestADownloadIsBrokenOffByAnError(t *testing.T) {
	for _, settings := range [][]setting{nil, {http2}} {
		s := serve(t, patient, settings...)
		answer := s.ask(t, "POST", "/t.breaks", `{"n":7}`, "Content-Type", jsonBody)
		text, err := io.ReadAll(answer.Body)
		if len(text) != 7 || err == nil {
			t.Errorf("%s: got %d bytes, %v; want 7 and an error", answer.Proto, len(text), err)
		}
	}
}

func TestADownloadTakesNoRanges(t *testing.T) {
	s := serve(t, patient)
	answer := s.ask(t, "POST", "/t.download", `{"n":100}`, "Content-Type", jsonBody, "Range", "bytes=10-20")
	if text := readAll(t, answer); answer.StatusCode != 200 || answer.Header.Get("Accept-Ranges") != "none" || len(text) != 100 {
		t.Error(answer.Status, answer.Header, len(text))
	}
}

func TestAValueOverTheLimitEndsTheStream(t *testing.T) {
	s := serve(t, patient)
	answer := s.ask(t, "POST", "/t.text", `{"n":500000}`, "Content-Type", jsonBody)
	wantProblem(t, answer, 413, "MessageTooLarge")
}

func TestALargeValueComesWhole(t *testing.T) {
	for _, settings := range [][]setting{nil, {http2}} {
		s := serve(t, patient, settings...)
		answer := s.ask(t, "POST", "/t.text", `{"n":200000}`, "Content-Type", jsonBody)
		if text := readAll(t, answer); text != `"`+strings.Repeat(`é\n`, 200000)+"\"\n" {
			t.Errorf("%s: got %d bytes", answer.Proto, len(text))
		}
	}
}

func TestALargeInputIsRefused(t *testing.T) {
	s := serve(t, patient)
	long := `"` + strings.Repeat("x", 1<<20) + `"`
	wantProblem(t, s.ask(t, "POST", "/t.document", long, "Content-Type", jsonBody), 413, "InputTooLarge")
	wantProblem(t, s.askWith(t, "POST", "/t.document", io.MultiReader(strings.NewReader(long)), "Content-Type", jsonBody), 413, "InputTooLarge")
	wantProblem(t, s.ask(t, "POST", "/t.document", long+"\n", "Content-Type", linesBody), 413, "InputTooLarge")
	most := `"` + strings.Repeat(" ", 1<<20-2) + `"`
	if answer := s.ask(t, "POST", "/t.sum", most, "Content-Type", linesBody); answer.StatusCode != 400 {
		t.Error("an input of just the limit:", answer.Status)
	}
}

func TestTheHeadWaitsForTheFirstValueOnlyForATime(t *testing.T) {
	s := serve(t, quick)
	for _, accept := range []string{sseAccept, linesBody} {
		answer := s.ask(t, "GET", "/t.silent", "", "Accept", accept) // returns when the head is there
		if answer.StatusCode != 200 || answer.Header.Get("Content-Type") != accept {
			t.Error(answer.Status, answer.Header)
		}
		answer.Body.Close()
		s.wantEnd(t)
	}
}

func TestSilenceIsFilled(t *testing.T) {
	s := serve(t, quick)
	for accept, want := range map[string]string{sseAccept: ":\n\n:\n\n:\n\n", linesBody: "\n\n\n"} {
		answer := s.ask(t, "GET", "/t.silent", "", "Accept", accept)
		got := make([]byte, len(want))
		if _, err := io.ReadFull(answer.Body, got); err != nil || string(got) != want {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
		answer.Body.Close()
		s.wantEnd(t)
	}
}

func TestIDsGoOnBehindLastEventID(t *testing.T) {
	s := serve(t, patient)
	for last, next := range map[string]string{"41": "42", "-7": "1", "x": "1", "9223372036854775807": "1", "99999999999999999999": "1"} {
		answer := s.ask(t, "GET", "/t.metadata", "", "Accept", sseAccept, "Last-Event-ID", last)
		if text := readAll(t, answer); !strings.HasPrefix(text, "id: "+next+"\ndata: {\"last-event-id\":\""+last+"\"}\n\n") {
			t.Error(text)
		}
	}
}

func TestAnswersBeginWhileTheBodyComes(t *testing.T) {
	for _, settings := range [][]setting{nil, {http2}} {
		s := serve(t, patient, settings...)
		body, sending := io.Pipe()
		go io.WriteString(sending, "{\"n\":1}\n") // a pipe gives it when the client reads it
		answer := s.askWith(t, "POST", "/t.double", body, "Content-Type", linesBody)
		lines := bufio.NewReader(answer.Body)
		if got := nextLine(t, lines); got != `{"n":2}` {
			t.Error(got)
		}
		for i, want := range []string{`{"n":4}`, `{"n":6}`} {
			io.WriteString(sending, strings.Replace(`{"n":X}`, "X", string(rune('2'+i)), 1)+"\n")
			if got := nextLine(t, lines); got != want {
				t.Error(got)
			}
		}
		sending.Close()
		if rest, err := io.ReadAll(lines); len(rest) != 0 || err != nil {
			t.Errorf("%s: at the end %q, %v", answer.Proto, rest, err)
		}
	}
}

func TestAMalformedLineAfterTheFirstValueBreaksTheAnswerOff(t *testing.T) {
	s := serve(t, patient)
	body, sending := io.Pipe()
	go io.WriteString(sending, "{\"n\":1}\n")
	answer := s.askWith(t, "POST", "/t.double", body, "Content-Type", linesBody)
	lines := bufio.NewReader(answer.Body)
	nextLine(t, lines)
	go io.WriteString(sending, "nonsense\n")
	if got := nextLine(t, lines); !strings.Contains(got, "the body's line 2: ") {
		t.Error(got)
	}
	if _, err := lines.ReadByte(); err != io.ErrUnexpectedEOF {
		t.Errorf("the end is %v, want it broken off", err)
	}
	sending.Close()
}

// A connection on which two streams and a plain answer have been is still good, unless something was left unread.
func TestAConnectionIsUsedAgain(t *testing.T) {
	s := serve(t, patient)
	c := s.dial(t)
	answers := bufio.NewReader(c)
	for range 3 {
		io.WriteString(c, "POST /t.double HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{\"n\":1}\n\r\n0\r\n\r\n")
		answer, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		if text := readAll(t, answer); text != "{\"n\":2}\n" {
			t.Fatal(text)
		}
	}
}

// What the caller has not been read for must not be taken for its next request.
func TestAConnectionWithAnUnreadBodyCloses(t *testing.T) {
	s := serve(t, patient)
	for _, path := range []string{"/t.busy", "/t.count"} {
		c := s.dialAndSay(t, "POST %s HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{\"n\":1}\n\r\n", path)
		answers := bufio.NewReader(c)
		answer, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, answer.Body)
		io.WriteString(c, "26\r\nGET /t.sum HTTP/1.1\r\nHost: evil\r\n\r\n\r\n\r\n0\r\n\r\n")
		if rest, _ := io.ReadAll(answers); len(rest) != 0 {
			t.Errorf("%s: the connection goes on with %q", path, rest)
		}
	}
}

func TestTheNumberOfStreamsIsBounded(t *testing.T) {
	limits := quick
	limits.Open = 2
	s := serve(t, limits)
	first := s.ask(t, "GET", "/t.silent", "")
	s.ask(t, "GET", "/t.silent", "")
	refused := s.ask(t, "GET", "/t.silent", "")
	wantProblem(t, refused, 429, "TooManyStreams")
	if refused.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	first.Body.Close()
	s.wantEnd(t)
	s.wantOpen(t, 1)
	if answer := s.ask(t, "GET", "/t.silent", ""); answer.StatusCode != 200 {
		t.Error("after one has ended:", answer.Status)
	}
}

func TestTheNumberOfStreamsOfAConnectionIsBounded(t *testing.T) {
	limits := quick
	limits.PerConnection = 2
	s := serve(t, limits, http2)
	s.ask(t, "GET", "/t.silent", "")
	s.ask(t, "GET", "/t.silent", "")
	wantProblem(t, s.ask(t, "GET", "/t.silent", ""), 429, "TooManyStreams")
	other := serve(t, limits) // over HTTP/1.1 each has a connection of its own
	for range 3 {
		if answer := other.ask(t, "GET", "/t.silent", ""); answer.StatusCode != 200 {
			t.Error(answer.Status)
		}
	}
}
