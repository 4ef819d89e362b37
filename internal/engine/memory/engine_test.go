package memory_test

import (
	"github.com/sabir-go/sabir/internal/channeltest"
	"testing"
)

func TestEngine(t *testing.T) {
	// The stores of one test meet at one address.
	channeltest.Run(t, channeltest.Setup{Address: "mem://suite", OwnClock: true})
}
