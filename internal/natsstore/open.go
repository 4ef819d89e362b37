// Package natsstore opens JetStream, the store of NATS, for what is kept there: channels (channel/jetstream) and states of
// grains (actor/grain/store/jetstream).
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
	"syscall"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/sabir-go/sabir/internal/nats"
	"github.com/sabir-go/sabir/transport"
	natstransport "github.com/sabir-go/sabir/transport/nats"
)

// AnswerLimit is the time that the server may take for one answer.
const AnswerLimit = 5 * time.Second

// Codes of the server's errors (nats-server, server/errors.json) that the client has no names for.
const (
	CodeInsufficientResources = 10023
	CodeStorageExceeded       = 10047
	CodeMessageTooLarge       = 10054
	CodeStoreFailed           = 10077
)

// Config holds the settings besides the address.
type Config struct {
	Name     string // the node's, for the server's listings
	TLS      *tls.Config
	Secret   []byte       // that of transport.Config, for an embedded server that links use too
	Log      *slog.Logger // nil is slog.Default
	Lost     func()       // called when the connection is lost, which is then made again; nil for nothing
	Restored func()       // called when the connection is back; nil for nothing
}

// Connection is JetStream, and the connection on which it is asked.
type Connection struct {
	*natsgo.Conn
	JetStream jetstream.JetStream
	Address   *nats.Address
	release   func()
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
	c.Conn, c.release, err = natstransport.Connect(ctx, at, transport.Config{Name: config.Name, TLS: config.TLS, Secret: config.Secret, Keyed: true},
		natsgo.DisconnectErrHandler(func(_ *natsgo.Conn, err error) {
			if config.Lost != nil {
				config.Lost()
			}
			if err != nil {
				log.Warn("jetstream: connection lost", "address", address.Name, "error", err)
			}
		}),
		natsgo.ReconnectHandler(func(*natsgo.Conn) {
			log.Info("jetstream: connection is back", "address", address.Name)
			if config.Restored != nil {
				config.Restored()
			}
		}))
	if err != nil {
		return nil, err
	}
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
	c.release()
}
