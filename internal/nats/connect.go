package nats

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/sabir-go/sabir/internal/backoff"
	"github.com/sabir-go/sabir/transport"
)

const (
	// WriteLimit bounds how long a write may wait for a server that takes nothing.
	WriteLimit = 5 * time.Second
	// inboxes follows the prefix in the subjects to which servers send answers. No token of a cluster has a capital letter
	// behind a '_', see bus.Token.
	inboxes = "._INBOX"
	// writeBuffer is the number of bytes that wait for nats.go's writer before Publish writes itself. With nats.go's own 32 KiB
	// every second message of 17 KB (25 requests) does, which is 0.7 times as fast or less.
	writeBuffer = 64 << 10
)

// Connection is a connection to NATS, made again for as long as it is not closed, and what ends with it. Close it by closing Conn and
// then calling Release.
type Connection struct {
	Conn *natsgo.Conn
	// Addr is the address under which others reach the same servers.
	Addr    string
	dialer  *dialer
	dropped func() // gives the embedded server back
}

// Cut ends the connection at once, also while something waits for it, and there is no other one.
func (c *Connection) Cut() { c.dialer.cut() }

// Release ends what the connection stood on: an embedded server that nobody uses any more. It must be called once, after the
// connection was closed.
func (c *Connection) Release() {
	c.dialer.cut()
	c.dropped()
}

// WhyLost is why the last attempt to connect again failed, as far as it is known.
func (c *Connection) WhyLost() error {
	c.dialer.mu.Lock()
	err := c.dialer.err
	c.dialer.mu.Unlock()
	if err == nil { // the server has answered
		err = c.Conn.LastError()
	}
	return err
}

// Connect connects to the server or servers at an address, embedded ones too. Options come after its own and may override them;
// options for the address and the dialer must not be given. Calls for the same address, config.Name and config.Secret share one
// embedded server, which ends with the last of their connections.
func Connect(ctx context.Context, a *Address, config transport.Config, options ...natsgo.Option) (*Connection, error) {
	c := &Connection{dialer: newDialer(a.Scheme, config), dropped: func() {}}
	var own *embedded
	if a.Embedded() {
		var err error
		if own, err = embed(ctx, a, config); err != nil {
			return nil, err
		}
	}
	ctx, cancel := config.WithDialLimit(ctx)
	defer cancel()
	how, err := c.way(ctx, a, config, own)
	if err != nil {
		return nil, err
	}
	credentials, err := credentialsOf(a, config)
	if err != nil {
		c.Release()
		return nil, err
	}
	common := slices.Concat([]natsgo.Option{
		natsgo.Timeout(attemptLimit(config)),
		natsgo.MaxReconnects(-1),
		natsgo.CustomReconnectDelay(func(round int) time.Duration { return backoff.Reconnect.Wait(round - 1) }),
		natsgo.ReconnectBufSize(-1), // what is published without a server is refused, not kept
		natsgo.IgnoreAuthErrorAbort(),
		natsgo.FlusherTimeout(WriteLimit),
		natsgo.WriteBufferSize(writeBuffer),
		natsgo.PingInterval(config.KeepAliveIdle() / 3), // 0 asks never
		natsgo.MaxPingsOutstanding(2),
		natsgo.Name(config.Name),
		natsgo.CustomInboxPrefix(a.Prefix + inboxes),                            // so that a user needs no right to the answers to others
		natsgo.ErrorHandler(func(*natsgo.Conn, *natsgo.Subscription, error) {}), // without one it prints
	}, how, options)
	urls := strings.Join(a.Servers, ",")
	if a.Embedded() {
		urls = natsgo.DefaultURL // it must be some
	}
	stop := context.AfterFunc(ctx, c.dialer.cut)
	c.Conn, err = natsgo.Connect(urls, append(credentials, common...)...)
	if errors.Is(err, natsgo.ErrNkeysNotSupported) { // a server that is not embedded has accounts of its own, or none
		c.Conn, err = natsgo.Connect(urls, common...)
	}
	stop()
	if err == nil && ctx.Err() != nil {
		c.Conn.Close()
		err = ctx.Err()
	}
	if err != nil {
		c.Release()
		return nil, fmt.Errorf("connecting to %s: %w", a.Name, c.dialer.explain(ctx, err))
	}
	return c, nil
}

// way returns the options to reach the server, where e is the embedded one, or nil.
func (c *Connection) way(ctx context.Context, a *Address, config transport.Config, e *embedded) ([]natsgo.Option, error) {
	if e != nil {
		c.dropped, c.Addr = sync.OnceFunc(e.drop), e.clientURL(config)
		options := []natsgo.Option{natsgo.InProcessServer(embeddedDialer{e, c.dialer})}
		if e.secured() {
			// Not natsgo.Secure: the way to the own server is not encrypted, that to another process's is.
			secure, err := c.dialer.clientTLS()
			if err != nil {
				c.Release()
				return nil, err
			}
			options = append(options, func(o *natsgo.Options) error {
				o.TLSConfig = secure
				return nil
			})
		}
		return options, nil
	}
	for _, server := range a.Servers {
		if err := config.CheckBroker(ctx, &url.URL{Scheme: a.Scheme, Host: server}); err != nil {
			return nil, err
		}
	}
	c.Addr = a.Public()
	options := []natsgo.Option{natsgo.SetCustomDialer(c.dialer), natsgo.SkipHostLookup()}
	if config.TLS == nil && !a.Secure {
		return options, nil // the server decides whether to encrypt
	}
	secure, err := c.dialer.clientTLS()
	if err != nil {
		return nil, err
	}
	return append(options, natsgo.Secure(secure)), nil
}

// attemptLimit is the time that nats.go may take for one attempt. It is longer than the dialer's limit, which obeys ctx and cuts
// the connection off, so that the reason of a failure is the same each time.
func attemptLimit(config transport.Config) time.Duration {
	if limit := config.DialLimit(); limit > 0 {
		return limit + time.Second
	}
	return time.Minute
}

// credentialsOf returns the credentials in the address, or else the proof that embedded servers ask for.
func credentialsOf(a *Address, config transport.Config) ([]natsgo.Option, error) {
	if user := a.User; user != nil {
		if password, ok := user.Password(); ok {
			return []natsgo.Option{natsgo.UserInfo(user.Username(), password)}, nil
		}
		return []natsgo.Option{natsgo.Token(user.Username())}, nil
	}
	if config.Secret.None() {
		return nil, nil
	}
	pair, err := clientKey(config.Secret)
	if err != nil {
		return nil, err
	}
	public, err := pair.PublicKey()
	if err != nil {
		return nil, err
	}
	return []natsgo.Option{natsgo.Nkey(public, pair.Sign)}, nil
}

// ErrClosed is the error of what is asked of a connection that was closed.
var ErrClosed = fmt.Errorf("the connection to the broker: %w", net.ErrClosed)
