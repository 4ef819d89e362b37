package states_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/sabir-go/sabir/actor/grain/store"
	_ "github.com/sabir-go/sabir/broker/nats"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/grainstore"
	"github.com/sabir-go/sabir/internal/storetest"
)

func TestStore(t *testing.T) {
	broker := brokers.ForTest(t, brokers.NATS)
	storetest.Run(t, storetest.Setup{Address: broker.URL(), Broker: broker})
}

func TestAnEmbeddedServer(t *testing.T) {
	brokers.Slow(t) // the quick loop has a server of its own
	address := "nats://embedded:0?store=" + t.TempDir()
	keeper := open(t, address) // keeps the server between the stores of the suite
	storetest.Run(t, storetest.Setup{Address: address})
	revision := save(t, keeper, "kept", []byte("x"), 0)
	if err := keeper.Close(); err != nil {
		t.Fatal(err)
	}
	if entry, err := open(t, address).Load(t.Context(), "k", "kept"); err != nil || entry.Revision != revision {
		t.Fatalf("after the server ended and began again: %+v, %v", entry, err)
	}
}

func BenchmarkStore(b *testing.B) { storetest.Benchmark(b, brokers.ForTest(b, brokers.NATS).URL()) }

func open(t *testing.T, address string) store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), address, store.Config{Name: "suite"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func save(t *testing.T, s store.Store, key string, state []byte, revision uint64) uint64 {
	t.Helper()
	next, err := s.Save(t.Context(), "k", key, state, revision)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// plain is a client without support for grains.
func plain(t *testing.T, broker *brokers.Server) jetstream.JetStream {
	t.Helper()
	conn, err := nats.Connect(broker.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

func TestARevisionIsNeverUsedAgain(t *testing.T) {
	broker := brokers.ForTest(t, brokers.NATS)
	s, js := open(t, broker.URL()), plain(t, broker)
	first := save(t, s, "k", nil, 0)
	stream, err := js.Stream(t.Context(), "KV_sabir_grains")
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	second := save(t, s, "k", nil, 0)
	if second <= first {
		t.Errorf("after a bucket was emptied, %d came after %d", second, first)
	}
	if err := js.DeleteStream(t.Context(), "KV_sabir_grains"); err != nil {
		t.Fatal(err)
	}
	again := open(t, broker.URL())
	if third := save(t, again, "k", nil, 0); third <= second {
		t.Errorf("after a bucket was removed, %d came after %d", third, second)
	}
	if _, err := again.Save(t.Context(), "k", "k", nil, second); !errors.Is(err, store.ErrFenced) {
		t.Errorf("got %v", err)
	}
}

func TestKeyValueToolsSeeGrains(t *testing.T) {
	broker := brokers.ForTest(t, brokers.NATS)
	s, js := open(t, broker.URL()), plain(t, broker)
	save(t, s, "ada", []byte("12 coins"), 0)
	bucket, err := js.KeyValue(t.Context(), "sabir_grains")
	if err != nil {
		t.Fatal(err)
	}
	if entry, err := bucket.Get(t.Context(), "k.ada"); err != nil || string(entry.Value()) != "12 coins" {
		t.Fatalf("got %v, %v", entry, err)
	}
	for what, remove := range map[string]func() error{
		"deleted": func() error { return bucket.Delete(t.Context(), "k.ada") },
		"purged":  func() error { return bucket.Purge(t.Context(), "k.ada") },
	} {
		if err := remove(); err != nil {
			t.Fatal(err)
		}
		if entry, err := s.Load(t.Context(), "k", "ada"); err != nil || entry.Revision != 0 || entry.State != nil {
			t.Errorf("%s: got %+v, %v", what, entry, err)
		}
		save(t, s, "ada", []byte("again"), 0)
	}
}

func TestTheMarkerOfADeletedGrainStaysForADay(t *testing.T) {
	broker := brokers.ForTest(t, brokers.NATS)
	s, js := open(t, broker.URL()), plain(t, broker)
	if err := s.Delete(t.Context(), "k", "k", save(t, s, "k", []byte("x"), 0)); err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), "KV_sabir_grains")
	if err != nil {
		t.Fatal(err)
	}
	message, err := stream.GetLastMsgForSubject(t.Context(), "$KV.sabir_grains.k.k")
	if err != nil {
		t.Fatal(err)
	}
	if got := message.Header.Get(jetstream.MsgTTLHeader); got != "24h0m0s" {
		t.Fatalf("it stays for %q", got)
	}
}

func TestAStateIsAsLargeAsTheServerTakesIt(t *testing.T) {
	state := bytes.Repeat([]byte("0123456789abcdef"), 1<<20)
	s := open(t, brokers.ForTest(t, brokers.NATS).URL())
	_, err := s.Save(t.Context(), "k", "k", state, 0)
	if !errors.Is(err, grainstore.ErrStateTooLarge) || !strings.Contains(err.Error(), "max_payload") {
		t.Fatalf("got %v", err)
	}
	save(t, s, "k", state[:1000<<10], 0)

	s = open(t, brokers.ForTest(t, brokers.NATS, brokers.Config{Extra: "max_payload: 20MB\nmax_pending: 64MB"}).URL())
	revision := save(t, s, "k", state, 0)
	if entry, err := s.Load(t.Context(), "k", "k"); err != nil || entry.Revision != revision || !bytes.Equal(entry.State, state) {
		t.Fatalf("got %d bytes of revision %d, %v", len(entry.State), entry.Revision, err)
	}
}

func TestABucketThatIsThereIsUsedOnlyIfItIsFit(t *testing.T) {
	broker := brokers.ForTest(t, brokers.NATS)
	js := plain(t, broker)
	for _, bucket := range []jetstream.KeyValueConfig{{Bucket: "fit_grains"}, {Bucket: "ttl_grains", TTL: 1e12}, {Bucket: "ram_grains", Storage: jetstream.MemoryStorage}} {
		if _, err := js.CreateKeyValue(t.Context(), bucket); err != nil {
			t.Fatal(err)
		}
	}
	fit := open(t, broker.URL()+"?prefix=fit")
	if err := fit.Delete(t.Context(), "k", "k", save(t, fit, "k", []byte("x"), 0)); err != nil {
		t.Error(err)
	}
	for _, prefix := range []string{"ttl", "ram"} {
		if s, err := store.Open(t.Context(), broker.URL()+"?prefix="+prefix); err == nil {
			s.Close()
			t.Errorf("%s was taken", prefix)
		}
	}
}

func TestReplicasNeedAClusterOfServers(t *testing.T) {
	broker := brokers.ForTest(t, brokers.NATS)
	save(t, open(t, broker.URL()+"?replicas=1"), "k", nil, 0)
	if s, err := store.Open(t.Context(), broker.URL()+"?prefix=other&replicas=3"); err == nil {
		s.Close()
		t.Error("one server takes three replicas")
	}
}

func TestAServerWithoutJetStreamSaysWhatToDo(t *testing.T) {
	_, err := store.Open(t.Context(), "nats://embedded:0")
	if err == nil || !strings.Contains(err.Error(), "store=folder") {
		t.Fatalf("got %v", err)
	}
}
