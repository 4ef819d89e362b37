package channel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
	"github.com/sabir-go/sabir/webhook"
)

// The tests of this file are about programs that are wrong: each mistake must be reported, at the start or by the call, and
// the report must name what is wrong and what to do.

func ignore(context.Context, int) error { return nil }

func TestSettingsOfAConsumerThatCannotBeAreReportedWhenItsServiceStarts(t *testing.T) {
	for name, test := range map[string]struct {
		config channel.Consumer
		words  []string
	}{
		"no messages in flight":      {channel.Consumer{MaxInFlight: -1}, []string{"MaxInFlight is -1", "1 to 10,000"}},
		"no attempts":                {channel.Consumer{Attempts: -1}, []string{"Attempts is -1"}},
		"a pause into the past":      {channel.Consumer{FirstPause: -1}, []string{"FirstPause is -1ns"}},
		"pauses the wrong way round": {channel.Consumer{FirstPause: time.Hour, MaxPause: time.Second}, []string{"FirstPause is 1h0m0s", "MaxPause, 1s"}},
		"a negative AckWait":         {channel.Consumer{AckWait: -time.Second}, []string{"AckWait is -1s"}},
		"an AckWait of an instant":   {channel.Consumer{AckWait: 1}, []string{"AckWait is 1ns", "a second or more"}},
		"too many in flight":         {channel.Consumer{MaxInFlight: 10_001}, []string{"MaxInFlight is 10001", "1 to 10,000"}},
		"two starts":                 {channel.Consumer{OnlyNew: true, FromSequence: 7}, []string{"one of OnlyNew, FromTime and FromSequence"}},
		"a group with a space":       {channel.Consumer{Group: "a b"}, []string{"group", `"a b"`}},
	} {
		t.Run(name, func(t *testing.T) {
			s := sabir.NewService("billing")
			channel.New[int]("shop.orders").ConsumeWith(s, test.config, ignore)
			err := sabir.NewNode(sabir.Logger(quiet), channel.Broker("mem://"), sabir.Serve(s)).Start(t.Context())
			for _, word := range append(test.words, "channel/mistakes_test.go:") {
				if !errors.Is(err, sabir.NewError(sabir.CodeInvalidArgument, "BadService", "")) || !strings.Contains(err.Error(), word) {
					t.Errorf("%q is not in %v", word, err)
				}
			}
		})
	}
}

func TestAConsumerOfAServiceThatRunsPanicsWithItsFileAndLine(t *testing.T) {
	s := sabir.NewService("shop")
	n := startNode(t, sabir.Serve(s))
	defer func() {
		said := fmt.Sprint(recover())
		for _, word := range []string{"the consumer of channel late", "service shop", "mistakes_test.go:", "node.Add", n.ID()} {
			if !strings.Contains(said, word) {
				t.Errorf("%q is not in %q", word, said)
			}
		}
	}()
	channel.New[int]("late").Consume(s, ignore)
}

func TestAChannelThatWasNotMadeByNewSaysSo(t *testing.T) {
	var c channel.Channel[int]
	if _, err := c.Publish(t.Context(), channelNode(t), 1); !errors.Is(err, sabir.NewError(sabir.CodeInvalidArgument, "BadChannel", "")) || !strings.Contains(err.Error(), "channel.New") {
		t.Errorf("Publish: %v", err)
	}
	for name, zero := range map[string]*channel.Channel[int]{"the zero Channel": &c, "nil": nil} {
		s := sabir.NewService("s")
		zero.Consume(s, ignore)
		err := sabir.NewNode(sabir.Logger(quiet), sabir.Serve(s)).Start(t.Context())
		if !errors.Is(err, sabir.NewError(sabir.CodeInvalidArgument, "BadService", "")) || !strings.Contains(err.Error(), "channel.New") {
			t.Errorf("Consume of %s: %v", name, err)
		}
	}
}

func TestTheBinaryModeIsForEventsAndForAttributesThatABrokerTakes(t *testing.T) {
	n := channelNode(t)
	if _, err := channel.New[int]("shop.orders", channel.Config{Codec: "binary"}).Publish(t.Context(), n, 1); !errors.Is(err, sabir.NewError(sabir.CodeInvalidArgument, "BadChannel", "")) || !strings.Contains(err.Error(), "webhook.Event") {
		t.Errorf("a channel of another type: %v", err)
	}
	events := channel.New[webhook.Event]("shop.events", channel.Config{Codec: "binary"})
	large := webhook.Event{ID: "1", Source: "/s", Type: "t", Extensions: map[string]string{}}
	for _, name := range []string{"a", "b", "c"} {
		large.Extensions[name] = strings.Repeat("x", 8<<10)
	}
	if _, err := events.Publish(t.Context(), n, large); !errors.Is(err, sabir.ErrMessageTooLarge) || !strings.Contains(err.Error(), "attributes") {
		t.Errorf("24 KiB of attributes: %v", err)
	}
	if _, err := events.Publish(t.Context(), n, webhook.Event{ID: "1", Type: "t"}); !errors.Is(err, sabir.ErrBadInput) || !strings.Contains(err.Error(), "lacks a source") {
		t.Errorf("without a source: %v", err)
	}
}

func TestABrokerGivenTwiceIsAnErrorOfTheStartWithBothLines(t *testing.T) {
	err := sabir.NewNode(sabir.Logger(quiet), channel.Broker("mem://a"), channel.Broker("mem://b")).Start(t.Context())
	if !errors.Is(err, sabir.NewError(sabir.CodeInvalidArgument, "BadOption", "")) || !strings.Contains(err.Error(), "given twice") || strings.Count(err.Error(), "channel/mistakes_test.go:") != 2 {
		t.Errorf("got %v", err)
	}
}

func TestANodeThatDoesNotRunPublishesNothing(t *testing.T) {
	c := channel.New[int]("shop.orders")
	created, stopped := sabir.NewNode(sabir.Logger(quiet), channel.Broker("mem://")), channelNode(t)
	stopNode(t, stopped)
	for state, n := range map[string]*sabir.Node{"not started": created, "stopped": stopped} {
		if _, err := c.Publish(t.Context(), n, 1); !errors.Is(err, sabir.ErrServiceUnavailable) || !strings.Contains(err.Error(), state) {
			t.Errorf("%s: %v", state, err)
		}
	}
	unserved := sabir.NewService("billing")
	if _, err := c.Publish(t.Context(), unserved, 1); !errors.Is(err, sabir.ErrServiceUnavailable) || !strings.Contains(err.Error(), "no node serves it") {
		t.Errorf("by a service that no node serves: %v", err)
	}
}

func TestALimitOfAChannelThatIsNegativeIsAnErrorOfTheUse(t *testing.T) {
	for said, config := range map[string]channel.Config{
		"KeepBytes is -1":    {KeepBytes: -1},
		"KeepMessages is -1": {KeepMessages: -1},
		"MaxMessage is -1":   {MaxMessage: -1},
	} {
		_, err := channel.New[int]("limits", config).Publish(t.Context(), channelNode(t), 1)
		if !errors.Is(err, sabir.NewError(sabir.CodeInvalidArgument, "BadOption", "")) || !strings.Contains(err.Error(), said) {
			t.Errorf("%q is not in %v", said, err)
		}
	}
}

func TestTwoStructsOfSettingsAreAnErrorOfTheUse(t *testing.T) {
	_, err := channel.New[int]("twice", channel.Config{KeepBytes: 1}, channel.Config{KeepBytes: 2}).Publish(t.Context(), channelNode(t), 1)
	if !errors.Is(err, sabir.NewError(sabir.CodeInvalidArgument, "BadOption", "")) || !strings.Contains(err.Error(), "channel twice has 2 structs of settings") {
		t.Errorf("got %v", err)
	}
}
