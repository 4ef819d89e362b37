package channels_test

import (
	"testing"

	_ "github.com/sabir-go/sabir/broker/nats"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/channeltest"
)

func TestEngine(t *testing.T) {
	broker := brokers.ForTest(t, brokers.NATS)
	channeltest.Run(t, channeltest.Setup{Address: broker.URL(), Broker: broker})
}
