package nats

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/sabir-go/sabir/internal/directory"
	"github.com/sabir-go/sabir/internal/gomicro"
	"github.com/sabir-go/sabir/secret"
)

// Registry is go-micro's registry over NATS, for [github.com/sabir-go/sabir/bridge/micro.Config]: nobody keeps the services, each node
// answers who asks all. It must not change once the node has started.
type Registry struct {
	// Address has the servers, as in [Broker]. Where nothing listens there yet, the node starts and tries again.
	Address string
	// User and Password are those of [Broker].
	User     string
	Password secret.Secret
	// TLS has the same meaning as in [Broker].
	TLS *tls.Config
	// Interval is how often all are asked what they have. Nodes that have not answered three times are gone. Default: 10 s.
	Interval time.Duration
}

// The subjects of go-micro's registry.
const (
	querySubject = "micro.nats.query"
	watchSubject = "micro.nats.watch"
)

// result is a question or news. Its members have capital letters in go-micro.
type result struct {
	Action  string
	Service *gomicro.Service
}

// Name implements micro.Registry.
func (*Registry) Name() string { return "nats" }

// Run implements micro.Registry.
func (r *Registry) Run(ctx context.Context, s *gomicro.Session) {
	log := s.Log.With("node", s.Node)
	directory.Keep(ctx, log, "nats", func(ctx context.Context, working func()) error { return r.run(ctx, s, log, working) })
}

func (r *Registry) run(ctx context.Context, s *gomicro.Session, log *slog.Logger, working func()) error {
	back := make(chan struct{}, 1)
	c, err := connect(ctx, r.Address, r.User, r.Password, r.TLS, s.Node, natsgo.ReconnectHandler(func(*natsgo.Conn) {
		select {
		case back <- struct{}{}:
		default:
		}
	}))
	if err != nil {
		return err
	}
	defer c.Close()
	v := &view{session: s, conn: c, seen: make(map[key]entry)}
	inbox := c.NewInbox()
	for subject, take := range map[string]func(*natsgo.Msg){querySubject: v.answer, watchSubject: v.news, inbox: v.learn} {
		if _, err := c.subscribe(subject, "", take); err != nil {
			return err
		}
	}
	interval := cmp.Or(r.Interval, 10*time.Second)
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	asked := time.NewTimer(0)
	defer asked.Stop()
	ask := func() {
		question, _ := json.Marshal(&result{Action: "list"})
		c.PublishRequest(querySubject, inbox, question) // one that is lost is asked again
		asked.Reset(answerTime)
	}
	v.offer()
	ask()
	working()
	for {
		_, changed := s.Offered()
		select {
		case <-ctx.Done():
			v.leave()
			return ctx.Err()
		case <-changed:
			v.offer()
		case <-back:
			log.Info("NATS is reached again")
			v.offer()
			ask()
		case <-ticker.C:
			v.offer() // as go-micro does
			v.forget(3 * interval)
			ask()
		case <-asked.C:
			v.report()
		}
	}
}

// answerTime is how long go-micro waits for answers.
const answerTime = 100 * time.Millisecond

// key identifies a node of a service.
type key struct{ service, version, id string }

type entry struct {
	service gomicro.Service
	seen    time.Time
}

// view holds what all others said last. Its methods may be called by several goroutines.
type view struct {
	session *gomicro.Session
	conn    *connection

	mu        sync.Mutex
	seen      map[key]entry
	offered   []gomicro.Service
	reporting sync.Mutex
}

// offer announces all services of the node, and takes back those that it has no more.
func (v *view) offer() {
	services, _ := v.session.Offered()
	v.mu.Lock()
	before := v.offered
	v.offered = services
	v.mu.Unlock()
	now := make(map[key]bool)
	for i := range services {
		now[keyOf(&services[i], 0)] = true
		v.tell("create", &services[i])
	}
	for i := range before {
		if !now[keyOf(&before[i], 0)] {
			v.tell("delete", &before[i])
		}
	}
}

func (v *view) leave() {
	v.mu.Lock()
	services := v.offered
	v.offered = nil
	v.mu.Unlock()
	for i := range services {
		v.tell("delete", &services[i])
	}
	v.conn.FlushTimeout(time.Second)
}

func (v *view) tell(action string, s *gomicro.Service) {
	news, err := json.Marshal(&result{Action: action, Service: s})
	if err == nil {
		err = v.conn.Publish(watchSubject, news)
	}
	if err != nil && v.conn.IsConnected() {
		v.session.Dropped("a service could not be announced by NATS", s.Name, err)
	}
}

func keyOf(s *gomicro.Service, node int) key { return key{s.Name, s.Version, s.Nodes[node].ID} }

// answer answers a question for the node's services.
func (v *view) answer(m *natsgo.Msg) {
	if m.Reply == "" {
		return
	}
	question, err := read(m.Data)
	if err != nil {
		v.session.Dropped("a question of go-micro's registry was refused", m.Subject, err)
		return
	}
	v.mu.Lock()
	services := v.offered
	v.mu.Unlock()
	for i := range services {
		if question.Action != "list" && (question.Action != "get" || question.Service == nil || question.Service.Name != services[i].Name) {
			continue
		}
		if text, err := services[i].Encode(); err == nil {
			v.conn.Publish(m.Reply, text) // an answer that is lost is asked for again
		}
	}
}

// read reads a question or news.
func read(data []byte) (r result, err error) {
	if len(data) > gomicro.MaxService {
		return r, fmt.Errorf("it has %d bytes: %d is the limit", len(data), gomicro.MaxService)
	}
	return r, json.Unmarshal(data, &r)
}

// news takes what a node says of itself.
func (v *view) news(m *natsgo.Msg) {
	r, err := read(m.Data)
	if err != nil || r.Service == nil {
		v.session.Dropped("news of go-micro's registry were refused", m.Subject, err)
		return
	}
	if r.Action == "delete" {
		v.mu.Lock()
		for i := range r.Service.Nodes {
			delete(v.seen, keyOf(r.Service, i))
		}
		v.mu.Unlock()
		v.report()
		return
	}
	if v.put(r.Service) {
		v.report()
	}
}

// learn takes an answer.
func (v *view) learn(m *natsgo.Msg) {
	s, err := gomicro.DecodeService(m.Data)
	if err != nil {
		v.session.Dropped("an answer of go-micro's registry was refused", m.Subject, err)
		return
	}
	v.put(&s)
}

// put notes the nodes of a service, and reports whether one is new or the service is another than before.
func (v *view) put(s *gomicro.Service) (changed bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for i := range s.Nodes {
		one := *s
		one.Nodes = s.Nodes[i : i+1]
		k := keyOf(&one, 0)
		if _, known := v.seen[k]; !known {
			if len(v.seen) >= gomicro.MaxServices {
				v.session.Dropped("a node of go-micro was refused", s.Name, fmt.Errorf("%d nodes are known, which is all there may be", gomicro.MaxServices))
				return changed
			}
			changed = true
		}
		v.seen[k] = entry{one, time.Now()}
	}
	return changed
}

// forget drops the nodes that have not answered for a time.
func (v *view) forget(after time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for k, e := range v.seen {
		if time.Since(e.seen) > after {
			delete(v.seen, k)
		}
	}
}

// report passes on all that was said.
func (v *view) report() {
	v.reporting.Lock()
	defer v.reporting.Unlock()
	v.mu.Lock()
	list := make([]gomicro.Service, 0, len(v.seen))
	for _, e := range v.seen {
		list = append(list, e.service)
	}
	v.mu.Unlock()
	v.session.Found(list)
}
