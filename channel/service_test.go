package channel_test

import (
	"context"
	"errors"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
	"github.com/sabir-go/sabir/internal/description"
)

func TestANodeThatHasStoppedListsNoChannels(t *testing.T) {
	n := channelNode(t)
	publish(t, parcels(t), n, 1)
	stopNode(t, n)
	if list, err := channel.List(t.Context(), n); len(list) != 0 || err != nil {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestTheBrokerOfTheClusterKeepsChannelsWhereNoOtherIsNamed(t *testing.T) {
	c := parcels(t)
	n := startNode(t, sabir.Join("mem://"+t.Name()))
	publish(t, c, n, 1)
	list, err := channel.List(t.Context(), n)
	if err != nil || len(list) != 1 || list[0].Kept != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
}

func TestTheAddressOfABrokerIsListedAsItWasGiven(t *testing.T) {
	c := parcels(t)
	n := startNode(t, channel.Broker("mem://"))
	publish(t, c, n, 1)
	if list, err := channel.List(t.Context(), n); err != nil || len(list) != 1 || list[0].Broker != "mem://" {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestTheChannelsServiceListsReplaysAndDeletes(t *testing.T) {
	c := parcels(t)
	s := sabir.NewService("billing")
	c.Consume(s, func(context.Context, article) error { return channel.Reject(errors.New("broken")) })
	n := channelNode(t, s)
	publish(t, c, n, 1, 2)
	dead := c.Name() + ".dead"
	letters := awaitLetters(t, n, dead, 2)
	list, err := sabir.Call[[]channel.Info](t.Context(), n, "$channels.list", sabir.Empty{})
	if err != nil || len(list) != 2 || list[0].Name != c.Name() || list[1].Name != dead || list[1].Kept != 2 || list[0].Groups[0].Name != "billing" {
		t.Fatalf("%+v, %v", list, err)
	}
	got, err := sabir.Call[[]channel.DeadLetter](t.Context(), n, "$channels.dead", channel.DeadLettersRequest{Channel: dead})
	if err != nil || len(got) != 2 || got[0].Dead.Reason != "broken" {
		t.Fatalf("%+v, %v", got, err)
	}
	if _, err := sabir.Call[int](t.Context(), n, "$channels.delete", channel.DeadLettersRequest{Channel: dead}); sabir.AsError(err).Code != sabir.CodeInvalidArgument {
		t.Fatalf("deleting nothing in particular: %v", err)
	}
	if deleted, err := sabir.Call[int](t.Context(), n, "$channels.delete", channel.DeadLettersRequest{Channel: dead, Keys: []string{letters[0].Key}}); err != nil || deleted != 1 {
		t.Fatal(deleted, err)
	}
	if replayed, err := sabir.Call[int](t.Context(), n, "$channels.replay", channel.DeadLettersRequest{Channel: dead, All: true}); err != nil || replayed != 1 {
		t.Fatal(replayed, err)
	}
	awaitLetters(t, n, dead, 1) // it failed again
	if deleted, err := sabir.Call[int](t.Context(), n, "$channels.delete", channel.DeadLettersRequest{Channel: dead, All: true}); err != nil || deleted != 1 {
		t.Fatal(deleted, err)
	}
}

func TestAServiceDescribesTheChannelsThatItReceivesFromAndSendsTo(t *testing.T) {
	c := parcels(t)
	s := sabir.NewService("billing", sabir.Sends(channel.New[article]("bills")))
	c.ConsumeWith(s, channel.Consumer{Group: "clerks"}, func(context.Context, article) error { return nil })
	n := channelNode(t, s)
	got, err := sabir.Call[description.Document](t.Context(), n, "$node.api", description.Request{Service: "billing"})
	if err != nil || len(got.Messages) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	received, sent := got.Messages[0], got.Messages[1]
	if received.Kind != "channel" || received.Name != c.Name() || received.Group != "clerks" || received.Sent || received.Type == nil || !sent.Sent || sent.Name != "bills" {
		t.Errorf("%+v", got.Messages)
	}
	err = sabir.NewNode(sabir.Serve(sabir.NewService("billing", sabir.Sends(channel.New[article]("not a name"))))).Start(t.Context())
	if !errors.Is(err, sabir.NewError(sabir.CodeInvalidArgument, "BadService", "")) {
		t.Error(err)
	}
}
