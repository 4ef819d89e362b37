package channels_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/channeltest"
	"github.com/sabir-go/sabir/internal/engine"
)

func open(t *testing.T, address string) engine.Store {
	t.Helper()
	s, err := engine.Open(t.Context(), address, engine.Config{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.Declare(t.Context(), engine.Spec{Name: "failover"}); err != nil {
		t.Fatal(err)
	}
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func within(t *testing.T, limit time.Duration, what string, done func() bool) {
	t.Helper()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for end := time.Now().Add(limit); !done(); <-again.C {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v", what, limit)
		}
	}
}

func plain(t *testing.T, server *brokers.Server) rueidis.Client {
	t.Helper()
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{server.Addr()}, DisableCache: true, ForceSingleClient: true})
	must(t, err)
	t.Cleanup(client.Close)
	return client
}

// failovers are the ways to lose a primary. Each has the replica take over under load.
var failovers = []struct {
	name string
	run  func(t *testing.T, r *brokers.Replicated, l *channeltest.Load)
}{
	{"the primary is killed", func(t *testing.T, r *brokers.Replicated, l *channeltest.Load) {
		l.Some(t, 1000)
		must(t, r.Primary.Kill())
		r.Promote(t, r.Replicas[0])
	}},
	{"the primary is killed while the replica stands still", func(t *testing.T, r *brokers.Replicated, l *channeltest.Load) {
		l.Some(t, 500)
		must(t, r.Replicas[0].Suspend())
		l.Refusals(t, 8)
		must(t, r.Primary.Kill())
		must(t, r.Replicas[0].Resume())
		r.Promote(t, r.Replicas[0])
	}},
	{"the primary is killed after it has given up the replica", func(t *testing.T, r *brokers.Replicated, l *channeltest.Load) {
		l.Some(t, 500)
		must(t, r.Replicas[0].Suspend())
		client := plain(t, r.Primary)
		must(t, client.Do(t.Context(), client.B().ClientKill().TypeReplica().Build()).Error())
		r.AwaitReplicas(t, r.Primary, 0)
		l.Refusals(t, 8)
		must(t, r.Primary.Kill())
		must(t, r.Replicas[0].Resume())
		r.Promote(t, r.Replicas[0])
	}},
	{"the primary stands still and comes back as a second one", func(t *testing.T, r *brokers.Replicated, l *channeltest.Load) {
		l.Some(t, 500)
		must(t, r.Primary.Suspend())
		r.Promote(t, r.Replicas[0])
		l.Some(t, 500)
		must(t, r.Primary.Resume())
	}},
}

func TestWhatWasAcknowledgedIsHandledAfterAReplicaTookOver(t *testing.T) {
	for _, failover := range failovers {
		t.Run(failover.name, func(t *testing.T) {
			r := brokers.ReplicatedForTest(t, 1)
			l := channeltest.StartLoad(t, r.URL())
			failover.run(t, r, l)
			l.Some(t, 500) // it goes on at the new primary
			if lost := l.Lost(t); lost != 0 {
				t.Errorf("%d of %d acknowledged messages are lost", lost, l.Acknowledged())
			}
		})
	}
}

// The setting exists for this case. Messages that the consumer had handled before the primary was lost count as kept.
func TestWithoutWaitingForReplicasAcknowledgedMessagesAreLost(t *testing.T) {
	r := brokers.ReplicatedForTest(t, 1)
	s := open(t, r.URL()+"?replicas=0")
	must(t, r.Replicas[0].Suspend())
	const batches, each = 20, 500
	for range batches {
		batch := make([]*engine.Outgoing, each)
		for i := range batch {
			batch[i] = &engine.Outgoing{}
			batch[i].Data = []byte("x")
		}
		s.Publish(t.Context(), "failover", batch)
		for _, m := range batch {
			must(t, m.Err)
		}
	}
	must(t, r.Primary.Kill())
	must(t, r.Replicas[0].Resume())
	r.Promote(t, r.Replicas[0])
	var stats engine.Stats
	within(t, time.Minute, "the new primary answers", func() (answers bool) {
		var err error
		stats, err = s.Stats(t.Context(), "failover")
		return err == nil
	})
	t.Logf("%d messages acknowledged, %d of them kept", batches*each, stats.Messages)
	if stats.Messages == batches*each {
		t.Error("nothing was lost: the tests of this file show nothing")
	}
}

// A group whose beginning is lost would begin again with what is new then.
func TestAGroupThatWasJoinedIsThereAfterAReplicaTookOver(t *testing.T) {
	r := brokers.ReplicatedForTest(t, 1)
	s := open(t, r.URL())
	must(t, r.Replicas[0].Suspend())
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	spec := engine.GroupSpec{Channel: "failover", Name: "group", From: engine.Position{New: true}, AckWait: time.Second, InFlight: 1}
	for range 2 { // the second time the group is there, at the primary
		if _, err := s.Join(ctx, spec); !errors.Is(err, engine.ErrUnreachable) {
			t.Fatalf("while the replica stands still: got %v, want ErrUnreachable", err)
		}
	}
	must(t, r.Replicas[0].Resume())
	g, err := s.Join(t.Context(), spec)
	must(t, err)
	defer g.Close()
	must(t, r.Primary.Kill())
	r.Promote(t, r.Replicas[0])
	client := plain(t, r.Replicas[0])
	groups, err := client.Do(t.Context(), client.B().XinfoGroups().Key("sabir:{failover}:log").Build()).ToArray()
	if err != nil || len(groups) != 1 {
		t.Errorf("got %v, %v", groups, err)
	}
}

// Handing out counts as an attempt, and after some a message is dead-lettered: one that no handler has seen must not be.
func TestAMessageThatReplicasDoNotHaveIsNotHandedOutAndHasNoAttempt(t *testing.T) {
	r := brokers.ReplicatedForTest(t, 1)
	s := open(t, r.URL())
	var g engine.Group
	within(t, 30*time.Second, "the group is joined", func() (ok bool) { // on a busy machine the replica may be slow to confirm it
		var err error
		g, err = s.Join(t.Context(), engine.GroupSpec{Channel: "failover", Name: "group", AckWait: time.Minute, InFlight: 1})
		return err == nil
	})
	defer g.Close()
	must(t, r.Replicas[0].Suspend())
	m := &engine.Outgoing{}
	m.Data = []byte("x")
	s.Publish(t.Context(), "failover", []*engine.Outgoing{m})
	if !errors.Is(m.Err, engine.ErrUnreachable) {
		t.Fatalf("got %v, want ErrUnreachable", m.Err)
	}
	for range 3 {
		if list, err := g.Receive(t.Context(), 1); !errors.Is(err, engine.ErrUnreachable) {
			t.Fatalf("got %v, %v, want ErrUnreachable", list, err)
		}
	}
	must(t, r.Replicas[0].Resume())
	within(t, 10*time.Second, "the message comes", func() bool {
		list, err := g.Receive(t.Context(), 1)
		if err == nil && list[0].Attempt != 1 {
			t.Errorf("the handler's first attempt is called the %dth", list[0].Attempt)
		}
		return err == nil
	})
}

func TestSentinelsTellWhereThePrimaryIs(t *testing.T) {
	r := brokers.ReplicatedForTest(t, 2)
	l := channeltest.StartLoad(t, "redis://"+r.Sentinel(t)+"?replicas=1&sentinel="+brokers.SentinelName)
	l.Some(t, 500)
	must(t, r.Primary.Kill())
	l.Some(t, 500) // at the one that was promoted
	if lost := l.Lost(t); lost != 0 {
		t.Errorf("%d of %d acknowledged messages are lost", lost, l.Acknowledged())
	}
}

// On a busy machine a Sentinel takes a primary that answers late for dead, and promotes the next one soon after. A primary that was
// promoted a moment ago has no replica yet: what it acknowledged alone would be lost, so each message has to be on two servers.
func TestWhatWasAcknowledgedIsHandledAfterASentinelPromotedOneReplicaAfterTheOther(t *testing.T) {
	r := brokers.ReplicatedForTest(t, 2)
	l := channeltest.StartLoad(t, "redis://"+r.Sentinel(t)+"?replicas=1&sentinel="+brokers.SentinelName)
	l.Some(t, 500)
	must(t, r.Primary.Kill())
	l.Some(t, 500)
	second := r.Promoted(t)
	must(t, second.Suspend())
	l.Refusals(t, 8) // by the third, until the second follows it
	must(t, second.Resume())
	l.Some(t, 500)
	if lost := l.Lost(t); lost != 0 {
		t.Errorf("%d of %d acknowledged messages are lost", lost, l.Acknowledged())
	}
}
