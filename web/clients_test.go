package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/httpaccess"
	"github.com/sabir-go/sabir/internal/signal"
	"github.com/sabir-go/sabir/web/exchange"
)

// waiting is a service whose action wait answers when it is released; entered gets a value for each call.
func waiting() (s *sabir.Service, entered chan struct{}, release chan struct{}) {
	entered, release = make(chan struct{}, 100), make(chan struct{})
	s = sabir.NewService("waiting")
	sabir.Handle(s, "wait", func(ctx context.Context, in any) (nothing, error) {
		entered <- struct{}{}
		select {
		case <-release:
		case <-ctx.Done():
		}
		return nothing{}, nil
	})
	sabir.Handle(s, "quick", func(context.Context, any) (nothing, error) { return nothing{}, nil })
	return s, entered, release
}

func limited(t *testing.T, l ClientLimits, options ...any) (node *sabir.Node, entered, release chan struct{}) {
	t.Helper()
	service, entered, release := waiting()
	http := []gateway.HTTPOption{With(Config{PerClient: l})}
	nodeOptions := []sabir.NodeOption{sabir.Serve(service)}
	for _, o := range options {
		switch o := o.(type) {
		case gateway.HTTPOption:
			http = append(http, o)
		case sabir.NodeOption:
			nodeOptions = append(nodeOptions, o)
		}
	}
	return start(t, append(nodeOptions, sabir.HTTP("127.0.0.1:0", http...))...), entered, release
}

func calling(action, body string, headers ...string) string {
	return fmt.Sprintf("POST /waiting/%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n%s", action, len(body), strings.Join(headers, ""), body)
}

// ways are a call by each engine.
var ways = map[string]string{"own engine": "", "net/http": "Connection: close\r\n"}

func TestAnAddressHasNoMoreRequestsOpenThanItMay(t *testing.T) {
	for way, header := range ways {
		t.Run(way, func(t *testing.T) {
			var signals atomic.Int32
			count := sabir.Middleware{Name: "count", Signal: func(kind, action, _ string) {
				if kind == signal.RateLimited && action == "waiting.quick" {
					signals.Add(1)
				}
			}}
			log := new(logBuffer)
			node, entered, release := limited(t, ClientLimits{Requests: 2}, sabir.Use(count), logTo(log))
			for range 2 {
				io.WriteString(wireTo(t, node.HTTPAddr()), calling("wait", "{}", header))
				<-entered
			}
			for range 3 {
				response, body := exchangeRaw(t, node, calling("quick", "{}", header))
				if response.StatusCode != 429 || response.Header.Get("Retry-After") == "" || !strings.Contains(body, `"name":"RateLimited"`) {
					t.Errorf("%d %s %v", response.StatusCode, body, response.Header)
				}
			}
			if n := signals.Load(); n != 3 {
				t.Errorf("%d signals, want 3", n)
			}
			if n := strings.Count(log.String(), "PerClient of web.Config"); n != 1 {
				t.Errorf("%d lines in the log, want 1:\n%s", n, log)
			}
			close(release)
			eventually(t, "the address may call again", func() bool {
				response, _ := exchangeRaw(t, node, calling("quick", "{}", header))
				return response.StatusCode == 200
			})
		})
	}
}

func TestTheBodiesOfAnAddressAreBoundedTogether(t *testing.T) {
	node, entered, _ := limited(t, ClientLimits{BodyBytes: 100})
	body := `"` + strings.Repeat("x", 58) + `"`
	io.WriteString(wireTo(t, node.HTTPAddr()), calling("wait", body))
	<-entered
	if response, got := exchangeRaw(t, node, calling("quick", body)); response.StatusCode != 429 || !strings.Contains(got, "100 bytes") {
		t.Errorf("%d %s", response.StatusCode, got)
	}
	if response, got := exchangeRaw(t, node, calling("quick", `"x"`)); response.StatusCode != 200 {
		t.Errorf("%d %s", response.StatusCode, got)
	}
	const chunks = "POST /waiting/quick HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n1\r\n0\r\n\r\n"
	if response, got := exchangeRaw(t, node, chunks); response.StatusCode != 429 {
		t.Errorf("a body without a length: %d %s", response.StatusCode, got)
	}
}

func TestAStreamIsARequestUntilItEnds(t *testing.T) {
	node, _, _ := limited(t, ClientLimits{Requests: 1}, With(Config{Events: []string{"orders.*"}}))
	c := wireTo(t, node.HTTPAddr())
	io.WriteString(c, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if line, err := c.r.ReadString('\n'); err != nil || !strings.Contains(line, "200") {
		t.Fatal(line, err)
	}
	if response, body := exchangeRaw(t, node, calling("quick", "{}")); response.StatusCode != 429 {
		t.Errorf("%d %s", response.StatusCode, body)
	}
	c.Close()
	eventually(t, "the address may call again", func() bool {
		response, _ := exchangeRaw(t, node, calling("quick", "{}"))
		return response.StatusCode == 200
	})
}

func TestAnAddressHasNoMoreConnectionsThanItMay(t *testing.T) {
	node, _, _ := limited(t, ClientLimits{Connections: 2})
	first, second := wireTo(t, node.HTTPAddr()), wireTo(t, node.HTTPAddr())
	for _, c := range []*wire{first, second} {
		io.WriteString(c, calling("quick", "{}"))
		if got, err := c.next("POST"); err != nil || got.status != 200 {
			t.Fatal(got, err)
		}
	}
	third := wireTo(t, node.HTTPAddr())
	if got, err := third.next("POST"); err != nil || got.status != 429 || !strings.Contains(got.body, "connections") {
		t.Errorf("%v, %v", got, err)
	}
	first.Close()
	eventually(t, "the address may connect again", func() bool {
		c := wireTo(t, node.HTTPAddr())
		defer c.Close()
		io.WriteString(c, calling("quick", "{}", "Connection: close\r\n"))
		response, err := http.ReadResponse(bufio.NewReader(c), nil)
		return err == nil && response.StatusCode == 200
	})
}

func TestBehindATrustedProxyTheClientsAreCountedAndNotTheProxy(t *testing.T) {
	node, entered, _ := limited(t, ClientLimits{Connections: 1, Requests: 1}, With(Config{TrustProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}))
	io.WriteString(wireTo(t, node.HTTPAddr()), calling("wait", "{}", "X-Forwarded-For: 2001:db8::1\r\n"))
	<-entered
	for client, want := range map[string]int{"2001:db8::2": 429, "2001:db8:0:1::1": 200, "192.0.2.1": 200} { // the first is of the same 64 bits
		if response, body := exchangeRaw(t, node, calling("quick", "{}", "X-Forwarded-For: "+client+"\r\n")); response.StatusCode != want {
			t.Errorf("%s: %d %s, want %d", client, response.StatusCode, body, want)
		}
	}
}

func TestAHeaderOfAProxyThatIsNotTrustedChangesNothing(t *testing.T) {
	node, entered, _ := limited(t, ClientLimits{Requests: 1})
	io.WriteString(wireTo(t, node.HTTPAddr()), calling("wait", "{}", "X-Forwarded-For: 192.0.2.1\r\n"))
	<-entered
	if response, body := exchangeRaw(t, node, calling("quick", "{}", "X-Forwarded-For: 192.0.2.2\r\n")); response.StatusCode != 429 {
		t.Errorf("%d %s", response.StatusCode, body)
	}
}

func TestBoundsBelowZeroAreRefusedAtTheStart(t *testing.T) {
	_, err := newSettings(httpaccess.Config{Options: []any{option{config: Config{PerClient: ClientLimits{Requests: -1}}}}})
	if err == nil || !strings.Contains(err.Error(), "PerClient") {
		t.Error(err)
	}
}

func addressOf(i int) netip.Addr {
	var b [16]byte
	binary.BigEndian.PutUint32(b[4:], uint32(i)) // a network of 64 bits each
	b[0] = 0x20
	return netip.AddrFrom16(b)
}

// A million addresses come one after the other, and a million at once.
func TestTheMemoryForAMillionAddressesIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: run it without -short")
	}
	const million = 1_000_000
	c := newClients(ClientLimits{Requests: 1}, &exchange.Proxies{}, slog.New(slog.NewTextHandler(new(bytes.Buffer), nil)))
	before := heap()
	for i := range million {
		of, err := c.enter(addressOf(i), 0)
		if err != nil {
			t.Fatal(err)
		}
		c.leave(of, 0)
	}
	if n := len(c.open); n != 0 {
		t.Errorf("%d addresses are remembered that have nothing open", n)
	}
	entered := 0
	for i := range million {
		if _, err := c.enter(addressOf(i), 0); err == nil {
			entered++
		}
	}
	if n := len(c.open); n != maxClients || entered != maxClients+1 {
		t.Errorf("%d addresses are counted and %d entered, want %d and one more, which stands for the others", n, entered, maxClients)
	}
	if grown := heap() - before; grown > 40<<20 {
		t.Errorf("they take %d MiB", grown>>20)
	}
	runtime.KeepAlive(c)
}

func BenchmarkEnterAndLeave(b *testing.B) {
	c := newClients(ClientLimits{Requests: 1000}, &exchange.Proxies{}, slog.New(slog.DiscardHandler))
	at := netip.MustParseAddr("192.0.2.1")
	leave, _ := c.connect(at)
	defer leave()
	b.ReportAllocs()
	for b.Loop() {
		of, err := c.enter(at, 10)
		if err != nil {
			b.Fatal(err)
		}
		c.leave(of, 10)
	}
}
