package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor/grain/store"
	_ "github.com/sabir-go/sabir/broker/amqp"
	_ "github.com/sabir-go/sabir/broker/mqtt"
	_ "github.com/sabir-go/sabir/broker/nats"
	_ "github.com/sabir-go/sabir/broker/redis"
	"github.com/sabir-go/sabir/channel"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/policy"
	"github.com/sabir-go/sabir/policy/rediscache"
	"github.com/sabir-go/sabir/secret"
	"github.com/sabir-go/sabir/web/auth/redissessions"
)

// A brokerUse is one purpose for which a cluster has a broker. It does all that the purpose asks of the broker, and returns the first
// failure.
type brokerUse struct {
	name    string
	schemes string
	run     func(ctx context.Context, address, prefix string) error
}

var brokerUses = []brokerUse{
	{"links", "nats redis mqtt amqp", useLinks},
	{"channels", "nats redis amqp", useChannels},
	{"grains", "nats redis", useGrains},
	{"caches", "redis", useCache},
	{"sessions", "redis", useSessions},
}

// useBroker runs all uses that the broker of an address has, at once.
func useBroker(ctx context.Context, address, prefix string) error {
	at, err := url.Parse(address)
	if err != nil {
		return err
	}
	results := make(chan error)
	started := 0
	for _, use := range brokerUses {
		if !strings.Contains(use.schemes, at.Scheme) {
			continue
		}
		started++
		go func() {
			if err := use.run(ctx, address, prefix); err != nil {
				results <- fmt.Errorf("%s: %w", use.name, err)
				return
			}
			results <- nil
		}()
	}
	var all []error
	for range started {
		all = append(all, <-results)
	}
	return errors.Join(all...)
}

// until tries again until it succeeds, or the context ends.
func until(ctx context.Context, try func() error) error {
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return fmt.Errorf("%w (%w)", err, ctx.Err())
		}
	}
}

func run(ctx context.Context, options ...sabir.NodeOption) (*sabir.Node, func(), error) {
	node := sabir.NewNode(options...)
	if err := node.Start(ctx); err != nil {
		return nil, nil, err
	}
	return node, func() {
		ending, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		node.Stop(ending)
	}, nil
}

// useLinks has two nodes meet, call each other, and part.
func useLinks(ctx context.Context, address, _ string) error {
	greeter := sabir.NewService("greeter")
	sabir.Handle(greeter, "hello", func(_ context.Context, name string) (string, error) { return "Hello, " + name, nil })
	_, stop, err := run(ctx, sabir.NodeID("greeter"), sabir.Serve(greeter), sabir.Join(address, cluster.Config{Key: secret.New(testKey)}), sabir.Logger(quiet))
	if err != nil {
		return err
	}
	defer stop()
	caller, stop, err := run(ctx, sabir.NodeID("caller"), sabir.Join(address, cluster.Config{Key: secret.New(testKey)}), sabir.Logger(quiet))
	if err != nil {
		return err
	}
	defer stop()
	return until(ctx, func() error {
		_, err := sabir.Call[string](ctx, caller, "greeter.hello", strings.Repeat("x", 10_000))
		return err
	})
}

const testKey = "a key that only tests have 0123456789"

// useChannels publishes messages, one of which is handled at the second attempt and one of which becomes a dead letter, lists what
// there is, replays the dead letter and deletes it.
func useChannels(ctx context.Context, address, _ string) error {
	orders := channel.New[string]("orders", channel.Config{KeepFor: time.Hour})
	var retried, mended atomic.Bool
	handled := make(chan string, 100)
	s := sabir.NewService("billing")
	orders.ConsumeWith(s, channel.Consumer{Attempts: 3, FirstPause: 50 * time.Millisecond}, func(ctx context.Context, order string) error {
		switch {
		case order == "late" && !retried.Swap(true):
			return errors.New("not yet")
		case order == "bad" && !mended.Load():
			return channel.Reject(errors.New("never"))
		}
		handled <- order
		return nil
	})
	var log refusals
	node, stop, err := run(ctx, sabir.Serve(s), channel.Broker(address), sabir.Logger(slog.New(slog.NewTextHandler(&log, nil))))
	if err != nil {
		return err
	}
	defer stop()
	if !strings.HasPrefix(address, "amqp") {
		if err := useLimits(ctx, node); err != nil {
			return err
		}
	}
	if _, err := orders.PublishAll(ctx, node, []string{"good", "late", "bad"}); err != nil {
		return err
	}
	if _, err := orders.PublishWithID(ctx, node, "once", "once"); err != nil {
		return err
	}
	if err := await(ctx, handled, "good", "late", "once"); err != nil {
		return err
	}
	dead, err := deadLetter(ctx, node)
	if err != nil {
		return err
	}
	mended.Store(true)
	if _, err := channel.Replay(ctx, node, "orders.dead", dead); err != nil {
		return err
	}
	if err := await(ctx, handled, "bad"); err != nil {
		return err
	}
	mended.Store(false)
	if _, err := orders.Publish(ctx, node, "bad"); err != nil {
		return err
	}
	if dead, err = deadLetter(ctx, node); err != nil {
		return err
	}
	if n, err := channel.DeleteDeadLetters(ctx, node, "orders.dead", dead); n != 1 || err != nil {
		return fmt.Errorf("deleted %d dead letters: %w", n, err)
	}
	err = until(ctx, func() error { // all acknowledged
		list, err := channel.List(ctx, node)
		for _, info := range list {
			for _, group := range info.Groups {
				if group.Waiting+group.InFlight+group.Delayed > 0 {
					err = errors.Join(err, fmt.Errorf("%s: the group has %+v", info.Name, group))
				}
			}
		}
		if len(list) < 2 {
			err = errors.Join(err, fmt.Errorf("%d channels are listed", len(list)))
		}
		return err
	})
	return errors.Join(err, log.first())
}

// useLimits fills a channel beyond the number that it keeps.
func useLimits(ctx context.Context, node *sabir.Node) error {
	journal := channel.New[string]("journal", channel.Config{KeepFor: time.Hour, KeepMessages: 10})
	if _, err := journal.PublishAll(ctx, node, make([]string, 300)); err != nil {
		return err
	}
	list, err := channel.List(ctx, node)
	for _, info := range list {
		if info.Name == "journal" && info.Kept == 300 {
			err = errors.Join(err, errors.New("the channel keeps more than its number of messages"))
		}
	}
	return err
}

// refusals is a log that keeps the first line in which the broker denied something.
type refusals struct {
	mu   sync.Mutex
	line string
}

func (r *refusals) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.line == "" && (bytes.Contains(line, []byte("NOPERM")) || bytes.Contains(line, []byte("ermission"))) {
		r.line = string(line)
	}
	return len(line), nil
}

func (r *refusals) first() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.line == "" {
		return nil
	}
	return errors.New(r.line)
}

// deadLetter waits for a dead letter, and returns its key.
func deadLetter(ctx context.Context, node *sabir.Node) (key string, err error) {
	err = until(ctx, func() error {
		list, err := channel.DeadLetters(ctx, node, "orders.dead", 10)
		if err == nil && len(list) == 0 {
			err = errors.New("there is no dead letter")
		}
		if err == nil {
			key = list[0].Key
		}
		return err
	})
	return key, err
}

// await waits until each of the texts has come.
func await(ctx context.Context, from <-chan string, texts ...string) error {
	missing := make(map[string]bool)
	for _, text := range texts {
		missing[text] = true
	}
	for len(missing) > 0 {
		select {
		case text := <-from:
			delete(missing, text)
		case <-ctx.Done():
			return fmt.Errorf("%v did not come: %w", missing, ctx.Err())
		}
	}
	return nil
}

// useGrains saves a state, loads it, is refused with a wrong revision, and deletes it. A warning is a failure: without some rights
// a store goes on with less.
func useGrains(ctx context.Context, address, _ string) error {
	var warnings bytes.Buffer
	s, err := store.Open(ctx, address, store.Config{Log: slog.New(slog.NewTextHandler(&warnings, &slog.HandlerOptions{Level: slog.LevelWarn}))})
	if err != nil {
		return err
	}
	defer s.Close()
	if warnings.Len() > 0 {
		return errors.New(warnings.String())
	}
	revision, err := s.Save(ctx, "cart", "ada", []byte("one"), 0)
	if err != nil {
		return err
	}
	if entry, err := s.Load(ctx, "cart", "ada"); err != nil || string(entry.State) != "one" {
		return fmt.Errorf("loaded %q: %w", entry.State, err)
	}
	if _, err := s.Save(ctx, "cart", "ada", []byte("two"), revision+1000); !errors.Is(err, store.ErrFenced) {
		return fmt.Errorf("a save with a wrong revision: %w", err)
	}
	if err := s.Delete(ctx, "cart", "ada", revision); err != nil {
		return err
	}
	return s.Check(ctx)
}

// useCache has one call wait for another that works an answer out, finds the answer, and invalidates it.
func useCache(ctx context.Context, address, prefix string) error {
	s, err := rediscache.Open(rediscache.Config{URL: address, Name: prefix, Timeout: 5 * time.Second})
	if err != nil {
		return err
	}
	defer s.Close()
	bucket := s.Open("shop.price", "form").(interface {
		policy.Bucket
		Lock(ctx context.Context, key []byte) (policy.Entry, func(), error)
	})
	entry, free, err := bucket.Lock(ctx, []byte("tea"))
	if err != nil {
		return err
	}
	impatient, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if _, _, err := bucket.Lock(impatient, []byte("tea")); !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("a call that has to wait for a lock: %w", err)
	}
	err = bucket.Set(ctx, []byte("tea"), []byte("3"), time.Minute, entry.Generation)
	free()
	if err != nil {
		return err
	}
	if entry, err := bucket.Get(ctx, []byte("tea")); err != nil || !entry.Found {
		return fmt.Errorf("the answer was not found: %+v, %w", entry, err)
	}
	if err := s.Invalidate(ctx, "shop.*"); err != nil {
		return err
	}
	if entry, err := bucket.Get(ctx, []byte("tea")); err != nil || entry.Found {
		return fmt.Errorf("after it was invalidated: %+v, %w", entry, err)
	}
	return nil
}

// useSessions begins a session, prolongs it, ends it, and ends all of its subject.
func useSessions(ctx context.Context, address, prefix string) error {
	s, err := redissessions.Open(redissessions.Config{URL: address, Name: prefix, Timeout: 5 * time.Second, Log: quiet})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Begin(ctx, "ada", "one", time.Now().Add(time.Minute)); err != nil {
		return err
	}
	for _, prolong := range []time.Time{{}, time.Now().Add(time.Hour)} {
		if good, err := s.Use(ctx, "ada", "one", prolong); err != nil || !good {
			return fmt.Errorf("the session is good: %v, %w", good, err)
		}
	}
	if err := s.End(ctx, "ada", "one"); err != nil {
		return err
	}
	if good, err := s.Use(ctx, "ada", "one", time.Time{}); err != nil || good {
		return fmt.Errorf("the session that was ended is good: %v, %w", good, err)
	}
	return s.EndAll(ctx, "ada")
}
