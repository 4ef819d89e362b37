package channel

import (
	"context"
	"errors"
	"net/url"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/internal/engine"
)

// silent is an engine whose broker does not answer.
type silent struct{ engine.Engine }

func (silent) Open(ctx context.Context, _ *url.URL, _ engine.Config) (engine.Store, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func init() { engine.Register("silent", silent{}) }

// deaf is an engine that publishes nothing and does not look at contexts, as clients of brokers do that wait for another caller's connection.
type deaf struct {
	engine.Store
	goOn chan struct{}
}

func (deaf) Declare(context.Context, engine.Spec) error { return nil }

func (d deaf) Publish(_ context.Context, _ string, batch []*engine.Outgoing) {
	<-d.goOn
	batch[0].Err = nil
}

func TestAPublisherWaitsNoLongerThanItsOwnContextWhateverItsEngineDoes(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		b, stuck := newBroker(), deaf{goOn: make(chan struct{})}
		b.node, b.store, b.begun, b.declared = sabir.NewNode(), stuck, true, make(map[string]engine.Spec)
		publish := func() {
			asked := time.Now()
			ctx, done := context.WithTimeout(context.Background(), time.Second)
			defer done()
			err := b.publish(ctx, engine.Spec{Name: "orders"}, []*engine.Outgoing{{}})
			if !errors.Is(err, ErrChannelUnreachable) || time.Since(asked) > time.Second+lastWord {
				t.Errorf("a publisher with a second got %v after %v", err, time.Since(asked))
			}
		}
		for range maxAside {
			go publish()
		}
		bubbletest.Wait()
		publish() // for which there is no room
		time.Sleep(time.Minute)
		if n := len(b.aside); n != maxAside {
			t.Errorf("%d attempts go on", n)
		}
		close(stuck.goOn)
		bubbletest.Wait()
		if n := len(b.aside); n != 0 {
			t.Errorf("%d attempts go on when the engine has ended all", n)
		}
	})
}

// open is an engine that takes what it gets, until it is deaf.
type open struct {
	deaf
	stuck *bool
}

func (o open) Publish(ctx context.Context, channel string, batch []*engine.Outgoing) {
	if *o.stuck {
		o.deaf.Publish(ctx, channel, batch)
	}
}

func TestAPublisherWaitsNoLongerThanItsContextWhenABrokerThatTookMessagesStopsToAnswer(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		b, spec, stuck := newBroker(), engine.Spec{Name: "orders"}, false
		engineOf := open{deaf{goOn: make(chan struct{})}, &stuck}
		b.node, b.store, b.begun, b.declared = sabir.NewNode(), engineOf, true, map[string]engine.Spec{spec.Name: spec}
		publish := func() (time.Duration, error) {
			asked := time.Now()
			ctx, done := context.WithTimeout(context.Background(), time.Second)
			defer done()
			err := b.publish(ctx, spec, []*engine.Outgoing{{}})
			return time.Since(asked), err
		}
		if _, err := publish(); err != nil {
			t.Fatal(err)
		}
		stuck = true
		time.Sleep(takenLately)
		for range 3 {
			if took, err := publish(); !errors.Is(err, ErrChannelUnreachable) || took > time.Second+lastWord {
				t.Errorf("a publisher with a second got %v after %v", err, took)
			}
		}
		close(engineOf.goOn)
		bubbletest.Wait()
	})
}

// hasty is an engine that says no more than that its caller's time is over.
type hasty struct{ engine.Store }

func (hasty) Publish(ctx context.Context, _ string, batch []*engine.Outgoing) {
	<-ctx.Done()
	batch[0].Err = ctx.Err()
}

func TestAPublisherWhoseTimeEndsBetweenTwoAttemptsIsToldThatTheMessageMayBeKept(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		b, spec := newBroker(), engine.Spec{Name: "orders"}
		b.node, b.store, b.begun, b.declared = sabir.NewNode(), hasty{}, true, map[string]engine.Spec{spec.Name: spec}
		ctx, done := context.WithTimeout(context.Background(), time.Second)
		defer done()
		if err := b.publish(ctx, spec, []*engine.Outgoing{{}}); !errors.Is(err, ErrChannelUnreachable) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

func TestNobodyWaitsLongerForABrokerThatDoesNotAnswerThanItsOwnContext(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		b := newBroker()
		b.node, b.named, b.begun = sabir.NewNode(), &setting{address: "silent://broker"}, true
		first, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { _, err := b.connection(first); ended <- err }()
		bubbletest.Wait()

		asked := time.Now()
		ctx, done := context.WithTimeout(context.Background(), time.Second)
		defer done()
		if _, err := b.connection(ctx); err == nil || time.Since(asked) != time.Second {
			t.Errorf("a second one with a second to wait got %v after %v", err, time.Since(asked))
		}
		if err := b.Ready(context.Background()); err == nil {
			t.Error("the node says that it is ready while it connects")
		}
		if err := b.Stop(context.Background()); err != nil || time.Since(asked) != time.Second {
			t.Errorf("the stop ended with %v after %v", err, time.Since(asked))
		}
		cancel()
		if err := <-ended; err == nil {
			t.Error("the first one got a connection")
		}
	})
}
