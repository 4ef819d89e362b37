package redis_test

import (
	"testing"

	"github.com/sabir-go/sabir/brokers"
	"github.com/sabir-go/sabir/channel/channeltest"
	_ "github.com/sabir-go/sabir/channel/redis"
)

func TestEngine(t *testing.T) {
	broker := brokers.ForTest(t, brokers.Redis)
	channeltest.Run(t, channeltest.Setup{Address: broker.URL(), Broker: broker})
}
