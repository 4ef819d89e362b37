package nats_test

import (
	"context"
	"fmt"
	"os"
	"testing"

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
