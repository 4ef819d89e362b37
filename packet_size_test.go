package sabir_test

import (
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
)

func TestPacketsThatAreTooSmallAreRefusedAtTheStart(t *testing.T) {
	node := sabir.NewNode(sabir.Join("tcp://127.0.0.1:0", cluster.Links{PacketSize: 1199}))
	if err := node.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "1200") {
		t.Errorf("the start gave %v, want an error that names the least", err)
	}
}
