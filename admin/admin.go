// Package admin gives a node an address for operators and their tools: probes, metrics and profiles, without the HTTP side that
// callers use. One option does it:
//
//	node := sabir.NewNode(sabir.Serve(users), admin.Serve(":9464", admin.Metrics(tel.Handler()), admin.Profiler()))
//
// It answers
//
//	GET /health          200 while the process runs
//	GET /ready           200 if calls should be sent here, see sabir.Node.Ready, else 503 with the names of the checks that fail
//	GET /metrics         with Metrics
//	GET /debug/pprof/    with Profiler
//
// from before the node joins its cluster until its services have stopped, so that a start and a stop that take long can be watched.
//
// # Who may ask
//
// An address without a host, ":9464", means this machine only (127.0.0.1). Beyond it everybody may ask for health and readiness, and
// learns no more than the names of checks. Metrics and profiles need the key of [gateway.Key], or a configuration of [gateway.TLS] that
// demands client certificates; without either, a node that has them refuses to start on such an address. [AllowUnauthenticatedMetrics]
// is for networks where everybody may read the metrics. There is no such option for profiles, which show what is in memory.
package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/accept"
	"github.com/sabir-go/sabir/internal/httpaccess"
	"github.com/sabir-go/sabir/internal/httpstrict"
	"golang.org/x/net/netutil"
)

// Serve lets a node serve its operators on an address while it runs. Options are [Metrics], [Profiler], [AllowUnauthenticatedMetrics],
// [gateway.Key] and [gateway.TLS]. Port 0 takes a free one; [sabir.Node.AdminAddr] returns it. A node has one such address.
func Serve(addr string, options ...gateway.HTTPOption) sabir.NodeOption {
	config := httpaccess.Config{Addr: addr}
	for _, o := range options {
		o(&config)
	}
	return sabir.WithExtension(&server{config: config})
}

// option is an option of this package among those of a httpaccess.Config.
type option func(*server)

func (o option) add() gateway.HTTPOption {
	return func(c *httpaccess.Config) { c.Options = append(c.Options, o) }
}

// Metrics answers GET /metrics with a handler, such as that of package telemetry: telemetry.Telemetry.Handler.
func Metrics(handler http.Handler) gateway.HTTPOption {
	return option(func(s *server) { s.metrics = handler }).add()
}

// AllowUnauthenticatedMetrics serves the metrics to everybody who reaches the address. They have the names of services and actions, and
// how much each is used.
func AllowUnauthenticatedMetrics() gateway.HTTPOption {
	return option(func(s *server) { s.openMetrics = true }).add()
}

// Profiler serves the profiles of package runtime/pprof at /debug/pprof/, in the form that `go tool pprof` and `go tool trace` ask for:
//
//	go tool pprof http://127.0.0.1:9464/debug/pprof/profile?seconds=10
//
// They cost nothing while nobody asks. A profile or a trace lasts two minutes at most, and one of each kind is made at a time.
func Profiler() gateway.HTTPOption { return option(func(s *server) { s.profiler = true }).add() }

// maxConnections bounds the connections that are open at once: see [httpstrict.MakeSpace]. What asks for health ends nodes that do not answer.
const maxConnections = 1000

// server serves a node's operators. It is an extension and not a gateway, because gateways open when the services have started, and
// close first of all.
type server struct {
	config      httpaccess.Config
	metrics     http.Handler
	openMetrics bool
	profiler    bool

	node      *sabir.Node
	where     httpaccess.Address
	listener  net.Listener
	server    *http.Server
	interrupt context.CancelFunc // ends what lasts: profiles
	ended     chan struct{}
}

// Name implements sabir.Extension.
func (s *server) Name() string { return "admin" }

// Start implements sabir.Extension.
func (s *server) Start(ctx context.Context, n *sabir.Node) error {
	s.node = n
	if err := s.prepare(ctx); err != nil {
		return err
	}
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", s.where.At.String())
	if err != nil {
		return err
	}
	s.listener = listener
	lasting, interrupt := context.WithCancel(context.Background())
	s.interrupt = interrupt
	s.server = &http.Server{Handler: s.handler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10, TLSConfig: s.config.TLS,
		ErrorLog:    slog.NewLogLogger(n.Log().Handler(), slog.LevelDebug), // what peers do wrong
		BaseContext: func(net.Listener) context.Context { return lasting }}
	s.ended = make(chan struct{})
	httpstrict.MakeSpace(s.server, maxConnections)
	limited := netutil.LimitListener(accept.Listener(listener, n.Log(), "operators"), maxConnections)
	go func() {
		defer close(s.ended)
		if err := httpstrict.Serve(s.server, limited); !errors.Is(err, http.ErrServerClosed) {
			n.Log().Error("operators are not served any more", "node", n.ID(), "address", s.AdminAddr(), "error", err)
		}
	}()
	return nil
}

// Stop implements sabir.Extension. It ends profiles that are being made.
func (s *server) Stop(ctx context.Context) error {
	s.interrupt()
	err := s.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.server.Close())
	}
	<-s.ended
	return err
}

// AdminAddr is the host and port that it listens on.
func (s *server) AdminAddr() string { return s.listener.Addr().String() }

// prepare reads the options and refuses what would let too many ask.
func (s *server) prepare(ctx context.Context) error {
	if err := errors.Join(s.config.Problems...); err != nil {
		return err
	}
	for _, o := range s.config.Options {
		set, ours := o.(option)
		if !ours {
			return errors.New("admin.Serve has an option of another package: it takes Metrics, Profiler, AllowUnauthenticatedMetrics, gateway.Key and gateway.TLS")
		}
		set(s)
	}
	var err error
	if s.where, err = httpaccess.Resolve(ctx, s.config.Addr); err != nil {
		return err
	}
	if err := errors.Join(s.config.Keys.Check(), httpaccess.CheckTLS(s.config.TLS)); err != nil {
		return err
	}
	return s.checkAccess()
}

// checkAccess refuses to serve more than probes where other machines could ask without a key.
func (s *server) checkAccess() error {
	keyLength := s.config.Keys.Shortest()
	switch {
	case s.where.Loopback(), httpaccess.DemandsCertificates(s.config.TLS):
	case keyLength >= httpaccess.MinKey:
	case keyLength > 0:
		return fmt.Errorf("refusing to listen on %s with a key of %d characters: use at least %d random ones (openssl rand -hex 16)", s.where.At, keyLength, httpaccess.MinKey)
	case s.profiler:
		return fmt.Errorf("refusing to serve profiles on %s, where other machines could read what is in memory: "+
			"add gateway.Key(…), or gateway.TLS with ClientAuth tls.RequireAndVerifyClientCert and ClientCAs, or leave out the host", s.where.At)
	case s.metrics != nil && !s.openMetrics:
		return fmt.Errorf("refusing to serve metrics on %s, where other machines could read them without a key: "+
			"add gateway.Key(…), or gateway.TLS with ClientAuth tls.RequireAndVerifyClientCert and ClientCAs, "+
			"or admin.AllowUnauthenticatedMetrics() if anyone may read them, or leave out the host", s.where.At)
	}
	return nil
}
