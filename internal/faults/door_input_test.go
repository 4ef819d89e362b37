//go:build unix

package faults_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/mcp"
	"github.com/sabir-go/sabir/sabirtest"
	"github.com/sabir-go/sabir/trpc"
	"github.com/sabir-go/sabir/web"
	"github.com/sabir-go/sabir/webhook"
)

// doorLimit is the time that these tests wait for what must come, on a machine that has much else to do.
const doorLimit = time.Minute

// doors is a node with a door for each protocol over HTTP, and what its handlers do.
type doors struct {
	base    string
	running atomic.Int64 // handlers
	sent    atomic.Int64 // bytes of values of streams
	called  atomic.Int64 // handlers that were begun
}

// wait is a handler that works until its caller has gone.
func (d *doors) wait(ctx context.Context) error {
	d.called.Add(1)
	d.running.Add(1)
	defer d.running.Add(-1)
	<-ctx.Done()
	return ctx.Err()
}

func openDoors(t *testing.T) *doors {
	d := &doors{}
	s := sabir.NewService("held")
	sabir.Handle(s, "wait", func(ctx context.Context, _ sabir.Empty) (sabir.Empty, error) { return sabir.Empty{}, d.wait(ctx) })
	sabir.Handle(s, "echo", func(_ context.Context, in map[string]string) (map[string]string, error) {
		d.called.Add(1)
		return in, nil
	})
	sabir.HandleStream(s, "send", func(ctx context.Context, stream *sabir.Stream[sabir.Empty, string]) error {
		d.running.Add(1)
		defer d.running.Add(-1)
		for value := strings.Repeat("x", 10_000); ; d.sent.Add(10_000) {
			if err := stream.Send(value); err != nil {
				return err
			}
		}
	}, sabir.ServerStream())
	node := sabirtest.Start(t, sabir.NodeID("n1"), sabir.Serve(s), sabir.HTTP("127.0.0.1:0", web.With(web.Config{RequestTimeout: 2 * doorLimit, BodyLimit: 1 << 20}),
		mcp.At("/mcp", mcp.Config{Tools: []string{"**"}}), trpc.At("/trpc"), webhook.Receive("/hooks", webhook.Receiver{Take: func(ctx context.Context, e webhook.Event) error {
			if e.Type == "echo" {
				d.called.Add(1)
				return nil
			}
			return d.wait(ctx)
		}})))
	d.base = "http://" + node.HTTPAddr()
	return d
}

// doorCall is a request with POST: the call of held.wait, or of held.echo.
type doorCall struct {
	path, body string
	header     []string
}

// callsOf are the calls of an action by the door of each protocol.
func callsOf(action string) map[string]doorCall {
	const revision = "2026-07-28"
	tool := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"held_` + action + `","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"` + revision +
		`","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"progressToken":"p"}}}`
	return map[string]doorCall{
		"by name": {"/held/" + action, `{}`, nil},
		"MCP":     {"/mcp", tool, []string{"MCP-Protocol-Version", revision, "Mcp-Method", "tools/call", "Mcp-Name", "held_" + action, "Accept", "application/json, text/event-stream"}},
		"tRPC":    {"/trpc/held." + action, `{}`, nil},
		"webhook": {"/hooks", `{"specversion":"1.0","id":"%d","source":"/s","type":"` + action + `"}`, []string{"Content-Type", "application/cloudevents+json"}},
	}
}

var eventNumber atomic.Int64

// request makes the request of a call. Each event has an id of its own.
func (d *doors) request(ctx context.Context, t *testing.T, c doorCall) *http.Request {
	body := c.body
	if strings.Contains(body, "%d") {
		body = fmt.Sprintf(body, eventNumber.Add(1))
	}
	r, err := http.NewRequestWithContext(ctx, "POST", d.base+c.path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(c.header); i += 2 {
		r.Header.Set(c.header[i], c.header[i+1])
	}
	return r
}

// overHTTP2 is a client whose calls share one connection of HTTP/2.
func overHTTP2(t *testing.T) *http.Transport {
	transport := &http.Transport{Protocols: new(http.Protocols), MaxConnsPerHost: 1}
	transport.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// answered makes a call and returns its status.
func (d *doors) answered(t *testing.T, client http.RoundTripper, c doorCall) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), doorLimit)
	defer cancel()
	answer, err := client.RoundTrip(d.request(ctx, t, c))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode
}

// awaitDoors waits until something holds.
func awaitDoors(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(doorLimit); !holds(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("%s: not after %v", what, doorLimit)
		}
	}
}

func TestRequestsThatAreResetAtOnceLeaveNothingBehindAtAnyDoor(t *testing.T) {
	d := openDoors(t)
	echo := callsOf("echo")
	for name, call := range callsOf("wait") {
		client := overHTTP2(t)
		for range 300 {
			ctx, reset := context.WithTimeout(t.Context(), time.Millisecond)
			if answer, err := client.RoundTrip(d.request(ctx, t, call)); err == nil {
				_, _ = io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
			}
			reset()
		}
		awaitDoors(t, name+": handlers end", func() bool { return d.running.Load() == 0 })
		if status := d.answered(t, client, echo[name]); status/100 != 2 {
			t.Errorf("%s: the next call over the connection is answered %d", name, status)
		}
	}
}

func TestACallerThatGoesEndsTheHandlerAtAnyDoor(t *testing.T) {
	d := openDoors(t)
	for name, call := range callsOf("wait") {
		ctx, leave := context.WithCancel(t.Context())
		client, over := &http.Transport{}, make(chan struct{})
		go func() {
			defer close(over)
			if answer, err := client.RoundTrip(d.request(ctx, t, call)); err == nil {
				_, _ = io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
			}
		}()
		awaitDoors(t, name+": the handler runs", func() bool { return d.running.Load() == 1 })
		leave()
		awaitDoors(t, name+": the handler ends", func() bool { return d.running.Load() == 0 })
		<-over
		client.CloseIdleConnections()
	}
}

// A body is taken as it is, and so what it would be when it is unpacked counts for nothing. The data of an event is never that of another form.
func TestCompressedBodiesAreRefusedAtEachDoor(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	if _, err := z.Write(make([]byte, 32<<20)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	d := openDoors(t)
	calls := callsOf("echo")
	calls["an event in the binary form"] = doorCall{"/hooks", "", []string{"Content-Type", "image/png", "Ce-Specversion", "1.0", "Ce-Id", "1", "Ce-Source", "/s", "Ce-Type", "echo"}}
	for name, call := range calls {
		for _, encoding := range []string{"gzip", "GZIP", "br", "unknown", "gzip, gzip"} {
			c := call
			c.body = bomb.String()
			c.header = append([]string{"Content-Encoding", encoding}, call.header...)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			status := d.answered(t, http.DefaultTransport, c)
			if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 8<<20 {
				t.Errorf("%s, %s: %d bytes were taken", name, encoding, after.TotalAlloc-before.TotalAlloc)
			}
			if status != http.StatusUnsupportedMediaType {
				t.Errorf("%s, %s: %d", name, encoding, status)
			}
		}
		if d.called.Load() != 0 {
			t.Fatalf("%s: a handler was called", name)
		}
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

func TestAHeaderWithOneValueIsRefusedWhereItComesTwiceAtEachDoor(t *testing.T) {
	d := openDoors(t)
	for name, call := range callsOf("echo") {
		for _, twice := range []string{"Content-Type: application/json", "Content-Encoding: identity", "X-Request-Timeout: 1s", "Authorization: Bearer a"} {
			conn, err := net.Dial("tcp", strings.TrimPrefix(d.base, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			_ = conn.SetDeadline(time.Now().Add(doorLimit))
			r := d.request(t.Context(), t, call)
			var text bytes.Buffer
			fmt.Fprintf(&text, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n%s\r\n", call.path, r.ContentLength, twice)
			if !strings.HasPrefix(twice, "Content-Type") {
				text.WriteString(twice + "\r\n")
			}
			_ = r.Header.Write(&text)
			text.WriteString("\r\n")
			_, _ = io.Copy(&text, r.Body)
			if _, err := conn.Write(text.Bytes()); err != nil {
				t.Fatal(err)
			}
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			if answer.StatusCode != http.StatusBadRequest {
				t.Errorf("%s, %s: %s", name, twice, answer.Status)
			}
			answer.Body.Close()
			conn.Close()
		}
	}
	if d.called.Load() != 0 {
		t.Error("a handler was called")
	}
}

// A client that takes nothing of a stream is cut off after ten seconds, and until then the stream waits for it, and nobody else does. At MCP a stream ends by
// itself after a megabyte, which the sockets may take.
func TestAReaderThatTakesNothingEndsItsStreamAtTRPCAndMCP(t *testing.T) {
	for name, head := range map[string]string{
		"tRPC": "GET /trpc/held.send HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n",
		"MCP":  "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := openDoors(t)
			conn, err := net.Dial("tcp", strings.TrimPrefix(d.base, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
			if head == "" {
				var text bytes.Buffer
				r := d.request(t.Context(), t, callsOf("send")["MCP"])
				r.Host = "localhost"
				if err := r.Write(&text); err != nil {
					t.Fatal(err)
				}
				head = text.String()
			}
			if _, err := io.WriteString(conn, head); err != nil {
				t.Fatal(err)
			}
			awaitDoors(t, "the stream begins", func() bool { return d.sent.Load() > 0 })
			if status := d.answered(t, http.DefaultTransport, callsOf("echo")[name]); status != 200 {
				t.Errorf("another call: %d", status)
			}
			awaitDoors(t, "the stream ends", func() bool { return d.running.Load() == 0 })
			if sent := d.sent.Load(); sent > 32<<20 { // what the sockets of both sides hold, and a little
				t.Errorf("%d bytes were taken from the handler", sent)
			}
		})
	}
}

func TestTenThousandCallsOverOneConnectionAreAnsweredOrRefusedAtTRPCAndWebhooks(t *testing.T) {
	d := openDoors(t)
	for _, name := range []string{"tRPC", "webhook"} {
		client, call := overHTTP2(t), callsOf("echo")[name]
		if status := d.answered(t, client, call); status/100 != 2 { // makes the connection
			t.Fatalf("%s: %d", name, status)
		}
		var all sync.WaitGroup
		var taken, refused atomic.Int64
		one := func() {
			answer, err := client.RoundTrip(d.request(t.Context(), t, call))
			if err != nil {
				t.Error(err)
				return
			}
			defer answer.Body.Close()
			_, _ = io.Copy(io.Discard, answer.Body)
			switch {
			case answer.StatusCode/100 == 2:
				taken.Add(1)
			case answer.StatusCode == 429 || answer.StatusCode == 503:
				refused.Add(1)
			default:
				t.Errorf("%s: %s", name, answer.Status)
			}
		}
		for range 200 { // twice as many at once as a connection has streams
			all.Go(func() {
				for range 50 {
					one()
				}
			})
		}
		all.Wait()
		if taken.Load() == 0 || taken.Load()+refused.Load() != 10_000 {
			t.Errorf("%s: %d were answered, %d refused", name, taken.Load(), refused.Load())
		}
	}
}
