package integration

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir"
	_ "github.com/sabir-go/sabir/broker/nats"
	_ "github.com/sabir-go/sabir/broker/redis"
	"github.com/sabir-go/sabir/channel"
	"github.com/sabir-go/sabir/internal/brokers"
	_ "github.com/sabir-go/sabir/web"
)

// within asks again until something holds.
func within(t *testing.T, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for end := time.Now().Add(limit); !holds(); <-again.C {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v", what, limit)
		}
	}
}

func readiness(t *testing.T, n *sabir.Node) (status int, body string) {
	t.Helper()
	answer, err := http.Get("http://" + n.HTTPAddr() + "/ready")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

func TestANodeWhoseStoreIsFullSaysSoAndIsReadyWhenThereIsSpace(t *testing.T) {
	brokers.Long(t)
	disk := brokers.SmallDisk(t, 24)
	orders := channel.New[int]("shop.orders")
	var handled atomic.Int64
	billing := sabir.NewService("billing")
	orders.Consume(billing, func(context.Context, int) error { handled.Add(1); return nil })
	node := sabir.NewNode(sabir.Logger(quiet), sabir.Serve(billing), sabir.HTTP("127.0.0.1:0"),
		channel.Broker("nats://embedded:0?store="+url.QueryEscape(disk.Dir)))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer node.Stop(context.Background())
	kept := int64(0)
	publish := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		_, err := orders.Publish(ctx, node, 1)
		if err == nil {
			kept++
		}
		return err
	}
	if err := publish(); err != nil {
		t.Fatal(err)
	}
	if status, body := readiness(t, node); status != http.StatusOK {
		t.Fatalf("at first /ready is %d %s", status, body)
	}

	disk.Fill(t, 0)
	begun := time.Now()
	if err := publish(); !errors.Is(err, channel.ErrChannelFull) || !sabir.AsError(err).Retryable || !strings.Contains(err.Error(), disk.Dir) {
		t.Errorf("got %v, want ErrChannelFull, retryable, with the folder", err)
	}
	if took := time.Since(begun); took > time.Second {
		t.Errorf("the publisher has its error after %v", took)
	}
	within(t, 2*time.Second, "/ready names the store", func() bool {
		status, body := readiness(t, node)
		return status == http.StatusServiceUnavailable && strings.Contains(body, disk.Dir) && strings.Contains(body, "nats://embedded")
	})

	disk.Free(t)
	within(t, 2*time.Second, "messages are kept again", func() bool { return publish() == nil })
	within(t, 2*time.Second, "/ready is 200 again", func() bool { status, _ := readiness(t, node); return status == http.StatusOK })
	within(t, 10*time.Second, "all are handled", func() bool { return handled.Load() >= kept })
}

// A publisher with a minute to spare is not kept for a minute by a broker that answers that it is a replica. It is for a moment, in
// which a failover that goes well is over.
func TestAPublisherIsNotKeptByABrokerThatTakesNothing(t *testing.T) {
	server := brokers.ForTest(t, brokers.Redis)
	orders := channel.New[int]("shop.orders")
	node := sabir.NewNode(sabir.Logger(quiet), channel.Broker(server.URL()))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer node.Stop(context.Background())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := orders.Publish(ctx, node, 1); err != nil {
		t.Fatal(err)
	}
	admin, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{server.Addr()}, DisableCache: true, ForceSingleClient: true})
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	replicaOf := func(host, port string) {
		if err := admin.Do(ctx, admin.B().Arbitrary("REPLICAOF", host, port).Build()).Error(); err != nil {
			t.Fatal(err)
		}
	}
	replicaOf("127.0.0.1", "1")
	begun := time.Now()
	_, err = orders.Publish(ctx, node, 2)
	if !errors.Is(err, channel.ErrChannelUnreachable) || !strings.Contains(err.Error(), "READONLY") {
		t.Errorf("got %v, want ErrChannelUnreachable with READONLY", err)
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("the publisher has its error after %v", took)
	}
	published := make(chan error, 1)
	go func() {
		_, err := orders.Publish(ctx, node, 3)
		published <- err
	}()
	replicaOf("NO", "ONE") // the failover is over: the publisher notices nothing
	if err := <-published; err != nil {
		t.Error(err)
	}
}
