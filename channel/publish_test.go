package channel_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
)

func TestAPublishedMessageIsHandled(t *testing.T) {
	c := parcels(t)
	s := sabir.NewService("billing")
	got := make(chan article, 1)
	c.Consume(s, func(_ context.Context, p article) error {
		got <- p
		return nil
	})
	n := channelNode(t, s)
	receipt, err := c.Publish(t.Context(), n, article{7, "tea"})
	if err != nil || receipt.ID == "" || receipt.Sequence != 1 || receipt.Duplicate {
		t.Fatalf("%+v, %v", receipt, err)
	}
	if p := next(t, got); p != (article{7, "tea"}) {
		t.Fatalf("got %+v", p)
	}
}

func TestWithTheSameIDAMessageIsKeptOnce(t *testing.T) {
	c := parcels(t)
	n := channelNode(t)
	first, err := c.PublishWithID(t.Context(), n, "order-1", article{ID: 1})
	if err != nil || first.ID != "order-1" || first.Duplicate {
		t.Fatalf("%+v, %v", first, err)
	}
	again, err := c.PublishWithID(t.Context(), n, "order-1", article{ID: 1})
	if err != nil || !again.Duplicate || again.Sequence != first.Sequence {
		t.Fatalf("%+v, %v", again, err)
	}
}

func TestPublishAllKeepsTheOrder(t *testing.T) {
	c := parcels(t)
	s := sabir.NewService("billing")
	got := make(chan int, 1000)
	c.ConsumeWith(s, channel.Consumer{MaxInFlight: 1}, func(_ context.Context, p article) error {
		got <- p.ID
		return nil
	})
	n := channelNode(t, s)
	var values []article
	for i := range 1000 {
		values = append(values, article{ID: i})
	}
	receipts, err := c.PublishAll(t.Context(), n, values)
	if err != nil || len(receipts) != 1000 || receipts[999].Sequence != 1000 {
		t.Fatalf("%d receipts, %v", len(receipts), err)
	}
	for i := range 1000 {
		if id := next(t, got); id != i {
			t.Fatalf("message %d is %d", i, id)
		}
	}
}

func TestARequestIDAndMetadataTravelWithAMessage(t *testing.T) {
	c := parcels(t)
	type seen struct {
		request, metadata, carried string
		info                       sabir.CallInfo
	}
	got := make(chan seen, 1)
	s := sabir.NewService("billing")
	c.Consume(s, func(ctx context.Context, _ article) error {
		got <- seen{sabir.InfoFromContext(ctx).RequestID, sabir.InfoFromContext(ctx).Metadata["tenant"], sabir.InfoFromContext(ctx).Metadata["carried"], sabir.InfoFromContext(ctx)}
		return nil
	})
	n := startNode(t, channel.Broker("mem://"), sabir.Serve(s), sabir.Use(sabir.Middleware{
		Carry: func(ctx context.Context) context.Context { return sabir.WithMetadata(ctx, "carried", "yes") }}))
	ctx := sabir.WithMetadata(sabir.WithRequestID(t.Context(), "r-1"), "tenant", "acme")
	if _, err := c.Publish(ctx, n, article{}); err != nil {
		t.Fatal(err)
	}
	v := next(t, got)
	if v.request != "r-1" || v.metadata != "acme" || v.carried != "yes" || v.info.Event != c.Name() || v.info.Service != "billing" || v.info.Node != n.ID() {
		t.Fatalf("%+v", v)
	}
}

func TestPublishReportsWhatIsWrong(t *testing.T) {
	n := channelNode(t)
	bare := startNode(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		ctx     context.Context
		channel *channel.Channel[article]
		node    *sabir.Node
		value   article
		want    error
		text    string
	}{
		"a bad name":        {t.Context(), channel.New[article]("a..b"), n, article{}, sabir.NewError(sabir.CodeInvalidArgument, "BadChannel", ""), "empty word"},
		"too large":         {t.Context(), channel.New[article]("a", channel.Config{MaxMessage: 100}), n, article{Name: strings.Repeat("x", 100)}, sabir.ErrMessageTooLarge, "100"},
		"no broker":         {t.Context(), channel.New[article]("a"), bare, article{}, sabir.NewError(sabir.CodeFailedPrecondition, "NoChannels", ""), "channel.Broker"},
		"an ended context":  {ended, channel.New[article]("a"), n, article{}, context.Canceled, ""},
		"an unlinked codec": {t.Context(), channel.New[article]("a", channel.Config{Codec: "runes"}), n, article{}, nil, "runes"},
	} {
		_, err := test.channel.Publish(test.ctx, test.node, test.value)
		if err == nil || test.want != nil && !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestKeepMessagesAndKeepBytesDropTheOldest(t *testing.T) {
	for name, config := range map[string]channel.Config{
		"KeepMessages": {KeepMessages: 2},
		"KeepBytes":    {KeepBytes: 250}, // of five messages, each with some 100 bytes
	} {
		c := parcels(t, config)
		n := startNode(t, channel.Broker("mem://options-"+name))
		publish(t, c, n, 1, 2, 3, 4, 5)
		list, err := channel.List(t.Context(), n)
		if err != nil || len(list) != 1 || list[0].Kept < 1 || list[0].Kept > 3 {
			t.Errorf("%s: %+v, %v", name, list, err)
		}
	}
}

// early publishes while its node starts, before it is known which broker the node has.
type early struct {
	channel *channel.Channel[article]
	failed  error
}

func (e *early) Name() string { return "early" }

func (e *early) Start(ctx context.Context, n *sabir.Node) error {
	_, e.failed = e.channel.Publish(ctx, n, article{})
	return nil
}

func (e *early) Stop(context.Context) error { return nil }

func TestWhatIsPublishedBeforeTheNodeHasJoinedGoesToNoOtherBroker(t *testing.T) {
	e := &early{channel: parcels(t)}
	startNode(t, sabir.Join("mem://"+t.Name()), sabir.WithExtension(e), channel.Broker("mem://own-"+t.Name()))
	if !errors.Is(e.failed, sabir.ErrServiceUnavailable) || !strings.Contains(e.failed.Error(), "is starting and has no channels") {
		t.Errorf("the error is %v", e.failed)
	}
}
