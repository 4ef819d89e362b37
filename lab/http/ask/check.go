package ask

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// What some of the bad bodies have, for Server.Lets.
const (
	Fraction = "an id with a fraction"
	NoDate   = "a date that is none"
)

// badBodies are refused by every server that validates; those of the others refuse the first only.
var badBodies = []struct{ what, body string }{
	{"broken JSON", `{"id":1,"name":"John`},
	{"a negative id", `{"id":-1,"name":"John","surname":"Smith","lastUpdate":"2023-07-09T19:33:06.123Z"}`},
	{"an id that is a text", `{"id":"one","name":"John","surname":"Smith","lastUpdate":"2023-07-09T19:33:06.123Z"}`},
	{Fraction, `{"id":1.5,"name":"John","surname":"Smith","lastUpdate":"2023-07-09T19:33:06.123Z"}`},
	{"no surname", `{"id":1,"name":"John","lastUpdate":"2023-07-09T19:33:06.123Z"}`},
	{"an empty name", `{"id":1,"name":"","surname":"Smith","lastUpdate":"2023-07-09T19:33:06.123Z"}`},
	{"a name of 65 characters", `{"id":1,"name":"` + strings.Repeat("a", 65) + `","surname":"Smith","lastUpdate":"2023-07-09T19:33:06.123Z"}`},
	{NoDate, `{"id":1,"name":"John","surname":"Smith","lastUpdate":"yesterday"}`},
}

// checkTime bounds each request of the checks.
const checkTime = 5 * time.Second

// Check says whether a server gives the right answers: to good requests one at a time and pipelined, and to bad ones.
func (s Server) Check(ctx context.Context, address string) error {
	client := &http.Client{Timeout: checkTime, Transport: &http.Transport{DisableKeepAlives: true}}
	if err := s.checkHello(ctx, client, address); err != nil {
		return err
	}
	for id := range 3 {
		if err := s.checkGood(ctx, client, address, id); err != nil {
			return err
		}
	}
	for _, bad := range badBodies {
		if slices.Contains(s.Lets, bad.what) {
			continue
		}
		if err := s.checkBad(ctx, client, address, bad.what, bad.body); err != nil {
			return err
		}
		if s.Lax {
			break
		}
	}
	return s.checkPipelined(ctx, address)
}

// CheckAgain is the least that shows that a server is as it was: hello, one good body and one bad one.
func (s Server) CheckAgain(ctx context.Context, address string) error {
	client := &http.Client{Timeout: checkTime, Transport: &http.Transport{DisableKeepAlives: true}}
	if err := s.checkHello(ctx, client, address); err != nil {
		return err
	}
	if err := s.checkGood(ctx, client, address, 1); err != nil {
		return err
	}
	bad := badBodies[0]
	return s.checkBad(ctx, client, address, bad.what, bad.body)
}

func (s Server) checkGood(ctx context.Context, client *http.Client, address string, id int) error {
	answer, status, err := s.post(ctx, client, address, userBody(id))
	if err != nil {
		return fmt.Errorf("updateUser: %w", err)
	}
	if status != http.StatusOK {
		return fmt.Errorf("updateUser: status %d for a good body: %.200s", status, answer)
	}
	if err := checkUser(answer, id); err != nil {
		return fmt.Errorf("updateUser: %w", err)
	}
	return nil
}

func (s Server) checkBad(ctx context.Context, client *http.Client, address, what, body string) error {
	answer, status, err := s.post(ctx, client, address, body)
	if err != nil {
		return fmt.Errorf("updateUser with %s: %w", what, err)
	}
	if status < 400 {
		return fmt.Errorf("updateUser with %s: status %d, want an error: %.200s", what, status, answer)
	}
	return nil
}

func userBody(id int) string {
	return fmt.Sprintf(`{"id":%d,"name":"J\"ohn %d","surname":"Smíth","lastUpdate":"2023-12-%02dT19:33:06.123Z"}`, id, id, 29+id)
}

func (s Server) checkHello(ctx context.Context, client *http.Client, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+s.Path(Hello), nil)
	if err != nil {
		return err
	}
	answer, status, err := do(client, request)
	if err != nil {
		return fmt.Errorf("hello: %w", err)
	}
	return checkWorld(answer, status)
}

func (s Server) post(ctx context.Context, client *http.Client, address, body string) (answer []byte, status int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+s.Path(UpdateUser), strings.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	return do(client, request)
}

func do(client *http.Client, request *http.Request) (answer []byte, status int, err error) {
	response, err := client.Do(request)
	if err != nil {
		return nil, 0, err
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(response.Body, 1<<20))
	return answer, response.StatusCode, err
}

// unwrap takes an answer out of what tRPC puts around it.
func unwrap(answer []byte) []byte {
	var around struct {
		Result *struct{ Data json.RawMessage }
	}
	if json.Unmarshal(answer, &around) == nil && around.Result != nil {
		return around.Result.Data
	}
	return answer
}

// checkUser says whether an answer is the user that userBody made, its date a day later.
func checkUser(answer []byte, id int) error {
	var got struct {
		ID            int
		Name, Surname string
		LastUpdate    time.Time
	}
	if err := json.Unmarshal(unwrap(answer), &got); err != nil {
		return fmt.Errorf("the answer %.200q: %w", answer, err)
	}
	date := time.Date(2023, 12, 30+id, 19, 33, 6, 123e6, time.UTC)
	if got.ID != id || got.Name != fmt.Sprintf("J\"ohn %d", id) || got.Surname != "Smíth" || !got.LastUpdate.Equal(date) {
		return fmt.Errorf("the answer is %.200q, want that of user %d with the date %s", answer, id, date.Format(time.RFC3339Nano))
	}
	return nil
}

// checkPipelined sends three requests in one write. None of them is cut in two, since fasthttp holds answers back while a part
// of a request is waiting.
func (s Server) checkPipelined(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("pipelined: %w", err)
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return err
	}
	var text strings.Builder
	for id := range 3 {
		body := userBody(id)
		fmt.Fprintf(&text, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", s.Path(UpdateUser), address, len(body), body)
	}
	if _, err := io.WriteString(conn, text.String()); err != nil {
		return fmt.Errorf("pipelined: %w", err)
	}
	answers := bufio.NewReader(conn)
	for id := range 3 {
		response, err := http.ReadResponse(answers, nil)
		if err != nil {
			return fmt.Errorf("pipelined: answer %d: %w", id+1, err)
		}
		body, err := io.ReadAll(response.Body)
		if err = errors.Join(err, checkUser(body, id)); err != nil {
			return fmt.Errorf("pipelined: answer %d: %w", id+1, err)
		}
	}
	return nil
}

// Answer asks for hello on a connection and says whether the answer is right.
func (s Server) Answer(conn net.Conn, address string) error {
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", s.Path(Hello), address); err != nil {
		return err
	}
	answer, err := http.ReadResponse(bufio.NewReaderSize(conn, 1024), nil)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	return checkWorld(body, answer.StatusCode)
}

func checkWorld(answer []byte, status int) error {
	var doc struct{ Hello string }
	if err := json.Unmarshal(unwrap(answer), &doc); status != http.StatusOK || err != nil || doc.Hello != "world" {
		return fmt.Errorf("hello: status %d and %.200q, want 200 and {\"hello\":\"world\"}", status, answer)
	}
	return nil
}
