package mesh

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/sabir-go/sabir/internal/joining"
	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/seal"
	_ "github.com/sabir-go/sabir/transport/tcp"
)

// nameServer answers for the names that a test gives it. It is the resolver of the process until the test ends.
type nameServer struct {
	socket net.PacketConn

	mu    sync.Mutex
	names map[string][]string // IPv4 addresses
}

// nameServerAddress has the host and port of the name server: that of a test's own server, or "" for the machine's.
var nameServerAddress atomic.Value

// The resolver is replaced before any goroutine runs: one of a test before may still be dialling.
func init() {
	nameServerAddress.Store("")
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		if own := nameServerAddress.Load().(string); own != "" {
			network, address = "udp", own
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}}
}

func newNameServer(t *testing.T) *nameServer {
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &nameServer{socket: socket, names: make(map[string][]string)}
	nameServerAddress.Store(socket.LocalAddr().String())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.serve()
	}()
	t.Cleanup(func() {
		socket.Close()
		<-ended
		nameServerAddress.Store("")
	})
	return s
}

func (s *nameServer) set(name string, ips ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names[name+"."] = ips
}

func (s *nameServer) serve() {
	buf := make([]byte, 512)
	for {
		n, from, err := s.socket.ReadFrom(buf)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
			continue
		}
		m.Response, m.Additionals = true, nil
		q := m.Questions[0]
		s.mu.Lock()
		ips, known := s.names[q.Name.String()]
		s.mu.Unlock()
		if !known {
			m.RCode = dnsmessage.RCodeNameError
		}
		if q.Type == dnsmessage.TypeA {
			for _, ip := range ips {
				m.Answers = append(m.Answers, dnsmessage.Resource{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
					Body:   &dnsmessage.AResource{A: [4]byte(net.ParseIP(ip).To4())}})
			}
		}
		if answer, err := m.Pack(); err == nil {
			s.socket.WriteTo(answer, from)
		}
	}
}

// freePort is a port that is free on all of the addresses.
func freePort(t *testing.T, ips ...string) int {
	t.Helper()
	for range 100 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port, free := l.Addr().(*net.TCPAddr).Port, true
		l.Close()
		for _, ip := range ips {
			l, err := net.Listen("tcp", fmt.Sprintf("%s:%d", ip, port))
			if free = free && err == nil; err == nil {
				l.Close()
			}
		}
		if free {
			return port
		}
	}
	t.Skip("the machine has no loopback addresses but 127.0.0.1")
	return 0
}

func startAt(t *testing.T, ctx context.Context, id, address string, config joining.Config) *Mesh {
	t.Helper()
	m := newAt(t, id, address, config)
	if err := errors.Join(m.Listen(ctx), m.Enter(ctx)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, m) })
	return m
}

func newAt(t *testing.T, id, address string, config joining.Config) *Mesh {
	t.Helper()
	config.Cluster, config.Connections = "default", 1
	m, err := New(&host{}, Config{Node: id, Info: Info{Instance: instances.Add(1)}, Log: slog.Default(), Address: address, Config: config})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func linked(m *Mesh, others ...string) func() bool {
	return func() bool {
		var ids []string
		for id := range m.Peers() {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		return slices.Equal(ids, others)
	}
}

func TestNodesWhoseSeedIsOneNameForAllFindEachOther(t *testing.T) {
	ways := map[string]func(name string) joining.Config{
		"as a seed":   func(name string) joining.Config { return joining.Config{Seeds: []string{name}} },
		"as a member": func(name string) joining.Config { return joining.Config{Members: []string{name}} },
	}
	for way, configOf := range ways {
		t.Run(way, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			ips := []string{"127.0.0.2", "127.0.0.3", "127.0.0.4"}
			names, port := newNameServer(t), freePort(t, ips...)
			names.set("cluster.test", ips...)
			var nodes []*Mesh
			for i, ip := range ips {
				nodes = append(nodes, startAt(t, ctx, string(rune('a'+i)), fmt.Sprintf("tcp://%s:%d", ip, port),
					configOf(fmt.Sprintf("tcp://cluster.test:%d", port))))
			}
			await(t, ctx, "a linked with b and c", linked(nodes[0], "b", "c"))
			await(t, ctx, "b linked with a and c", linked(nodes[1], "a", "c"))
			await(t, ctx, "c linked with a and b", linked(nodes[2], "a", "b"))
		})
	}
}

func TestANameIsLookedUpAgainUntilOthersCome(t *testing.T) {
	for way, configOf := range map[string]func(name string) joining.Config{
		"of a seed":   func(name string) joining.Config { return joining.Config{Seeds: []string{name}} },
		"of a member": func(name string) joining.Config { return joining.Config{Members: []string{name}} },
	} {
		t.Run(way, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			names, port := newNameServer(t), freePort(t, "127.0.0.2", "127.0.0.3")
			names.set("cluster.test", "127.0.0.2") // a alone
			a := startAt(t, ctx, "a", fmt.Sprintf("tcp://127.0.0.2:%d", port), configOf(fmt.Sprintf("tcp://cluster.test:%d", port)))
			b := startAt(t, ctx, "b", fmt.Sprintf("tcp://127.0.0.3:%d", port), joining.Config{})
			names.set("cluster.test", "127.0.0.2", "127.0.0.3")
			await(t, ctx, "a linked with b", linked(a, "b"))
			await(t, ctx, "b linked with a", linked(b, "a"))
		})
	}
}

// silent listens at an address and says nothing to those that come, as a machine does whose packets are lost.
func silent(t *testing.T, address string) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { conn.Close() })
		}
	}()
}

// What a handshake may take is an hour here: the test fails where one address waits for another.
func TestAnAddressWhereNothingAnswersKeepsNoOtherOfItsNameWaiting(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	dead := []string{"127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"}
	names, port := newNameServer(t), freePort(t, append(dead, "127.0.0.6", "127.0.0.7")...)
	for _, ip := range dead {
		silent(t, fmt.Sprintf("%s:%d", ip, port))
	}
	names.set("cluster.test", append(dead, "127.0.0.6")...)
	startAt(t, ctx, "b", fmt.Sprintf("tcp://127.0.0.6:%d", port), joining.Config{})
	a := newAt(t, "a", fmt.Sprintf("tcp://127.0.0.7:%d", port), joining.Config{Seeds: []string{fmt.Sprintf("tcp://cluster.test:%d", port)}})
	if err := a.Listen(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, a) })
	a.wire.HandshakeTimeout = time.Hour
	if err := a.Enter(ctx); err != nil {
		t.Fatal(err)
	}
	if !linked(a, "b")() {
		t.Error("a has started and is not linked with b")
	}
}

// The addresses of a name are dialled in random order.
func TestANameThatLeadsToAnotherClusterAloneKeepsANodeFromStarting(t *testing.T) {
	names, port := newNameServer(t), freePort(t, "127.0.0.2", "127.0.0.3", "127.0.0.4")
	names.set("cluster.test", "127.0.0.2", "127.0.0.3") // nothing listens at the second
	key := func(text string) joining.Config {
		return joining.Config{Keys: seal.NewKeys(strings.Repeat(text, 32)), Seeds: []string{fmt.Sprintf("tcp://cluster.test:%d", port)}}
	}
	startAt(t, t.Context(), "foreign", fmt.Sprintf("tcp://127.0.0.2:%d", port), joining.Config{Keys: key("f").Keys})
	for range 10 {
		a := newAt(t, "a", fmt.Sprintf("tcp://127.0.0.4:%d", port), key("a"))
		if err := errors.Join(a.Listen(t.Context()), a.Enter(t.Context())); err == nil || !strings.Contains(err.Error(), "wrong key") {
			t.Fatalf("the error is %v", err)
		}
		stop(t, a)
	}
}

func TestANodeThatReachesItselfByAnotherAddressKnowsItself(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	a := startAt(t, ctx, "a", "tcp://127.0.0.1:0", joining.Config{})
	relay, err := net.Listen("tcp", "127.0.0.1:0") // as a load balancer
	if err != nil {
		t.Fatal(err)
	}
	defer relay.Close()
	go func() {
		for {
			from, err := relay.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", strings.TrimPrefix(a.OwnAddress(), "tcp://"))
			if err != nil {
				from.Close()
				continue
			}
			go pipe(from, to)
			go pipe(to, from)
		}
	}()
	if err := a.dial(ctx, "tcp://"+relay.Addr().String(), ""); !errors.Is(err, membership.ErrSelf) {
		t.Errorf("got %v", err)
	}
}

func pipe(from, to net.Conn) {
	defer to.Close()
	buf := make([]byte, 4<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}
