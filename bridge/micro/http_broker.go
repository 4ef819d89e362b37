package micro

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/names"
)

// go-micro's HTTP broker, its default, has no server: each subscription is a node of the service brokerService in the registry, whose version is
// the queue, and who publishes sends a request to one node of each queue.
const (
	brokerService = "micro.http.broker"
	everyone      = "ff.http.broadcast" // the version of subscriptions without a queue
	// postLimit bounds the request for an event. go-micro answers when the handlers have returned.
	postLimit = 30 * time.Second
	// maxSubscriptions bounds those that registries name.
	maxSubscriptions = 16_384
)

// brokerRecords are the node's own subscriptions, for registries.
func (b *bridge) brokerRecords(e *exposed) (list []*record) {
	if b.config.Broker != nil {
		return nil
	}
	for _, s := range e.handlers {
		if strings.Contains(s.Pattern, "*") {
			b.sayNoPattern(s.Pattern)
			continue
		}
		id := s.Pattern + "-" + s.Group + "-" + b.instance
		if slices.ContainsFunc(list, func(r *record) bool { return r.id == id }) {
			continue
		}
		list = append(list, &record{id: id, service: brokerService, version: s.Group, address: b.address,
			metadata: map[string]string{"broker": "http", "topic": s.Pattern, "secure": "false", "server": serverName}})
	}
	return list
}

// sayNoPattern notes once in the log that a handler gets nothing from the HTTP broker. The caller holds updating.
func (b *bridge) sayNoPattern(pattern string) {
	if b.unheard[pattern] || !b.config.MDNS && len(b.config.Registries) == 0 {
		return
	}
	if b.unheard == nil {
		b.unheard = make(map[string]bool)
	}
	b.unheard[pattern] = true
	b.node.Log().Warn("go-micro's HTTP broker has no patterns: the handler gets no events of go-micro; name its events, or use NATS as the broker of micro.Config",
		"node", b.node.ID(), "pattern", pattern)
}

// isPost reports whether a request is an event of an HTTP broker.
func isPost(r *http.Request) bool {
	return r.URL.RawQuery != "" && header(r.Header, headerService) == "" && header(r.Header, headerEndpoint) == ""
}

// servePost takes an event of an HTTP broker. As go-micro does it answers when the handlers have returned.
func (b *bridge) servePost(w http.ResponseWriter, r *http.Request) {
	if err := b.takePost(w, r); err != nil {
		b.drop("an event of go-micro was not handled", r.RemoteAddr, err)
		http.Error(w, errorTo(err).header(), http.StatusInternalServerError)
	}
}

func (b *bridge) takePost(w http.ResponseWriter, r *http.Request) error {
	packet, done, err := b.body(w, r, io.ReadAll)
	if err != nil {
		return err
	}
	defer done()
	h, body, err := readMessage(packet)
	if err != nil {
		return sabir.Errorf(sabir.ErrBadInput.Code, sabir.ErrBadInput.Name, "the event cannot be read: %w", err)
	}
	topic, id := h.Get(headerTopic), r.URL.Query().Get("id")
	for _, s := range b.exposed.Load().handlers {
		if s.Pattern == topic && s.Pattern+"-"+s.Group+"-"+b.instance == id {
			if !b.serving.Begin() {
				return sabir.ErrTooManyCalls
			}
			defer b.serving.End()
			return b.receive(topic, []string{s.Group}, h, body)
		}
	}
	return fmt.Errorf("nobody here has the subscription %.200q to %.200q", id, topic)
}

// subscriptions are those of go-micro's HTTP brokers, by their addresses.
type subscriptions struct {
	mu    sync.Mutex // before peers.applying
	at    map[string]map[subscription]*record
	count int
}

// subscribed takes a subscription that a registry names. Who has it gets the events that Publish names.
func (b *bridge) subscribed(r *record) {
	s, err := subscriptionOf(r)
	if err == nil {
		err = names.Check(s.topic)
	}
	if err != nil {
		b.drop("a subscription of go-micro was refused", r.id, err)
		return
	}
	if !b.publishes(s.topic) {
		return
	}
	b.subscriptions.mu.Lock()
	defer b.subscriptions.mu.Unlock()
	all := &b.subscriptions
	if all.at[r.address][s] == nil && all.count >= maxSubscriptions {
		b.drop("a subscription of go-micro was refused", r.id, fmt.Errorf("%d are known, which is all there may be", maxSubscriptions))
		return
	}
	if all.at == nil {
		all.at = make(map[string]map[subscription]*record)
	}
	if all.at[r.address] == nil {
		all.at[r.address] = make(map[subscription]*record)
	}
	if all.at[r.address][s] == nil {
		all.count++
	}
	all.at[r.address][s] = r
	b.putSubscriber(r.address)
}

// unsubscribed forgets a subscription.
func (b *bridge) unsubscribed(r *record) {
	b.subscriptions.mu.Lock()
	defer b.subscriptions.mu.Unlock()
	all := &b.subscriptions
	for address, list := range all.at {
		for s := range list {
			if s.id == r.id && (r.version == "" || r.version == s.queue || s.queue == "" && r.version == everyone) {
				delete(list, s)
				all.count--
				b.putSubscriber(address)
			}
		}
	}
}

// putSubscriber makes the broker at an address a node that takes what it has subscribed to. The caller holds subscriptions.mu.
func (b *bridge) putSubscriber(address string) {
	list := b.subscriptions.at[address]
	one := &record{id: subscriberID(address), service: brokerService, address: address}
	for s, r := range list {
		one.subscriptions = append(one.subscriptions, s)
		one.listed = one.listed || r.listed
	}
	if len(list) == 0 {
		delete(b.subscriptions.at, address)
		b.dropID(one.id)
		return
	}
	slices.SortFunc(one.subscriptions, compareSubscriptions)
	b.putPeer(one)
}

func subscriberID(address string) string { return brokerService + "@" + address }

// forgotten drops the subscriptions of a broker that is not there any more.
func (b *bridge) forgotten(p *peer) {
	if p.record.service != brokerService {
		return
	}
	b.subscriptions.mu.Lock()
	defer b.subscriptions.mu.Unlock()
	b.subscriptions.count -= len(b.subscriptions.at[p.record.address])
	delete(b.subscriptions.at, p.record.address)
}

// group is the group of a subscription: without a queue it is alone in one.
func (s *subscription) group() string {
	if s.queue == "" {
		return s.id
	}
	return s.queue
}

// Emit implements sabir.ForeignNode: it sends an event to the subscriptions of a group, or to all of the topic where group is "". It returns
// when the event has been written.
func (p *peer) Emit(ctx context.Context, group string, r *sabir.Request) error {
	topic := r.Action().Name
	packet, err := p.bridge.messageFor(ctx, r)
	if err != nil {
		return err
	}
	for i := range p.record.subscriptions {
		s := &p.record.subscriptions[i]
		if s.topic == topic && (group == "" || s.group() == group) {
			if failed := p.post(ctx, topic, s.id, packet); failed != nil && err == nil {
				err = failed
			}
		}
	}
	return err
}

// post sends an event to a subscription.
func (p *peer) post(ctx context.Context, topic, id string, packet []byte) error {
	b := p.bridge
	if p.posts.Add(1) > maxEvents || !b.posting.Begin() {
		p.posts.Add(-1)
		return sabir.NewError(sabir.ErrTooManyCalls.Code, sabir.ErrTooManyCalls.Name, fmt.Sprintf("%s has not taken the %d events before this one", p.Name(), maxEvents)).AsRetryable()
	}
	wrote := make(chan error, 1)
	tell := func(err error) {
		select {
		case wrote <- err:
		default:
		}
	}
	go func() {
		defer b.posting.End()
		defer p.posts.Add(-1)
		limited, cancel := context.WithTimeout(b.ctx, postLimit)
		defer cancel()
		traced := httptrace.WithClientTrace(limited, &httptrace.ClientTrace{WroteRequest: func(info httptrace.WroteRequestInfo) {
			if info.Err == nil {
				tell(nil)
			}
		}})
		err := b.postTo(traced, "http://"+p.record.address+"/?"+url.Values{"id": {id}}.Encode(), packet)
		tell(err)
		if err != nil && b.ctx.Err() == nil {
			b.drop("an event did not reach a subscriber of go-micro", p.record.address, err)
		}
	}()
	select {
	case err := <-wrote:
		if err != nil {
			return p.failed(ctx, topic, err)
		}
		return nil
	case <-ctx.Done():
		return sabir.AsError(ctx.Err())
	}
}

func (b *bridge) postTo(ctx context.Context, to string, packet []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(packet))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "")
	response, err := b.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxHead))
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("it answers %s: %.300s", response.Status, text)
	}
	return err
}
