package store

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/grainstore"
	"github.com/sabir-go/sabir/internal/schemes"
)

// defaultMaxState is the number of bytes that a state may have by default.
const defaultMaxState = 16 << 20

// Config holds the settings besides the address. The zero Config is fit for use.
type Config struct {
	// Name is the node's, for the broker's listings.
	Name string
	// MaxState is the number of bytes that a state may have. Default: 16 MiB.
	MaxState int
	// TLS is the configuration for brokers that encrypt; nil trusts the authorities of the system.
	TLS *tls.Config
	// Key is the option of Join that has the node's cluster key: cluster.Config.Key, KeyFile, KeyFromEnv, or what the method ClusterKey of the
	// settings of package config returns. A broker inside the process (nats://embedded) asks for it, as it does of links and channels. Nil
	// is none. Other brokers do not ask.
	Key cluster.Option
	// Log receives the driver's lines about lost and restored connections, and about brokers that are set up to lose states; nil is
	// slog.Default.
	Log *slog.Logger
}

func (c Config) maxState() int {
	if c.MaxState <= 0 {
		return defaultMaxState
	}
	return c.MaxState
}

// known are the packages of this module and their schemes, so that an error can name the import that is missing. mem:// needs none.
var known = map[string]string{"kubernetes": "actor/grain/store/kubernetes", "nats": "broker/nats", "redis": "broker/redis", "rediss": "broker/redis"}

// Open connects to the store at an address, by the driver that is registered for its scheme. At most one Config may be
// given. The caller must Close the Store.
func Open(ctx context.Context, address string, config ...Config) (Store, error) {
	var c Config
	if len(config) > 0 {
		c = config[0]
	}
	at, err := schemes.Parse(address)
	if err != nil { // url.Parse would show a password that has a slash in it
		return nil, fmt.Errorf("store: that is no address of a store; want one such as nats://127.0.0.1:4222, redis://127.0.0.1:6379 or mem://: %w", err)
	}
	d, ok := grainstore.Lookup(at.Scheme)
	if !ok {
		if driver, is := known[at.Scheme]; is {
			return nil, fmt.Errorf(`store: the program does not link the driver of %s://: add import _ "github.com/sabir-go/sabir/%s"`, at.Scheme, driver)
		}
		return nil, fmt.Errorf("store: no driver is called %q: there are %s", at.Scheme, strings.Join(slices.Sorted(maps.Keys(known)), ", ")+" and mem")
	}
	log := c.Log
	if log == nil {
		log = slog.Default()
	}
	backend, err := d.Open(ctx, at, grainstore.Config{Name: c.Name, TLS: c.TLS, Key: c.Key, Log: log})
	if err != nil {
		return nil, err
	}
	return newKeeper(backend, c.maxState()), nil
}
