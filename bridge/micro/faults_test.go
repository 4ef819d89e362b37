package micro_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/micro"
	"github.com/sabir-go/sabir/internal/brokers"
)

func TestCallsOfAKilledServiceEndAndOthersGoElsewhere(t *testing.T) {
	at, err := brokers.FreeAddress("tcp")
	if err != nil {
		t.Fatal(err)
	}
	first, second := startPeer(t, "v5", "-address="+at), startPeer(t, "v5")
	n := node(t, nil, micro.Config{Services: map[string]micro.Service{"lab": {Addresses: []string{first.address, second.address}, Endpoints: labEndpoints}}})
	failed := make(chan error, 1)
	go func() {
		_, err := sabir.Call[labOut](t.Context(), n, "lab.sleep", labIn{MS: 60_000}, sabir.ToNode("lab@"+first.address))
		failed <- err
	}()
	// Its server closes this connection only when the process ends, and has taken the call before.
	waitFor(t, "the call", func() bool {
		out, err := sabir.Call[labOut](t.Context(), n, "lab.add", labIn{}, sabir.ToNode("lab@"+first.address))
		return err == nil && out.Text == "lab"
	})
	first.process.Process.Kill()
	select {
	case err := <-failed:
		if e := sabir.AsError(err); e == nil || e.Name != sabir.ErrLinkLost.Name && e.Name != sabir.ErrServiceUnavailable.Name {
			t.Errorf("the call in flight ended with %v", err)
		}
	case <-time.After(waitLimit):
		t.Fatal("the call in flight did not end")
	}
	for range 20 {
		if _, err := sabir.Call[labOut](t.Context(), n, "lab.add", labIn{}); err != nil && !errors.Is(err, sabir.ErrLinkLost) {
			t.Errorf("a call after it: %v", err)
		}
	}
	waitFor(t, "the end of the node", func() bool { return len(n.Nodes()) == 2 })
	if _, err := sabir.Call[labOut](t.Context(), n, "lab.add", labIn{}); err != nil {
		t.Errorf("a call when the node has gone: %v", err)
	}
	startPeer(t, "v5", "-address="+first.address)
	waitFor(t, "the service that was started again", func() bool { return len(n.Nodes()) == 3 })
}

// raw sends text to the address and returns what comes back until the connection ends or has answered once.
func raw(t *testing.T, at, text string) (status int, h http.Header) {
	t.Helper()
	c, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(waitLimit))
	if _, err := io.WriteString(c, text); err != nil {
		return 0, nil // it was refused before it was read as a whole
	}
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, nil
	}
	response.Body.Close()
	return response.StatusCode, response.Header
}

func TestMalformedRequestsAreRefused(t *testing.T) {
	_, at := serving(t, []sabir.Servable{orders()}, micro.Config{Expose: []string{"orders.*"}})
	head := "POST / HTTP/1.1\r\nHost: x\r\nMicro-Service: orders\r\nMicro-Endpoint: Orders.Place\r\nContent-Type: application/json\r\n"
	for _, c := range []struct {
		what, text string
		status     int
		failed     string
	}{
		{"no HTTP", "hello, this is no request\r\n\r\n", 400, ""},
		{"another method", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 405, ""},
		{"a length of 1 GB", head + "Content-Length: 1000000000\r\n\r\n", 200, "MessageTooLarge"},
		{"a length that is none", head + "Content-Length: many\r\n\r\n", 400, ""},
		{"a length below 0", head + "Content-Length: -1\r\n\r\n", 400, ""},
		{"headers of 1 MB", head + "X: " + strings.Repeat("x", 1<<20) + "\r\n\r\n", 431, ""},
		{"a timeout that is none", head + "Timeout: soon\r\nContent-Length: 14\r\n\r\n{\"item\":\"tea\"}", 200, ""},
		{"a content type that nobody has", head[:strings.Index(head, "Content-Type")] + "Content-Type: text/x\r\nContent-Length: 2\r\n\r\n{}", 200, "unsupported Content-Type"},
		{"JSON that ends too early", head + "Content-Length: 1\r\n\r\n{", 200, "BadInput"},
		{"JSON that is too deep", head + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", 200_008, `{"item":`+strings.Repeat("[", 200_000)), 200, "BadInput"},
		{"an event", head + "Micro-Topic: x\r\nContent-Length: 2\r\n\r\n{}", 200, "NoEvents"},
	} {
		status, h := raw(t, at, c.text)
		if failed := h.Get("Micro-Error"); status != c.status && !(status == 0 && c.status == 431) || !strings.Contains(failed, c.failed) || (c.failed == "") != (failed == "") {
			t.Errorf("%s: %d %q", c.what, status, failed)
		}
	}
	if status, h := raw(t, at, head+"Content-Length: 14\r\n\r\n{\"item\":\"tea\"}"); status != 200 || h.Get("Micro-Error") != "" {
		t.Errorf("a good request after them: %d %v", status, h)
	}
}

func TestAFloodOfLargeRequestsIsRefused(t *testing.T) {
	_, at := serving(t, []sabir.Servable{orders()}, micro.Config{Expose: []string{"orders.*"}})
	const each = 16 << 20
	head := fmt.Sprintf("POST / HTTP/1.1\r\nHost: x\r\nMicro-Service: orders\r\nMicro-Endpoint: Orders.Place\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", each)
	body := bytes.Repeat([]byte{' '}, each-1)
	refused := make(chan string, 16)
	var sent sync.WaitGroup
	for range 9 { // each is held up by its last byte, and all together are more than may be there at once; the one that is refused may lack that alone
		c, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		sent.Go(func() {
			if _, err := io.WriteString(c, head); err == nil {
				c.Write(body) // one that is refused is not read to its end
			}
		})
		go func() {
			response, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				refused <- "TooManyCalls" // the server ended the connection, whose end overtook the answer
				return
			}
			refused <- response.Header.Get("Micro-Error")
		}()
	}
	select {
	case failed := <-refused:
		contains(t, "the refusal", failed, "TooManyCalls")
	case <-time.After(waitLimit):
		t.Error("none was refused")
	}
	sent.Wait()
}

func TestAnAddressThatOthersReachNeedsOpen(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", "[::]:0"} {
		n := sabir.NewNode(micro.Bridge(micro.Config{Listen: address, Expose: []string{"orders.*"}}))
		if err := n.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "set Open") {
			t.Errorf("%s: %v", address, err)
		}
	}
	n := sabir.NewNode(micro.Bridge(micro.Config{Open: true, Listen: "0.0.0.0:0", Expose: []string{"orders.*"}}))
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	stop(t, n)
}

func TestABridgeThatNobodyCanReachDoesNotStart(t *testing.T) {
	for _, c := range []micro.Config{
		{Expose: []string{"orders.*"}}, {Listen: "nowhere", Expose: []string{"a"}}, {Expose: []string{"a b"}, Listen: ":0"},
		{Services: map[string]micro.Service{"lab": {Addresses: []string{"nowhere"}}}}, {Services: map[string]micro.Service{"lab": {Endpoints: []string{"Add"}}}}, {Endpoints: []micro.Endpoint{{Service: "x", Name: "y", Action: "z"}}},
	} {
		n := sabir.NewNode(micro.Bridge(c))
		if err := n.Start(t.Context()); err == nil {
			t.Error("it started")
			stop(t, n)
		}
	}
}

func TestAStreamThatBreaksOffInAMessageIsNotItsEnd(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			for lines := bufio.NewScanner(conn); lines.Scan() && !strings.HasSuffix(lines.Text(), ": EOS"); { // up to what ends the client's half
			}
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n\"one\"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n\"t")
			conn.Close()
		}
	}()
	n := node(t, nil, micro.Config{Services: map[string]micro.Service{"flow": {Addresses: []string{listener.Addr().String()}, Endpoints: []string{"Flow.Count"}}}})
	got, ended := "", error(nil)
	for value, err := range sabir.CallStream[string](t.Context(), n, "flow.count", sabir.Empty{}) {
		got, ended = got+value, err
	}
	if got != "one" || !errors.Is(ended, sabir.ErrLinkLost) {
		t.Errorf("got %q, %v", got, ended)
	}
}
