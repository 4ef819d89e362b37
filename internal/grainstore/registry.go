package grainstore

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net/url"

	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/registry"
)

// Driver knows one kind of store.
type Driver interface {
	// Open connects within ctx, to the store at the address. Where nothing answers the error is [ErrStoreUnreachable]. Errors name the
	// address without its password. Unknown parts of the address are refused.
	Open(ctx context.Context, at *url.URL, config Config) (Backend, error)
}

// Config holds a driver's settings besides the address. Its fields are those of the Config of package actor/grain/store.
type Config struct {
	Name string
	TLS  *tls.Config
	Key  cluster.Option
	Log  *slog.Logger // never nil
}

var drivers = registry.New[Driver]("store")

// Register makes d the driver of addresses with the scheme, without "://". A driver's package calls it from init.
//
// It panics if d is nil, if the scheme is not one as URLs have it, or if it is taken: each is a mistake in the program that
// shows at its start.
func Register(scheme string, d Driver) { drivers.Register(scheme, d) }

// Lookup returns the driver of addresses with the scheme, and whether there is one.
func Lookup(scheme string) (Driver, bool) { return drivers.Lookup(scheme) }
