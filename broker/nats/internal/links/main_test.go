package links_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"testing"

	_ "github.com/sabir-go/sabir/broker/nats"

	natsgo "github.com/nats-io/nats.go"
	"github.com/sabir-go/sabir/internal/nats"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

// asPeer is the variable that makes the test binary a process with an embedded server: the address.
const asPeer = "SABIR_TEST_PEER"

func TestMain(m *testing.M) {
	if address := os.Getenv(asPeer); address != "" {
		if err := peer(address); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	goleak.VerifyTestMain(brokers.Stopping(m))
}

// peer answers each message on "<name>.ask" by one on "answers", until it is killed.
func peer(address string) error {
	at, err := schemes.Parse(address)
	if err != nil {
		return err
	}
	driver, _ := transports.Bus("nats")
	broker, err := driver.Connect(context.Background(), at, transport.Config{}, transport.BusEvents{})
	if err != nil {
		return err
	}
	name := os.Getenv(asPeer + "_NAME")
	err = broker.Subscribe(context.Background(), name+".ask", func([]byte) { broker.Publish("answers", []byte(name)) })
	if err != nil {
		return err
	}
	fmt.Println(broker.Addr())
	select {}
}

// connect makes a plain connection to the servers at an address.
func connect(ctx context.Context, at *url.URL, config transport.Config, options ...natsgo.Option) (conn *natsgo.Conn, release func(), err error) {
	address, err := nats.Parse(at)
	if err != nil {
		return nil, nil, err
	}
	c, err := nats.Connect(ctx, address, config, options...)
	if err != nil {
		return nil, nil, err
	}
	return c.Conn, c.Release, nil
}
