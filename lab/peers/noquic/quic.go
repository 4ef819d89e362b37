// Package quic stands in for the QUIC library that go-micro v1.8.3 links with all of its transports: the versions of that
// time end the program at its start with today's Go. The lab never uses go-micro over QUIC, so nothing here works.
package quic

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
)

// Config has the field that go-micro sets.
type Config struct{ KeepAlive bool }

// Session has the methods that go-micro calls.
type Session interface {
	OpenStreamSync(context.Context) (Stream, error)
	AcceptStream(context.Context) (Stream, error)
	LocalAddr() net.Addr
	RemoteAddr() net.Addr
	Close() error
	Context() context.Context
}

// Stream has the methods that go-micro calls.
type Stream interface{ net.Conn }

// Listener has the methods that go-micro calls.
type Listener interface {
	Accept(context.Context) (Session, error)
	Addr() net.Addr
	Close() error
}

var errMissing = errors.New("QUIC is left out of this build of go-micro")

// DialAddr fails.
func DialAddr(string, *tls.Config, *Config) (Session, error) { return nil, errMissing }

// ListenAddr fails.
func ListenAddr(string, *tls.Config, *Config) (Listener, error) { return nil, errMissing }
