package micro

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/gomicro"
	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/internal/requestid"
)

// message is an event as go-micro's brokers carry it, as JSON.
type message struct {
	Header map[string]string
	Body   []byte
}

// headerEvent marks an event of a node of Sabir by its id, so that other nodes of Sabir leave it out: the one that emitted it has given it to
// their handlers. go-micro passes it on with the rest of the metadata, but each of its events has an id of its own.
const headerEvent = "Sabir-Event"

// maxEvents bounds the events that one subscriber has not taken yet.
const maxEvents = 256

// messageFor writes an event for go-micro's brokers.
func (b *bridge) messageFor(ctx context.Context, r *sabir.Request) ([]byte, error) {
	body, err := r.AppendInput(b.format.codec, nil)
	if err != nil {
		return nil, err
	}
	id := requestid.New()
	h := make(http.Header)
	b.setContext(ctx, h)
	h.Set("Content-Type", b.format.contentType)
	h.Set(headerTopic, r.Action().Name)
	h.Set(headerEvent, id)
	h.Del(headerTimeout)
	m := message{Header: make(map[string]string, len(h)+1), Body: body}
	for name, values := range h {
		m.Header[name] = values[0]
	}
	m.Header["Micro-ID"] = id // as go-micro writes it
	packet, err := json.Codec.Append(nil, &m)
	if err == nil && len(packet) > maxMessage {
		err = tooLarge(int64(len(packet)))
	}
	return packet, err
}

// readMessage reads an event. Its headers have the names of HTTP.
func readMessage(packet []byte) (h http.Header, body []byte, err error) {
	if len(packet) > maxMessage {
		return nil, nil, tooLarge(int64(len(packet)))
	}
	var m message
	if err := json.Codec.Decode(packet, &m); err != nil {
		return nil, nil, err
	}
	if m.Header == nil && m.Body == nil {
		return nil, nil, errors.New("there is no message in it")
	}
	h = make(http.Header, min(len(m.Header), 1024))
	size := 0
	for name, value := range m.Header {
		if size += len(name) + len(value); size > maxHead {
			return nil, nil, fmt.Errorf("the headers have more than %d bytes", maxHead)
		}
		h.Set(name, value)
	}
	return h, m.Body, nil
}

// receive gives an event to the handlers of groups.
func (b *bridge) receive(topic string, groups []string, h http.Header, body []byte) error {
	if err := names.Check(topic); err != nil {
		return err
	}
	if id := h.Get(headerEvent); id != "" && id == h.Get(headerID) {
		return nil // of a node of Sabir
	}
	f, ok := eventFormatOf(h.Get("Content-Type"))
	if !ok {
		return fmt.Errorf("unsupported Content-Type: %.100q", h.Get("Content-Type"))
	}
	in, err := inboundFrom(context.Background(), h, nil) // no one waits for an event
	if err != nil {
		return err
	}
	in.Limit = 0
	return b.node.ReceiveEvent(in, topic, groups, false, f.codec, f.input(body))
}

// listens reports which groups of event handlers listen to a topic.
func (e *exposed) listens(topic string) (groups []string) {
	for _, s := range e.handlers {
		if names.Match(s.Pattern, topic) && !slices.Contains(groups, s.Group) {
			groups = append(groups, s.Group)
		}
	}
	return groups
}

// publishes reports whether events of a topic are sent to go-micro.
func (b *bridge) publishes(topic string) bool {
	return slices.ContainsFunc(b.config.Publish, func(p string) bool { return names.Match(p, topic) })
}

// queues are the node's subscriptions at a broker, by topic and queue.
type queues struct {
	name string
	conn gomicro.BrokerConn
	stop map[[2]string]func()
}

// connect joins the broker, where there is one beside go-micro's HTTP broker.
func (b *bridge) connect(ctx context.Context) error {
	if b.config.Broker == nil {
		return nil
	}
	conn, err := b.config.Broker.Connect(ctx, b.node.ID())
	if err != nil {
		return fmt.Errorf("micro.Config: Broker: %w", err)
	}
	b.queues = &queues{name: b.config.Broker.Name(), conn: conn, stop: make(map[[2]string]func())}
	if len(b.config.Publish) == 0 {
		return nil
	}
	p := &brokerPeer{bridge: b}
	return b.node.SetForeign(p, p.offer())
}

// listen subscribes to the topics of handlers that are exposed, and to no others.
func (b *bridge) listenTo(e *exposed) {
	if b.queues == nil {
		return
	}
	want := make(map[[2]string]bool)
	for _, s := range e.handlers {
		topic := s.Pattern
		if at := strings.Index(topic, "**"); at >= 0 {
			topic = topic[:at] + ">"
		}
		want[[2]string{topic, s.Group}] = true
	}
	for key, stop := range b.queues.stop {
		if !want[key] {
			stop()
			delete(b.queues.stop, key)
		}
	}
	for key := range want {
		if b.queues.stop[key] != nil {
			continue
		}
		stop, err := b.queues.conn.Subscribe(b.ctx, key[0], key[1], func(topic string, packet []byte) { b.deliver(topic, key[1], packet) })
		if err != nil {
			if b.ctx.Err() == nil {
				b.drop("a topic of go-micro could not be subscribed to", key[0], err)
			}
			continue
		}
		b.queues.stop[key] = stop
	}
}

// deliver takes an event from the broker.
func (b *bridge) deliver(topic, group string, packet []byte) {
	fail := func(err error) { b.drop("an event of go-micro was not handled", topic, err) }
	h, body, err := readMessage(packet)
	if err != nil {
		fail(err)
		return
	}
	if !slices.Contains(b.exposed.Load().listens(topic), group) {
		return // the broker's patterns are wider, or it is stopping
	}
	if !b.serving.Begin() {
		fail(sabir.ErrTooManyCalls)
		return
	}
	size := int64(len(packet))
	if b.bodies.Add(size) > maxBodies {
		b.bodies.Add(-size)
		b.serving.End()
		fail(sabir.ErrTooManyCalls)
		return
	}
	b.serving.Go(func() {
		defer b.bodies.Add(-size)
		if err := b.receive(topic, []string{group}, h, body); err != nil {
			fail(err)
		}
	})
}

// disconnect leaves the broker.
func (b *bridge) disconnect() error {
	if b.queues == nil {
		return nil
	}
	return b.queues.conn.Close()
}

// brokerPeer is the broker as a node that takes events: a sabir.ForeignNode.
type brokerPeer struct{ bridge *bridge }

// Name implements sabir.ForeignNode.
func (p *brokerPeer) Name() string { return "go-micro broker " + p.bridge.queues.name }

func (p *brokerPeer) offer() (o sabir.ForeignOffer) {
	const service = "go-micro-broker"
	o.Node.Framework = "go-micro"
	o.Services = append(o.Services, serviceNamed(service))
	for _, pattern := range p.bridge.config.Publish {
		o.Events = append(o.Events, sabir.Subscription{Service: service, Pattern: pattern, Group: service})
	}
	return o
}

// Emit implements sabir.ForeignNode.
func (p *brokerPeer) Emit(ctx context.Context, _ string, r *sabir.Request) error {
	packet, err := p.bridge.messageFor(ctx, r)
	if err != nil {
		return err
	}
	if err := p.bridge.queues.conn.Publish(r.Action().Name, packet); err != nil {
		return unreachable(r.Action().Name, p.Name(), err)
	}
	return nil
}

// Send implements sabir.ForeignNode. The broker offers no actions.
func (p *brokerPeer) Send(context.Context, *sabir.Request) error {
	return errors.New("a broker has no actions")
}

// Open implements sabir.ForeignNode.
func (p *brokerPeer) Open(context.Context, *sabir.Action) (sabir.ForeignStream, error) {
	return nil, errors.New("a broker has no actions")
}
