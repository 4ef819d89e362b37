package nats

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nuid"

	"github.com/sabir-go/sabir/internal/disk"
	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

const (
	// clusterName is the same for all embedded servers: a route to another cluster's is refused.
	clusterName = "sabir"
	// routeUser is the user with which servers log in to each other.
	routeUser = "sabir"
	// routeWait is the time that a new server waits for its way into the mesh.
	routeWait = 2 * time.Second
	// proofWait is the number of seconds that a server waits for a client to prove its key; with TLS more than TLSTimeout.
	proofWait = 6.0
	// gossipedTries is the number of times, once a second, a server tries to reach another which a third one announced, before it
	// takes that for gone. Two servers without a connection of their own pass nothing on to each other.
	gossipedTries = 5
)

// startServer runs a server that listens: the first one at the address, others at free ports with a route to
// the first. With a store there is only the first, alone; failed is called for each write to its files that failed, from within the
// server, and must not block.
func startServer(ctx context.Context, a *Address, config transport.Config, listen netip.AddrPort, first bool, failed func(error)) (*server.Server, error) {
	options, err := serverOptions(a, config, listen, first)
	if err != nil {
		return nil, err
	}
	if err := portsFree(options); err != nil {
		return nil, err
	}
	s, err := server.NewServer(options)
	if err != nil {
		return nil, err
	}
	log := &serverLog{fatal: make(chan error, 1), failed: failed}
	s.SetLoggerV2(log, false, false, false)
	s.Start()
	if err := awaitReady(ctx, s, log.fatal); err != nil {
		if ctx.Err() != nil { // a server that is shut down while it begins to listen for routes goes on listening (nats-server 2.15)
			begun, cancel := context.WithTimeout(context.WithoutCancel(ctx), startLimit)
			_ = awaitReady(begun, s, log.fatal)
			cancel()
		}
		s.Shutdown()
		s.WaitForShutdown()
		return nil, err
	}
	return s, nil
}

// routePortError means that the port for clients is free, and the one for routes that goes with it is not.
type routePortError struct{ error }

func (e routePortError) Unwrap() error { return e.error }

// portsFree reports whether a server could listen at the ports that it is to have. nats-server itself would listen at one
// of two where the other is taken, which keeps another server from both.
func portsFree(options *server.Options) error {
	if options.Port == server.RANDOM_PORT {
		return nil
	}
	clients, err := net.Listen("tcp", net.JoinHostPort(options.Host, strconv.Itoa(options.Port)))
	if err != nil {
		return err
	}
	defer clients.Close()
	if options.Cluster.Port <= 0 {
		return nil
	}
	routes, err := net.Listen("tcp", net.JoinHostPort(options.Host, strconv.Itoa(options.Cluster.Port)))
	if err != nil {
		return routePortError{err}
	}
	return routes.Close()
}

func serverOptions(a *Address, config transport.Config, listen netip.AddrPort, first bool) (*server.Options, error) {
	idle := config.KeepAliveIdle()
	options := &server.Options{
		ServerName: meshName + nuid.Next(),
		Host:       listen.Addr().String(),
		Port:       server.RANDOM_PORT,
		NoSigs:     true,
		NoLog:      true, // to files
	}
	options.AuthTimeout = proofWait
	if idle > 0 {
		options.PingInterval, options.MaxPingsOut = idle/3, 2
	}
	if first && a.Port != 0 {
		options.Port = a.Port
	}
	if host := advertisedHost(config); host != "" {
		options.ClientAdvertise = host
	}
	if !config.Secret.None() {
		pair, err := clientKey(config.Secret)
		if err != nil {
			return nil, err
		}
		public, err := pair.PublicKey()
		if err != nil {
			return nil, err
		}
		options.Nkeys = []*server.NkeyUser{{Nkey: public}}
	}
	if config.TLS != nil && !listen.Addr().IsLoopback() {
		secure, err := transports.ServerTLS(config.TLS)
		if err != nil {
			return nil, err
		}
		options.TLSConfig, options.TLSTimeout = secure, 5
	}
	if a.Store != "" {
		options.ServerName = storeName + nuid.Next()
		options.JetStream, options.StoreDir, options.SyncAlways = true, a.Store, a.Sync
		options.JetStreamMaxStore = maxStore(disk.Of(a.Store))
		return options, nil
	}
	return options, addRoutes(options, a, config, listen, first)
}

func addRoutes(options *server.Options, a *Address, config transport.Config, listen netip.AddrPort, first bool) error {
	cluster := &options.Cluster
	cluster.Name, cluster.Host, cluster.Port = clusterName, options.Host, server.RANDOM_PORT
	cluster.PoolSize = -1 // one connection between two servers, so that subscriptions and messages keep their order
	cluster.AuthTimeout, cluster.ConnectRetries = proofWait, gossipedTries
	cluster.PingInterval, cluster.MaxPingsOut = options.PingInterval, options.MaxPingsOut
	cluster.Advertise = advertisedHost(config)
	routes := a.Routes
	if a.Port != 0 && first {
		cluster.Port = a.RoutePort()
	} else if a.Port != 0 {
		near := netip.AddrPortFrom(nearBy(listen).Addr(), uint16(a.RoutePort()))
		routes = append([]string{near.String()}, routes...)
	}
	var user *url.Userinfo
	if !config.Secret.None() {
		password, err := routePassword(config.Secret)
		if err != nil {
			return err
		}
		cluster.Username, cluster.Password = routeUser, password
		user = url.UserPassword(routeUser, password)
	}
	for _, route := range routes {
		options.Routes = append(options.Routes, &url.URL{Scheme: "nats-route", Host: route, User: user})
	}
	if options.TLSConfig != nil {
		cluster.TLSConfig, cluster.TLSTimeout = routeTLS(options.TLSConfig), options.TLSTimeout
	}
	return nil
}

// routeTLS returns the configuration for routes between servers. They find each other by IP addresses, which Go's TLS does
// not pass on to VerifyConnection: there the authority counts, and the name is any that the certificate is for.
func routeTLS(config *tls.Config) *tls.Config {
	verify := config.VerifyConnection
	if verify == nil {
		return config
	}
	config = config.Clone()
	config.VerifyConnection = func(state tls.ConnectionState) error {
		if state.ServerName == "" && len(state.PeerCertificates) > 0 {
			switch shown := state.PeerCertificates[0]; {
			case len(shown.IPAddresses) > 0:
				state.ServerName = shown.IPAddresses[0].String()
			case len(shown.DNSNames) > 0:
				state.ServerName = shown.DNSNames[0]
			}
		}
		return verify(state)
	}
	return config
}

// nearBy is the address at which this machine reaches what listens there.
func nearBy(listen netip.AddrPort) netip.AddrPort {
	ip := listen.Addr()
	switch {
	case !ip.IsUnspecified():
		return listen
	case ip.Is4():
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), listen.Port())
	}
	return netip.AddrPortFrom(netip.IPv6Loopback(), listen.Port())
}

// advertisedHost is Config.Advertise without a port, of which a server has two.
func advertisedHost(config transport.Config) string {
	if host, _, err := net.SplitHostPort(config.Advertise); err == nil {
		return host
	}
	return config.Advertise
}

// awaitReady returns when the server listens for all that it is to listen for.
func awaitReady(ctx context.Context, s *server.Server, fatal <-chan error) error {
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for !s.ReadyForConnections(time.Millisecond) {
		select {
		case err := <-fatal:
			return err
		case <-ctx.Done():
			return fmt.Errorf("the server does not become ready: %w", ctx.Err())
		case <-again.C:
		}
	}
	return nil
}

// awaitRoute returns when the server is connected to another one, or cannot be for now: its process may stand still.
func awaitRoute(ctx context.Context, s *server.Server) {
	limit, again := time.NewTimer(routeWait), time.NewTicker(2*time.Millisecond)
	defer limit.Stop()
	defer again.Stop()
	for s.NumRoutes() == 0 {
		select {
		case <-again.C:
		case <-limit.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// serverLog passes on what a server complains about, until it cannot go on: later messages are about its end.
type serverLog struct {
	fatal  chan error
	failed func(error) // a write failed; nil for nothing
	ended  atomic.Bool
}

func (*serverLog) Noticef(string, ...any) {}
func (*serverLog) Debugf(string, ...any)  {}
func (*serverLog) Tracef(string, ...any)  {}

func (l *serverLog) Warnf(format string, arguments ...any) {
	if !l.ended.Load() {
		slog.Warn("embedded NATS server: " + fmt.Sprintf(format, arguments...))
	}
}

func (l *serverLog) Errorf(format string, arguments ...any) {
	l.Warnf(format, arguments...)
	if l.failed == nil {
		return
	}
	for _, argument := range arguments {
		if err, ok := argument.(error); ok && isWriteFailure(err) {
			l.failed(err)
		}
	}
}

// Fatalf is called where nats-server, as a program, would exit.
func (l *serverLog) Fatalf(format string, arguments ...any) {
	l.ended.Store(true)
	err := fmt.Errorf(format, arguments...)
	for _, argument := range arguments {
		if cause, ok := argument.(error); ok {
			err = cause
		}
	}
	select {
	case l.fatal <- err:
	default:
	}
}
