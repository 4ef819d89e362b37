package sabir_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	_ "github.com/sabir-go/sabir/transport/tcp"
)

func TestKeepMessagesAndKeepBytesDropTheOldest(t *testing.T) {
	for name, option := range map[string]sabir.ChannelOption{
		"KeepMessages": sabir.KeepMessages(2),
		"KeepBytes":    sabir.KeepBytes(250), // of five messages, each with some 100 bytes
	} {
		c := parcels(t, option)
		n := startNode(t, sabir.Channels("mem://options-"+name))
		publish(t, c, n, 1, 2, 3, 4, 5)
		list, err := n.ChannelList(t.Context())
		if err != nil || len(list) != 1 || list[0].Kept < 1 || list[0].Kept > 3 {
			t.Errorf("%s: %+v, %v", name, list, err)
		}
	}
}

func TestOtherNodesDialTheAdvertisedHost(t *testing.T) {
	n := startNode(t, sabir.Join("tcp://127.0.0.1:0", cluster.Advertise("localhost")))
	if addr := n.Info().Addr; !strings.HasPrefix(addr, "tcp://localhost:") {
		t.Errorf("the node tells others that it is at %q", addr)
	}
}

func TestRunGivesWhatStopsNoMoreTimeThanStopTimeout(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := sabir.NewService("slow", sabir.OnStop(func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}))
	n := sabir.NewNode(sabir.Logger(quiet), sabir.Serve(s), sabir.StopTimeout(50*time.Millisecond))
	ended := make(chan error)
	go func() { ended <- n.Run(ctx) }()
	if err := n.WaitFor(ctx, "slow"); err != nil {
		t.Fatal(err)
	}
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	case <-time.After(8 * time.Second): // it would be 10 without the option
		t.Error("the service was given more time")
	}
}
