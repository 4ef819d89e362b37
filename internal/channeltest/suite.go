// Package channeltest is the test suite for engines of durable channels, which each engine's tests run against the real broker.
package channeltest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/backoff"
	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/internal/engine"
)

// Setup is the engine under test.
type Setup struct {
	// Address is the address of a running broker.
	Address string
	// Broker kills and restarts the broker of Address; nil for an engine without one.
	Broker Broker
	// OwnClock gives each test a clock of its own, which goes on as soon as all wait: for an engine within this process.
	OwnClock bool
}

// Broker is a broker that the suite can kill and restart; *brokers.Server is one.
type Broker interface {
	Kill() error
	Erase() error
	Restart() error
}

// waitLimit is the time that the suite waits for what should come at once.
const waitLimit = 60 * time.Second

// bench is one test's store and channel.
type bench struct {
	*testing.T
	setup Setup
	store engine.Store
	name  string // of a channel that no other test has
}

var numbers atomic.Int64

// Run runs the suite. Features that an engine does not offer are not tested.
func Run(t *testing.T, setup Setup) {
	for _, test := range []struct {
		name string
		run  func(*bench)
	}{
		{"a message arrives with its head and data", arrives},
		{"attributes of an event stay with their message", attributes},
		{"data may hold any bytes and be a megabyte", anyBytes},
		{"messages have places that grow", places},
		{"a batch is kept in its order", batchOrder},
		{"many publishers at once all get their answers", manyPublishers},
		{"an ID that was used before is kept once", dedup},
		{"what was not declared is refused", undeclared},
		{"a message larger than the channel takes is refused", tooLarge},
		{"names that look alike are different channels", alike},
		{"each group gets every message", eachGroup},
		{"members of a group share the messages", sharing},
		{"a group that is new starts at the oldest message", fromStart},
		{"a group may start with what is new", fromNew},
		{"a group may start at a place", fromSequence},
		{"a group may start at a time", fromTime},
		{"a group goes on where it was", goesOn},
		{"a message that was handled does not come again", handled},
		{"a message that was not handled comes again after AckWait", comesAgain},
		{"a message of a consumer that is gone comes again", consumerGone},
		{"extending keeps a message", extending},
		{"a retried message comes again after its time and not before", retried},
		{"a message is retried on time while its group waits for others", retriedWhileWaiting},
		{"a message retried at once comes again at once", retriedAtOnce},
		{"a message that is released comes again at once and its attempt does not count", released},
		{"attempts that the consumer has counted are kept by a retry", attemptsRaised},
		{"what was lost with its consumer is distinguished from what has failed", lossesAndFailuresApart},
		{"no more is handed out than was asked for", limited},
		{"a context ends the wait for messages", waitEnds},
		{"closing ends the wait for messages", closeEnds},
		{"what is on its way to a group that closes is handed out elsewhere at once", closeGivesBack},
		{"limits of number drop the oldest", dropCount},
		{"limits of age drop what is older", dropAge},
		{"letters are listed and taken out one by one", deadMessages},
		{"letters can be consumed too", deadMessagesConsumed},
		{"statistics count what is kept and handed out", stats},
		{"a closed store says so or is away", closed},
		{"an address with unknown parameters is refused", parameters},
		{"nobody at the address is ErrUnreachable, without the password", nobody},
		{"publishing while the broker is away fails in time", publishWithoutBroker},
		{"what was acknowledged survives a killed broker", survives},
		{"what was handed out survives a killed broker", handedOutSurvives},
		{"a broker that has lost all that it kept is used again", emptied},
	} {
		run := func(t *testing.T) {
			b := &bench{T: t, setup: setup, name: fmt.Sprintf("suite.n%d-%d", time.Now().UnixNano(), numbers.Add(1))}
			b.store = b.open()
			test.run(b)
		}
		t.Run(test.name, func(t *testing.T) {
			if setup.OwnClock {
				bubbletest.Run(t, run)
				return
			}
			run(t)
		})
	}
}

// open is a further store at the broker, closed with the test.
func (b *bench) open() engine.Store {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), waitLimit)
	defer cancel()
	s, err := engine.Open(ctx, b.setup.Address, engine.Config{Name: "suite"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Errorf("close: %v", err)
		}
	})
	return s
}

func (b *bench) declare(spec engine.Spec) {
	b.Helper()
	b.declareAt(b.store, spec)
}

func (b *bench) declareAt(s engine.Store, spec engine.Spec) {
	b.Helper()
	if spec.Name == "" {
		spec.Name = b.name
	}
	if err := s.Declare(b.Context(), spec); err != nil {
		b.Fatalf("declare %+v: %v", spec, err)
	}
}

// publish publishes messages with these data, one by one.
func (b *bench) publish(data ...string) (sent []*engine.Outgoing) {
	b.Helper()
	for _, text := range data {
		m := message(text)
		b.store.Publish(b.Context(), b.name, []*engine.Outgoing{m})
		if m.Err != nil {
			b.Fatalf("publish %q: %v", text, m.Err)
		}
		sent = append(sent, m)
	}
	return sent
}

func message(text string) *engine.Outgoing {
	return &engine.Outgoing{Message: engine.Message{Head: engine.Head{ID: fmt.Sprintf("id-%d", numbers.Add(1)), Time: time.Now(), Codec: "json"}, Data: []byte(text)}}
}

func (b *bench) join(spec engine.GroupSpec) engine.Group {
	b.Helper()
	return b.joinAt(b.store, spec)
}

func (b *bench) joinAt(s engine.Store, spec engine.GroupSpec) engine.Group {
	b.Helper()
	if spec.Channel == "" {
		spec.Channel = b.name
	}
	if spec.Name == "" {
		spec.Name = "group"
	}
	if spec.AckWait == 0 {
		spec.AckWait = 30 * time.Second
	}
	if spec.InFlight == 0 {
		spec.InFlight = 100
	}
	g, err := s.Join(b.Context(), spec)
	// A broker that was killed may still end connections that a client has kept for later.
	for limit := time.Now().Add(waitLimit); errors.Is(err, engine.ErrUnreachable) && time.Now().Before(limit); {
		b.Logf("join: %v; once more", err)
		backoff.Sleep(b.Context(), 50*time.Millisecond)
		g, err = s.Join(b.Context(), spec)
	}
	if err != nil {
		b.Fatalf("join %+v: %v", spec, err)
	}
	b.Cleanup(func() { _ = g.Close() }) // most tests do not close; that closing works has a test
	return g
}

// receive waits for n messages.
func (b *bench) receive(g engine.Group, n int) (list []*engine.Delivery) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), waitLimit)
	defer cancel()
	for len(list) < n {
		some, err := g.Receive(ctx, n-len(list))
		if err != nil && ctx.Err() == nil && b.setup.Broker != nil { // the connection may be on its way back
			b.Logf("receive: %v", err)
			backoff.Sleep(ctx, 50*time.Millisecond)
			continue
		}
		if err != nil {
			b.Fatalf("received %d of %d: %v", len(list), n, err)
		}
		for _, d := range some {
			if d.Broken != nil {
				b.Fatalf("message %d is broken: %v", d.Sequence, d.Broken)
			}
		}
		list = append(list, some...)
	}
	return list
}

// nothing holds that no message comes within the time.
func (b *bench) nothing(g engine.Group, within time.Duration) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), within)
	defer cancel()
	list, err := g.Receive(ctx, 10)
	if len(list) > 0 {
		b.Fatalf("received %q (attempt %d), want nothing", list[0].Data, list[0].Attempt)
	}
	if err == nil {
		b.Fatal("received nothing, and no error")
	}
}

func (b *bench) done(g engine.Group, list ...*engine.Delivery) {
	b.Helper()
	if err := g.Done(b.Context(), list...); err != nil {
		b.Fatalf("done: %v", err)
	}
}

// texts is the data of messages, in order.
func texts(list []*engine.Delivery) (data []string) {
	for _, d := range list {
		data = append(data, string(d.Data))
	}
	return data
}
