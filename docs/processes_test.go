// Package docs holds the guides. Its tests hold processes.md against the code: the examples of the page are those of this file,
// so they compile and run, and each test that the page names is there.
package docs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/actortest"
	"github.com/sabir-go/sabir/actor/app"
	"github.com/sabir-go/sabir/actor/cron"
	"github.com/sabir-go/sabir/actor/grain"
	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/actor/meta"
	"github.com/sabir-go/sabir/actor/pool"
	"github.com/sabir-go/sabir/actor/supervise"
	"github.com/sabir-go/sabir/internal/brokers"
	_ "github.com/sabir-go/sabir/transport/mem"
	_ "github.com/sabir-go/sabir/transport/tcp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(brokers.Stopping(m)) }

var quiet = actor.Config{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}

// A first process.

// doc: a-first-process
type Add struct{ N int }
type Total struct{}

type Counter struct{ total int }

func (c *Counter) Init(p *actor.Process, start int) error { c.total = start; return nil }

func (c *Counter) Add(p *actor.Process, m Add) error { c.total += m.N; return nil }

func (c *Counter) Total(p *actor.Process, _ Total) (int, error) { return c.total, nil }

var counter = actor.Define("counter", (*Counter).Init,
	actor.OnMessage((*Counter).Add),
	actor.OnCall((*Counter).Total))

// end

func Example_counter() {
	ctx := context.Background()

	// doc: a-first-process-2
	system := actor.NewSystem(actor.Config{})
	defer system.Stop(ctx)

	ref, err := actor.Spawn(system, counter, 40) // returns when Init has
	if err != nil {
		log.Fatal(err)
	}
	actor.Tell(system, ref, (*Counter).Add, Add{2}) // does not wait
	total, err := actor.Ask(ctx, system, ref, (*Counter).Total, Total{})
	// end
	fmt.Println(total, err)
	// Output: 42 <nil>
}

// Messages.

type Tick struct{}

type Clock struct{ ticks int }

func (c *Clock) Init(p *actor.Process, every time.Duration) error {
	actor.SendAfter(p, p.PID(), every, Tick{})
	return nil
}

func (c *Clock) Tick(p *actor.Process, _ Tick) error {
	c.ticks++
	if c.ticks == 10 {
		return actor.ErrNormal // it has nothing more to do
	}
	actor.SendAfter(p, p.PID(), time.Second, Tick{})
	return nil
}

var clocks = actor.Define("clock", (*Clock).Init, actor.OnMessage((*Clock).Tick))

func Example_send() {
	ctx := context.Background()
	system := actor.NewSystem(actor.Config{})
	defer system.Stop(ctx)

	// doc: messages
	ref, err := actor.Spawn(system, counter, 0, actor.SpawnConfig{Name: "visits", Mailbox: 10_000, Overflow: actor.DropOldest})
	if err != nil {
		log.Fatal(err)
	}
	actor.Send(system, actor.Name{Name: "visits"}, Add{1})
	actor.SendPriority(system, ref, actor.PriorityUrgent, Add{1}) // before all that waits
	err = actor.SendConfirmed(ctx, system, ref, Add{1})           // nil: it lies in the mailbox
	// end
	if errors.Is(err, actor.ErrNoProcess) {
		fmt.Println("nobody there")
	}
	total, err := actor.Ask(ctx, system, ref, (*Counter).Total, Total{})
	fmt.Println(total, err)
	// Output: 3 <nil>
}

// Calls.

type Order struct{ ID int }
type Shipped struct{ ID int }
type Receipt struct{ Order int }

type Desk struct{ open map[int]actor.Request }

func (d *Desk) Init(p *actor.Process, _ struct{}) error { d.open = map[int]actor.Request{}; return nil }

// doc: calls
func (d *Desk) Order(p *actor.Process, o Order) (Receipt, error) {
	d.open[o.ID] = p.Request() // the call, to be answered when there is something to tell
	return Receipt{}, actor.ErrNoReply
}

func (d *Desk) Shipped(p *actor.Process, s Shipped) error {
	actor.Reply(p, d.open[s.ID], Receipt{Order: s.ID})
	delete(d.open, s.ID)
	return nil
}

// end

var desks = actor.Define("desk", (*Desk).Init, actor.OnCall((*Desk).Order), actor.OnMessage((*Desk).Shipped))

func TestADeskAnswersLater(t *testing.T) {
	system := actor.NewSystem(quiet)
	defer system.Stop(context.Background())
	desk, err := actor.Spawn(system, desks, struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	answers := make(chan error, 1)
	go func() {
		_, err := actor.Call[Receipt](context.Background(), system, desk, Order{8})
		answers <- err
	}()
	for {
		actor.Send(system, desk, Shipped{8}) // the first may come before the order
		select {
		case err := <-answers:
			if err != nil {
				t.Error(err)
			}
			return
		default:
		}
	}
}

// Links and monitors.

type Watch struct{ PID actor.PID }

type Watcher struct{ reported chan<- string }

func (w *Watcher) Init(p *actor.Process, reported chan<- string) error {
	w.reported = reported
	return nil
}

// doc: links-and-monitors
func (w *Watcher) Watch(p *actor.Process, m Watch) error {
	p.Monitor(m.PID)     // a Down comes when it ends
	return p.Link(m.PID) // an Exit comes when it ends, and it gets one when this process does
}

func (w *Watcher) Down(p *actor.Process, d actor.Down) error {
	w.reported <- fmt.Sprint("down: ", d.Reason)
	return nil
}

func (w *Watcher) Exit(p *actor.Process, e actor.Exit) error { // without this handler the Exit would end the watcher
	if !e.Linked() {
		return e.Reason // somebody asked this process to end, such as System.Stop
	}
	w.reported <- fmt.Sprint("exit: ", e.Reason)
	return nil
}

// end

var watchers = actor.Define("watcher", (*Watcher).Init,
	actor.OnMessage((*Watcher).Watch), actor.OnMessage((*Watcher).Down), actor.OnMessage((*Watcher).Exit))

func TestWatchersGetTheEnd(t *testing.T) {
	system := actor.NewSystem(quiet)
	defer system.Stop(context.Background())
	reported := make(chan string, 2)
	watcher, err := actor.Spawn(system, watchers, reported)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := actor.Spawn(system, counter, 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = actor.Send(system, watcher, Watch{pid.PID()})
	for system.Alive(pid.PID()) {
		if info, _ := system.Info(pid.PID()); info.Monitored == 1 && len(info.Links) == 1 {
			_ = actor.Kill(system, pid)
			break
		}
	}
	got := map[string]bool{<-reported: true, <-reported: true}
	if !got["down: "+actor.ErrKilled.Error()] || !got["exit: "+actor.ErrKilled.Error()] {
		t.Errorf("%v", got)
	}
}

// Supervision.

// doc: supervision
func shop() actor.Spec {
	return supervise.Spec(
		supervise.Config{Name: "shop", Strategy: "rest-for-one", Intensity: 5, Period: 10 * time.Second},
		supervise.Child{ID: "stock", Start: counter.Spec(100, actor.SpawnConfig{Name: "stock"})},
		supervise.Child{ID: "desk", Start: desks.Spec(struct{}{}, actor.SpawnConfig{Name: "desk"}), Shutdown: 2 * time.Second},
		supervise.Child{ID: "clocks", Start: supervise.Dynamic(clocks, supervise.Config{Name: "clocks"}, supervise.Child{Restart: "transient"})},
	)
}

// end

func Example_supervision() {
	ctx := context.Background()
	system := actor.NewSystem(actor.Config{})
	defer system.Stop(ctx)

	// doc: supervision-2
	if _, err := shop().Start(system); err != nil {
		log.Fatal(err)
	}
	clock, err := supervise.StartOne(ctx, supervise.At(system, actor.Name{Name: "clocks"}), time.Second) // as many as wanted, while it runs
	if err != nil {
		log.Fatal(err)
	}
	tree, err := supervise.At(system, actor.Name{Name: "shop"}).Tree(ctx)
	// end
	fmt.Println(len(tree.Children), system.Alive(clock), err)
	// Output: 3 true <nil>
}

// Applications.

func Example_application() {
	ctx, cancel := context.WithCancel(context.Background())
	system := actor.NewSystem(actor.Config{})
	defer system.Stop(ctx)
	cancel() // as Ctrl-C would

	// doc: applications
	err := app.Run(ctx, system, app.Config{Apps: []app.App{
		{Name: "store", Root: counter.Spec(0, actor.SpawnConfig{Name: "store"})},
		{Name: "shop", Needs: []string{"store"}, Mode: "permanent", Root: shop(), Env: map[string]any{"currency": "EUR"}},
	}})
	// end
	fmt.Println(err)
}

// Groups and events.

type Price struct {
	Item  string
	Cents int
}

type Market struct{ prices *actor.Topic[Price] }

// doc: names-groups-topics
func (m *Market) Init(p *actor.Process, _ struct{}) (err error) {
	m.prices, err = actor.NewTopic[Price](p, "prices", actor.TopicConfig{Keep: 10}) // newcomers get the last 10 first
	return err
}

func (m *Market) Price(p *actor.Process, price Price) error { return m.prices.Publish(p, price) }

// end

type Trader struct{ saw chan<- Price }

// doc: names-groups-topics-2
func (t *Trader) Init(p *actor.Process, saw chan<- Price) error {
	t.saw = saw
	if err := p.Join("traders"); err != nil {
		return err
	}
	return p.Subscribe(actor.Name{Name: "prices"}) // or with Node: "market-1"
}

func (t *Trader) Price(p *actor.Process, price Price) error { t.saw <- price; return nil }

// end

var (
	markets = actor.Define("market", (*Market).Init, actor.OnMessage((*Market).Price))
	traders = actor.Define("trader", (*Trader).Init, actor.OnMessage((*Trader).Price))
)

func Example_groupsAndEvents() {
	ctx := context.Background()
	system := actor.NewSystem(quiet)
	defer system.Stop(ctx)
	market, err := actor.Spawn(system, markets, struct{}{}, actor.SpawnConfig{Name: "market"})
	if err != nil {
		log.Fatal(err)
	}
	saw := make(chan Price, 2)
	if _, err := actor.Spawn(system, traders, saw); err != nil {
		log.Fatal(err)
	}

	actor.Send(system, market, Price{"rope", 1200}) // the market publishes it
	fmt.Println(<-saw)
	actor.SendGroup(system, "traders", Price{"tar", 300})
	fmt.Println(<-saw)
	// Output:
	// {rope 1200}
	// {tar 300}
}

// Other nodes.

func TestProcessesForNamedNodesNeedLinksWithCertificates(t *testing.T) {
	// doc: other-nodes-3
	system := actor.NewSystem(actor.Config{Nodes: []string{"orders-*", "spiffe://example.org/mail"}}) // no others are reached, nor reach this one
	counter.AllowRemoteSpawn(system, "orders-*")
	// end
	node := sabir.NewNode(system.Option(), sabir.Join("mem://"+t.Name()))
	if err := node.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "cluster.Config.TLS") {
		stop(node)
		t.Errorf("%v", err)
	}
}

func TestProcessesOfTwoNodes(t *testing.T) {
	ctx, address, name := t.Context(), "mem://docs-processes", sabir.NodeID("office-1")

	// doc: other-nodes
	system := actor.NewSystem(actor.Config{})
	node := sabir.NewNode(name, system.Option(), sabir.Join(address)) // tcp://:7700, or any other
	counter.AllowRemoteSpawn(system)                                  // others may start counters here
	// end
	if err := node.Start(ctx); err != nil {
		t.Fatal(err)
	}
	defer stop(node)

	near := actor.NewSystem(actor.Config{})
	other := sabir.NewNode(sabir.NodeID("office-2"), near.Option(), sabir.Join(address))
	if err := other.Start(ctx); err != nil {
		t.Fatal(err)
	}
	defer stop(other)
	waitFor(t, near, "office-1")

	// doc: other-nodes-2
	ref, err := actor.Spawn(near, counter, 40, actor.SpawnConfig{Node: "office-1", Name: "visits"})
	// end
	if err != nil {
		log.Fatal(err)
	}
	actor.Tell(near, ref, (*Counter).Add, Add{2})
	visits := actor.RefTo[Counter](actor.Name{Name: "visits", Node: "office-1"}) // the same process, found by its name
	total, err := actor.Ask(ctx, near, visits, (*Counter).Total, Total{})
	if err != nil || total != 42 || ref.PID().Node() != "office-1" {
		t.Errorf("%d, %v, %s", total, err, ref)
	}
}

type nodeWatcher struct{ up chan<- string }

var nodeWatchers = actor.Define("node-watcher", func(w *nodeWatcher, p *actor.Process, up chan<- string) error {
	w.up = up
	p.MonitorNode("")
	return nil
}, actor.OnMessage(func(w *nodeWatcher, _ *actor.Process, n actor.NodeChange) error {
	if n.Up {
		w.up <- n.Node
	}
	return nil
}))

// waitFor waits until the processes of a node can be reached.
func waitFor(t *testing.T, s *actor.System, node string) {
	t.Helper()
	up := make(chan string, 10)
	pid, err := actor.Spawn(s, nodeWatchers, up)
	if err != nil {
		t.Fatal(err)
	}
	for <-up != node {
	}
	_ = actor.Kill(s, pid)
}

func stop(n *sabir.Node) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_ = n.Stop(ctx)
}

// What the page says of one name on two nodes.
func TestOneNameOnTwoNodesIsTwoProcesses(t *testing.T) {
	var systems []*actor.System
	for _, id := range []string{"twin-1", "twin-2"} {
		s := actor.NewSystem(quiet)
		n := sabir.NewNode(sabir.NodeID(id), s.Option(), sabir.Join("mem://docs-twins"))
		if err := n.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer stop(n)
		systems = append(systems, s)
	}
	waitFor(t, systems[0], "twin-2")
	for i, s := range systems {
		if _, err := actor.Spawn(s, counter, i+1, actor.SpawnConfig{Name: "visits"}); err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range []actor.Name{{Name: "visits"}, {Name: "visits", Node: "twin-2"}} {
		if got, err := actor.Call[int](t.Context(), systems[0], name, Total{}); err != nil || got != i+1 {
			t.Errorf("%s: %d, %v", name, got, err)
		}
	}
	if _, err := actor.Spawn(systems[0], counter, 3, actor.SpawnConfig{Name: "visits"}); !errors.Is(err, actor.ErrNameTaken) {
		t.Errorf("twice on one node: %v", err)
	}
}

// Services and processes.

type User struct{ Name string }

type Guide struct{}

// doc: other-nodes-5
func (g *Guide) Greet(p *actor.Process, id int) (string, error) { // a process that calls a service
	user, err := sabir.Call[User](p.Context(), p.Node(), "users.get", id)
	return "Hello, " + user.Name, err
}

// end

var guides = actor.Define[Guide, struct{}]("guide", nil, actor.OnCall((*Guide).Greet))

func TestAProcessCallsAServiceAndAServiceAProcess(t *testing.T) {
	ctx := t.Context()
	system := actor.NewSystem(actor.Config{})
	users := sabir.NewService("users")
	sabir.Handle(users, "get", func(ctx context.Context, id int) (User, error) { return User{"Ada"}, nil })

	// doc: other-nodes-4
	greeter := sabir.NewService("greeter") // a service whose action a process answers
	actor.ServeAction[int, string](greeter, "greet", system, actor.Name{Name: "guide"})
	// end

	node := sabir.NewNode(system.Option(), sabir.Serve(users, greeter))
	if err := node.Start(ctx); err != nil {
		t.Fatal(err)
	}
	defer stop(node)
	if _, err := actor.Spawn(system, guides, struct{}{}, actor.SpawnConfig{Name: "guide"}); err != nil {
		t.Fatal(err)
	}
	if got, err := sabir.Call[string](ctx, node, "greeter.greet", 7); err != nil || got != "Hello, Ada" {
		t.Error(got, err)
	}
}

// Pools, cron, meta processes.

type Echo struct{ conn *meta.Conn }

func (e *Echo) Init(p *actor.Process, conn *meta.Conn) error { e.conn = conn; return nil }

func (e *Echo) Data(p *actor.Process, d meta.Data) error { _, err := e.conn.Write(d.Bytes); return err }

var echoes = actor.Define("echo", (*Echo).Init, actor.OnMessage((*Echo).Data))

type Site struct{}

func (s *Site) Get(p *actor.Process, r meta.Request) (meta.Response, error) {
	return meta.Response{Body: []byte("hello")}, nil
}

var sites = actor.Define[Site, struct{}]("site", nil, actor.OnCall((*Site).Get))

func Example_poolsAndJobs() {
	ctx := context.Background()
	system := actor.NewSystem(quiet)
	defer system.Stop(ctx)

	// doc: pools-jobs-sockets
	site, err := pool.Spec(sites.Spec(struct{}{}), pool.Config{Size: 8, Pick: "least-waiting"}).Start(system)
	if err != nil {
		log.Fatal(err)
	}
	var handler http.Handler = meta.Handler(system, site, meta.WebConfig{}) // each request is a call of one of the eight
	// end

	// doc: pools-jobs-sockets-2
	jobs, err := cron.Start(system) // the scheduler, a process
	if err != nil {
		log.Fatal(err)
	}
	err = jobs.Add(ctx, cron.Job{Name: "count", Spec: "30 6 * * MON-FRI", Do: func(p *actor.Process) error { return actor.Send(p, actor.Name{Name: "visits"}, Add{1}) }})
	// end
	if err != nil {
		log.Fatal(err)
	}

	// doc: pools-jobs-sockets-3
	_, addr, err := meta.ListenTCP(system, "127.0.0.1:0", echoes, meta.NetConfig{}) // each connection is a process
	// end
	if err != nil {
		log.Fatal(err)
	}
	conn, err := net.Dial("tcp", addr.String())
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "hello")
	answer := make([]byte, 5)
	_, err = io.ReadFull(conn, answer)
	fmt.Println(string(answer), err, handler != nil)
	// Output: hello <nil> true
}

// Grains.

type Profile struct{ Visits int } // what is saved

type Visitor struct{ grain.State[Profile] }

type Visit struct{}

// doc: grains
func (v *Visitor) Visit(p *actor.Process, _ Visit) (int, error) {
	v.Value.Visits++
	return v.Value.Visits, v.Save(p)
}

var visitors = grain.Define("visitor", grain.OnCall((*Visitor).Visit))

// end

func TestAGrainCountsItsVisits(t *testing.T) {
	ctx, store := t.Context(), store.Memory()
	defer store.Close()
	system := actor.NewSystem(actor.Config{})
	grains := grain.New(system, grain.Config{Store: store}, visitors)
	node := sabir.NewNode(system.Option(), grains.Option(), sabir.Join("mem://docs-grains"))
	if err := node.Start(ctx); err != nil {
		t.Fatal(err)
	}
	defer stop(node)
	// doc: grains-2
	visits, err := grain.Call[int](ctx, system, visitors.Key("ada"), Visit{}) // on whichever node ada is
	// end
	if err != nil || visits != 1 {
		t.Error(visits, err)
	}
}

// Testing.

// doc: testing
func TestTheClockEndsAfterTenTicks(t *testing.T) {
	k := actortest.New(t)
	pid := actortest.Spawn(k, clocks, time.Second)
	k.Advance(9 * time.Second)
	if _, ended := k.Ended(pid); ended {
		t.Error("it ended too early")
	}
	k.Advance(time.Second)
	if reason, _ := k.Ended(pid); !errors.Is(reason, actor.ErrNormal) {
		t.Errorf("it ended by %v", reason)
	}
}

// end
