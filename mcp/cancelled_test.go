package mcp_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/mcp"
	"github.com/sabir-go/sabir/web"
)

const (
	callWait   = `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"waiting_wait","arguments":{}}}`
	cancelCall = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`
)

// post sends a request in the background; what came of its answer is sent when that has ended.
func post(t *testing.T, url, body string, header []string) <-chan string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	came := make(chan string, 1)
	go func() {
		response, err := transport.RoundTrip(r)
		if err != nil {
			came <- err.Error()
			return
		}
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body)
		came <- fmt.Sprintf("%d %s", response.StatusCode, text)
	}()
	return came
}

func TestACallThatItsClientHasCancelledIsNotAnswered(t *testing.T) {
	for _, id := range []string{"7", `"seven"`} {
		service, began, ended := waiting()
		_, base := start(t, []*sabir.Service{service}, mcp.At("/mcp", mcp.Config{Tools: []string{"**"}}), web.With(web.Config{RequestTimeout: waitLimit}))
		session := initialize(t, base+"/mcp")
		came := post(t, base+"/mcp", fmt.Sprintf(callWait, id), session)
		<-began
		if a := send(t, "POST", base+"/mcp", fmt.Sprintf(cancelCall, id), session...); a.status != 202 {
			t.Errorf("%d %s", a.status, a.body)
		}
		<-ended
		if got := <-came; got != "200 " {
			t.Errorf("%s: %q, want a stream of events without one", id, got)
		}
		if a := send(t, "POST", base+"/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"ping"}`, id), session...); a.status != 200 || !strings.Contains(a.body, `"result":{}`) {
			t.Errorf("the next request with that id: %d %s", a.status, a.body)
		}
	}
}

func TestACallIsAnsweredThatAnotherCallerOrSessionHasCancelled(t *testing.T) {
	release := make(chan struct{})
	service, began := released(release)
	_, base := start(t, []*sabir.Service{service}, keys(), mcp.At("/mcp", mcp.Config{Tools: []string{"**"}}), web.With(web.Config{RequestTimeout: waitLimit}))
	url := base + "/mcp"
	session, other := initialize(t, url, "X-Api-Key", adaKey), initialize(t, url, "X-Api-Key", adaKey)
	came := post(t, url, fmt.Sprintf(callWait, "7"), session)
	<-began
	send(t, "POST", url, fmt.Sprintf(cancelCall, "7"), other...)
	send(t, "POST", url, fmt.Sprintf(cancelCall, "7"), append([]string{"X-Api-Key", bobKey}, session[2:]...)...)
	close(release)
	if got := <-came; !strings.Contains(got, `"id":7`) {
		t.Errorf("%q", got)
	}
}

func TestACancelledCallIsNotAnsweredAlsoWhereAnotherCameUnderItsID(t *testing.T) {
	service, began, ended := waiting()
	_, base := start(t, []*sabir.Service{service}, mcp.At("/mcp", mcp.Config{Tools: []string{"**"}}), web.With(web.Config{RequestTimeout: waitLimit}))
	session := initialize(t, base+"/mcp")
	came := post(t, base+"/mcp", fmt.Sprintf(callWait, "7"), session)
	<-began
	if a := send(t, "POST", base+"/mcp", fmt.Sprintf(callWait, "7"), session...); a.status != 400 || !strings.Contains(a.body, "duplicate in-flight request ID 7") {
		t.Errorf("the second one: %d %s", a.status, a.body)
	}
	send(t, "POST", base+"/mcp", fmt.Sprintf(cancelCall, "7"), session...)
	<-ended
	if got := <-came; got != "200 " {
		t.Errorf("%q, want a stream of events without one", got)
	}
}

// The SDK answered one of them.
func TestABatchWithTwoRequestsUnderOneIDIsRefused(t *testing.T) {
	_, base := start(t, []*sabir.Service{orders()}, mcp.At("/mcp", mcp.Config{Tools: []string{"**"}}))
	session := initialize(t, base+"/mcp")
	session[len(session)-1] = "2025-03-26" // the only revision with batches
	for ids, status := range map[[2]string]int{{"1", "1"}: 400, {`"a"`, `"a"`}: 400, {"1", "2"}: 200, {"1", `"1"`}: 200} {
		a := send(t, "POST", base+"/mcp", fmt.Sprintf(`[{"jsonrpc":"2.0","id":%s,"method":"ping"},{"jsonrpc":"2.0","id":%s,"method":"ping"}]`, ids[0], ids[1]), session...)
		if a.status != status || status == 200 && strings.Count(a.body, `"result"`) != 2 {
			t.Errorf("%q: %d %s", ids, a.status, a.body)
		}
	}
}

// released is a service like that of waiting, whose handler runs until the channel is closed.
func released(release chan struct{}) (s *sabir.Service, began chan struct{}) {
	s, began = sabir.NewService("waiting"), make(chan struct{}, 1)
	sabir.Handle(s, "wait", func(context.Context, sabir.Empty) (sabir.Empty, error) {
		began <- struct{}{}
		<-release
		return sabir.Empty{}, nil
	})
	return s, began
}

// rawStdio serves a node over pipes for the length of a test. ask writes a line, and lines has what comes.
func rawStdio(t *testing.T, node *sabir.Node, offered mcp.Config) (ask func(line string), lines *bufio.Reader) {
	t.Helper()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- mcp.ServeStdio(context.WithoutCancel(t.Context()), node, fromClient, toClient, offered)
	}()
	t.Cleanup(func() {
		toServer.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return func(line string) { fmt.Fprintln(toServer, line) }, bufio.NewReader(fromServer)
}

const initializeLine = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + withSessions + `","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`

// next is the next line that is no notification of changed tools.
func next(t *testing.T, lines *bufio.Reader) string {
	t.Helper()
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(line, "list_changed") {
			return line
		}
	}
}

func TestACallThatItsClientHasCancelledIsNotAnsweredOverStdio(t *testing.T) {
	service, began, ended := waiting()
	ask, lines := rawStdio(t, startNode(t, sabir.Serve(service, orders())), mcp.Config{Tools: []string{"**"}})
	ask(initializeLine)
	next(t, lines)
	ask(fmt.Sprintf(callWait, "7"))
	<-began
	ask(fmt.Sprintf(cancelCall, "7"))
	<-ended
	ask(fmt.Sprintf("[%s]", fmt.Sprintf(callWait, "8")+`,{"jsonrpc":"2.0","id":9,"method":"ping"}`))
	<-began
	ask(fmt.Sprintf(cancelCall, "8"))
	<-ended
	if line := next(t, lines); !strings.HasPrefix(line, `{"jsonrpc":"2.0","id":9`) {
		t.Errorf("the batch is answered with %s", line)
	}
	ask(`{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"orders_list","arguments":{}}}`)
	if line := next(t, lines); !strings.HasPrefix(line, `{"jsonrpc":"2.0","id":10`) {
		t.Errorf("the next answer is %s", line)
	}
}
