package integration

import (
	"errors"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
)

func TestANodeDoesNotStartWhileItsBrokerIsUnreachable(t *testing.T) {
	err := sabir.NewNode(sabir.Logger(quiet), channel.Broker("redis://ada:geheim@127.0.0.1:1")).Start(t.Context())
	if !errors.Is(err, channel.ErrChannelUnreachable) || strings.Contains(err.Error(), "geheim") || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Fatalf("got %v", err)
	}
}
