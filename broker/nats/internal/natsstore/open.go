// Package natsstore opens JetStream, the store of NATS, for what is kept there: channels and states of grains.
//
//	conn, err := natsstore.Open(ctx, at, natsstore.Config{Name: "shop-1"})
//	...
//	defer conn.Close()
//	stream, err := conn.JetStream.Stream(ctx, conn.Address.Prefix+"_orders")
package natsstore

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/sabir-go/sabir/internal/backoff"
	"github.com/sabir-go/sabir/internal/disk"
	"github.com/sabir-go/sabir/internal/nats"
	"github.com/sabir-go/sabir/secret"
	"github.com/sabir-go/sabir/transport"
)

// AnswerLimit is the time that the server may take for one answer.
const AnswerLimit = 5 * time.Second

// Codes of the server's errors (nats-server, server/errors.json) that the client has no names for.
const (
	codeAccountResources = 10002 // the account's limit of bytes
	codeNoPeers          = 10005 // too few servers for the replicas
	codeNotAvailable     = 10008 // no quorum
	codeInsufficient     = 10023 // the server's limit of bytes
	codeMaxConsumers     = 10026
	codeMaxStreams       = 10027
	codeMemoryExceeded   = 10028
	codeStorageExceeded  = 10047
	codeMessageTooLarge  = 10054
	codeStoreFailed      = 10077 // a limit of the stream
)

// Full reports whether an error of the server means that something has no space for more: the server, the account or the
// stream. Then nothing was done.
func Full(err *jetstream.APIError) bool {
	switch err.ErrorCode {
	case codeAccountResources, codeInsufficient, codeMaxConsumers, codeMaxStreams, codeMemoryExceeded, codeStorageExceeded:
		return true
	case codeStoreFailed:
		return strings.HasPrefix(err.Description, "maximum ") // of bytes, messages or those of a subject
	}
	return strings.Contains(err.Description, "no space left")
}

// NotReady reports whether an error of the server means that too few servers of its cluster can be reached.
func NotReady(err *jetstream.APIError) bool {
	return err.ErrorCode == codeNotAvailable || err.ErrorCode == codeNoPeers
}

// TooLarge reports whether an error of the server means that the message is larger than the stream takes.
func TooLarge(err *jetstream.APIError) bool { return err.ErrorCode == codeMessageTooLarge }

// Config holds the settings besides the address.
type Config struct {
	Name     string // the node's, for the server's listings
	TLS      *tls.Config
	Secret   secret.Secret // that of transport.Config, for an embedded server that links use too
	Log      *slog.Logger  // nil is slog.Default
	Lost     func()        // called when the connection is lost, which is then made again; nil for nothing
	Restored func()        // called when the connection is back; nil for nothing
}

// Connection is JetStream, and the connection on which it is asked.
type Connection struct {
	*natsgo.Conn
	JetStream jetstream.JetStream
	Address   *nats.Address
	folder    *disk.Folder // of an embedded server; nil for one elsewhere
	release   func()

	failed backoff.LastFailure // to find a server again

	mu      sync.Mutex
	outage  backoff.Outage
	logging *time.Timer // of an outage; nil while there is none
}

// Open connects within ctx and makes sure that there is JetStream. Where [Unreachable] reports so of the error, a later
// attempt may succeed. Only what proves itself to the server gets in: its own users keep others out.
func Open(ctx context.Context, at *url.URL, config Config, options ...jetstream.JetStreamOpt) (*Connection, error) {
	address, err := nats.Parse(at)
	if err != nil {
		return nil, err
	}
	log := config.Log
	if log == nil {
		log = slog.Default()
	}
	c := &Connection{Address: address}
	var refusals backoff.Reasons
	if address.Embedded() && address.Store != "" {
		c.folder = disk.Of(address.Store)
	}
	conn, err := nats.Connect(ctx, address, transport.Config{Name: config.Name, TLS: config.TLS, Secret: config.Secret, Keyed: true},
		natsgo.Name(config.Name+nats.StoreClient),
		natsgo.ErrorHandler(func(_ *natsgo.Conn, _ *natsgo.Subscription, err error) {
			if errors.Is(err, natsgo.ErrPermissionViolation) && refusals.Due(err) { // who asked gets no answer
				log.Warn("jetstream: the server refuses what this program asks for: its user lacks a right", "address", address.Name, "error", err)
			}
		}),
		natsgo.DisconnectErrHandler(func(_ *natsgo.Conn, err error) {
			if config.Lost != nil {
				config.Lost()
			}
			c.failed.Clear()
			if err != nil {
				log.Warn("jetstream: connection lost", "address", address.Name, "error", err)
				c.logOutage(log)
			}
		}),
		natsgo.ReconnectErrHandler(func(_ *natsgo.Conn, err error) { c.failed.Set(err) }),
		natsgo.ReconnectHandler(func(*natsgo.Conn) {
			c.endOutage()
			log.Info("jetstream: connection is back", "address", address.Name)
			if config.Restored != nil {
				config.Restored()
			}
		}))
	if err != nil {
		return nil, err
	}
	c.Conn, c.release = conn.Conn, conn.Release
	c.JetStream, err = jetstream.New(c.Conn, append(options, jetstream.WithDefaultTimeout(AnswerLimit))...)
	if err == nil {
		_, err = c.JetStream.AccountInfo(ctx)
	}
	if err == nil {
		return c, nil
	}
	c.Close()
	if errors.Is(err, jetstream.ErrJetStreamNotEnabled) {
		return nil, fmt.Errorf("the server at %s runs without JetStream: give it a jetstream block, or nats://embedded a store=folder: %w", address.Name, err)
	}
	return nil, fmt.Errorf("%s: JetStream: %w", address.Name, err)
}

// Disconnected is the error of what needs the connection while there is none; nil while there is one.
func (c *Connection) Disconnected() error {
	if c.IsConnected() {
		return nil
	}
	why := c.LastError() // of a server that answered
	if why == nil {
		why = c.failed.Err()
	}
	if why == nil {
		return fmt.Errorf("no connection to %s", c.Address.Name)
	}
	return fmt.Errorf("no connection to %s: %w", c.Address.Name, why)
}

// logOutage logs now and then why there is no connection, until there is one or endOutage is called.
func (c *Connection) logOutage(log *slog.Logger) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.logging != nil {
		return
	}
	c.outage = backoff.NewOutage()
	c.logging = time.AfterFunc(time.Second, func() {
		err := c.Disconnected()
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.logging == nil {
			return
		}
		c.logging.Reset(time.Second)
		if err != nil && c.outage.Due(time.Now()) {
			log.Warn("jetstream: cannot connect; trying again", "error", err)
		}
	})
}

func (c *Connection) endOutage() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.logging != nil {
		c.logging.Stop()
		c.logging = nil
	}
}

// Full returns why an embedded server has no space for messages; nil where it has, or where the server is not embedded and answers
// that by itself. It costs nothing to speak of.
func (c *Connection) Full() error {
	if c.folder == nil {
		return nil
	}
	return c.folder.Full()
}

// Claim is [Connection.Full] for so many bytes that are about to be written.
func (c *Connection) Claim(size int) error {
	if c.folder == nil {
		return nil
	}
	return c.folder.Claim(size)
}

// Exhausted is [Connection.Full] for small notes, which may use the space that is kept free of messages.
func (c *Connection) Exhausted() error {
	if c.folder == nil {
		return nil
	}
	return c.folder.Exhausted()
}

const (
	// lookEvery is the interval at which those who wait for an answer look whether the disk has become full, and unansweredLooks is
	// the number of looks after which they take it that there will be none. A server that works answers within one.
	lookEvery       = 100 * time.Millisecond
	unansweredLooks = 3
)

// WhileSpace is ctx for as long as the embedded server has space: a server whose disk does not take a write answers nothing. The
// cause of the context's end is then the error of Full. cancel must be called.
func (c *Connection) WhileSpace(ctx context.Context) (limited context.Context, cancel context.CancelFunc) {
	if c.folder == nil {
		return ctx, func() {}
	}
	limited, end := context.WithCancelCause(ctx)
	var looks atomic.Int32
	var timer atomic.Pointer[time.Timer]
	timer.Store(time.AfterFunc(time.Hour, func() {
		if limited.Err() != nil {
			return
		}
		switch full := c.folder.Full(); {
		case full == nil:
			looks.Store(0)
		case looks.Add(1) >= unansweredLooks:
			end(full)
			return
		}
		timer.Load().Reset(lookEvery)
	}))
	timer.Load().Reset(lookEvery)
	return limited, func() {
		timer.Load().Stop()
		end(context.Canceled)
	}
}

// Unreachable reports whether an error of Open means that no server with JetStream can be reached now.
func Unreachable(err error) bool {
	for _, known := range []error{
		syscall.ECONNREFUSED, context.DeadlineExceeded, natsgo.ErrNoServers, natsgo.ErrTimeout, natsgo.ErrNoResponders, natsgo.ErrConnectionClosed,
		natsgo.ErrDisconnected, natsgo.ErrConnectionReconnecting, natsgo.ErrReconnectBufExceeded,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && api.Code == 503 && !errors.Is(err, jetstream.ErrJetStreamNotEnabled)
}

// Close ends the connection, and the embedded server where nothing else uses it.
func (c *Connection) Close() {
	c.Conn.Close()
	c.endOutage()
	c.release()
}
