package mesh

import (
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/joining"
)

func TestANodeWhoseAddressAnotherProgramHasWarnsOfItWhereASeedTakesIt(t *testing.T) {
	stranger, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	go func() {
		for {
			conn, err := stranger.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	ctx := t.Context()
	a := startAt(t, ctx, "a", "tcp://127.0.0.1:0", joining.Config{})
	for address, warns := range map[string]bool{"tcp://" + stranger.Addr().String(): true, a.OwnAddress(): false} {
		var log lines
		b, err := New(&host{}, Config{Node: "b", Info: Info{Instance: instances.Add(1)}, Log: slog.New(slog.NewTextHandler(&log, nil)), Address: address,
			Config: joining.Config{Cluster: "default", Connections: 1, Seeds: []string{a.OwnAddress()}}})
		if err == nil {
			err = errors.Join(b.Listen(ctx), b.Enter(ctx))
		}
		if err != nil {
			t.Fatal(err)
		}
		stop(t, b)
		if warned := strings.Contains(log.String(), "another process listens at the address of this node"); warned != warns {
			t.Errorf("at %s it logs\n%s", address, log.String())
		}
	}
}
