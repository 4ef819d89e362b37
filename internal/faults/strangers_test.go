//go:build unix

package faults_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/secret"
)

// rawConnections are connections to a node.
type rawConnections struct {
	open  []net.Conn
	reads sync.WaitGroup

	mu       sync.Mutex
	left     bool
	nodeShut int // how many the node has closed
}

// knock makes connections to a node, one after the other, and does something with each. They stay open until leave.
func knock(t *testing.T, address string, connections int, each func(net.Conn)) *rawConnections {
	t.Helper()
	s := &rawConnections{}
	for range connections {
		conn, err := net.DialTimeout("tcp", strings.TrimPrefix(address, "tcp://"), waitLimit)
		if err != nil {
			t.Fatal(err)
		}
		s.open = append(s.open, conn)
		each(conn)
		s.reads.Go(func() {
			_, err := io.Copy(io.Discard, conn)
			s.mu.Lock()
			defer s.mu.Unlock()
			if !s.left && !errors.Is(err, net.ErrClosed) {
				s.nodeShut++
			}
		})
	}
	t.Cleanup(func() { s.leave() })
	return s
}

// closed is the number of them that node has closed.
func (s *rawConnections) closed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.nodeShut
}

// leave closes the others, and returns how many the node had closed.
func (s *rawConnections) leave() int {
	s.mu.Lock()
	s.left = true
	s.mu.Unlock()
	for _, conn := range s.open {
		conn.Close()
	}
	s.reads.Wait()
	return s.closed()
}

func TestStrangersDoNotDisturbTheCallsOfANode(t *testing.T) {
	const key = "a key that the strangers do not have"
	for _, test := range []struct {
		name  string
		annoy func(t *testing.T, address string) (leave func() int)
	}{
		{"random bytes", func(t *testing.T, address string) func() int {
			source := rand.NewChaCha8([32]byte{1})
			return knock(t, address, 500, func(conn net.Conn) {
				garbage := make([]byte, 1+source.Uint64()%4096)
				source.Read(garbage)
				conn.Write(garbage)
			}).leave
		}},
		{"half a preamble and then silence", func(t *testing.T, address string) func() int {
			return knock(t, address, 500, func(conn net.Conn) { conn.Write(preamble[:len(preamble)/2]) }).leave
		}},
		{"a preamble and then silence", func(t *testing.T, address string) func() int {
			return knock(t, address, 500, func(conn net.Conn) { conn.Write(preamble) }).leave
		}},
		{"2000 connections that never speak", func(t *testing.T, address string) func() int {
			return knock(t, address, 2000, func(net.Conn) {}).leave
		}},
		{"handshakes with a wrong key", func(t *testing.T, address string) func() int {
			for range 50 {
				stranger := sabir.NewNode(sabir.NodeID("stranger"), sabir.Join("tcp://127.0.0.1:0", cluster.Config{Seeds: []string{address}, Name: "faults", Key: secret.New("the key of somebody else")}))
				if err := stranger.Start(t.Context()); !errors.Is(err, sabir.NewError(sabir.CodeUnavailable, errname.JoinFailed, "")) || !strings.Contains(err.Error(), "key") {
					t.Errorf("a node with a wrong key started with %v", err)
				}
			}
			return func() int { return 0 }
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := start(t, setup{ID: "server", Works: true, Key: key})
			caller := start(t, setup{ID: "caller", Seeds: []string{server.addr}, Key: key})
			caller.awaitOffers("server")
			ask[report](caller, "load", workload{Callers: 50, Calls: 10_000, Size: 500}) // what is made once is there
			before := server.figures()

			calls := beginCalls(t, caller, workload{Callers: 10, Pause: 5 * time.Millisecond, Size: 500})
			leave := test.annoy(t, server.addr)
			during := server.figures()
			closed := leave()
			ask[bool](caller, "halt", nil)
			r := calls()
			t.Logf("meanwhile: %v; %d connections closed by the node; files before %d, at the end of the knocking %d", r, closed, before.Files, during.Files)
			if r.failures() > 0 || r.Calls == 0 || r.P99 > late {
				t.Errorf("the calls of a healthy client: %v", r)
			}
			if during.Files > before.Files+300 {
				t.Errorf("strangers made the node hold %d files, it had %d before", during.Files, before.Files)
			}
			server.awaitNodes("caller")
			awaitReturn(t, server, before, 10)
		})
	}
}

// preamble holds the first bytes that a dialling node with a cluster key sends; see docs/protocol.md.
var preamble = slices.Concat([]byte("SABIR\n"), []byte{1, 1, 1 | 4}, make([]byte, 7), []byte("a nonce that is used many times."))

func TestANodeIsRidOfConnectionsThatNeverSpeak(t *testing.T) {
	t.Parallel()
	server := start(t, setup{ID: "server", Works: true})
	before := server.figures()
	const silent = 200 // fewer than may wait at once, so that only time can end them
	knocking := knock(t, server.addr, silent, func(net.Conn) {})
	until(t, waitLimit, "they are accepted", func() bool { return server.figures().Files >= before.Files+silent })
	began := time.Now()
	awaitReturn(t, server, before, 5)
	until(t, waitLimit, "the node has closed them", func() bool { return knocking.closed() == silent })
	t.Logf("it held them for %v", time.Since(began))
}

func TestANodeGoesOnWithTooManyOpenFilesAndRecovers(t *testing.T) {
	t.Parallel()
	const files = 64
	server := start(t, setup{ID: "server", Works: true, Files: files})
	caller := start(t, setup{ID: "caller", Seeds: []string{server.addr}})
	caller.awaitOffers("server")
	calls := beginCalls(t, caller, workload{Callers: 10, Pause: 5 * time.Millisecond})
	began := time.Now()
	knocking := knock(t, server.addr, 4*files, func(net.Conn) {})
	until(t, waitLimit, "the node runs out of files", func() bool { return strings.Contains(server.log.String(), "too many open files") })

	if r := ask[report](caller, "load", workload{Callers: 50, Calls: 5000, Timeout: 5 * time.Second}); r.failures() > 0 {
		t.Errorf("calls over the link that stands, while no file is left: %v", r)
	}
	knocking.leave()
	second := start(t, setup{ID: "second", Seeds: []string{server.addr}})
	t.Logf("a new node can call %v after its start", second.awaitOffers("server"))
	over := time.Now()
	if r := ask[report](second, "load", workload{Callers: 10, Calls: 1000, Timeout: 5 * time.Second}); r.failures() > 0 {
		t.Errorf("calls of a new node afterwards: %v", r)
	}
	ask[bool](caller, "halt", nil)
	if r := calls(); r.failures() > 0 {
		t.Errorf("calls all the time: %v", r)
	} else {
		t.Log(r)
	}
	if lines, seconds := strings.Count(server.log.String(), "too many open files"), int(over.Sub(began).Seconds()); lines > seconds+2 {
		t.Errorf("it said %d times in %d seconds that too many files are open", lines, seconds)
	}
	if want := fmt.Sprintf("this process may have %d files and connections open; raise that: LimitNOFILE=", files); !strings.Contains(server.log.String(), want) {
		t.Errorf("the log does not say what helps, %q", want)
	}
}

func TestANodeWhoseListenQueueWasFullServesAndTakesNewNodes(t *testing.T) {
	t.Parallel()
	server := start(t, setup{ID: "server", Works: true})
	caller := start(t, setup{ID: "caller", Seeds: []string{server.addr}})
	caller.awaitOffers("server")
	before := server.figures()
	calls := beginCalls(t, caller, workload{Callers: 10, Pause: 5 * time.Millisecond})

	server.suspend() // so that it accepts nothing
	var waiting []net.Conn
	defer func() {
		for _, conn := range waiting {
			conn.Close()
		}
	}()
	full := false
	for range 16_000 {
		conn, err := net.DialTimeout("tcp", strings.TrimPrefix(server.addr, "tcp://"), 500*time.Millisecond)
		if err != nil {
			full = true
			break
		}
		waiting = append(waiting, conn)
	}
	server.signal(syscall.SIGCONT)
	if !full {
		t.Skipf("the listen queue of this machine takes more than %d connections", len(waiting))
	}
	t.Logf("the queue was full with %d connections", len(waiting))
	second := start(t, setup{ID: "second", Seeds: []string{server.addr}})
	t.Logf("a new node can call %v after its start", second.awaitOffers("server"))
	ask[bool](caller, "halt", nil)
	r := calls()
	t.Log(r)
	if r.failures() > 0 {
		t.Errorf("calls over the link that stood all the time: %v", r)
	}
	for _, conn := range waiting {
		conn.Close()
	}
	second.stop()
	awaitReturn(t, server, before, 10)
}
