package mem_test

import (
	"testing"

	_ "github.com/sabir-go/sabir/channel/mem"
	"github.com/sabir-go/sabir/internal/channeltest"
)

func TestEngine(t *testing.T) {
	// The stores of one test meet at one address.
	channeltest.Run(t, channeltest.Setup{Address: "mem://suite", OwnClock: true})
}
