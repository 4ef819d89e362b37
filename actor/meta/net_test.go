package meta_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/meta"
)

// echo sends back what comes.
type echo struct{ conn *meta.Conn }

func (e *echo) Init(_ *actor.Process, conn *meta.Conn) error { e.conn = conn; return nil }
func (e *echo) Data(_ *actor.Process, d meta.Data) error {
	_, err := e.conn.Write(d.Bytes)
	return err
}

var echoB = actor.Define("echo", (*echo).Init, actor.OnMessage((*echo).Data))

// taps holds the channels on which the connections of the next behaviour report what happens.
type taps struct {
	began    chan actor.PID
	received chan any
	hold     chan struct{} // each Data waits for it, where it is not nil
}

// tapped is a process of a connection that reports to the test. The test's taps come by a variable, since the argument is the
// Conn.
func tappedB(taps taps) *actor.Behavior[tapped, *meta.Conn] {
	init := func(s *tapped, p *actor.Process, c *meta.Conn) error {
		s.taps, s.conn = taps, c
		taps.began <- p.PID()
		return nil
	}
	return actor.Define("tapped", init, actor.OnMessage((*tapped).Data), actor.OnMessage((*tapped).Exit))
}

type tapped struct {
	taps taps
	conn *meta.Conn
}

func (s *tapped) Data(_ *actor.Process, d meta.Data) error {
	if s.taps.hold != nil {
		<-s.taps.hold
	}
	s.taps.received <- d
	return nil
}
func (s *tapped) Exit(_ *actor.Process, e actor.Exit) error { s.taps.received <- e; return e.Reason }

func newTaps() taps {
	return taps{began: make(chan actor.PID, 100), received: make(chan any, 100_000)}
}

func listen[S any](t testing.TB, from actor.Sender, b *actor.Behavior[S, *meta.Conn], config meta.NetConfig) netip.AddrPort {
	t.Helper()
	_, server, err := meta.ListenTCP(from, ":0", b, config)
	if err != nil {
		t.Fatal(err)
	}
	return server
}

func dial(t testing.TB, server netip.AddrPort) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", server.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.(*net.TCPConn)
}

func TestEachConnectionIsAProcess(t *testing.T) {
	s := newSystem(t)
	server := listen(t, s, echoB, meta.NetConfig{})
	for _, text := range []string{"one", "two"} {
		c := dial(t, server)
		io.WriteString(c, text)
		c.CloseWrite()
		if got, err := io.ReadAll(io.LimitReader(c, 3)); err != nil || string(got) != text {
			t.Errorf("%q came back, %v", got, err)
		}
	}
}

func TestTheEndOfAConnectionComesAfterItsDataAndEndsTheProcess(t *testing.T) {
	s := newSystem(t)
	taps := newTaps()
	server := listen(t, s, tappedB(taps), meta.NetConfig{})
	o := newOwner(t, s)
	c := dial(t, server)
	pid := next(t, taps.began)
	o.watches(pid)
	sent := bytes.Repeat([]byte("0123456789"), 50_000)
	c.Write(sent)
	c.Close()
	var got []byte
	for len(got) < len(sent) {
		got = append(got, nextOf[meta.Data](t, taps.received).Bytes...)
	}
	if !bytes.Equal(got, sent) {
		t.Error("other bytes came")
	}
	if e := nextOf[actor.Exit](t, taps.received); !errors.Is(e.Reason, meta.ErrConnectionClosed) {
		t.Error(e.Reason)
	}
	if d := nextOf[actor.Down](t, o.received); !errors.Is(d.Reason, meta.ErrConnectionClosed) {
		t.Error(d.Reason)
	}
}

func TestTheConnectionEndsWithItsProcess(t *testing.T) {
	s := newSystem(t)
	taps := newTaps()
	c := dial(t, listen(t, s, tappedB(taps), meta.NetConfig{}))
	s.Kill(next(t, taps.began))
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("it can still be read")
	}
}

func TestReadingStopsWhileMessagesWait(t *testing.T) {
	s := newSystem(t)
	taps := newTaps()
	taps.hold = make(chan struct{})
	c := dial(t, listen(t, s, tappedB(taps), meta.NetConfig{Window: 4, ReadSize: 1024}))
	pid := next(t, taps.began)
	const total = 64 << 20 // more than the buffers of the operating system take
	wrote := make(chan error, 1)
	go func() {
		_, err := c.Write(make([]byte, total))
		wrote <- err
	}()
	for range 10 {
		taps.hold <- struct{}{}
		next(t, taps.received)
		if n := s.Waiting(pid); n > 4 {
			t.Fatalf("%d messages wait, of a window of 4", n)
		}
	}
	select {
	case err := <-wrote:
		t.Fatalf("all was written, %v", err)
	default:
	}
	close(taps.hold)
	c.Close()
	if err := next(t, wrote); err == nil {
		t.Error("64 MiB were read by a process that was held up")
	}
	for { // until its end
		if _, ok := next(t, taps.received).(actor.Exit); ok {
			return
		}
	}
}

func TestAListenerEndsWithItsOwnerAndAllConnectionsWithIt(t *testing.T) {
	s := newSystem(t)
	taps := newTaps()
	o := newOwner(t, s)
	var server netip.AddrPort
	o.do(func(p *actor.Process) (err error) {
		_, server, err = meta.ListenTCP(p, ":0", tappedB(taps), meta.NetConfig{})
		return err
	})
	c := dial(t, server)
	next(t, taps.began)
	s.Kill(o.pid)
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("the connection can still be read")
	}
	nextOf[actor.Exit](t, taps.received)
	for { // until the port is closed
		c, err := net.Dial("tcp", server.String())
		if err != nil {
			return
		}
		c.Close()
	}
}

func TestAListenerHasNoMoreConnectionsThanItMay(t *testing.T) {
	s := newSystem(t)
	taps := newTaps()
	server := listen(t, s, tappedB(taps), meta.NetConfig{Connections: 1})
	first := dial(t, server)
	pid := next(t, taps.began)
	second := dial(t, server) // the operating system takes it
	io.WriteString(second, "hello")
	io.WriteString(first, "hello")
	nextOf[meta.Data](t, taps.received)
	if len(taps.began) != 0 {
		t.Error("a second process has begun")
	}
	s.Kill(pid)
	next(t, taps.began)
}

func TestAConnectionThatIsIdleEnds(t *testing.T) {
	s := newSystem(t)
	taps := newTaps()
	dial(t, listen(t, s, tappedB(taps), meta.NetConfig{IdleTimeout: 1e6}))
	if e := nextOf[actor.Exit](t, taps.received); !errors.Is(e.Reason, meta.ErrConnectionClosed) {
		t.Error(e.Reason)
	}
}

func TestAClientConnectionIsAProcess(t *testing.T) {
	s := newSystem(t)
	server := listen(t, s, echoB, meta.NetConfig{})
	taps := newTaps()
	o := newOwner(t, s)
	b := actor.Define("greeter", func(g *tapped, _ *actor.Process, c *meta.Conn) error {
		g.taps = taps
		_, err := c.Write([]byte("hello"))
		return err
	}, actor.OnMessage((*tapped).Data), actor.OnMessage((*tapped).Exit))
	o.do(func(p *actor.Process) error {
		_, err := meta.DialTCP(t.Context(), p, server.String(), b, meta.NetConfig{})
		return err
	})
	if d := nextOf[meta.Data](t, taps.received); string(d.Bytes) != "hello" {
		t.Errorf("%q", d.Bytes)
	}
	s.Kill(o.pid)
	nextOf[actor.Exit](t, taps.received)
}

func TestTLS(t *testing.T) {
	web := httptest.NewUnstartedServer(nil) // for its certificate
	web.StartTLS()
	defer web.Close()
	s := newSystem(t)
	server := listen(t, s, echoB, meta.NetConfig{TLS: &tls.Config{Certificates: web.TLS.Certificates}})
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	c, err := tls.Dial("tcp", server.String(), &tls.Config{RootCAs: roots, ServerName: "example.com"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, "secret")
	got := make([]byte, 6)
	if _, err := io.ReadFull(c, got); err != nil || string(got) != "secret" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestListeningBeyondThisMachineIsRefused(t *testing.T) {
	s := newSystem(t)
	packetB := actor.Define("packets", func(*packets, *actor.Process, *meta.Socket) error { return nil }, actor.OnMessage((*packets).Packet))
	if _, _, err := meta.ListenTCP(s, "0.0.0.0:0", echoB, meta.NetConfig{}); err == nil || !strings.Contains(err.Error(), "Exposed") {
		t.Errorf("TCP: %v", err)
	}
	if _, _, err := meta.ListenUDP(s, "0.0.0.0:0", packetB, meta.NetConfig{TLS: &tls.Config{}}); err == nil || !strings.Contains(err.Error(), "Exposed") {
		t.Errorf("UDP, which has no TLS: %v", err)
	}
	if _, _, err := meta.ListenTCP(s, "0.0.0.0:0", echoB, meta.NetConfig{Exposed: true}); err != nil {
		t.Errorf("exposed: %v", err)
	}
	if _, _, err := meta.ListenTCP(s, "0.0.0.0:0", echoB, meta.NetConfig{TLS: &tls.Config{}}); err != nil {
		t.Errorf("with TLS: %v", err)
	}
}

func TestWhatSocketsRefuse(t *testing.T) {
	s := newSystem(t)
	for name, config := range map[string]meta.NetConfig{"no connections": {Connections: -1}, "no window": {Window: -1}, "empty reads": {ReadSize: -1}, "no time to write": {WriteTimeout: -1}, "negative idleness": {IdleTimeout: -1}} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := meta.ListenTCP(s, ":0", echoB, config); err == nil {
				t.Error("no error")
			}
		})
	}
	if _, _, err := meta.ListenTCP(s, "nonsense", echoB, meta.NetConfig{}); err == nil {
		t.Error("an address without a port: no error")
	}
}

// packets sends packets back, with their number.
type packets struct {
	socket *meta.Socket
	n      uint32
}

func (u *packets) Packet(_ *actor.Process, m meta.Packet) error {
	u.n++
	return u.socket.Send(m.From, binary.BigEndian.AppendUint32(m.Bytes, u.n))
}

func TestAUDPSocketIsAProcess(t *testing.T) {
	s := newSystem(t)
	o := newOwner(t, s)
	b := actor.Define("packets", func(u *packets, _ *actor.Process, socket *meta.Socket) error { u.socket = socket; return nil }, actor.OnMessage((*packets).Packet))
	var pid actor.PID
	var at string
	o.do(func(p *actor.Process) error {
		got, addr, err := meta.ListenUDP(p, ":0", b, meta.NetConfig{})
		pid, at = got, addr.String()
		return err
	})
	c, err := net.Dial("udp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for n := range uint32(3) {
		io.WriteString(c, "ping")
		got := make([]byte, 100)
		size, err := c.Read(got)
		if want := binary.BigEndian.AppendUint32([]byte("ping"), n+1); err != nil || !bytes.Equal(got[:size], want) {
			t.Errorf("%q came, not %q, %v", got[:size], want, err)
		}
	}
	other := newOwner(t, s)
	other.watches(pid)
	s.Kill(o.pid)
	if d := nextOf[actor.Down](t, other.received); !errors.Is(d.Reason, meta.ErrConnectionClosed) {
		t.Errorf("the socket's process ended with %v", d.Reason)
	}
}
