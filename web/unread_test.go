package web

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	"github.com/gobwas/ws"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/httpaccess"
	"github.com/sabir-go/sabir/internal/httpstream"
)

// untaken is a service with streams whose handlers take nothing of what comes.
func untaken(arrived, ended, release chan struct{}) *sabir.Service {
	s := sabir.NewService("unread")
	waits := func(ctx context.Context) error {
		arrived <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return ctx.Err()
	}
	sabir.HandleStream(s, "file", func(ctx context.Context, _ *sabir.Stream[[]byte, int]) error { return waits(ctx) })
	sabir.HandleStream(s, "values", func(ctx context.Context, _ *sabir.Stream[string, int]) error { return waits(ctx) })
	sabir.HandleStream(s, "deaf", func(_ context.Context, stream *sabir.Stream[[]byte, int]) error {
		arrived <- struct{}{}
		<-release // even if its context has ended
		runtime.KeepAlive(stream)
		ended <- struct{}{}
		return nil
	})
	return s
}

// withHeartbeat is sabir.HTTP on a free port whose streams soon look whether their callers are still there.
func withHeartbeat(options ...gateway.HTTPOption) sabir.NodeOption {
	return withStreams(httpstream.Limits{Heartbeat: 500 * time.Millisecond}, options...)
}

// withStreams is sabir.HTTP on a free port whose streams have the limits.
func withStreams(limits httpstream.Limits, options ...gateway.HTTPOption) sabir.NodeOption {
	return sabir.WithGateway(func(n *sabir.Node) (gateway.Gateway, error) {
		config := httpaccess.Config{Addr: ":0"}
		for _, o := range options {
			o(&config)
		}
		f, err := newServer(n, config)
		if err == nil {
			f.streams = httpstream.New(n, limits)
		}
		return f, err
	})
}

// callers is the number of callers that send at once.
const callers = 40

// sendUntilFull sends a head and then as much of a body as the other end takes.
func sendUntilFull(t *testing.T, conn net.Conn, head string, part []byte) {
	t.Helper()
	if _, err := io.WriteString(conn, head); err != nil {
		t.Error(err)
	}
	full := time.Now()
	for time.Since(full) < waitLimit {
		conn.SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
		if _, err := conn.Write(part); err != nil {
			return
		}
	}
	t.Error("the node takes all that comes")
}

func chunkOf(size int) []byte {
	return fmt.Appendf(nil, "%x\r\n%s\r\n", size, make([]byte, size))
}

func TestCallersWhoLeaveWhileTheHandlerReadsNothingLeaveNothingBehind(t *testing.T) {
	brokers.Long(t)
	certificates := httptest.NewUnstartedServer(nil)
	certificates.StartTLS()
	defer certificates.Close()
	plain := func(addr string) (net.Conn, error) { return net.Dial("tcp", addr) }
	line := fmt.Appendf(nil, "%x\r\n\"%s\"\n\r\n", 10_003, filled(10_000))
	for _, test := range []struct {
		name string
		dial func(addr string) (net.Conn, error)
		tls  bool
		head string
		part []byte
	}{
		{"an upload", plain, false, "POST /unread/file HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\n\r\n", chunkOf(100_000)},
		{"an upload for one answer", plain, false, "POST /unread/file HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\nAccept: application/json\r\nContent-Length: 900000000\r\n\r\n", filled(100_000)},
		{"an upload over TLS", func(addr string) (net.Conn, error) {
			return tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true})
		}, true,
			"POST /unread/file HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\n\r\n", chunkOf(100_000)},
		{"lines", plain, false, "POST /unread/values HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n", line},
		{"a WebSocket", func(addr string) (net.Conn, error) {
			conn, _, _, err := ws.Dialer{Protocols: []string{"sabir.v1"}}.Dial(context.Background(), "ws://"+addr+"/unread/values")
			return conn, err
		}, false, "", socketValue()},
	} {
		t.Run(test.name, func(t *testing.T) {
			arrived, ended := make(chan struct{}, callers), make(chan struct{}, callers)
			options := []gateway.HTTPOption{}
			if test.tls {
				options = append(options, gateway.TLS(&tls.Config{Certificates: certificates.TLS.Certificates}))
			}
			node := start(t, sabir.Serve(untaken(arrived, ended, nil)), withHeartbeat(options...))
			before := runtime.NumGoroutine()
			cut(t, node, test.dial, test.head, test.part, arrived)
			for range callers {
				within(t, ended, "a handler learns that its caller has gone")
			}
			eventually(t, "the goroutines end", func() bool { return runtime.NumGoroutine() <= before+5 })
		})
	}
}

// cut has many callers send until nothing more is taken, and then cuts their connections.
func cut(t *testing.T, node *sabir.Node, dial func(addr string) (net.Conn, error), head string, part []byte, arrived chan struct{}) {
	t.Helper()
	full := make(chan net.Conn)
	for range callers {
		go func() {
			conn, err := dial(node.HTTPAddr())
			if err != nil {
				t.Error(err)
				full <- nil
				return
			}
			sendUntilFull(t, conn, head, part)
			full <- conn
		}()
	}
	var conns []net.Conn
	for range callers {
		if conn := <-full; conn != nil {
			conns = append(conns, conn)
		}
		within(t, arrived, "a handler begins")
	}
	for _, conn := range conns {
		if over, ok := conn.(*tls.Conn); ok {
			conn = over.NetConn() // that of TLS would first try for 5 seconds to send that it closes
		}
		conn.Close()
	}
}

func TestAHandlerThatIgnoresTheEndOfItsContextKeepsNothingOfWhatCame(t *testing.T) {
	brokers.Long(t)
	arrived, ended, release := make(chan struct{}, callers), make(chan struct{}, callers), make(chan struct{})
	node := start(t, sabir.Serve(untaken(arrived, ended, release)), withHeartbeat())
	goroutines, memory := runtime.NumGoroutine(), inUse()
	cut(t, node, func(addr string) (net.Conn, error) { return net.Dial("tcp", addr) },
		"POST /unread/deaf HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\n\r\n", chunkOf(100_000), arrived)
	eventually(t, "nothing but the handlers is left", func() bool { return runtime.NumGoroutine() <= goroutines+callers+5 })
	eventually(t, "the memory is free", func() bool { return inUse() < memory+callers*50_000 })
	close(release)
	for range callers {
		within(t, ended, "a handler ends")
	}
}

func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func within(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(waitLimit):
		t.Fatalf("not within %v: %s", waitLimit, what)
	}
}

func filled(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = 'x'
	}
	return b
}

// socketValue is a message with a large value.
func socketValue() []byte {
	frame := ws.MaskFrameInPlace(ws.NewTextFrame([]byte(`{"value":"` + string(filled(10_000)) + `"}`)))
	return ws.MustCompileFrame(frame)
}
