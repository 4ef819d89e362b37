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
	"github.com/sabir-go/sabir/internal/nats"
	"github.com/sabir-go/sabir/transport"
)

const (
	// writeLimit bounds how long a write may wait for a server that takes nothing.
	writeLimit = 5 * time.Second
	// inboxes follows the prefix in the subjects to which servers send answers. No token of a cluster has a capital letter
	// behind a '_', see bus.Token.
	inboxes = "._INBOX"
	// writeBuffer is the number of bytes that wait for nats.go's writer before Publish writes itself. With nats.go's own 32 KiB
	// every second message of 17 KB (25 requests) does, which is 0.7 times as fast or less.
	writeBuffer = 64 << 10
)

// Connect joins the server or servers at an address of this package, embedded ones too, as the transport does: a plain
// connection for other uses of the same broker, such as JetStream. It connects again for as long as it is not closed.
// Options come after those of Connect and may override them; options for the address and the dialer must not be given.
//
// release must be called once, after the connection was closed, and ends an embedded server that is no longer used.
func Connect(ctx context.Context, at *url.URL, config transport.Config, options ...natsgo.Option) (conn *natsgo.Conn, release func(), err error) {
	a, err := nats.Parse(at)
	if err != nil {
		return nil, nil, err
	}
	l, err := connect(ctx, a, config, options...)
	if err != nil {
		return nil, nil, err
	}
	return l.conn, l.release, nil
}

// line is a connection and what there is to end with it.
type line struct {
	conn    *natsgo.Conn
	dialer  *dialer
	addr    string // for others
	dropped func() // gives the embedded server back
}

func (l *line) release() {
	l.dialer.cut()
	l.dropped()
}

func connect(ctx context.Context, a *nats.Address, config transport.Config, options ...natsgo.Option) (*line, error) {
	l := &line{dialer: newDialer(a.Scheme, config), dropped: func() {}}
	var own *embedded
	if a.Embedded() {
		var err error
		if own, err = embed(ctx, a, config); err != nil {
			return nil, err
		}
	}
	ctx, cancel := config.WithDialLimit(ctx)
	defer cancel()
	how, err := l.way(ctx, a, config, own)
	if err != nil {
		return nil, err
	}
	credentials, err := credentialsOf(a, config)
	if err != nil {
		l.release()
		return nil, err
	}
	common := slices.Concat([]natsgo.Option{
		natsgo.Timeout(attemptLimit(config)),
		natsgo.MaxReconnects(-1),
		natsgo.CustomReconnectDelay(func(round int) time.Duration { return backoff.Reconnect.Wait(round - 1) }),
		natsgo.ReconnectBufSize(-1), // what is published without a server is refused, not kept
		natsgo.IgnoreAuthErrorAbort(),
		natsgo.FlusherTimeout(writeLimit),
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
	stop := context.AfterFunc(ctx, l.dialer.cut)
	l.conn, err = natsgo.Connect(urls, append(credentials, common...)...)
	if errors.Is(err, natsgo.ErrNkeysNotSupported) { // a server that is not embedded has accounts of its own, or none
		l.conn, err = natsgo.Connect(urls, common...)
	}
	stop()
	if err == nil && ctx.Err() != nil {
		l.conn.Close()
		err = ctx.Err()
	}
	if err != nil {
		l.release()
		return nil, fmt.Errorf("connecting to %s: %w", a.Name, l.dialer.explain(ctx, err))
	}
	return l, nil
}

// way returns the options to reach the server, where e is the embedded one, or nil.
func (l *line) way(ctx context.Context, a *nats.Address, config transport.Config, e *embedded) ([]natsgo.Option, error) {
	if e != nil {
		l.dropped, l.addr = sync.OnceFunc(e.drop), e.clientURL(config)
		options := []natsgo.Option{natsgo.InProcessServer(embeddedDialer{e, l.dialer})}
		if e.secured() {
			// Not natsgo.Secure: the way to the own server is not encrypted, that to another process's is.
			secure, err := l.dialer.clientTLS()
			if err != nil {
				l.release()
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
	l.addr = a.Public()
	options := []natsgo.Option{natsgo.SetCustomDialer(l.dialer), natsgo.SkipHostLookup()}
	if config.TLS == nil && !a.Secure {
		return options, nil // the server decides whether to encrypt
	}
	secure, err := l.dialer.clientTLS()
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
func credentialsOf(a *nats.Address, config transport.Config) ([]natsgo.Option, error) {
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

var errClosed = fmt.Errorf("the connection to the broker: %w", net.ErrClosed)
