package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sabir-go/sabir/internal/registry"
	"github.com/sabir-go/sabir/internal/schemes"
)

var engines = registry.New[Engine]("internal/engine")

// Register makes e the engine of addresses with the scheme, without "://". An engine's package calls it from init.
//
// It panics if e is nil, if the scheme is not one as URLs have it, or if it is taken: each is a mistake in the program that
// shows at its start.
func Register(scheme string, e Engine) { engines.Register(scheme, e) }

// Offered reports whether an engine is registered for the scheme of the address.
func Offered(address string) bool {
	scheme, _, _ := strings.Cut(address, "://")
	_, ok := engines.Lookup(scheme)
	return ok
}

// drivers are the packages below broker and their schemes, so that an error can name the import that is missing. Package channel brings
// mem:// along.
var drivers = map[string]string{
	"nats": "nats", "redis": "redis", "rediss": "redis", "amqp": "amqp", "amqps": "amqp",
}

// Open connects to the broker at an address, by the engine that is registered for its scheme.
func Open(ctx context.Context, address string, config Config) (Store, error) {
	at, err := schemes.Parse(address)
	if err != nil { // url.Parse would show a password that has a slash in it
		return nil, fmt.Errorf("channel: that is no address of a broker; want one such as nats://127.0.0.1:4222, redis://127.0.0.1:6379, amqp://127.0.0.1:5672 or mem://: %w", err)
	}
	if e, ok := engines.Lookup(at.Scheme); ok {
		return e.Open(ctx, at, config)
	}
	if driver, known := drivers[at.Scheme]; known {
		return nil, fmt.Errorf(`channel: the program does not link the engine of %s://: add import _ "github.com/sabir-go/sabir/broker/%s"`, at.Scheme, driver)
	}
	return nil, fmt.Errorf("channel: no engine is called %q: there are %s", at.Scheme, strings.Join(slices.Sorted(maps.Keys(drivers)), ", ")+" and mem")
}
