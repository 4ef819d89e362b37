package address_test

import (
	"context"
	"crypto/tls"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/actor/grain/store"
	_ "github.com/sabir-go/sabir/broker/amqp"
	_ "github.com/sabir-go/sabir/broker/mqtt"
	_ "github.com/sabir-go/sabir/broker/nats"
	_ "github.com/sabir-go/sabir/broker/redis"
	"github.com/sabir-go/sabir/internal/engine"
	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/policy/rediscache"
	"github.com/sabir-go/sabir/transport"
)

// uses lists every purpose for which Sabir opens the address of a broker. Each opens an address, closes what it has opened and returns the
// error. Brokers are missing uses where they have no driver for one.
var uses = map[string]struct {
	schemes string
	open    func(ctx context.Context, address string, config *tls.Config) error
}{
	"links": {"redis rediss nats amqp amqps mqtt mqtts", func(ctx context.Context, address string, config *tls.Config) error {
		at, err := schemes.Parse(address)
		if err != nil {
			return err
		}
		bus, _ := transports.Bus(at.Scheme)
		broker, err := bus.Connect(ctx, at, transport.Config{TLS: config, Keyed: true}, transport.BusEvents{})
		if err == nil {
			err = broker.Close()
		}
		return err
	}},
	"channels": {"redis rediss nats amqp amqps", func(ctx context.Context, address string, config *tls.Config) error {
		s, err := engine.Open(ctx, address, engine.Config{TLS: config})
		if err == nil {
			err = s.Close()
		}
		return err
	}},
	"grains": {"redis rediss nats", func(ctx context.Context, address string, config *tls.Config) error {
		s, err := store.Open(ctx, address, store.Config{TLS: config})
		if err == nil {
			err = s.Close()
		}
		return err
	}},
	"cache": {"redis rediss", func(_ context.Context, address string, config *tls.Config) error {
		s, err := rediscache.Open(rediscache.Config{URL: address, Name: "test", TLS: config})
		if err == nil {
			s.Close()
		}
		return err
	}},
}

// verdict is an error's text about the address, without the name of the package that reports it. It is "" where the address
// was taken, whether or not a server was there.
func verdict(err error) string {
	if err == nil {
		return ""
	}
	_, text, found := strings.Cut(err.Error(), "the address ")
	if !found {
		return ""
	}
	return text
}

// judged opens the address by every use that has a driver for it, but those named, and returns the verdict that all share.
func judged(t *testing.T, address string, config *tls.Config, but ...string) (shared string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	scheme, _, _ := strings.Cut(address, ":")
	from := ""
	for use, u := range uses {
		if !strings.Contains(" "+u.schemes+" ", " "+scheme+" ") || slices.Contains(but, use) {
			continue
		}
		err := u.open(ctx, address, config)
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error of %s shows the password: %v", address, use, err)
		}
		got := verdict(err)
		if from != "" && got != shared {
			t.Errorf("%s:\n%-8s says %q\n%-8s says %q", address, from, shared, use, got)
		}
		from, shared = use, got
	}
	return shared
}

// Nothing listens at the ports 1 and 2 of this machine.
func TestAnAddressIsTakenByAllUses(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"redis://127.0.0.1:1", "redis://localhost:1/", "redis://:1", "redis://[::1]:1", "redis://ada:secret@127.0.0.1:1/3",
		"redis://127.0.0.1:1?prefix=shop.2", "redis://127.0.0.1:1,127.0.0.1:2?sentinel=mymaster",
		"redis://127.0.0.1:1?replicas=2&fsync=true", "redis://127.0.0.1:1?replicas=auto", "redis://127.0.0.1:1/65535",
		"rediss://127.0.0.1:1", "rediss://127.0.0.1:1/0?replicas=0",
		"nats://127.0.0.1:1", "nats://ada:secret@127.0.0.1:1,127.0.0.1:2", "nats://127.0.0.1:1?tls=true", "nats://127.0.0.1:1?prefix=shop_2&replicas=3",
		"nats://embedded:0", "nats://embedded:0?prefix=shop&replicas=1",
		"amqp://127.0.0.1:1", "amqp://ada:secret@127.0.0.1:1/shop", "amqp://127.0.0.1:1/", "amqp://127.0.0.1:1/%2fshop?prefix=shop.2",
		"amqps://127.0.0.1:1/shop",
		"mqtt://127.0.0.1:1", "mqtt://ada:secret@127.0.0.1:1?prefix=shop.2", "mqtts://127.0.0.1:1?prefix=shop",
	} {
		if said := judged(t, address, nil); said != "" {
			t.Errorf("%s was refused: the address %s", address, said)
		}
	}
}

// Links need the number of subscribers that only one server knows.
func TestARedisClusterIsTakenByAllUsesButLinks(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"redis://127.0.0.1:1,127.0.0.1:2", "rediss://127.0.0.1:1,127.0.0.1:2/0?replicas=0"} {
		if said := judged(t, address, nil, "links"); said != "" {
			t.Errorf("%s was refused: the address %s", address, said)
		}
		if said := verdict(uses["links"].open(t.Context(), address, nil)); !strings.Contains(said, "is of a Redis Cluster") {
			t.Errorf("%s: links say %q", address, said)
		}
	}
}

func TestAnAddressIsRefusedByAllUsesWithTheSameWords(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"redis://", "redis:h", "redis://h/70000", "redis://h/x", "redis://h/-1", "redis://h/1/2", "redis://h#f", "redis://h:0", "redis://h:70000", "redis://h?db=1",
		"redis://h?prefix=", "redis://h?prefix=a:b", "redis://h?prefix={a}", "redis://h?prefix=a&prefix=b", "redis://a,b/1", "redis://a,,b", "redis://h?%zz",
		"redis://h?replicas=", "redis://h?replicas=-1", "redis://h?replicas=all", "redis://h?replicas=1000", "redis://h?replicas=0&fsync=true", "redis://h?fsync=often",
		"redis://h?sentinel=", "redis://ada:secret@h?x=y", "rediss://h/70000",
		"nats:", "nats://", "nats://h/path", "nats://h#part", "nats://h?colour=red", "nats://h?tls=perhaps", "nats://h?store=/s", "nats://h:0",
		"nats://h?prefix=", "nats://h?prefix=a.b", "nats://h?prefix=*", "nats://h?replicas=0", "nats://h?replicas=6", "nats://a,embedded",
		"nats://ada:secret@embedded", "nats://embedded?sync=true", "nats://embedded?store=/s&routes=a",
		"mqtt://h?prefix=", "mqtt://h?prefix=a:b", "mqtt://h?x=y", "mqtt://h/topic", "amqp://h?prefix=", "amqp://h?prefix=a:b", "amqp://h?heartbeat=10", "amqp://h#f", "amqp://h:0", "amqp://ada:secret@h/shop?x=y",
	} {
		if said := judged(t, address, nil); said == "" {
			t.Errorf("%s was taken", address)
		}
	}
}

func TestATLSConfigurationIsNotIgnoredByAnyUse(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"redis://127.0.0.1:1", "redis://h", "amqp://127.0.0.1:1"} {
		if said := judged(t, address, &tls.Config{}); !strings.Contains(said, "is not encrypted") {
			t.Errorf("%s: got %q", address, said)
		}
	}
	for _, address := range []string{"rediss://127.0.0.1:1", "nats://127.0.0.1:1", "amqps://127.0.0.1:1"} {
		if said := judged(t, address, &tls.Config{}); said != "" {
			t.Errorf("%s was refused: the address %s", address, said)
		}
		if said := judged(t, address, &tls.Config{MaxVersion: tls.VersionTLS12}); strings.HasPrefix(address, "nats") == (said != "") {
			t.Errorf("%s with TLS 1.2: got %q", address, said)
		}
	}
}

// A slash, a question mark or a # in a password ends what a URL has in front of the path. What is behind it must not be shown.
func TestNoUseShowsAPartOfAPasswordThatIsNotEscaped(t *testing.T) {
	for _, password := range []string{"secret/x", "secret?x", "secret#x", "123/secret", "1?secret", "1#secret", "%secret"} {
		for name, use := range uses {
			for scheme := range strings.SplitSeq(use.schemes, " ") {
				err := use.open(t.Context(), scheme+"://ada:"+password+"@127.0.0.1:1", nil)
				if err == nil || strings.Contains(err.Error(), "secret") {
					t.Errorf("%s over %s with the password %s: %v", name, scheme, password, err)
				}
			}
		}
	}
}
