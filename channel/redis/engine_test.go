package redis_test

import (
	"testing"

	"github.com/sabir-go/sabir/brokers"
	"github.com/sabir-go/sabir/channel/channeltest"
	_ "github.com/sabir-go/sabir/channel/redis"
)

func TestEngine(t *testing.T) {
	// With everysec Redis answers before it writes where the disk is busy, and what it answered dies with it.
	broker := brokers.ForTest(t, brokers.Redis, brokers.Config{Sync: true})
	channeltest.Run(t, channeltest.Setup{Address: broker.URL(), Broker: broker})
}
