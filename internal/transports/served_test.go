package transports_test

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

// sockets is a transport.Listener of TCP.
type sockets struct{ net.Listener }

func (s sockets) Addr() string { return s.Listener.Addr().String() }

func serve(t *testing.T) (*transports.Served, string) {
	t.Helper()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := transports.NewServed(sockets{tcp}, "carrier://here")
	t.Cleanup(func() { served.Close() })
	return served, tcp.Addr().String()
}

// socket dials, and is both ends of that.
func socket(t *testing.T, served *transports.Served, address string) (*transports.Socket, net.Conn) {
	t.Helper()
	far, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { far.Close() })
	near, err := served.Sockets().Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { near.Close() })
	return near.(*transports.Socket), far
}

func ended(t *testing.T, conn net.Conn) {
	t.Helper()
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is open")
	}
}

func TestWhatAServerDeliversIsAccepted(t *testing.T) {
	served, address := serve(t)
	near, _ := socket(t, served, address)
	if !served.Deliver(near, near) {
		t.Fatal("it was not taken")
	}
	if conn, err := served.Accept(); err != nil || conn != near {
		t.Errorf("accepted %v, %v", conn, err)
	}
}

func TestDeliveredConnectionsOutliveTheListenerAndOthersDoNot(t *testing.T) {
	served, address := serve(t)
	delivered, far := socket(t, served, address)
	_, strange := socket(t, served, address)
	served.Deliver(delivered, delivered)
	if _, err := served.Accept(); err != nil {
		t.Fatal(err)
	}
	if err := served.Close(); err != nil {
		t.Error(err)
	}
	ended(t, strange)
	go delivered.Write([]byte("x"))
	if _, err := far.Read(make([]byte, 1)); err != nil {
		t.Errorf("the delivered one has ended: %v", err)
	}
}

func TestConnectionsThatWereNotAcceptedEndWithTheListener(t *testing.T) {
	served, address := serve(t)
	near, far := socket(t, served, address)
	served.Deliver(near, near)
	served.Close()
	ended(t, far)
	if served.Deliver(near, near) {
		t.Error("a closed listener took a connection")
	}
	if _, err := served.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accept says %v", err)
	}
	if err := served.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("to close again says %v", err)
	}
}

func TestOnly128ConnectionsWaitForAccept(t *testing.T) {
	served, address := serve(t)
	near, _ := socket(t, served, address)
	taken := 0
	for served.Deliver(near, near) {
		taken++
	}
	if taken != 128 {
		t.Errorf("%d were taken", taken)
	}
}

func TestOnly1024SocketsMayBeSilent(t *testing.T) {
	served, address := serve(t)
	var last *transports.Socket
	for range 1024 {
		last, _ = socket(t, served, address)
	}
	accepted := make(chan net.Conn, 1)
	go func() {
		conn, _ := served.Sockets().Accept()
		accepted <- conn
	}()
	tooMany, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer tooMany.Close()
	ended(t, tooMany)
	last.Close() // which makes space for one
	another, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer another.Close()
	conn := <-accepted
	defer conn.Close()
	go conn.Write([]byte("x"))
	if _, err := io.ReadFull(another, make([]byte, 1)); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

func TestASocketSaysWhenItIsClosed(t *testing.T) {
	served, address := serve(t)
	for name, end := range map[string]func(*transports.Socket){
		"Close": func(s *transports.Socket) { s.Close() },
		"Abort": func(s *transports.Socket) { transports.Abort(s) },
	} {
		near, far := socket(t, served, address)
		select {
		case <-near.Gone():
			t.Errorf("%s: gone before", name)
		default:
		}
		end(near)
		<-near.Gone()
		ended(t, far)
	}
}

// full is a listener of a process that has no file left for a connection.
type full struct{ transport.Listener }

func (full) Accept() (net.Conn, error) {
	return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
}

func TestServedTellsWhoAcceptsThatASocketWasNotAccepted(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := transports.NewServed(full{sockets{tcp}}, "carrier://here")
	defer served.Close()
	for range 3 { // as a server does, which says nothing
		if _, err := served.Sockets().Accept(); !errors.Is(err, syscall.EMFILE) {
			t.Fatal(err)
		}
	}
	if _, err := served.Accept(); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("%v, want the error of the socket", err)
	}
}
