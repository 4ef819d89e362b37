package integration

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/channel"
	"github.com/sabir-go/sabir/internal/brokers"
	_ "github.com/sabir-go/sabir/transport/mem"
	_ "github.com/sabir-go/sabir/web"
)

// waitingLimit bounds the bytes of what may wait in the node that is attacked.
const waitingLimit = 32 << 20

// Each attack would make some 100 to 200 MiB wait in a node for a handler or a client that stands still. The heap shows what that costs,
// whatever the node counts.
func TestWhatWaitsForSomethingSlowTakesNoMoreOfTheHeapThanTheNodeMayHold(t *testing.T) {
	brokers.Long(t)
	for name, attack := range map[string]func(*waitingAttack){
		"events in a queue":         (*waitingAttack).events,
		"messages of a channel":     (*waitingAttack).messages,
		"messages in a mailbox":     (*waitingAttack).mailbox,
		"bodies that do not end":    (*waitingAttack).bodies,
		"answers that nobody reads": (*waitingAttack).answers,
		"answers of a batch":        (*waitingAttack).batches,
	} {
		t.Run(name, func(t *testing.T) {
			a := &waitingAttack{t: t, release: make(chan struct{})}
			attack(a)
			t.Logf("the heap grows by %d MiB at most", a.most>>20)
			if a.most > 3*waitingLimit { // values may be there as texts and as their JSON, and handlers make more of them
				t.Errorf("the heap grows by %d MiB, although %d MiB may wait", a.most>>20, waitingLimit>>20)
			}
		})
	}
}

// standing is a process that stands still.
type standing struct{ release <-chan struct{} }

func (s *standing) Init(_ *actor.Process, release chan struct{}) error {
	s.release = release
	return nil
}

func (s *standing) Take(*actor.Process, string) error { <-s.release; return nil }

var standingBehavior = actor.Define("standing", (*standing).Init, actor.OnMessage((*standing).Take))

type waitingAttack struct {
	t       *testing.T
	release chan struct{} // closed at the end, for what stands still

	mu     sync.Mutex
	before int64
	most   int64
}

func large() string { return strings.Repeat("x", 900<<10) }

func (a *waitingAttack) node(options ...sabir.NodeOption) *sabir.Node {
	a.t.Helper()
	n := sabir.NewNode(append(options, sabir.Logger(quiet), sabir.Limits{NodeBuffers: waitingLimit, ConnectionBuffers: waitingLimit / 2})...)
	if err := n.Start(context.Background()); err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = n.Stop(context.Background()) })
	a.t.Cleanup(func() { close(a.release) })
	return n
}

func liveHeap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// begin sets what the heap is measured against.
func (a *waitingAttack) begin() { a.before = liveHeap() }

// measure notes by how much the heap has grown.
func (a *waitingAttack) measure() (grown int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	grown = liveHeap() - a.before
	a.most = max(a.most, grown)
	return grown
}

// settle measures until the heap has not grown for half a second.
func (a *waitingAttack) settle() {
	for still := 0; still < 10; still++ {
		if most := a.most; a.measure() > most+1<<20 {
			still = 0
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (a *waitingAttack) events() {
	s := sabir.NewService("slow")
	sabir.On(s, "job", func(context.Context, string) error { <-a.release; return nil }, sabir.Delivery{Buffer: 1000})
	n := a.node(sabir.Serve(s))
	a.begin()
	for range 200 {
		ctx, cancel := context.WithTimeout(a.t.Context(), 100*time.Millisecond)
		err := sabir.Emit(ctx, n, "job", large())
		cancel()
		if err != nil {
			break
		}
	}
	a.settle()
}

func (a *waitingAttack) messages() {
	c := channel.New[string]("slow.jobs")
	n := a.node(channel.Broker("mem://waiting"))
	for range 200 {
		if _, err := c.Publish(a.t.Context(), n, large()); err != nil {
			a.t.Fatal(err)
		}
	}
	a.begin() // the broker is in this process too
	s := sabir.NewService("slow")
	c.ConsumeWith(s, channel.Consumer{MaxInFlight: 1000}, func(context.Context, string) error { <-a.release; return nil })
	if err := n.Add(a.t.Context(), s); err != nil {
		a.t.Fatal(err)
	}
	a.settle()
}

func (a *waitingAttack) mailbox() {
	slow, far := actor.NewSystem(actor.Config{Logger: quiet}), actor.NewSystem(actor.Config{Logger: quiet})
	a.node(sabir.NodeID("slow"), slow.Option(), sabir.Join("mem://waiting"))
	sender := sabir.NewNode(sabir.NodeID("sender"), sabir.Logger(quiet), far.Option(), sabir.Join("mem://waiting"))
	if err := sender.Start(a.t.Context()); err != nil {
		a.t.Fatal(err)
	}
	defer sender.Stop(context.Background())
	pid, err := actor.Spawn(slow, standingBehavior, a.release)
	if err != nil {
		a.t.Fatal(err)
	}
	awaitHolds(a.t, "the other node", func() bool { return actor.SendConfirmed(a.t.Context(), far, pid.PID(), "x") == nil })
	a.begin()
	for range 200 {
		if actor.SendConfirmed(a.t.Context(), far, pid.PID(), large()) != nil {
			break
		}
	}
	a.settle()
}

func (a *waitingAttack) bodies() {
	s := sabir.NewService("slow")
	sabir.Handle(s, "take", func(context.Context, string) (sabir.Empty, error) { return sabir.Empty{}, nil })
	n := a.node(sabir.Serve(s), sabir.HTTP("127.0.0.1:0"))
	request := fmt.Sprintf("POST /slow/take HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", 1<<20, large())
	a.begin()
	for range 200 {
		defer a.ask(n, request).Close()
	}
	a.settle()
}

func (a *waitingAttack) answers() {
	s := sabir.NewService("slow")
	sabir.Handle(s, "all", func(context.Context, sabir.Empty) (string, error) {
		return strings.Repeat("x", 4<<20), nil
	})
	n := a.node(sabir.Serve(s), sabir.HTTP("127.0.0.1:0"))
	a.begin()
	for range 50 {
		defer a.ask(n, "POST /slow/all HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n").Close()
		a.measure()
	}
	a.settle()
}

func (a *waitingAttack) batches() {
	s := sabir.NewService("slow")
	sabir.Handle(s, "all", func(context.Context, sabir.Empty) (string, error) {
		a.measure()
		return large() + large(), nil
	})
	n := a.node(sabir.Serve(s), sabir.HTTP("127.0.0.1:0"))
	calls := strings.TrimSuffix(strings.Repeat(`{"action":"slow.all","input":{}},`, 100), ",")
	a.begin()
	answer, err := http.Post("http://"+n.HTTPAddr()+"/batch", "application/json", strings.NewReader("["+calls+"]"))
	if err != nil {
		a.t.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		a.t.Fatal(err)
	}
}

// ask sends as much of a request as the node takes, and reads nothing.
func (a *waitingAttack) ask(n *sabir.Node, request string) net.Conn {
	a.t.Helper()
	conn, err := net.Dial("tcp", n.HTTPAddr())
	if err != nil {
		a.t.Fatal(err)
	}
	_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	_ = conn.SetWriteDeadline(time.Now().Add(10 * time.Second))
	_, _ = io.WriteString(conn, request) // which the node may refuse before its end
	return conn
}
