package wire

import (
	"context"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/sabir-go/sabir/transport"
	"github.com/sabir-go/sabir/transport/mem"
)

// node is a Handler whose routes are functions, for tests.
type node struct {
	serve   map[string]func(*Inbound)
	streams map[string]func(*Stream)
	inline  bool
	post    func(*Link, uint8, []byte)

	goAway chan struct{}
	closed chan error
}

func newNode() *node {
	return &node{
		serve:   map[string]func(*Inbound){},
		streams: map[string]func(*Stream){},
		goAway:  make(chan struct{}, 1),
		closed:  make(chan error, 1),
	}
}

func (n *node) Route(_ *Link, r *Route) Target {
	return &target{inline: n.inline, serve: n.serve[r.Name], stream: n.streams[r.Name]}
}
func (n *node) Post(l *Link, topic uint8, data []byte) {
	if n.post != nil {
		n.post(l, topic, data)
	}
}
func (n *node) Opened(*Link)              {}
func (n *node) GoAway(*Link)              { n.goAway <- struct{}{} }
func (n *node) Closed(_ *Link, err error) { n.closed <- err }

type target struct {
	inline bool
	serve  func(*Inbound)
	stream func(*Stream)
}

func (t *target) Inline() bool { return t.inline }
func (t *target) Serve(in *Inbound) {
	if t.serve == nil {
		in.Fail(&Failure{Code: codeUnimplemented, Message: "no such route"})
		return
	}
	t.serve(in)
}
func (t *target) ServeStream(s *Stream) {
	if t.stream == nil {
		s.End(&Failure{Code: codeUnimplemented, Message: "no such route"})
		return
	}
	t.stream(s)
}

// echo answers with what it got.
func echo(in *Inbound) { in.Reply(append(AppendRef(in.Buf(), 0), in.Payload()...)) }

// conns is two ends of a connection over the network, or in memory.
func conns(t testing.TB, network string) (a, b net.Conn) {
	t.Helper()
	if network == "mem" {
		at := &url.URL{Scheme: "mem", Host: "here"}
		n := mem.New()
		l, err := n.Listen(t.Context(), at, transport.Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		var wg sync.WaitGroup
		wg.Go(func() { b, _ = l.Accept() })
		if a, err = n.Dial(t.Context(), at, transport.Config{Name: "there"}); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		return a, b
	}
	address := "127.0.0.1:0"
	if network == "unix" {
		address = t.TempDir() + "/s"
	}
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var wg sync.WaitGroup
	wg.Go(func() { b, _ = l.Accept() })
	if a, err = net.Dial(network, l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	return a, b
}

// peerOfTest returns the Peer that a handshake with a node of configuration c would find.
func peerOfTest(c Config, dialled bool) Peer {
	c = c.withDefaults()
	return Peer{Node: c.Node, Limits: c.Limits, Version: 3, Dialled: dialled, Purpose: ForLink, Features: []string{groupsFeature}}
}

// pair is two linked nodes.
type pair struct {
	client, server *Link
}

func newPair(t testing.TB, network string, client, server *node, change ...func(client, server *Config)) pair {
	t.Helper()
	a, b := conns(t, network)
	cc, sc := Config{Node: "client"}, Config{Node: "server"}
	for _, f := range change {
		f(&cc, &sc)
	}
	p := pair{New(a, peerOfTest(sc, true), cc, client), New(b, peerOfTest(cc, false), sc, server)}
	t.Cleanup(func() {
		p.client.Close(nil)
		p.server.Close(nil)
		<-p.client.finished
		<-p.server.finished
	})
	return p
}

// call makes a call and returns a copy of the reply.
func call(ctx context.Context, l *Link, route string, value []byte, set ...func(*Call)) ([]byte, error) {
	c := l.Call(l.Declare(CallRoute, route, "bytes"))
	defer c.Free()
	for _, f := range set {
		f(c)
	}
	if err := c.Do(ctx, append(AppendRef(c.Buf(), 0), value...)); err != nil {
		return nil, err
	}
	return append([]byte{}, c.Reply()...), nil
}
