package channels_test

import (
	"testing"

	_ "github.com/sabir-go/sabir/broker/redis"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/channeltest"
)

func TestEngine(t *testing.T) {
	// With everysec Redis answers before it writes where the disk is busy, and what it answered dies with it.
	broker := brokers.ForTest(t, brokers.Redis, brokers.Config{Sync: true})
	channeltest.Run(t, channeltest.Setup{Address: broker.URL(), Broker: broker})
}
