package moleculer

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/inbound"
	"github.com/sabir-go/sabir/internal/requestid"
	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

// bridge is a node as one of a Moleculer project. As an extension it is there before the services, so that these can call Moleculer's when
// they start; it offers actions from the start of its gateway until that stops.
type bridge struct {
	config
	node     *sabir.Node
	id       string
	prefix   string // of topics
	instance string // of this run: a node that comes back under its id has another one
	broker   transport.Broker
	mesh     *tcp        // the broker, where nodes meet without one
	down     atomic.Bool // there is no connection to the broker
	joined   atomic.Bool // broker is set, and all topics are subscribed to

	ctx     context.Context // ends with the bridge
	cancel  context.CancelFunc
	running sync.WaitGroup
	serving inbound.Calls

	open    atomic.Bool // calls are let in: see asGateway
	leaving atomic.Bool // others are told that nothing is offered
	// mistaken is set when another node spoke in the name of this one: the others get INFO again, once a second at most.
	mistaken atomic.Bool
	exposed  atomic.Pointer[exposed]
	changed  chan struct{} // what is exposed may have changed

	info    ownInfo
	peers   peers
	calls   pendingCalls
	uploads uploads
	waiting atomic.Int64 // bytes of streams that nobody has taken yet
	drops   inbound.Drops

	balancing   sync.Mutex
	shares      map[string]func() // by subject: ends the node's part of balanced calls or events
	sharesEnded bool
}

func newBridge(c config) *bridge {
	b := &bridge{config: c, changed: make(chan struct{}, 1)}
	b.peers.known = make(map[string]*peer)
	b.calls.waiting = make(map[string]*pendingCall)
	b.exposed.Store(&exposed{})
	return b
}

// Name implements sabir.Extension and gateway.Gateway.
func (b *bridge) Name() string { return strings.TrimSpace("moleculer " + b.Namespace) }

const (
	// settle is the time for which Moleculer's own nodes wait for the answers to DISCOVER.
	settle = 500 * time.Millisecond
	// answerLimit is the time that a living node has to answer a question for its id.
	answerLimit = 300 * time.Millisecond
)

// Start joins the Moleculer nodes.
func (b *bridge) Start(ctx context.Context, n *sabir.Node) error {
	b.node, b.id, b.instance = n, b.NodeID, requestid.New()
	if b.id == "" {
		b.id = n.ID()
	}
	b.prefix = "MOL."
	if b.Namespace != "" {
		b.prefix = "MOL-" + b.Namespace + "."
	}
	if badTopic(b.id) || badTopic(b.prefix) {
		b.problem = errors.Join(b.problem, fmt.Errorf("the id %q and the namespace %q are parts of topics: leave out spaces and the characters * > # + /", b.id, b.Namespace))
	}
	if b.problem != nil {
		return b.problem
	}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	if err := b.connect(ctx); err != nil {
		b.cancel()
		return err
	}
	if err := b.join(ctx); err != nil {
		b.cancel()
		err = errors.Join(err, b.broker.Close())
		b.serving.Close()
		return err
	}
	if _, ok := b.broker.(transports.Sharer); b.DisableBalancer && !ok {
		b.cancel()
		err := errors.Join(fmt.Errorf("moleculer.Config: DisableBalancer: %s cannot share out messages: use NATS", b.broker.Addr()), b.broker.Close())
		b.serving.Close()
		return err
	}
	b.running.Go(b.beat)
	b.running.Go(b.follow)
	select {
	case <-time.After(settle):
	case <-ctx.Done():
	}
	return nil
}

func (b *bridge) connect(ctx context.Context) error {
	address := b.Address
	if address == "" {
		address = b.node.JoinAddress()
	}
	if address == "" {
		return errors.New("the broker is not known: give moleculer.Config the Address, or give the bridge to sabir.Join")
	}
	at, err := schemes.Parse(address)
	if err != nil {
		return err
	}
	if at.Scheme == "tcp" && b.Address != "" {
		b.info.seq = int(time.Now().UnixMilli()) // gossip goes by it: a node that comes back must have a larger one
		mesh, err := openTCP(ctx, b, address)
		if err == nil {
			b.mesh, b.broker = mesh, mesh
		}
		return err
	}
	bus, ok := transports.Bus(at.Scheme)
	if !ok {
		return fmt.Errorf("%s is not the address of a broker that the program links: import the package of its transport, such as %s", at.Redacted(),
			`_ "github.com/sabir-go/sabir/broker/nats"`)
	}
	// Who may use the broker is the matter of the Moleculer project, whose nodes prove nothing to each other: Keyed states that for the driver.
	config, events := transport.Config{Keyed: true, Name: b.id}, transport.BusEvents{Lost: b.brokerLost, Restored: b.brokerRestored, Unheard: b.unheard}
	if named, ok := bus.(namedBus); ok && b.TopicSeparator != "/" {
		b.broker, err = named.ConnectNamed(ctx, at, config, events, b.queueOf)
	} else {
		b.broker, err = bus.Connect(ctx, at, config, events)
	}
	return err
}

// namedBus is a bus whose brokers have names of their own for subjects, which other programs may form in another way than Sabir's nodes.
type namedBus interface {
	ConnectNamed(ctx context.Context, at *url.URL, config transport.Config, events transport.BusEvents, queueOf func(subject string) (string, time.Duration)) (transport.Broker, error)
}

// queueLimit is how long Moleculer's nodes have RabbitMQ keep their queues of requests, answers and events when they have gone.
const queueLimit = 2 * time.Minute

// queueOf is the queue of a topic, and how long it is kept without its node: what is for all nodes has a queue of each.
func (b *bridge) queueOf(topic string) (string, time.Duration) {
	kind, _, one := strings.Cut(strings.TrimPrefix(topic, b.prefix), ".")
	switch {
	case !one:
		return topic + "." + b.id, 0
	case kind == "REQ" || kind == "RES" || kind == "EVENT":
		return topic, queueLimit
	}
	return topic, 0
}

// join subscribes to what a node of Moleculer does, and asks who is there.
func (b *bridge) join(ctx context.Context) error {
	if b.mesh == nil {
		if err := b.checkID(ctx); err != nil {
			return err
		}
	}
	for topic, take := range map[string]func([]byte){
		"REQ." + b.id: b.takeRequest, "RES." + b.id: b.takeResponse, "EVENT." + b.id: b.takeEvent,
		"DISCOVER": b.takeDiscover, "DISCOVER." + b.id: b.takeDiscover, "INFO": b.takeInfo, "INFO." + b.id: b.takeInfo,
		"DISCONNECT": b.takeDisconnect, "HEARTBEAT": b.takeHeartbeat, "PING": b.takePing, "PING." + b.id: b.takePing, "PONG." + b.id: b.takePong,
	} {
		if err := b.broker.Subscribe(ctx, b.prefix+topic, take); err != nil {
			return err
		}
	}
	b.joined.Store(true)
	b.greet()
	if b.mesh != nil {
		b.mesh.begin()
	}
	return nil
}

// greet sends the other nodes what this one offers, and asks them for what they offer.
func (b *bridge) greet() {
	b.sendInfo("", "")
	for _, v := range b.versions {
		b.publish("DISCOVER", b.packet(v, ""))
	}
}

// checkID asks whether a node with this one's id is alive. A Moleculer node that met it would end its process.
func (b *bridge) checkID(ctx context.Context) error {
	asking := b.id + "-" + b.instance[:8]
	answered := make(chan struct{}, 8)
	err := b.broker.Subscribe(ctx, b.prefix+"PONG."+asking, func([]byte) {
		select {
		case answered <- struct{}{}:
		default:
		}
	})
	if err != nil {
		return err
	}
	for _, v := range []string{"5", "4"} {
		b.publish("PING."+b.id, fmt.Appendf(nil, `{"ver":%q,"sender":%q,"time":%d,"id":%q}`, v, asking, time.Now().UnixMilli(), asking))
	}
	select {
	case <-answered:
		return fmt.Errorf("a Moleculer node with the id %s is there already: give this one another NodeID", b.id)
	case <-time.After(answerLimit):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// leaveGap is the time between the news that a node offers nothing any more and its refusing of calls, some of which are on their way meanwhile.
const leaveGap = 200 * time.Millisecond

// withdraw tells others to send no more calls, takes those that are on their way, and waits for those that run.
func (b *bridge) withdraw(ctx context.Context) error {
	b.endShares()
	b.leaving.Store(true)
	b.announce()
	if len(b.peers.list()) > 0 {
		select {
		case <-time.After(leaveGap):
		case <-ctx.Done():
		}
	}
	b.open.Store(false)
	b.exposed.Store(&exposed{})
	return b.serving.Wait(ctx)
}

// Stop leaves.
func (b *bridge) Stop(context.Context) error {
	b.leaving.Store(true)
	for _, v := range b.versions {
		b.publish("DISCONNECT", b.packet(v, ""))
	}
	b.cancel()
	b.running.Wait()
	err := b.broker.Close()
	b.serving.Close()
	b.dropPeers("was left")
	return err
}

// packet is one with the head, and members behind it: `,"cpu":3`.
func (b *bridge) packet(version, members string) []byte {
	return append(append(b.appendHead(nil, version), members...), '}')
}

// appendHead appends the beginning of a packet.
func (b *bridge) appendHead(dst []byte, version string) []byte {
	dst = append(append(append(dst, `{"ver":"`...), version...), `","sender":`...)
	return appendText(dst, b.id)
}

// publish sends a packet without a payload.
func (b *bridge) publish(topic string, packet []byte) {
	packet, err := b.wire.fromJSON(packet, "", nil)
	if limit := b.broker.MaxMessage(); err == nil && len(packet) > limit { // INFO of very many services
		err = tooLarge("the packet "+topic, len(packet), limit)
	}
	if err != nil {
		b.note("a packet could not be sent", topic, err)
		return
	}
	b.send(topic, packet)
}

// send sends a packet as it is. One that cannot be sent is lost, as are those that no node receives: each call that waits for an answer has a
// time limit.
func (b *bridge) send(topic string, packet []byte) {
	if err := b.broker.Publish(b.prefix+topic, packet); err != nil && !b.down.Load() {
		b.note("a packet could not be sent", topic, err)
	}
}

func (b *bridge) brokerLost(err error) {
	b.down.Store(true)
	b.node.Log().Warn("the broker of the Moleculer project is lost", "node", b.id, "error", err)
	b.calls.failAll(func(c *pendingCall) error { return lost(c.action, c.node, "could not be reached through the broker") })
}

func (b *bridge) brokerRestored() {
	b.down.Store(false)
	b.node.Log().Info("the broker of the Moleculer project is back", "node", b.id)
	if b.joined.Load() { // join greets otherwise
		b.peers.touchAll()
		b.greet()
	}
}

// unheard is called for a packet to which nobody listens. If it is the PING of a node that was not asked for an answer yet, which is the one that greets it,
// later ones say nothing of the node.
func (b *bridge) unheard(topic string) {
	kind, id, _ := strings.Cut(strings.TrimPrefix(topic, b.prefix), ".")
	p := b.peers.get(id)
	switch {
	case p == nil:
	case kind == "PING" && p.asked.Load() == 0:
		p.deaf.Store(true)
	case kind == "REQ", kind == "PING" && !p.deaf.Load():
		b.drop(id, "has gone")
	}
}

// beat sends heartbeats, and looks after the other nodes. Heartbeats are in the versions of the nodes that are there: a node logs an error for each
// packet of another version than its own.
func (b *bridge) beat() {
	beats, looks := time.NewTicker(b.Heartbeat), time.NewTicker(lookInterval)
	defer beats.Stop()
	defer looks.Stop()
	for {
		select {
		case <-beats.C:
			cpu := fmt.Sprintf(`,"cpu":%.0f`, b.node.Info().Load.CPU*100)
			for _, v := range b.peers.versions() {
				b.publish("HEARTBEAT", b.packet(v, cpu))
			}
		case <-looks.C:
			b.look()
		case <-b.ctx.Done():
			return
		}
	}
}

// note logs what was dropped of the topic.
func (b *bridge) note(what, topic string, err error) {
	b.drops.Note(b.node.Log(), what, "node", b.id, "topic", topic, "error", err)
}
