package actor_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/cluster"
	_ "github.com/sabir-go/sabir/transport/mem"
	_ "github.com/sabir-go/sabir/transport/tcp"
)

// testTimeout is the timeout of a test for what should come at once, on a machine that has much else to do.
const testTimeout = 2 * time.Minute

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// member is a node with processes.
type member struct {
	*actor.System
	node *sabir.Node
}

// joinMembers starts nodes of one cluster in this process and waits until all know of each other.
func joinMembers(t testing.TB, address string, ids ...string) []member {
	t.Helper()
	var all []member
	for _, id := range ids {
		all = append(all, startMember(t, id, address))
		address = all[0].node.Info().Addr
	}
	for _, m := range all {
		for _, other := range all {
			if other.node != m.node {
				m.awaitNode(t, other.node.ID())
			}
		}
	}
	return all
}

func startMember(t testing.TB, id, address string, options ...cluster.Option) member {
	t.Helper()
	s := actor.NewSystem(actor.Config{Logger: quiet})
	n := sabir.NewNode(sabir.NodeID(id), sabir.Logger(quiet), s.Option(), sabir.Join(address, options...))
	if err := n.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	m := member{s, n}
	t.Cleanup(m.stop)
	return m
}

func (m member) stop() {
	if m.node.State() == "running" {
		ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
		defer cancel()
		_ = m.node.Stop(ctx)
	}
}

// cut ends the link to a node.
func (m member) cut(node string) { m.CutLink(node) }

// awaitNode waits until the processes of a node can be reached.
func (m member) awaitNode(t testing.TB, node string) {
	t.Helper()
	w := m.witness(t)
	m.order(t, w, watchNode{node})
	for {
		if n, ok := w.next(t).(actor.NodeChange); ok && n.Up && n.Node == node {
			break
		}
	}
	_ = actor.Kill(m, w.pid)
	for m.Alive(w.pid) {
		runtime.Gosched()
	}
}

func overNetworks(t *testing.T, test func(t *testing.T, address string)) {
	t.Run("mem", func(t *testing.T) { test(t, "mem://"+strings.ReplaceAll(t.Name(), "/", "-")) })
	t.Run("tcp", func(t *testing.T) { test(t, "tcp://127.0.0.1:0") })
}

// What tests send.
type (
	item struct {
		Seq  int
		Text string
		Pad  [5]int64
	}
	holder struct {
		Of    actor.PID
		Alias actor.Alias
	}
	echo struct{ Text string }
	// neverHandled is registered, and no behaviour has a handler for it.
	neverHandled struct{ N int }
	// unheardOf is not registered.
	unheardOf struct{ N int }
	// later is a call that is answered by the next item.
	later struct{}
	// contextQuery is a call that answers with its own deadline, request id and metadata.
	contextQuery struct{}
	brought      struct {
		Deadline  bool
		RequestID string
		Metadata  map[string]string
	}
	refusing struct{}
	// channels has no form on the wire.
	channels     struct{ C chan int }
	asksChannels struct{}
	hanging      struct{}
)

// The orders to a witness, from its own node.
type (
	watchNode  struct{ Node string }
	forgetNode struct{ Node string }
	link       struct{ To actor.PID }
	unlink     struct{ To actor.PID }
	watch      struct{ To actor.PID }
	watchName  struct{ To actor.Name }
	unwatch    struct{ Ref actor.MonitorRef }
	sendAll    struct {
		To      actor.PID
		From, N int
	}
	stopSelf    struct{}
	do          struct{ Fn func(p *actor.Process) error }
	makeAlias   struct{}
	interrupted struct{ Cause string }
)

var errRefused = sabir.NewError(sabir.CodeFailedPrecondition, "Refused", "not today").WithData(map[string]any{"day": "today"})

// witness is a process that reports to the test what it gets.
type witness struct {
	received chan any
	waiting  actor.Request
}

func (w *witness) Init(p *actor.Process, received chan any) error {
	if received == nil { // it was started by another node
		received = make(chan any, 1000)
	}
	w.received = received
	return nil
}

type from struct {
	Sender actor.PID
	What   any
}

func notify[M any](w *witness, p *actor.Process, m M) error {
	w.received <- m
	return nil
}

func (w *witness) Item(p *actor.Process, m item) error {
	if !w.waiting.Zero() {
		actor.Reply(p, w.waiting, m)
		w.waiting = actor.Request{}
	}
	return notify(w, p, m)
}

// Exit ends the process only when its system stops.
func (w *witness) Exit(p *actor.Process, e actor.Exit) error {
	if e.From.Zero() && e.Reason == error(actor.ErrShutdown) {
		return e.Reason
	}
	return notify(w, p, e)
}

func (w *witness) Holder(p *actor.Process, m holder) error {
	w.received <- from{p.Sender(), m}
	return nil
}

func (w *witness) Echo(p *actor.Process, m echo) (echo, error) { return m, nil }
func (w *witness) Channels(*actor.Process, asksChannels) (channels, error) {
	return channels{make(chan int)}, nil
}
func (w *witness) Refuse(*actor.Process, refusing) (item, error) { return item{}, errRefused }
func (w *witness) Later(p *actor.Process, _ later) (item, error) {
	w.waiting = p.Request()
	return item{}, actor.ErrNoReply
}
func (w *witness) Alias(p *actor.Process, _ makeAlias) (holder, error) {
	a, err := p.NewAlias()
	return holder{p.PID(), a}, err
}

func (w *witness) Asking(p *actor.Process, _ contextQuery) (brought, error) {
	ctx := p.Context()
	_, limited := ctx.Deadline()
	return brought{limited, sabir.InfoFromContext(ctx).RequestID, sabir.InfoFromContext(ctx).Metadata}, nil
}

// Hang never answers, and reports when the context of the call has ended.
func (w *witness) Hang(p *actor.Process, _ hanging) (item, error) {
	w.received <- hanging{}
	<-p.Context().Done()
	w.received <- interrupted{fmt.Sprint(p.Context().Err())}
	return item{}, actor.ErrNoReply
}

func (w *witness) Do(p *actor.Process, m do) (sabir.Empty, error) { return sabir.Empty{}, m.Fn(p) }

func (w *witness) WatchNode(p *actor.Process, m watchNode) (sabir.Empty, error) {
	p.MonitorNode(m.Node)
	return sabir.Empty{}, nil
}
func (w *witness) ForgetNode(p *actor.Process, m forgetNode) (sabir.Empty, error) {
	p.DemonitorNode(m.Node)
	return sabir.Empty{}, nil
}
func (w *witness) Link(p *actor.Process, m link) (sabir.Empty, error) {
	return sabir.Empty{}, p.Link(m.To)
}
func (w *witness) Unlink(p *actor.Process, m unlink) (sabir.Empty, error) {
	p.Unlink(m.To)
	return sabir.Empty{}, nil
}
func (w *witness) Watch(p *actor.Process, m watch) (actor.MonitorRef, error) {
	return p.Monitor(m.To), nil
}
func (w *witness) WatchName(p *actor.Process, m watchName) (actor.MonitorRef, error) {
	return p.MonitorName(m.To), nil
}
func (w *witness) Unwatch(p *actor.Process, m unwatch) (sabir.Empty, error) {
	p.Demonitor(m.Ref)
	return sabir.Empty{}, nil
}
func (w *witness) SendAll(p *actor.Process, m sendAll) error {
	for i := range m.N {
		if err := actor.Send(p, m.To, item{Seq: m.From + i}); err != nil {
			return err
		}
	}
	return nil
}
func (w *witness) StopSelf(*actor.Process, stopSelf) error { return errRefused }

var witnessBehavior = actor.Define("witness", (*witness).Init,
	actor.OnMessage((*witness).Item), actor.OnMessage((*witness).Holder), actor.OnMessage((*witness).SendAll), actor.OnMessage((*witness).StopSelf),
	actor.OnMessage((*witness).Exit), actor.OnMessage(notify[actor.Down]), actor.OnMessage(notify[actor.NodeChange]),
	actor.OnCall((*witness).Echo), actor.OnCall((*witness).Refuse), actor.OnCall((*witness).Channels), actor.OnCall((*witness).Later), actor.OnCall((*witness).Asking),
	actor.OnCall((*witness).Hang), actor.OnCall((*witness).Do), actor.OnCall((*witness).Alias),
	actor.OnCall((*witness).WatchNode), actor.OnCall((*witness).ForgetNode), actor.OnCall((*witness).Link), actor.OnCall((*witness).Unlink),
	actor.OnCall((*witness).Watch), actor.OnCall((*witness).WatchName), actor.OnCall((*witness).Unwatch),
)

// watched identifies a monitor in the process that is monitored.
type watched struct {
	pid      actor.PID
	received chan any
}

func (m member) witness(t testing.TB, config ...actor.SpawnConfig) watched {
	t.Helper()
	w := watched{received: make(chan any, 10_000)}
	var err error
	if w.pid, err = witnessBehavior.Spec(w.received, config...).Start(m); err != nil {
		t.Fatal(err)
	}
	return w
}

// next returns what the witness received next.
func (w watched) next(t testing.TB) any {
	t.Helper()
	select {
	case m := <-w.received:
		return m
	case <-time.After(testTimeout):
		t.Fatal("the process got nothing")
		return nil
	}
}

func nextOf[M any](t testing.TB, w watched) M {
	t.Helper()
	got := w.next(t)
	m, ok := got.(M)
	if !ok {
		t.Fatalf("the process got %T %+v, not %T", got, got, m)
	}
	return m
}

// nextNode is nextOf a NodeChange, of a node that is up now or is not.
func nextNode(t testing.TB, w watched, up bool) actor.NodeChange {
	t.Helper()
	n := nextOf[actor.NodeChange](t, w)
	if n.Up != up {
		t.Fatalf("the process got %+v", n)
	}
	return n
}

// order makes a witness do something, and waits until it has.
func (m member) order(t testing.TB, w watched, what any) {
	t.Helper()
	var err error
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	switch o := what.(type) {
	case watchNode:
		_, err = actor.Call[sabir.Empty](ctx, m, w.pid, o)
	case forgetNode:
		_, err = actor.Call[sabir.Empty](ctx, m, w.pid, o)
	case link:
		_, err = actor.Call[sabir.Empty](ctx, m, w.pid, o)
	case unlink:
		_, err = actor.Call[sabir.Empty](ctx, m, w.pid, o)
	case do:
		_, err = actor.Call[sabir.Empty](ctx, m, w.pid, o)
	case unwatch:
		_, err = actor.Call[sabir.Empty](ctx, m, w.pid, o)
	default:
		t.Fatalf("%T is no order", what)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// inProcess runs fn in a callback of a process of the node.
func (m member) inProcess(t testing.TB, fn func(p *actor.Process) error) {
	t.Helper()
	w := m.witness(t)
	ctx, cancel := context.WithTimeout(context.Background(), 2*testTimeout)
	defer cancel()
	if _, err := actor.Call[sabir.Empty](ctx, m, w.pid, do{fn}); err != nil {
		t.Fatal(err)
	}
	_ = actor.Kill(m, w.pid)
}

func wantError(t testing.TB, err error, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("the error is %v, not %v", err, want)
	}
}
