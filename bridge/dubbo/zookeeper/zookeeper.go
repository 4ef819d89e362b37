// Package zookeeper is Apache ZooKeeper as a registry of Dubbo, for [github.com/sabir-go/sabir/bridge/dubbo.Config]:
//
//	dubbo.Config{Registries: []dubbo.Registry{&zookeeper.Registry{Servers: []string{"10.0.0.9:2181"}}}}
//
// Providers are ephemeral nodes /dubbo/<interface>/providers/<URL>, and instances of applications are /services/<application>/<host:port>, as
// programs of Java with Dubbo 2.7 and 3 have them.
package zookeeper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/sabir-go/sabir/bridge/dubbo"
	"github.com/sabir-go/sabir/internal/backoff"
	"github.com/sabir-go/sabir/secret"
)

// Registry is ZooKeeper as a registry. It must not change once the node has started.
type Registry struct {
	// Servers are the addresses of ZooKeeper's servers, such as 10.0.0.9:2181. One that answers is enough. It has no default.
	Servers []string
	// Root begins the paths of interfaces, as the parameter group of Dubbo's registry says. Default: dubbo.
	Root string
	// User and Password are shown to ZooKeeper by its scheme digest, and then only they may change what is entered. Default: none.
	User     string
	Password secret.Secret
	// SessionTimeout is how long what is entered stays after a node was killed. ZooKeeper has bounds of its own. Default: 10 s.
	SessionTimeout time.Duration
}

const (
	// maxPacket bounds what ZooKeeper answers at once, such as a list of providers.
	maxPacket = 8 << 20
	// goodbyeTimeout bounds what is done when a session ends.
	goodbyeTimeout = 2 * time.Second
	// tellAfter is how long ZooKeeper is not reached before the log says so.
	tellAfter = 2 * time.Second
)

// again is the wait before work that failed is done again.
var again = backoff.Backoff{First: 500 * time.Millisecond, Last: 10 * time.Second}

func (r *Registry) check() error {
	if len(r.Servers) == 0 {
		return errors.New("no server is named: give the addresses of some in Servers")
	}
	for _, s := range r.Servers {
		if _, _, err := net.SplitHostPort(s); err != nil || strings.ContainsAny(s, "/@") {
			return errors.New("a server is no address such as 10.0.0.9:2181")
		}
	}
	if r.SessionTimeout < 0 {
		return fmt.Errorf("SessionTimeout is %v: want more than 0", r.SessionTimeout)
	}
	return nil
}

// Run implements dubbo.Registry.
func (r *Registry) Run(ctx context.Context, log *slog.Logger, work func(context.Context, dubbo.RegistrySession) error) {
	log = log.With("registry", "zookeeper")
	if err := r.check(); err != nil {
		log.Error("ZooKeeper is no registry with these settings: nothing is entered, and no providers are found", "error", fmt.Errorf("zookeeper.Registry: %w", err))
		return
	}
	for failed := 1; ; failed++ { // names of servers may not be resolved yet
		c, err := r.connect(log)
		if err == nil {
			c.serve(ctx, work)
			return
		}
		log.Warn("ZooKeeper is not reached", "error", err)
		if backoff.Sleep(ctx, again.Wait(failed)) != nil {
			return
		}
	}
}

// client is a connection to ZooKeeper, which the library makes again where it is lost, with one session after the other.
type client struct {
	*zk.Conn
	registry *Registry
	log      *slog.Logger
	changed  chan struct{}   // something happened to the connection
	ended    <-chan zk.Event // closed when the library has ended
	dialed   atomic.Pointer[net.Conn]
	known    bool // the user was shown; the library shows it again
}

// logged takes what the library says: of each failure a line a second.
type logged struct{ *slog.Logger }

func (l logged) Printf(format string, arguments ...any) {
	l.Debug("ZooKeeper's client", "says", fmt.Sprintf(format, arguments...))
}

func (r *Registry) connect(log *slog.Logger) (*client, error) {
	c := &client{registry: r, log: log, changed: make(chan struct{}, 1)}
	dial := func(network, address string, timeout time.Duration) (net.Conn, error) {
		conn, err := net.DialTimeout(network, address, timeout)
		if err == nil {
			c.dialed.Store(&conn)
		}
		return conn, err
	}
	note := func(e zk.Event) {
		select {
		case c.changed <- struct{}{}:
		default:
		}
	}
	var err error
	c.Conn, c.ended, err = zk.Connect(r.Servers, cmp.Or(r.SessionTimeout, 10*time.Second), zk.WithDialer(dial), zk.WithLogger(logged{log}), zk.WithLogInfo(false), zk.WithMaxBufferSize(maxPacket), zk.WithEventCallback(note))
	return c, err
}

// serve works in one session after the other until ctx ends.
func (c *client) serve(ctx context.Context, work func(context.Context, dubbo.RegistrySession) error) {
	defer c.close()
	var current int64
	stop := func() {}
	defer func() { stop() }()
	reached, warned := false, false
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.changed:
		case <-time.After(tellAfter):
			if !reached && !warned {
				warned = true
				c.log.Warn("ZooKeeper is not reached: providers that are known stay, and others are not found meanwhile", "servers", c.registry.Servers)
			}
			continue
		}
		id := c.SessionID()
		if reached = c.State() == zk.StateHasSession; reached && warned {
			warned = false
			c.log.Info("ZooKeeper is reached again")
		}
		if current != 0 && id != current {
			c.log.Warn("the session with ZooKeeper has expired: what was entered is entered anew")
			stop()
			stop, current = func() {}, 0
		}
		if current == 0 && reached && id != 0 {
			stop, current = c.begin(ctx, work), id
		}
	}
}

// begin works in a session, and returns what ends that.
func (c *client) begin(ctx context.Context, work func(context.Context, dubbo.RegistrySession) error) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var working sync.WaitGroup
	working.Go(func() {
		for failed := 1; ; failed++ {
			begun := time.Now()
			err := c.authenticate(ctx)
			if err == nil {
				err = work(ctx, &session{client: c})
			}
			if ctx.Err() != nil {
				return
			}
			if time.Since(begun) > again.Last {
				failed = 1
			}
			c.log.Warn("the work with ZooKeeper failed and is done again", "error", err)
			if backoff.Sleep(ctx, again.Wait(failed)) != nil {
				return
			}
		}
	})
	return func() {
		cancel()
		working.Wait()
	}
}

// authenticate shows the user once.
func (c *client) authenticate(ctx context.Context) error {
	if c.known || c.registry.Password.None() {
		return nil
	}
	user := c.registry.User + ":" + string(c.registry.Password.Bytes())
	_, err := await(ctx, func() (struct{}, error) { return struct{}{}, c.AddAuth("digest", []byte(user)) })
	c.known = err == nil
	return err
}

// close ends the session, and with it what was entered.
func (c *client) close() {
	late := time.AfterFunc(goodbyeTimeout, c.hangUp)
	defer late.Stop()
	c.Close()
	c.hangUp() // the library may still wait for an answer
	for range c.ended {
	}
}

func (c *client) hangUp() {
	if conn := c.dialed.Load(); conn != nil {
		(*conn).Close()
	}
}

// await waits for an operation, which goes on where ctx ends before.
func await[T any](ctx context.Context, operation func() (T, error)) (result T, err error) {
	type outcome struct {
		result T
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		result, err := operation()
		done <- outcome{result, err}
	}()
	select {
	case o := <-done:
		return o.result, o.err
	case <-ctx.Done():
		return result, ctx.Err()
	}
}
