package store

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// DefaultMaxState is how many bytes a state may have where [Config] does not say.
const DefaultMaxState = 16 << 20

// Config is what may be told besides the address. The zero Config is fit for use.
type Config struct {
	// Name is the node's, for the broker's listings.
	Name string
	// MaxState is how many bytes a state may have; 0 is DefaultMaxState.
	MaxState int
	// TLS is for addresses of brokers that encrypt; nil trusts the authorities of the system.
	TLS *tls.Config
	// Secret is that of transport.Config, for a broker inside the process that links use too.
	Secret []byte
	// Log is where a driver tells of connections lost and found, and of brokers that are set up to lose states; nil is
	// slog.Default.
	Log *slog.Logger
}

func (c Config) maxState() int {
	if c.MaxState <= 0 {
		return DefaultMaxState
	}
	return c.MaxState
}

// Logger is Log, or slog.Default.
func (c Config) Logger() *slog.Logger {
	if c.Log == nil {
		return slog.Default()
	}
	return c.Log
}

// Driver knows one kind of store.
type Driver interface {
	// Open connects within ctx, to the store at the address. Where nobody answers the error is [ErrAway]. Errors name the
	// address without its password. What the address says that the driver does not know is refused.
	Open(ctx context.Context, at *url.URL, config Config) (Backend, error)
}

var registry struct {
	sync.RWMutex
	drivers map[string]Driver
}

// Register makes d the driver of addresses with the scheme, without "://". A driver's package calls it from init.
//
// It panics if d is nil or the scheme is empty or taken: each is a mistake in the program that shows at its start.
func Register(scheme string, d Driver) {
	registry.Lock()
	defer registry.Unlock()
	if d == nil || scheme == "" {
		panic(fmt.Sprintf("store: Register was given no driver or no scheme (%q)", scheme))
	}
	if _, taken := registry.drivers[scheme]; taken {
		panic(fmt.Sprintf("store: Register: a driver for %q is registered already", scheme))
	}
	if registry.drivers == nil {
		registry.drivers = make(map[string]Driver)
	}
	registry.drivers[scheme] = d
}

// Schemes returns the registered schemes in alphabetical order.
func Schemes() []string {
	registry.RLock()
	defer registry.RUnlock()
	return slices.Sorted(maps.Keys(registry.drivers))
}

// known are the packages of this module and their schemes, so that an error can name the import that is missing.
var known = map[string]string{"mem": "memory", "nats": "jetstream", "redis": "redis", "rediss": "redis"}

// Open connects to the store at an address, by the driver that is registered for its scheme. At most one Config may be
// given. The caller must Close the Store.
func Open(ctx context.Context, address string, config ...Config) (Store, error) {
	var c Config
	if len(config) > 0 {
		c = config[0]
	}
	at, err := url.Parse(address)
	if err != nil || at.Scheme == "" { // err would show a password
		return nil, fmt.Errorf("store: that is no address of a store; want one such as nats://127.0.0.1:4222, redis://127.0.0.1:6379 or mem://")
	}
	registry.RLock()
	d, ok := registry.drivers[at.Scheme]
	registry.RUnlock()
	if !ok {
		if driver, is := known[at.Scheme]; is {
			return nil, fmt.Errorf(`store: the program does not link the driver of %s://: add import _ "github.com/sabir-go/sabir/actor/grain/store/%s"`, at.Scheme, driver)
		}
		return nil, fmt.Errorf("store: no driver is called %q: there are %s", at.Scheme, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	}
	backend, err := d.Open(ctx, at, c)
	if err != nil {
		return nil, err
	}
	return New(backend, c), nil
}
