package mem_test

import (
	"testing"

	"github.com/sabir-go/sabir/channel/channeltest"
	_ "github.com/sabir-go/sabir/channel/mem"
)

func TestEngine(t *testing.T) {
	// The stores of one test meet at one address.
	channeltest.Run(t, channeltest.Setup{Address: "mem://suite"})
}
