package stricttest

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Talk sends text, and returns the statuses of all answers, and the body of the last, when the connection has ended.
func Talk(t *testing.T, addr, text string) (statuses []int, last string) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	go func() {
		io.WriteString(c, text)
		c.(*net.TCPConn).CloseWrite()
	}()
	for r := bufio.NewReader(c); ; {
		response, err := http.ReadResponse(r, nil)
		if err != nil {
			return statuses, last
		}
		b, _ := io.ReadAll(response.Body)
		response.Body.Close()
		statuses, last = append(statuses, response.StatusCode), string(b)
	}
}

// Refused has the Heads for which a server has to end the connection, with the status of its answer.
func Refused() map[string]int {
	statuses := map[string]int{}
	for about := range Heads {
		switch want, clear := Answered[about]; {
		case about == "HTTP/2's preface":
		case !clear:
			statuses[about] = http.StatusBadRequest
		case want > 300:
			statuses[about] = want
		}
	}
	return statuses
}

const behind = "GET /behind HTTP/1.1\r\nHost: a.test\r\n\r\n"

// AllAreRefused sends each form to a server that has to refuse it, with another request behind it that it must not answer.
func AllAreRefused(t *testing.T, addr string) {
	t.Helper()
	for about, want := range Refused() {
		statuses, text := Talk(t, addr, Heads[about]+behind)
		if len(statuses) != 1 || statuses[0] != want || want == http.StatusBadRequest && !strings.Contains(text, "RFC 9112") {
			t.Errorf("%s: %q is answered with %d and %q; want %d alone, with the reason", about, Heads[about], statuses, text, want)
		}
	}
	for about, c := range Chunkings {
		if c.Good {
			continue
		}
		if statuses, _ := Talk(t, addr, c.Request+behind); len(statuses) > 2 || len(statuses) == 2 && statuses[1] != http.StatusBadRequest {
			t.Errorf("%s: %q and what is behind it are answered with %d; want the end of the connection", about, c.Request, statuses)
		}
	}
}
