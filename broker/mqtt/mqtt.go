package mqtt

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"time"

	"github.com/sabir-go/sabir/internal/address"
	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

func init() {
	transport.RegisterBus("mqtt", bus{plain})
	transport.RegisterBus("mqtts", bus{secure})
}

var (
	plain  = transports.BrokerForm{Port: "1883"}
	secure = transports.BrokerForm{Port: "8883", Secure: true}
)

// bus is mqtt:// and mqtts://.
type bus struct{ form transports.BrokerForm }

func (d bus) Connect(ctx context.Context, at *url.URL, config transport.Config, events transport.BusEvents) (transport.Broker, error) {
	return d.connect(ctx, at, config, events, '/')
}

// ConnectNamed is Connect for the topics of other programs: those that have dots, as Moleculer's. MQTT has no queues, so queueOf is not asked.
func (d bus) ConnectNamed(ctx context.Context, at *url.URL, config transport.Config, events transport.BusEvents, _ func(string) (string, time.Duration)) (transport.Broker, error) {
	return d.connect(ctx, at, config, events, '.')
}

func (d bus) connect(ctx context.Context, at *url.URL, config transport.Config, events transport.BusEvents, separator byte) (transport.Broker, error) {
	s, err := d.settings(at, config)
	if err != nil {
		return nil, err
	}
	s.separator = separator
	ctx, cancel := config.WithDialLimit(ctx)
	defer cancel()
	if err := config.CheckBroker(ctx, at); err != nil {
		return nil, err
	}
	return connect(ctx, s, events)
}

// settings hold the broker's address and the login.
type settings struct {
	transports.BrokerAddr
	user, password string
	client         string // by which the broker knows us
	separator      byte   // of the words of a topic
	config         transport.Config
}

func (d bus) settings(at *url.URL, config transport.Config) (*settings, error) {
	parameters := address.Read(at)
	parameters.Prefix(address.WithDots) // with which internal/bus begins the subjects
	if err := parameters.Err(); err != nil {
		return nil, fmt.Errorf("the address %q %w", at.Redacted(), err)
	}
	bare := *at
	bare.RawQuery, bare.ForceQuery = "", false
	addr, err := d.form.Parse(&bare, config)
	if err != nil {
		return nil, err
	}
	s := &settings{BrokerAddr: addr, user: at.User.Username(), client: "sabir-" + rand.Text(), config: config}
	s.password, _ = at.User.Password()
	return s, nil
}

// keepAlive is after how many whole seconds of silence the broker is asked whether it is there; 0 is never.
func (s *settings) keepAlive() time.Duration {
	idle := s.config.KeepAliveIdle()
	return min((idle + time.Second - 1).Truncate(time.Second), 65535*time.Second)
}
