package jetstream_test

import (
	"testing"

	"github.com/sabir-go/sabir/brokers"
	"github.com/sabir-go/sabir/channel/channeltest"
	_ "github.com/sabir-go/sabir/channel/jetstream"
)

func TestEngine(t *testing.T) {
	broker := brokers.ForTest(t, brokers.NATS)
	channeltest.Run(t, channeltest.Setup{Address: broker.URL(), Broker: broker})
}
