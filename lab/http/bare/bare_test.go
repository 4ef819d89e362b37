package bare

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
)

const good = `{"id":7,"name":"John","surname":"Smith","lastUpdate":"2023-07-09T20:33:06.123Z"}`

func post(body string) string {
	return "POST /updateUser HTTP/1.1\r\nHost: a\r\nCONTENT-length:  " + itoa(len(body)) + "\r\nContent-Type: application/json\r\n\r\n" + body
}

func itoa(n int) string {
	return strings.TrimLeft(string([]byte{byte('0' + n/1000%10), byte('0' + n/100%10), byte('0' + n/10%10), byte('0' + n%10)}), "0")
}

func answersOf(t *testing.T, text []byte) (statuses []int, bodies []string) {
	t.Helper()
	for r := bufio.NewReader(bytes.NewReader(text)); ; {
		if _, err := r.Peek(1); err == io.EOF {
			return statuses, bodies
		}
		answer, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatalf("%v in %q", err, text)
		}
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		statuses, bodies = append(statuses, answer.StatusCode), append(bodies, string(body))
	}
}

func TestAllWholeRequestsAreAnsweredInOrder(t *testing.T) {
	whole := "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n" + post(good) + post("{}") + "GET /x HTTP/1.1\r\n\r\n"
	out, used, err := Answer(nil, []byte(whole+"POST /updateUser HTTP/1.1\r\nContent-Length: 5\r\n\r\n{"))
	if err != nil || used != len(whole) {
		t.Fatalf("used %d of %d: %v", used, len(whole), err)
	}
	statuses, bodies := answersOf(t, out)
	if len(statuses) != 4 || statuses[0] != 200 || statuses[1] != 200 || statuses[2] != 422 || statuses[3] != 404 {
		t.Errorf("statuses %v", statuses)
	}
	if bodies[0] != `{"hello":"world"}` || bodies[1] != strings.Replace(good, "07-09", "07-10", 1) {
		t.Errorf("bodies %q", bodies)
	}
}

func TestAnAnswerWithEscapesIsWhole(t *testing.T) {
	name := strings.Repeat(`\u0001`, 64)
	out, _, err := Answer(nil, []byte(post(`{"id":7,"name":"`+name+`","surname":"`+name+`","lastUpdate":"2023-07-09T20:33:06.123Z"}`)))
	if err != nil {
		t.Fatal(err)
	}
	if _, bodies := answersOf(t, out); len(bodies) != 1 || strings.Count(bodies[0], `\u0001`) != 128 {
		t.Errorf("bodies %q", bodies)
	}
}

func TestWhatCannotBeReadClosesTheConnection(t *testing.T) {
	for name, text := range map[string]string{
		"length":    "POST /updateUser HTTP/1.1\r\nContent-Length: x\r\n\r\n",
		"negative":  "POST /updateUser HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
		"long head": strings.Repeat("a", MaxRequest+1),
		"long body": "POST /updateUser HTTP/1.1\r\nContent-Length: 99999\r\n\r\n",
	} {
		if _, _, err := Answer(nil, []byte(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
