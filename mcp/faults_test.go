package mcp_test

import (
	"bufio"
	"context"
	"errors"
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
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/mcp"
	"github.com/sabir-go/sabir/web"
)

func TestAMessageOfFourMegabytesPassesWhereTheLimitIsLarger(t *testing.T) {
	_, base := start(t, []*sabir.Service{orders()}, mcp.At("/mcp", mcp.Config{Tools: []string{"**"}}), web.With(web.Config{BodyLimit: 8 << 20}))
	text := strings.Repeat("x", 4<<20)
	body, header := alone("tools/call", `"name":"orders_echo","arguments":{"input":"`+text+`"}`)
	a := send(t, "POST", base+"/mcp", body, header...)
	if a.status != 200 || strings.Contains(a.body, `"isError":true`) || strings.Count(a.body, text) != 2 { // as structured content and as text
		t.Errorf("%d %.300s", a.status, a.body)
	}
}

// A client that announces a gigabyte is refused when more has come than the limit allows, and no memory is taken for the rest.
func TestAMessageOfAGigabyteIsRefusedByItsBeginning(t *testing.T) {
	url := startOrders(t, mcp.Config{})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(waitLimit))
	go func() { // until the server has had enough of it
		fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: %d\r\n\r\n", 1<<30)
		for part := []byte(strings.Repeat(" ", 64<<10)); ; {
			if _, err := conn.Write(part); err != nil {
				return
			}
		}
	}()
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("%s", answer.Status)
	}
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 64<<20 {
		t.Errorf("%d bytes were taken", taken)
	}
	body, header := alone("tools/call", callGet)
	if a := send(t, "POST", url, body, header...); a.status != 200 {
		t.Errorf("the next request: %d %s", a.status, a.body)
	}
}

func TestADeadlineOfAMillisecondEndsTheCallOfATool(t *testing.T) {
	service := sabir.NewService("waiting")
	sabir.Handle(service, "wait", func(ctx context.Context, _ sabir.Empty) (sabir.Empty, error) {
		<-ctx.Done()
		return sabir.Empty{}, ctx.Err()
	})
	_, base := start(t, []*sabir.Service{service}, mcp.At("/mcp", mcp.Config{Tools: []string{"**"}}))
	session := initialize(t, base+"/mcp")
	body, header := alone("tools/call", `"name":"waiting_wait"`)
	for revision, request := range map[string]struct {
		body   string
		header []string
	}{
		withSessions:    {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"waiting_wait"}}`, session},
		withoutSessions: {body, header},
	} {
		a := send(t, "POST", base+"/mcp", request.body, append([]string{"X-Request-Timeout", "1ms"}, request.header...)...)
		result, _ := a.message(t)["result"].(map[string]any)
		if a.status != 200 || result["isError"] != true || !strings.Contains(a.body, `\"code\":\"DeadlineExceeded\"`) {
			t.Errorf("%s: %d %s", revision, a.status, a.body)
		}
	}
}

// In the revision without sessions the end of the connection is the cancel; it ends the handler of a stream whose values the client has asked for as
// progress, and reads no more of.
func TestAClientThatGoesInTheMiddleOfAStreamEndsItsHandler(t *testing.T) {
	service, ended := sabir.NewService("counter"), make(chan error, 1)
	sabir.HandleStream(service, "run", func(ctx context.Context, s *sabir.Stream[sabir.Empty, int]) error {
		_ = s.Send(1)
		<-ctx.Done()
		ended <- ctx.Err()
		return ctx.Err()
	}, sabir.ServerStream())
	_, base := start(t, []*sabir.Service{service}, mcp.At("/mcp", mcp.Config{Tools: []string{"**"}}))
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	body, header := alone("tools/call", `"name":"counter_run"`)
	body = strings.Replace(body, `"_meta":{`, `"_meta":{"progressToken":"p",`, 1)
	r, err := http.NewRequestWithContext(ctx, "POST", base+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	answer, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if strings.Contains(lines.Text(), `"notifications/progress"`) {
			break
		}
	}
	leave()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestTenThousandSessionsAreBounded(t *testing.T) {
	brokers.Long(t)
	const most = 100
	url := startOrders(t, mcp.Config{MaxSessions: most})
	first := initialize(t, url)
	before := runtime.NumGoroutine()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 10_000 / 8 {
				initialize(t, url)
			}
		})
	}
	all.Wait()
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	if a := send(t, "POST", url, ping, first...); a.status != 404 {
		t.Errorf("the first session: %d %s", a.status, a.body)
	}
	last := initialize(t, url)
	if a := send(t, "POST", url, ping, last...); a.status != 200 {
		t.Errorf("the last session: %d %s", a.status, a.body)
	}
	for end := time.Now().Add(waitLimit); runtime.NumGoroutine() > before+20*most; runtime.Gosched() { // the sessions that are too many are closed beside the requests
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, and %d before", runtime.NumGoroutine(), before)
		}
	}
}

func TestSessionsKeepLittleOfWhatClientsSayOfThemselves(t *testing.T) {
	url := startOrders(t, mcp.Config{})
	live := func() uint64 {
		runtime.GC()
		runtime.GC() // what pools had
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	begin := func(length int) raw {
		list := strings.Repeat(`{"a":1},`, length/8) + "1"
		return send(t, "POST", url, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"`+withSessions+`","capabilities":{"experimental":{"x":[`+list+`]}},"clientInfo":{"name":"test","version":"1"}}}`)
	}
	if a := begin(64 << 10); a.status != 413 {
		t.Errorf("a beginning of more than 64 KiB: %d %s", a.status, a.body)
	}
	begin(60 << 10)
	before := live()
	const sessions, each = 20, 200 << 10
	for range sessions {
		if a := begin(60 << 10); a.status != 200 {
			t.Fatalf("a session: %d %s", a.status, a.body)
		}
	}
	if got := live(); got > before+sessions*each {
		t.Errorf("%d bytes for each session", (got-before)/sessions)
	}
}

// Each of 10,000 calls that come over one connection of HTTP/2 is answered, or refused with a status, and other ways in go on.
func TestTenThousandCallsOfToolsOverOneConnectionAreAnsweredOrRefused(t *testing.T) {
	brokers.Long(t)
	_, base := start(t, []*sabir.Service{orders()}, mcp.At("/mcp", mcp.Config{Tools: []string{"**"}}))
	transport := &http.Transport{Protocols: new(http.Protocols), MaxConnsPerHost: 1}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	body, header := alone("tools/call", callGet)
	var all sync.WaitGroup
	var answered, refused atomic.Int64
	call := func() {
		r, err := http.NewRequestWithContext(t.Context(), "POST", base+"/mcp", strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		answer, err := transport.RoundTrip(r)
		if err != nil {
			t.Error(err)
			return
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		switch {
		case err != nil:
			t.Error(err)
		case answer.StatusCode == 200 && strings.Contains(string(text), `"structuredContent"`):
			answered.Add(1)
		case answer.StatusCode == 429 || answer.StatusCode == 503 || strings.Contains(string(text), "ResourceExhausted"):
			refused.Add(1)
		default:
			t.Errorf("%s %s", answer.Status, text)
		}
	}
	// More at once than the connection takes streams, and not all: for each that ends, the client wakes all that wait for a place, and reads no
	// answer meanwhile, so that it is cut off.
	const callers = 400
	left := make(chan struct{}, 10_000)
	for range cap(left) {
		left <- struct{}{}
	}
	close(left)
	for range callers {
		all.Go(func() {
			for range left {
				call()
			}
		})
	}
	all.Wait()
	t.Logf("%d answered, %d refused", answered.Load(), refused.Load())
	if answered.Load() == 0 || answered.Load()+refused.Load() != 10_000 {
		t.Errorf("%d were answered, %d refused", answered.Load(), refused.Load())
	}
	if a := send(t, "POST", base+"/orders/count", `["a"]`); a.status != 200 || a.body != "1" {
		t.Errorf("by name: %d %s", a.status, a.body)
	}
}
