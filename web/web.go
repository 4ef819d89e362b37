package web

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/sabir-go/sabir"
)

func init() {
	sabir.RegisterHTTP(func(n *sabir.Node, config sabir.HTTPConfig) (sabir.Face, error) {
		return &face{node: n, config: config, limits: defaultLimits}, nil
	})
}

// limits bounds what callers can make the face hold or wait for.
type limits struct {
	body        int64         // bytes of a request's body
	headers     int           // bytes of a request's headers
	connections int           // open at once; further ones wait to be accepted
	call        time.Duration // of every call, and the most that a caller can ask for
	readHeaders time.Duration // from the first byte of a request, or its connection, to the end of its headers
	readBody    time.Duration // from the same moment to the end of the body
	write       time.Duration // from the end of the headers to the last byte of the answer
	idle        time.Duration // between two requests of a connection
	drain       time.Duration // that a stopping node still answers on connections that are open, at the most
	quiet       time.Duration // without a request, after which they have all learned that it stops
}

var defaultLimits = limits{
	body:        1 << 20,
	headers:     64 << 10,
	connections: 10_000,
	call:        30 * time.Second,
	readHeaders: 5 * time.Second,
	readBody:    30 * time.Second,
	write:       90 * time.Second, // reading the body, the call, and as much again
	idle:        2 * time.Minute,
	drain:       250 * time.Millisecond,
	quiet:       30 * time.Millisecond,
}

// face is the HTTP server of one node.
type face struct {
	node   *sabir.Node
	config sabir.HTTPConfig
	limits limits

	listener *listener
	server   *http.Server
	handler  *handler
	served   chan struct{} // closed when the server accepts no more
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
		err = checkAccess(where, f.config)
	}
	if err != nil {
		return err
	}
	inner, err := net.Listen("tcp", where.at.String())
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w", where.at, err)
	}
	f.listener = newListener(inner, f.limits.connections)
	f.handler = newHandler(f.node, newAccess(where, f.config), f.limits)
	f.server = &http.Server{
		Handler:           f.handler,
		ReadHeaderTimeout: f.limits.readHeaders,
		ReadTimeout:       f.limits.readBody,
		WriteTimeout:      f.limits.write,
		IdleTimeout:       f.limits.idle,
		MaxHeaderBytes:    f.limits.headers,
		ErrorLog:          slog.NewLogLogger(f.node.Log().Handler(), slog.LevelDebug), // what peers do wrong, such as a broken handshake
	}
	f.served = make(chan struct{})
	go f.serve()
	return nil
}

func (f *face) serve() {
	defer close(f.served)
	var err error
	if f.config.TLS == nil {
		err = f.server.Serve(f.listener)
	} else {
		f.server.TLSConfig = f.config.TLS.Clone()
		err = f.server.ServeTLS(f.listener, "", "")
	}
	if !errors.Is(err, http.ErrServerClosed) && !f.handler.stopping.Load() {
		f.node.Log().Error("http stopped serving", "addr", f.HTTPAddr(), "error", err)
	}
}

// Stop takes no more connections and waits for the calls in flight, or for the context; those that remain are then cut
// off, and the error tells how many. Readiness has turned 503 by then, because the node is stopping.
func (f *face) Stop(ctx context.Context) error {
	if f.server == nil {
		return nil
	}
	f.handler.stopping.Store(true)
	f.listener.Close()
	<-f.served
	f.drain(ctx)
	f.listener.closeUnused() // Shutdown would wait for them
	err := f.server.Shutdown(ctx)
	if err != nil {
		cut := f.handler.inFlight.Load()
		f.server.Close()
		err = fmt.Errorf("stopped with %d calls still running, which were cut off: %w", cut, err)
	}
	return err
}

// drain goes on answering on the open connections until none is left or no request comes any more. Each answer now says
// that its connection ends, so clients in the middle of their work leave by themselves. Shutdown alone would drop the
// requests that are on their way, unanswered.
func (f *face) drain(ctx context.Context) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	began, last, seen := time.Now(), time.Now(), f.handler.requests.Load()
	for f.listener.count() > 0 && time.Since(began) < f.limits.drain && time.Since(last) < f.limits.quiet {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if now := f.handler.requests.Load(); now != seen {
			seen, last = now, time.Now()
		}
	}
}

// checkTLS finds what would let a server start and then fail every handshake.
func checkTLS(config *tls.Config) error {
	if config != nil && len(config.Certificates) == 0 && config.GetCertificate == nil && config.GetConfigForClient == nil {
		return errors.New("the TLS configuration has no certificate: set Certificates or GetCertificate")
	}
	return nil
}
