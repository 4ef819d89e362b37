package http1

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/httpstrict/stricttest"
	"github.com/sabir-go/sabir/web/exchange"
)

// engines are the ways by which a request reaches its handler: the server's own engine reads what it can, or net/http all.
var engines = map[string]func(*record) Config{
	"both engines": func(r *record) Config { return Config{Handler: r.handler(), Fallback: &http.Server{Handler: r}} },
	"net/http": func(r *record) Config {
		return Config{Handler: &handler{take: func(*exchange.Exchange) bool { return false }}, Fallback: &http.Server{Handler: r}}
	},
}

func TestWhatAServerMayRefuseIsRefusedByBothEnginesAndEndsTheConnection(t *testing.T) {
	for engine, config := range engines {
		var seen record
		_, addr := serveWith(t, config(&seen))
		for about, want := range stricttest.Refused() {
			request := stricttest.Heads[about]
			for _, before := range []string{"", get("/before"), "PURGE /before HTTP/1.1\r\nHost: a.test\r\n\r\n", post("/before", "b")} {
				if about == "an empty line first" && strings.HasPrefix(before, "POST") {
					continue // RFC 9112, section 2.2
				}
				seen.seen = nil
				statuses, text := stricttest.Talk(t, addr, before+request+get("/behind"))
				first := min(len(before), 1)
				if len(statuses) != first+1 || statuses[first] != want || len(seen.seen) != first {
					t.Errorf("%s: %s: %q behind %.5q is answered with %d, and %q ran; want %d at the end, and nothing to run", engine, about, request, before, statuses, seen.seen, want)
				}
				if want == 400 && !strings.Contains(text, "RFC 9112") {
					t.Errorf("%s: %s: the answer gives no reason: %q", engine, about, text)
				}
			}
		}
	}
}

func TestWhatIsUnusualButClearIsAnsweredByBothEngines(t *testing.T) {
	for engine, config := range engines {
		var seen record
		server, addr := serveWith(t, config(&seen))
		for about, want := range stricttest.Answered {
			if want != 200 || about == "another method" { // whose answer has no body
				continue
			}
			if statuses, _ := stricttest.Talk(t, addr, get("/before")+stricttest.Heads[about]); !slices.Equal(statuses, []int{200, 200}) {
				t.Errorf("%s: %s: %q is answered with %d", engine, about, stricttest.Heads[about], statuses)
			}
		}
		if n := server.Refused(); n != 0 {
			t.Errorf("%s: %d were refused", engine, n)
		}
	}
}

func TestWhatComesBehindTheLastRequestTakesItsAnswerNotAway(t *testing.T) {
	for engine, config := range engines {
		_, addr := serveWith(t, config(new(record)))
		last := "GET /fast HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
		if statuses, _ := stricttest.Talk(t, addr, last+"hello\r\n\r\n"); !slices.Equal(statuses, []int{200}) {
			t.Errorf("%s: answered with %d", engine, statuses)
		}
	}
}

func TestRequestsThatAreRefusedAreCounted(t *testing.T) {
	server, addr := serve(t, &handler{})
	for range 3 {
		stricttest.Talk(t, addr, stricttest.Heads["CL.TE"])
	}
	if n := server.Refused(); n != 3 {
		t.Errorf("%d, want 3", n)
	}
}

func TestARefusalIsReadAlsoByAClientThatStillSends(t *testing.T) {
	_, addr := serve(t, &handler{})
	c := dial(t, addr)
	go io.WriteString(c, stricttest.Heads["a folded header"]+strings.Repeat("x", 8<<20))
	if got := c.read(); got.status != 400 || !got.close || !strings.Contains(got.body, "folded") {
		t.Errorf("%+v", got)
	}
}

func TestChunksAreReadToTheLetter(t *testing.T) {
	var seen record
	_, addr := serveWith(t, engines["both engines"](&seen))
	for about, test := range stricttest.Chunkings {
		seen.seen = nil
		stricttest.Talk(t, addr, get("/before")+test.Request+get("/behind"))
		if want := map[bool]int{true: 3, false: 1}[test.Good]; len(seen.seen) != want {
			t.Errorf("%s: %q: %q ran, want %d", about, test.Request, seen.seen, want)
		}
	}
}
