package amqp_test

import (
	"os"
	"testing"

	"github.com/sabir-go/sabir/brokers"
	_ "github.com/sabir-go/sabir/channel/amqp"
	"github.com/sabir-go/sabir/channel/channeltest"
)

func TestEngine(t *testing.T) {
	broker := brokers.ForTest(t, brokers.RabbitMQ)
	defer func() { text, _ := os.ReadFile(broker.Log()); os.WriteFile("/tmp/amqpx/log", text, 0o644) }()
	channeltest.Run(t, channeltest.Setup{Address: broker.URL(), Broker: broker})
}
