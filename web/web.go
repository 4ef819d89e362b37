package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/sabir-go/sabir/internal/httpaccess"
	"github.com/sabir-go/sabir/internal/principal"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/http1"
	"github.com/sabir-go/sabir/internal/httpgateway"
	"github.com/sabir-go/sabir/internal/httpstream"
	"github.com/sabir-go/sabir/internal/memory"
)

func init() {
	httpgateway.New = func(n any, config httpaccess.Config, crowded func() bool) (gateway.Gateway, error) {
		s, err := newServer(n.(*sabir.Node), config)
		if err != nil {
			return nil, err
		}
		s.crowded = crowded
		return s, nil
	}
}

// server serves one node over HTTP. Its engine reads most requests; net/http calls ServeHTTP with the others.
type server struct {
	node     *sabir.Node
	config   httpaccess.Config
	memory   *memory.Budget
	crowded  func() bool // more calls come than the node can answer; nil under Handler
	settings *settings
	tables   tables
	clients  *clientTable       // nil for no bounds
	ownPages map[string]*target // by path: /health, /ready, / and /$api
	mounts   []*mounted
	streams  *httpstream.Streams
	// onlyLocal: it listens on this machine and lets callers in without credentials, so it answers requests for this machine's names
	// only. One that listens there and demands them may be behind a proxy, whose callers are anywhere.
	onlyLocal bool

	eventsLock sync.Mutex
	events     *httpstream.Events // made by the first listener; guarded by eventsLock

	requests   atomic.Int64 // requests so far
	inFlight   atomic.Int64 // calls that run
	stopping   atomic.Bool
	suggesting atomic.Bool // one at a time looks for similar names

	open   atomic.Pointer[opened] // nil before the start, and under Handler
	served chan struct{}          // closed when serve has returned
}

func newServer(n *sabir.Node, config httpaccess.Config) (*server, error) {
	s, err := newSettings(config)
	if err != nil {
		return nil, err
	}
	for _, d := range s.routeGroups() {
		if err := principal.Check(d.authenticators); err != nil {
			return nil, fmt.Errorf("Auth of web.Config: %w", err)
		}
	}
	var warned sync.Once
	s.proxies.Untrusted = func(connection netip.Addr) {
		warned.Do(func() {
			n.Log().Warn("a request has passed a proxy that TrustProxies of web.Config does not name: filters take the proxy for the client", "proxy", connection)
		})
	}
	f := &server{node: n, config: config, settings: s, memory: memory.OfNode(n), streams: httpstream.New(n, httpstream.Limits{})}
	f.clients = newClients(s.clients, &s.proxies, n.Log())
	f.tables.server = f
	return f, nil
}

// Handler returns the HTTP side of a node as a handler for an existing server of net/http, under http.StripPrefix if it is not
// at the root. Options are those of sabir.HTTP except for those about listening. The server around it has to see to limits of
// connections, to TLS and to the clients that can reach it; browsers' requests for other sites are refused here. The handler
// answers once the node runs. The error describes what is wrong with the options.
func Handler(n *sabir.Node, options ...gateway.HTTPOption) (http.Handler, error) {
	var config httpaccess.Config
	for _, o := range options {
		o(&config)
	}
	f, err := newServer(n, config)
	if err != nil {
		return nil, err
	}
	if err := config.Keys.Check(); err != nil {
		return nil, err
	}
	return f, f.prepare(&hostCheck{}, false)
}

// prepare assembles the filter chains and makes the handlers that are mounted.
func (s *server) prepare(check *hostCheck, onlyLocal bool) error {
	s.onlyLocal = onlyLocal
	for _, d := range s.settings.routeGroups() {
		d.assemble(check, s.config.Keys)
	}
	s.ownPages = s.pages()
	return s.mount()
}

// Name is "http" and the address as configured.
func (s *server) Name() string {
	if s.config.TLS != nil {
		return "https " + s.config.Addr
	}
	return "http " + s.config.Addr
}

// HTTPAddr is the host and port that the server listens on; "" before it started.
func (s *server) HTTPAddr() string {
	if o := s.open.Load(); o != nil {
		return o.listener.Addr().String()
	}
	return ""
}

// RefusedHeads counts the requests that were refused for their form; net/http alone counts none.
func (s *server) RefusedHeads() uint64 {
	if o := s.open.Load(); o != nil {
		return uint64(o.engine.Refused())
	}
	return 0
}

// Start listens and serves.
func (s *server) Start(ctx context.Context) error {
	where, err := httpaccess.Resolve(ctx, s.config.Addr)
	if err == nil {
		err = checkAccess(where, s.config, s.settings)
	}
	if err != nil {
		return err
	}
	onlyLocal := where.Loopback() && s.config.Keys.None() && !s.settings.root.guarded()
	if err := s.prepare(&hostCheck{checkHost: onlyLocal, host: where.Host}, onlyLocal); err != nil {
		return err
	}
	if err := s.CheckAddresses(); err != nil {
		return err
	}
	listen := net.ListenConfig{KeepAlive: -1} // four system calls for each connection: the engine sets it for those that it hands over
	listener, err := listen.Listen(ctx, "tcp", where.At.String())
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w", where.At, err)
	}
	l := s.settings.limits
	var admit func(netip.Addr) (func(), bool)
	if s.clients != nil {
		admit = s.clients.connect
	}
	engine := http1.NewServer(http1.Config{Handler: s, TLS: s.config.TLS, Crowded: s.crowded, Admit: admit, Memory: s.memory, Log: s.node.Log(),
		Limits: http1.Limits{Connections: l.connections, HeadTime: l.readHeaders, BodyTime: l.readBody, CallTime: s.settings.root.timeout,
			WriteTime: l.write, IdleTime: l.idle, Drain: l.drain, Quiet: l.quiet},
		Fallback: &http.Server{
			Handler:           withHTTP2Writer(s),
			ReadHeaderTimeout: l.readHeaders,
			ReadTimeout:       l.readBody,
			WriteTimeout:      l.write,
			IdleTimeout:       l.idle,
			MaxHeaderBytes:    l.headers,
			ErrorLog:          slog.NewLogLogger(s.node.Log().Handler(), slog.LevelDebug), // what peers do wrong, such as a broken handshake
		}})
	s.served = make(chan struct{})
	o := &opened{listener, engine}
	s.open.Store(o)
	s.logServed()
	go s.serve(o)
	return nil
}

// CheckAddresses returns what is wrong with the addresses of this node's actions, for the node, which asks when it starts services while this is open.
func (s *server) CheckAddresses() error { return s.tables.check() }

// opened holds the parts of a server that it has once it listens.
type opened struct {
	listener net.Listener
	engine   *http1.Server
}

func (s *server) serve(o *opened) {
	defer close(s.served)
	err := o.engine.Serve(o.listener)
	if err != nil && !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) && !s.stopping.Load() {
		s.node.Log().Error("http stopped serving", "address", s.HTTPAddr(), "error", err)
	}
}

// Stop takes no more connections, ends streams, and waits for the calls in flight, or for the context; those that remain are
// then cut off, and the error reports how many. Readiness has turned 503 by then, because the node is stopping.
func (s *server) Stop(ctx context.Context) error {
	s.stopping.Store(true)
	o := s.open.Load()
	if o == nil {
		return nil
	}
	streams, mounts := make(chan error, 1), make(chan error, 1)
	go func() { streams <- s.streams.Stop(ctx) }()
	go func() { mounts <- s.stopMounted(ctx) }()
	for _, p := range s.settings.protocols {
		p.Stop()
	}
	err := o.engine.Shutdown(ctx)
	if err != nil {
		cut := s.inFlight.Load()
		o.engine.Close()
		err = fmt.Errorf("stopped with %d calls still running, which were cut off: %w", cut, err)
	}
	err = errors.Join(err, <-streams, <-mounts)
	<-s.served
	return err
}
