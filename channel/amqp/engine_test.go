package amqp_test

import (
	"testing"

	"github.com/sabir-go/sabir/brokers"
	_ "github.com/sabir-go/sabir/channel/amqp"
	"github.com/sabir-go/sabir/channel/channeltest"
)

func TestEngine(t *testing.T) {
	broker := brokers.ForTest(t, brokers.RabbitMQ)
	channeltest.Run(t, channeltest.Setup{Address: broker.URL(), Broker: broker})
}
