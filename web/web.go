package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/http1"
	"github.com/sabir-go/sabir/web/stream"
)

func init() {
	sabir.RegisterHTTP(func(n *sabir.Node, config sabir.HTTPConfig) (sabir.Face, error) { return newFace(n, config) })
}

// face is the HTTP side of one node.
type face struct {
	node     *sabir.Node
	config   sabir.HTTPConfig
	settings *settings
	tables   tables
	own      map[string]*target // the face's own pages, by path
	mounts   []*mounted
	streams  *stream.Streams

	eventsLock sync.Mutex
	events     *stream.Events // from the first listener on

	requests atomic.Int64 // that came
	inFlight atomic.Int64 // calls
	stopping atomic.Bool
	guessing atomic.Bool // one at a time looks for similar names

	listener net.Listener
	server   *http1.Server
	served   chan struct{} // closed when the server accepts no more
}

func newFace(n *sabir.Node, config sabir.HTTPConfig) (*face, error) {
	s, err := newSettings(config.Options)
	if err != nil {
		return nil, err
	}
	for _, d := range s.doors() {
		if err := auth.Check(d.authenticators...); err != nil {
			return nil, fmt.Errorf("web.Auth: %w", err)
		}
	}
	if _, err := stream.NewEvents(s.events...); err != nil && s.events != nil {
		return nil, fmt.Errorf("web.Events: %w", err)
	}
	f := &face{node: n, config: config, settings: s, streams: stream.New(n, stream.Limits{})}
	f.tables.face = f
	return f, nil
}

// Handler is the face of a node as a handler for an existing server of net/http, under http.StripPrefix if it is not at the
// root. Options are those of sabir.HTTP but for what is about listening. The server around it has to see to limits of
// connections, to TLS and to who can reach it; browsers' requests for other sites are refused here. The handler answers once
// the node runs. The error is what is wrong with the options.
func Handler(n *sabir.Node, options ...sabir.HTTPOption) (http.Handler, error) {
	var config sabir.HTTPConfig
	for _, o := range options {
		o(&config)
	}
	f, err := newFace(n, config)
	if err != nil {
		return nil, err
	}
	if err := checkKey(config.Key); err != nil {
		return nil, err
	}
	return f, f.prepare(&site{}, false)
}

// prepare makes what requests pass, and the handlers that are mounted.
func (f *face) prepare(s *site, loopback bool) error {
	f.settings.tools = f.settings.root
	f.settings.tools.anonymous = false
	for _, d := range append(f.settings.doors(), &f.settings.tools) {
		d.assemble(s, f.config.Key)
	}
	f.own = f.pages()
	return f.mount(loopback)
}

// Name is "http" and the address as configured.
func (f *face) Name() string {
	if f.config.TLS != nil {
		return "https " + f.config.Addr
	}
	return "http " + f.config.Addr
}

// HTTPAddr is the host and port that the face listens on; "" before it started.
func (f *face) HTTPAddr() string {
	if f.listener == nil {
		return ""
	}
	return f.listener.Addr().String()
}

// Start listens and serves.
func (f *face) Start(ctx context.Context) error {
	where, err := resolve(ctx, f.config.Addr)
	if err == nil {
		err = checkAccess(where, f.config, f.settings)
	}
	if err != nil {
		return err
	}
	guarded := f.config.Key != "" || f.settings.root.guarded()
	if err := f.prepare(&site{checkHost: where.loopback() && !guarded, host: where.host}, where.loopback()); err != nil {
		return err
	}
	if f.listener, err = net.Listen("tcp", where.at.String()); err != nil {
		f.listener = nil
		return fmt.Errorf("cannot listen on %s: %w", where.at, err)
	}
	l := f.settings.limits
	f.server = http1.NewServer(http1.Config{Handler: f, TLS: f.config.TLS, Log: f.node.Log(),
		Limits: http1.Limits{Connections: l.connections, HeadTime: l.readHeaders, BodyTime: l.readBody, CallTime: f.settings.root.timeout,
			WriteTime: l.write, IdleTime: l.idle, Drain: l.drain, Quiet: l.quiet},
		Fallback: &http.Server{
			Handler:           f,
			ReadHeaderTimeout: l.readHeaders,
			ReadTimeout:       l.readBody,
			WriteTimeout:      l.write,
			IdleTimeout:       l.idle,
			MaxHeaderBytes:    l.headers,
			ErrorLog:          slog.NewLogLogger(f.node.Log().Handler(), slog.LevelDebug), // what peers do wrong, such as a broken handshake
		}})
	f.served = make(chan struct{})
	go f.serve()
	return nil
}

func (f *face) serve() {
	defer close(f.served)
	err := f.server.Serve(f.listener)
	if err != nil && !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) && !f.stopping.Load() {
		f.node.Log().Error("http stopped serving", "addr", f.HTTPAddr(), "error", err)
	}
}

// Stop takes no more connections, ends streams, and waits for the calls in flight, or for the context; those that remain are
// then cut off, and the error tells how many. Readiness has turned 503 by then, because the node is stopping.
func (f *face) Stop(ctx context.Context) error {
	f.stopping.Store(true)
	if f.server == nil {
		return nil
	}
	streams := make(chan error, 1)
	go func() { streams <- f.streams.Stop(ctx) }()
	err := f.server.Shutdown(ctx)
	if err != nil {
		cut := f.inFlight.Load()
		f.server.Close()
		err = fmt.Errorf("stopped with %d calls still running, which were cut off: %w", cut, err)
	}
	err = errors.Join(err, <-streams)
	<-f.served
	return err
}
