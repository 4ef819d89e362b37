package states_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/replication"
)

// authors is a load of saves: each author counts upwards in a grain of its own, and knows what was acknowledged.
type authors struct {
	address      string
	acknowledged atomic.Int64
	refused      atomic.Int64 // got ErrOutcomeUnknown, ErrFenced or ErrStoreUnreachable
	fenced       atomic.Int64
	last         [8]int       // acknowledged to each
	missed       atomic.Int64 // acknowledged, and not found when an author loaded again
	stop         context.CancelFunc
	running      sync.WaitGroup
}

func startAuthors(t *testing.T, address string) *authors {
	t.Helper()
	quiet := store.Config{Log: slog.New(slog.DiscardHandler)}
	st, err := store.Open(t.Context(), address, quiet)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	a := &authors{address: address, stop: stop}
	for n := range a.last {
		a.running.Go(func() { a.write(t, ctx, st, n) })
	}
	t.Cleanup(func() { a.end(); st.Close() })
	return a
}

func (a *authors) end() { a.stop(); a.running.Wait() }

func (a *authors) write(t *testing.T, ctx context.Context, st store.Store, n int) {
	var revision uint64
	highest, number := 0, 0 // sent; in the store, as far as the author knows
	for ctx.Err() == nil {
		number++
		highest = max(highest, number)
		limited, cancel := context.WithTimeout(ctx, 2*time.Second)
		next, err := st.Save(limited, "failover", fmt.Sprint(n), []byte(strconv.Itoa(number)), revision)
		cancel()
		if err == nil {
			revision, a.last[n] = next, number
			a.acknowledged.Add(1)
			continue
		}
		a.refused.Add(1)
		if errors.Is(err, store.ErrFenced) {
			a.fenced.Add(1)
		} else if !errors.Is(err, store.ErrOutcomeUnknown) && !errors.Is(err, store.ErrStoreUnreachable) {
			t.Errorf("author %d: %v", n, err)
			return
		}
		for ctx.Err() == nil {
			limited, cancel := context.WithTimeout(ctx, 2*time.Second)
			entry, err := st.Load(limited, "failover", fmt.Sprint(n))
			cancel()
			if err == nil {
				number, _ = strconv.Atoi(string(entry.State))
				a.missed.Add(int64(max(0, a.last[n]-number)))
				revision, a.last[n] = entry.Revision, number
				break
			}
			a.refused.Add(1)
		}
	}
}

// some waits for so many acknowledgements more.
func (a *authors) some(t *testing.T, more int64) {
	t.Helper()
	want := a.acknowledged.Load() + more
	within(t, time.Minute, "saves are acknowledged", func() bool { return a.acknowledged.Load() >= want })
}

// refusals waits until so many calls more have failed.
func (a *authors) refusals(t *testing.T, more int64) {
	t.Helper()
	want := a.refused.Load() + more
	within(t, time.Minute, "saves are refused", func() bool { return a.refused.Load() >= want })
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

// lost counts the acknowledged saves that the store at the address does not have.
func (a *authors) lost(t *testing.T) (lost int) {
	t.Helper()
	a.end()
	lost = int(a.missed.Load())
	st := open(t, a.address)
	for n, last := range a.last {
		entry, err := st.Load(t.Context(), "failover", fmt.Sprint(n))
		if err != nil {
			t.Fatal(err)
		}
		found, _ := strconv.Atoi(string(entry.State))
		lost += max(0, last-found)
	}
	t.Logf("%d saves acknowledged, %d of them lost; %d calls failed with it, %d of them ErrFenced", a.acknowledged.Load(), lost, a.refused.Load(), a.fenced.Load())
	return lost
}

// failovers are the ways to lose a primary. Each has the replica take over under load.
var failovers = []struct {
	name string
	run  func(t *testing.T, r *brokers.Replicated, a *authors)
}{
	{"the primary is killed", func(t *testing.T, r *brokers.Replicated, a *authors) {
		a.some(t, 2000)
		must(t, r.Primary.Kill())
		r.Promote(t, r.Replicas[0])
	}},
	{"the primary is killed while the replica stands still", func(t *testing.T, r *brokers.Replicated, a *authors) {
		a.some(t, 500)
		must(t, r.Replicas[0].Suspend())
		a.refusals(t, 8)
		must(t, r.Primary.Kill())
		must(t, r.Replicas[0].Resume())
		r.Promote(t, r.Replicas[0])
	}},
	{"the primary is killed after it has given up the replica", func(t *testing.T, r *brokers.Replicated, a *authors) {
		a.some(t, 500)
		must(t, r.Replicas[0].Suspend())
		client := plain(t, r.Primary)
		must(t, client.Do(t.Context(), client.B().ClientKill().TypeReplica().Build()).Error())
		r.AwaitReplicas(t, r.Primary, 0)
		a.refusals(t, 8)
		must(t, r.Primary.Kill())
		must(t, r.Replicas[0].Resume())
		r.Promote(t, r.Replicas[0])
	}},
	{"the primary is killed, restarted without its replica, and killed again", func(t *testing.T, r *brokers.Replicated, a *authors) {
		a.some(t, 500)
		must(t, r.Replicas[0].Suspend())
		must(t, r.Primary.Kill())
		must(t, r.Primary.Restart())
		a.refusals(t, 8)
		must(t, r.Primary.Kill())
		must(t, r.Replicas[0].Resume())
		r.Promote(t, r.Replicas[0])
	}},
	{"the primary stands still and comes back as a second one", func(t *testing.T, r *brokers.Replicated, a *authors) {
		a.some(t, 500)
		must(t, r.Primary.Suspend())
		r.Promote(t, r.Replicas[0])
		a.some(t, 500)
		must(t, r.Primary.Resume())
	}},
	{"half of the clients stay with the old primary", func(t *testing.T, r *brokers.Replicated, a *authors) {
		old := startAuthors(t, r.Primary.URL())
		a.some(t, 500)
		old.some(t, 500)
		client := plain(t, r.Replicas[0])
		must(t, client.Do(t.Context(), client.B().Arbitrary("REPLICAOF", "NO", "ONE").Build()).Error())
		must(t, client.Do(t.Context(), client.B().Ping().Build()).Error())
		r.AwaitReplicas(t, r.Primary, 0)
		before := old.acknowledged.Load()
		r.Point(r.Replicas[0].Addr())
		r.Cut()
		a.some(t, 500)
		old.refusals(t, 8)
		if more := old.acknowledged.Load() - before; more > int64(len(old.last)) { // one of each may have had its confirmation on the way
			t.Errorf("the old primary's clients got %d acknowledgements after the replica took over", more)
		}
		old.end()
	}},
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestWhatWasAcknowledgedIsThereAfterAReplicaTookOver(t *testing.T) {
	for _, failover := range failovers {
		t.Run(failover.name, func(t *testing.T) {
			r := brokers.ReplicatedForTest(t, 1)
			a := startAuthors(t, r.URL())
			failover.run(t, r, a)
			a.some(t, 500) // it goes on at the new primary
			if lost := a.lost(t); lost != 0 {
				t.Errorf("%d of %d acknowledged saves are lost", lost, a.acknowledged.Load())
			}
		})
	}
}

// The setting exists for this case.
func TestWithoutWaitingForReplicasAcknowledgedSavesAreLost(t *testing.T) {
	r := brokers.ReplicatedForTest(t, 1)
	a := startAuthors(t, r.URL()+"?replicas=0")
	a.some(t, 500)
	must(t, r.Replicas[0].Suspend())
	a.some(t, 20_000)
	must(t, r.Primary.Kill())
	must(t, r.Replicas[0].Resume())
	r.Promote(t, r.Replicas[0])
	a.some(t, 500)
	if lost := a.lost(t); lost == 0 {
		t.Error("nothing was lost: the tests of this file show nothing")
	}
}

// With a number of replicas below all of them, the failover itself must choose a replica that has confirmed.
func TestHowManyReplicasMustHaveASaveDecidesWhichMayTakeOver(t *testing.T) {
	for _, test := range []struct {
		name, parameters string
		keeps            bool
	}{
		{"without a number all that are online have it", "", true},
		{"of two all", "?replicas=2", true},
		{"of two one, and the other takes over", "?replicas=1", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := brokers.ReplicatedForTest(t, 2)
			a := startAuthors(t, r.URL()+test.parameters)
			a.some(t, 500)
			must(t, r.Replicas[1].Suspend())
			if test.keeps {
				a.refusals(t, 8)
			} else {
				a.some(t, 5000)
			}
			must(t, r.Primary.Kill())
			must(t, r.Replicas[1].Resume())
			r.Promote(t, r.Replicas[1])
			host, port, _ := strings.Cut(r.Replicas[1].Addr(), ":")
			client := plain(t, r.Replicas[0])
			must(t, client.Do(t.Context(), client.B().Arbitrary("REPLICAOF", host, port).Build()).Error())
			if test.parameters != "?replicas=2" { // no write is confirmed by two while there is one
				a.some(t, 500)
				if lost := a.lost(t); (lost == 0) != test.keeps {
					t.Errorf("%d of %d acknowledged saves are lost", lost, a.acknowledged.Load())
				}
				return
			}
			a.end()
			a.address = r.URL() + "?replicas=1"
			if lost := a.lost(t); lost != 0 {
				t.Errorf("%d of %d acknowledged saves are lost", lost, a.acknowledged.Load())
			}
		})
	}
}

func TestSavesGoOnWithTheReplicasThatAreLeft(t *testing.T) {
	r := brokers.ReplicatedForTest(t, 2)
	a := startAuthors(t, r.URL())
	a.some(t, 500)
	must(t, r.Replicas[1].Kill())
	a.some(t, 500)
	must(t, r.Primary.Kill())
	r.Promote(t, r.Replicas[0])
	a.some(t, 500)
	if lost := a.lost(t); lost != 0 {
		t.Errorf("%d of %d acknowledged saves are lost", lost, a.acknowledged.Load())
	}
}

func TestASaveThatReplicasDoNotConfirmSaysHowManyThereWere(t *testing.T) {
	r := brokers.ReplicatedForTest(t, 1)
	s := open(t, r.URL()+"?replicas=2")
	revision := save(t, open(t, r.URL()), "k", []byte("before"), 0)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, err := s.Save(ctx, "k", "k", []byte("after"), revision)
	unconfirmed, is := errors.AsType[*replication.Unconfirmed](err)
	if !errors.Is(err, store.ErrOutcomeUnknown) || !is || unconfirmed.Have != 1 || unconfirmed.Want != 2 {
		t.Errorf("got %v", err)
	}
	if _, err := s.Load(t.Context(), "k", "k"); !errors.Is(err, store.ErrStoreUnreachable) || !strings.Contains(err.Error(), "1 replicas of the 2") {
		t.Errorf("loading: got %v", err)
	}
}

func TestAServerWithoutWAITAOFIsNotTakenForOneThatSyncs(t *testing.T) {
	broker := brokers.ForTest(t, brokers.Redis)
	client := plain(t, broker)
	known, err := client.Do(t.Context(), client.B().Arbitrary("COMMAND", "INFO", "WAITAOF").Build()).ToArray()
	must(t, err)
	if len(known) == 1 && !known[0].IsNil() {
		brokers.NotTested(t, "this redis-server has WAITAOF")
	}
	_, err = store.Open(t.Context(), broker.URL()+"?replicas=1&fsync=true")
	if !errors.Is(err, replication.ErrNotOffered) || errors.Is(err, store.ErrStoreUnreachable) || !strings.Contains(err.Error(), "7.2") {
		t.Errorf("got %v", err)
	}
}

func TestAReplicaIsOnTheDiskWhenASaveWithFsyncIsAcknowledged(t *testing.T) {
	r := brokers.ReplicatedForTest(t, 1)
	a := startAuthorsWhere(t, r, "?fsync=true")
	a.some(t, 500)
	must(t, r.Primary.Kill())
	must(t, r.Replicas[0].Kill())
	must(t, r.Replicas[0].Restart())
	r.Promote(t, r.Replicas[0])
	a.end() // they have no replica any more, and the one that is there was restarted: to them it may be the old primary
	a.address = r.URL()
	if lost := a.lost(t); lost != 0 {
		t.Errorf("%d of %d acknowledged saves are lost", lost, a.acknowledged.Load())
	}
}

// startAuthorsWhere is startAuthors where the server offers what the parameters want.
func startAuthorsWhere(t *testing.T, r *brokers.Replicated, parameters string) *authors {
	t.Helper()
	s, err := store.Open(t.Context(), r.URL()+parameters)
	if errors.Is(err, replication.ErrNotOffered) {
		brokers.NotTested(t, "this redis-server is too old: %v", err)
	}
	must(t, err)
	must(t, s.Close())
	return startAuthors(t, r.URL()+parameters)
}

func TestSentinelsTellWhereThePrimaryIs(t *testing.T) {
	r := brokers.ReplicatedForTest(t, 2)
	a := startAuthors(t, "redis://"+r.Sentinel(t)+"?replicas=1&sentinel="+brokers.SentinelName)
	a.some(t, 1000)
	must(t, r.Primary.Kill())
	a.some(t, 1000) // at the one that was promoted
	if lost := a.lost(t); lost != 0 {
		t.Errorf("%d of %d acknowledged saves are lost", lost, a.acknowledged.Load())
	}
}

// Backups and copiers follow a primary as replicas do, and never confirm what they have.
func TestAProgramThatReadsAlongIsNotWaitedFor(t *testing.T) {
	broker := brokers.ForTest(t, brokers.Redis, brokers.Config{Extra: "repl-diskless-sync-delay 0"})
	conn, err := net.Dial("tcp4", broker.Addr())
	must(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte("SYNC\r\n"))
	must(t, err)
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = io.Copy(io.Discard, conn) })
	defer reading.Wait()
	defer conn.Close()
	client := plain(t, broker)
	within(t, time.Minute, "it is online", func() bool {
		text, _ := client.Do(t.Context(), client.B().Info().Section("replication").Build()).ToString()
		return strings.Contains(text, "state=online")
	})
	s := open(t, broker.URL())
	save(t, s, "k", nil, save(t, s, "k", nil, 0))
}

func TestAClusterOfRedisKeepsWhatItAcknowledgedWhenAReplicaTakesOver(t *testing.T) {
	cluster := brokers.Config{Sync: true, Extra: "cluster-enabled yes\nrepl-diskless-sync-delay 0\ncluster-node-timeout 1000\n"}
	primary, replica := brokers.ForTest(t, brokers.Redis, cluster), brokers.ForTest(t, brokers.Redis, cluster)
	at, follower := plain(t, primary), plain(t, replica)
	do := func(c rueidis.Client, command ...string) error {
		return c.Do(t.Context(), c.B().Arbitrary(command...).Build()).Error()
	}
	host, port, _ := strings.Cut(primary.Addr(), ":")
	must(t, do(at, "CLUSTER", "ADDSLOTSRANGE", "0", "16383"))
	must(t, do(follower, "CLUSTER", "MEET", host, port))
	id, err := at.Do(t.Context(), at.B().Arbitrary("CLUSTER", "MYID").Build()).ToString()
	must(t, err)
	within(t, time.Minute, "the servers know each other", func() bool { return do(follower, "CLUSTER", "REPLICATE", id) == nil })
	within(t, time.Minute, "the replica is online and the cluster is there", func() bool {
		text, _ := at.Do(t.Context(), at.B().Info().Section("replication").Build()).ToString()
		state, _ := follower.Do(t.Context(), follower.B().Arbitrary("CLUSTER", "INFO").Build()).ToString()
		return strings.Contains(text, "state=online") && strings.Contains(state, "cluster_state:ok")
	})
	a := startAuthors(t, "redis://"+primary.Addr()+","+replica.Addr())
	a.some(t, 500)
	must(t, replica.Suspend())
	a.refusals(t, 8)
	must(t, replica.Resume())
	a.some(t, 500)
	must(t, primary.Kill())
	within(t, time.Minute, "the replica takes over", func() bool {
		_ = do(follower, "CLUSTER", "FAILOVER", "TAKEOVER")
		text, _ := follower.Do(t.Context(), follower.B().Info().Section("replication").Build()).ToString()
		return strings.Contains(text, "role:master")
	})
	a.some(t, 500)
	if lost := a.lost(t); lost != 0 {
		t.Errorf("%d of %d acknowledged saves are lost", lost, a.acknowledged.Load())
	}
}

func TestAPrimaryOfAClusterThatWasPromotedAndHasNoReplicaDelaysNoSaves(t *testing.T) {
	brokers.Long(t)
	config := brokers.Config{Extra: "cluster-enabled yes\nrepl-diskless-sync-delay 0\ncluster-node-timeout 1000\n"}
	var servers []*brokers.Server // two primaries, and a replica of each
	var at []rueidis.Client
	for range 4 {
		servers = append(servers, brokers.ForTest(t, brokers.Redis, config))
		at = append(at, plain(t, servers[len(servers)-1]))
	}
	do := func(n int, command ...string) error {
		return at[n].Do(t.Context(), at[n].B().Arbitrary(command...).Build()).Error()
	}
	text := func(n int, command ...string) string {
		text, _ := at[n].Do(t.Context(), at[n].B().Arbitrary(command...).Build()).ToString()
		return text
	}
	must(t, do(0, "CLUSTER", "ADDSLOTSRANGE", "0", "8191"))
	must(t, do(1, "CLUSTER", "ADDSLOTSRANGE", "8192", "16383"))
	must(t, do(1, "CLUSTER", "SET-CONFIG-EPOCH", "2"))
	host, port, _ := strings.Cut(servers[0].Addr(), ":")
	for n := 1; n < 4; n++ {
		must(t, do(n, "CLUSTER", "MEET", host, port))
	}
	for primary := range 2 {
		id := text(primary, "CLUSTER", "MYID")
		within(t, time.Minute, "the servers know each other", func() bool { return do(primary+2, "CLUSTER", "REPLICATE", id) == nil })
	}
	within(t, time.Minute, "the replicas are online and the cluster is there", func() bool {
		for n := range 4 {
			if n < 2 && !strings.Contains(text(n, "INFO", "replication"), "state=online") || !strings.Contains(text(n, "CLUSTER", "INFO"), "cluster_state:ok") {
				return false
			}
		}
		return true
	})
	s := open(t, "redis://"+servers[1].Addr()+","+servers[2].Addr()+","+servers[3].Addr())
	revisions := make(map[string]uint64)
	round := func() error {
		for n := range 8 { // in slots of both
			key := fmt.Sprint("k", n)
			next, err := s.Save(t.Context(), "k", key, nil, revisions[key])
			if err != nil {
				return err
			}
			revisions[key] = next
		}
		return nil
	}
	must(t, round())
	must(t, servers[0].Kill())
	within(t, time.Minute, "the replica takes over", func() bool {
		_ = do(2, "CLUSTER", "FAILOVER", "TAKEOVER")
		return strings.Contains(text(2, "INFO", "replication"), "role:master")
	})
	within(t, time.Minute, "saves go on", func() bool { return round() == nil })
	begun := time.Now()
	for range 3 {
		must(t, round())
	}
	if took := time.Since(begun); took > 3*time.Second { // a second for each save there, of which there are 6 at the least
		t.Errorf("24 saves took %v", took)
	}
}
