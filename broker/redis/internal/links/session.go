package links

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir/internal/redis"
	"github.com/sabir-go/sabir/transport"
)

// session is two connections to the server, from their start to the loss of one. They are never connected again. With
// one connection, answers to what is published would wait behind deliveries: an owner that holds a lock while it publishes,
// and takes it in a delivery, could wait for ever.
type session struct {
	publisher  rueidis.Client
	subscriber rueidis.DedicatedClient
	gone       <-chan error // reports once why the subscriber's connection ended

	cutOnce sync.Once
	cut     func()        // ends the connections
	ended   chan struct{} // closed by cut
	unsent  error         // of what could not be published; nil for none
	limit   time.Duration // for which the server may be silent
}

// errMore is the error of what needs more connections than a session has.
var errMore = errors.New("the connection is lost, or the server does not speak RESP3, as Redis does from version 6")

// open connects, within ctx. deliver is called with each message, one at a time.
func open(ctx context.Context, a *redis.Address, config transport.Config, deliver func(channel, message string)) (*session, error) {
	ctx, cancel := config.WithDialLimit(ctx)
	defer cancel()
	server, err := a.Server(ctx)
	if err != nil {
		return nil, err
	}
	if err := config.CheckBroker(ctx, &url.URL{Host: server}); err != nil { // Sentinels may name any
		return nil, err
	}
	s := &session{ended: make(chan struct{}), limit: pingLimit(config)}
	d := &dialer{ctx: ctx, tls: a.TLS, config: config}
	s.cut = func() {
		s.cutOnce.Do(func() {
			close(s.ended)
			d.cut()
		})
	}
	stop := context.AfterFunc(ctx, d.cut)
	defer stop()

	options := a.Options()
	options.InitAddress, options.ForceSingleClient = []string{server}, true
	options.DialCtxFn = d.dial
	options.PipelineMultiplex = -1 // one connection
	options.ClientName, options.ClientSetInfo = config.Name, rueidis.DisableClientSetInfo
	options.RingScaleEachConn = 4                // one batch at a time
	options.ConnWriteTimeout = pingLimit(config) // how long the server may leave a ping without an answer
	options.Dialer = net.Dialer{Timeout: pingLimit(config), KeepAlive: pingEvery(config)}
	if s.publisher, err = rueidis.NewClient(options); err == nil {
		s.subscriber, _ = s.publisher.Dedicate() // never given back: it ends with the session
		err = s.subscriber.Do(ctx, s.subscriber.B().Ping().Build()).Error()
	}
	if err == nil {
		s.gone = s.subscriber.SetPubSubHooks(rueidis.PubSubHooks{OnMessage: func(m rueidis.PubSubMessage) {
			deliver(m.Channel, m.Message)
		}})
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		s.close()
		return nil, d.explain(err)
	}
	return s, nil
}

func pingEvery(config transport.Config) time.Duration {
	if idle := config.KeepAliveIdle(); idle > 0 {
		return max(idle/3, time.Second)
	}
	return 24 * time.Hour
}

func pingLimit(config transport.Config) time.Duration {
	if idle := config.KeepAliveIdle(); idle > 0 {
		return max(idle, time.Second)
	}
	return 24 * time.Hour
}

// why is the reason for which the session ended, of that with which its subscriber's connection did. What is published is pumped no more.
func (s *session) why(err error) error {
	if errors.Is(err, net.ErrClosed) && s.unsent != nil {
		err = s.unsent // which cut the other one
	}
	if errors.Is(err, context.DeadlineExceeded) || os.IsTimeout(err) {
		return fmt.Errorf("the broker did not answer for %v", s.limit)
	}
	return err
}

// close ends the session; it need not be cut before.
func (s *session) close() {
	s.cut()
	if s.subscriber != nil {
		s.subscriber.Close()
	}
	if s.publisher != nil {
		s.publisher.Close()
	}
}

// subscribe returns when the server has the subscriptions.
func (s *session) subscribe(ctx context.Context, subjects ...string) error {
	if len(subjects) == 0 {
		return nil
	}
	return s.subscriber.Do(ctx, s.subscriber.B().Subscribe().Channel(subjects...).Build()).Error()
}

// dialer gives rueidis the two connections of a session.
type dialer struct {
	ctx    context.Context // of the start
	tls    *tls.Config     // nil where connections are not encrypted
	config transport.Config

	mu     sync.Mutex
	conns  []net.Conn
	err    error // of the last attempt
	closed bool
}

func (d *dialer) dial(_ context.Context, hostPort string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
	d.mu.Lock()
	more := len(d.conns) == 2
	d.mu.Unlock()
	if more {
		return nil, d.keep(nil, errMore)
	}
	conn, err := d.connect(hostPort)
	return conn, d.keep(conn, err)
}

func (d *dialer) connect(hostPort string) (net.Conn, error) {
	idle := d.config.KeepAliveIdle()
	keep := net.KeepAliveConfig{Enable: idle > 0, Idle: idle, Interval: idle / 3, Count: 3}
	conn, err := (&net.Dialer{KeepAliveConfig: keep, Control: d.config.LimitSegments}).DialContext(d.ctx, "tcp", hostPort)
	if err != nil {
		return nil, err
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		if size := d.config.ReadBuffer; size > 0 {
			tcp.SetReadBuffer(size)
		}
		if size := d.config.WriteBuffer; size > 0 {
			tcp.SetWriteBuffer(size)
		}
	}
	if d.tls == nil {
		return conn, nil
	}
	config := d.tls
	if config.ServerName == "" { // there are several servers
		config = config.Clone()
		config.ServerName, _, _ = net.SplitHostPort(hostPort)
	}
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(d.ctx); err != nil {
		conn.Close()
		return nil, fmt.Errorf("TLS: %w", err)
	}
	return secure, nil
}

func (d *dialer) keep(conn net.Conn, err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err = err
	if err != nil {
		return err
	}
	d.conns = append(d.conns, conn)
	if d.closed {
		conn.Close()
		return net.ErrClosed
	}
	return nil
}

func (d *dialer) cut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for _, conn := range d.conns {
		if secure, ok := conn.(*tls.Conn); ok {
			conn = secure.NetConn() // not to wait for a peer that takes nothing
		}
		conn.Close()
	}
}

// explain returns the error of dialling in place of err, where dialling failed before the context ended.
func (d *dialer) explain(err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil && d.ctx.Err() == nil {
		return d.err
	}
	return err
}
