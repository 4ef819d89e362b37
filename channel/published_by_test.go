package channel_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/engine"
	"github.com/sabir-go/sabir/internal/identity"
	"github.com/sabir-go/sabir/secret"
	"github.com/sabir-go/sabir/webhook"
)

const (
	ordersKey  = "the private key of the nodes called orders-*"
	billingKey = "the private key of the nodes called billing-*"
)

// named is a node with the broker of the test that proves its id by a key, and asks others for that.
func named(t *testing.T, group, key string, services ...sabir.Servable) *sabir.Node {
	t.Helper()
	known := map[string]string{}
	for pattern, text := range map[string]string{"orders-*": ordersKey, "billing-*": billingKey} {
		k, err := identity.NewKey(text)
		if err != nil {
			t.Fatal(err)
		}
		known[pattern] = k.Public()
	}
	return startNode(t, sabir.NodeID(fmt.Sprintf("%s-%d", group, nodeNumber.Add(1))), channel.Broker("mem://"+t.Name()), sabir.Serve(services...),
		sabir.Join("mem://"+t.Name(), cluster.Config{Name: t.Name(), Key: secret.New(clusterKey), NodeKey: secret.New(key), NodeKeys: known}))
}

// signed is the channel of the test, to which nodes called orders-* may publish, and open the same without the rule, by which a program leaves it out.
func signed(t *testing.T) (signed, open *channel.Channel[article]) {
	open = parcels(t)
	return channel.New[article](open.Name(), channel.Config{PublishedBy: []string{"orders-*"}}), open
}

func TestOnlyTheNodesThatWereNamedPublish(t *testing.T) {
	c, open := signed(t)
	got := make(chan string, 10)
	s := sabir.NewService("billing")
	c.Consume(s, func(ctx context.Context, a article) error {
		if sabir.InfoFromContext(ctx).Metadata["sabir.publisher"] != "" {
			t.Error("the handler sees the proof")
		}
		got <- a.Name
		return nil
	})
	billing := named(t, "billing", billingKey, s)
	orders := named(t, "orders", ordersKey)
	if _, err := c.Publish(t.Context(), billing, article{Name: "of billing"}); !errors.Is(err, sabir.ErrCallerRefused) {
		t.Errorf("a node that was not named publishes: %v", err)
	}
	if _, err := c.PublishAll(t.Context(), billing, []article{{Name: "of billing"}}); !errors.Is(err, sabir.ErrCallerRefused) {
		t.Errorf("a node that was not named publishes several: %v", err)
	}
	if _, err := open.Publish(t.Context(), billing, article{Name: "around the rule"}); err != nil {
		t.Fatal(err)
	}
	if _, err := open.Publish(t.Context(), member(t, clusterKey), article{Name: "without a node key"}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Publish(t.Context(), orders, article{Name: "of orders"}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.PublishAll(t.Context(), orders, []article{{Name: "several of orders"}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"of orders", "several of orders"} {
		if name := next(t, got); !strings.Contains(name, "of orders") {
			t.Errorf("the handler got %q, want %q", name, want)
		}
	}
	awaitDead(t, billing, c.Name()+".dead", 2)
	if len(got) > 0 {
		t.Errorf("the handler got %q too", <-got)
	}
}

// awaitDead waits until the channel has so many dead letters, and returns them.
func awaitDead(t *testing.T, n *sabir.Node, name string, count int) []channel.DeadLetter {
	t.Helper()
	for t.Context().Err() == nil {
		list, err := channel.DeadLetters(t.Context(), n, name, 10)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) >= count {
			return list
		}
	}
	t.Fatal("the test has ended")
	return nil
}

// A dead letter keeps the signature of its publisher, and gets none of the node that replays it, which may publish itself here.
func TestAReplayMakesNoMessageOfAnAllowedPublisher(t *testing.T) {
	c, open := signed(t)
	got := make(chan string, 10)
	s := sabir.NewService("billing")
	tries := 0
	c.ConsumeWith(s, channel.Consumer{Attempts: 1, MaxInFlight: 1}, func(_ context.Context, a article) error {
		got <- a.Name
		if tries++; tries == 1 {
			return errors.New("not now")
		}
		return nil
	})
	billing, orders := named(t, "billing", billingKey, s), named(t, "orders", ordersKey)
	if _, err := c.Publish(t.Context(), orders, article{Name: "true"}); err != nil {
		t.Fatal(err)
	}
	if _, err := open.Publish(t.Context(), billing, article{Name: "forged"}); err != nil {
		t.Fatal(err)
	}
	next(t, got)
	for _, l := range awaitDead(t, billing, c.Name()+".dead", 2) {
		if forged := strings.Contains(string(l.Data), "forged"); forged != (l.Dead.Code == sabir.CodePermissionDenied.String()) {
			t.Errorf("%s is dead for %s, %s", l.Data, l.Dead.Code, l.Dead.Reason)
		}
	}
	if n, err := channel.Replay(t.Context(), orders, c.Name()+".dead"); err != nil || n != 2 {
		t.Fatal(n, err)
	}
	if name := next(t, got); name != "true" {
		t.Errorf("the handler got %q", name)
	}
	for _, l := range awaitDead(t, billing, c.Name()+".dead", 1) {
		if !strings.Contains(string(l.Data), "forged") || l.Dead.Code != sabir.CodePermissionDenied.String() {
			t.Errorf("%s is dead for %s", l.Data, l.Dead.Code)
		}
	}
	if len(got) > 0 {
		t.Errorf("the handler got %q too", <-got)
	}
}

// Whoever may write to the broker can take a signed event and put it in again with attributes of its own.
func TestTheSignatureOfAnEventCoversItsAttributes(t *testing.T) {
	name := parcels(t).Name()
	c := channel.New[webhook.Event](name, channel.Config{PublishedBy: []string{"orders-*"}, Codec: "binary"})
	got := make(chan webhook.Event, 10)
	s := sabir.NewService("billing")
	c.Consume(s, func(_ context.Context, e webhook.Event) error { got <- e; return nil })
	billing, orders := named(t, "billing", billingKey, s), named(t, "orders", ordersKey)
	store, err := engine.Open(t.Context(), "mem://"+t.Name(), engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if _, err := c.Publish(t.Context(), orders, webhook.Event{ID: "1", Source: "/s", Type: "viewed", Data: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	if e := next(t, got); e.Type != "viewed" {
		t.Fatalf("got %+v", e)
	}
	group, err := store.Join(t.Context(), engine.GroupSpec{Channel: name, Name: "forger", AckWait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	list, err := group.Receive(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	forged := &engine.Outgoing{Message: list[0].Message}
	forged.ID, forged.Attributes["type"] = "another", "deleted"
	if store.Publish(t.Context(), name, []*engine.Outgoing{forged}); forged.Err != nil {
		t.Fatal(forged.Err)
	}
	if d := awaitDead(t, billing, name+".dead", 1)[0].Dead; d.Code != sabir.CodePermissionDenied.String() {
		t.Errorf("it is dead for %s, %s", d.Code, d.Reason)
	}
	if len(got) > 0 {
		t.Errorf("the handler got %+v", <-got)
	}
}

func TestWhoMayPublishIsNotAskedWhereNothingProvesNames(t *testing.T) {
	c, _ := signed(t)
	s := sabir.NewService("billing")
	c.Consume(s, func(context.Context, article) error { return nil })
	n := sabir.NewNode(sabir.Logger(slog.New(slog.DiscardHandler)), channel.Broker("mem://"+t.Name()), sabir.Serve(s),
		sabir.Join("mem://"+t.Name()+"other", cluster.Config{Key: secret.New(clusterKey)}))
	if err := n.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "cluster.Config.NodeKeys") {
		n.Stop(context.Background())
		t.Errorf("it consumes: %v", err)
	}
	if _, err := c.Publish(t.Context(), member(t, clusterKey), article{}); !errors.Is(err, sabir.ErrCallerRefused) || !strings.Contains(err.Error(), "cluster.Config.NodeKey") {
		t.Errorf("it publishes: %v", err)
	}
}

func TestARuleOfPublishersThatNamesNobodyIsAnError(t *testing.T) {
	for _, names := range [][]string{{}, {"["}, {""}} {
		c := channel.New[article]("shop.rules", channel.Config{PublishedBy: names})
		if _, err := c.Publish(t.Context(), member(t, ""), article{}); !errors.Is(err, sabir.NewError(sabir.CodeInvalidArgument, "BadOption", "")) {
			t.Errorf("%v", err)
		}
	}
}
