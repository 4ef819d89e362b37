package wire_test

import (
	"context"
	"fmt"
	"net"
	"strings"

	"github.com/sabir-go/sabir/internal/wire"
)

// shouter serves one route: it answers in capitals.
type shouter struct{ closed chan struct{} }

func (s shouter) Route(*wire.Link, *wire.Route) wire.Target { return s }
func (s shouter) Opened(*wire.Link)                         {}
func (s shouter) Post(*wire.Link, uint8, []byte)            {}
func (s shouter) GoAway(*wire.Link)                         {}
func (s shouter) Closed(*wire.Link, error)                  { close(s.closed) }

func (s shouter) Inline() bool                { return true }
func (s shouter) ServeStream(st *wire.Stream) {}
func (s shouter) Serve(in *wire.Inbound) {
	in.Reply(append(wire.AppendRef(in.Buf(), 0), shout(in.Payload())...))
}
func shout(b []byte) string { return strings.ToUpper(string(b)) }
func link(conn net.Conn, node string, dialled bool) (*wire.Link, shouter) {
	config := wire.Config{Node: node, Cluster: "example"}
	secured, peer, err := wire.Handshake(context.Background(), conn, config, dialled, wire.ForLink)
	if err != nil {
		panic(err)
	}
	owner := shouter{make(chan struct{})}
	return wire.New(secured, peer, config, owner), owner
}

func Example() {
	here, there := net.Pipe()
	served := make(chan shouter)
	go func() {
		_, owner := link(there, "server", false)
		served <- owner
	}()
	l, owner := link(here, "client", true)

	call := l.Call(l.Declare(wire.CallRoute, "loud", "text"))
	buf := append(wire.AppendRef(call.Buf(), 0), "hello"...)
	err := call.Do(context.Background(), buf)
	fmt.Println(string(call.Reply()), err)
	call.Free()

	l.Drain(context.Background())
	<-owner.closed
	<-(<-served).closed
	// Output: HELLO <nil>
}
