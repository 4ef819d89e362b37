package states_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir/actor/grain/store"
	_ "github.com/sabir-go/sabir/broker/redis"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/storetest"
)

func TestStore(t *testing.T) {
	broker := brokers.ForTest(t, brokers.Redis, brokers.Config{Sync: true}) // everysec answers before it writes where the disk is busy
	storetest.Run(t, storetest.Setup{Address: broker.URL(), Broker: broker})
}

func BenchmarkStore(b *testing.B) { storetest.Benchmark(b, brokers.ForTest(b, brokers.Redis).URL()) }

func open(t *testing.T, address string) store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// plain is a client without support for grains.
func plain(t *testing.T, broker *brokers.Server) rueidis.Client {
	t.Helper()
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{broker.Addr()}, DisableCache: true, ForceSingleClient: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

func save(t *testing.T, s store.Store, key string, state []byte, revision uint64) uint64 {
	t.Helper()
	next, err := s.Save(t.Context(), "k", key, state, revision)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func TestARevisionIsNeverUsedAgain(t *testing.T) {
	broker := brokers.ForTest(t, brokers.Redis)
	s, client := open(t, broker.URL()), plain(t, broker)
	last := save(t, s, "k", nil, 0)
	for what, lose := range map[string]rueidis.Completed{
		"the slot's day is over": client.B().Del().Key("sabir:grain:k:k").Build(),
		"all data are lost":      client.B().Flushall().Build(),
		"the clock goes back":    client.B().Hset().Key("sabir:grain:k:k").FieldValue().FieldValue("r", "4000000000000000").Build(),
	} {
		if err := client.Do(t.Context(), lose).Error(); err != nil {
			t.Fatal(err)
		}
		before := last
		entry, err := s.Load(t.Context(), "k", "k")
		if err != nil {
			t.Fatal(err)
		}
		if last = save(t, s, "k", nil, entry.Revision); last <= before || last <= entry.Revision {
			t.Errorf("%s: after %d and %d came %d", what, before, entry.Revision, last)
		}
		if _, err := s.Save(t.Context(), "k", "k", nil, before); !errors.Is(err, store.ErrFenced) {
			t.Errorf("%s: got %v", what, err)
		}
		if last > 4e15<<12 { // the other cases have the true clock
			if err := client.Do(t.Context(), client.B().Flushall().Build()).Error(); err != nil {
				t.Fatal(err)
			}
			last = save(t, s, "k", nil, 0)
		}
	}
}

// A primary that took over without a write may come to the number that the write had.
func TestTheNumberOfALostWriteIsNotTheRevisionOfAnother(t *testing.T) {
	broker := brokers.ForTest(t, brokers.Redis)
	s, client := open(t, broker.URL()), plain(t, broker)
	number := func() string {
		t.Helper()
		r, err := client.Do(t.Context(), client.B().Hget().Key("sabir:grain:k:k").Field("r").Build()).ToString()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for { // the beginnings of two tokens are the same once in 4096
		entry, err := s.Load(t.Context(), "k", "k")
		if err != nil {
			t.Fatal(err)
		}
		lost := save(t, s, "k", []byte("lost"), entry.Revision)
		given := number()
		other := save(t, s, "k", []byte("other"), lost)
		if err := client.Do(t.Context(), client.B().Hset().Key("sabir:grain:k:k").FieldValue().FieldValue("r", given).Build()).Error(); err != nil {
			t.Fatal(err)
		}
		if lost%4096 == other%4096 {
			continue
		}
		if _, err := s.Save(t.Context(), "k", "k", []byte("shadow"), lost); !errors.Is(err, store.ErrFenced) {
			t.Fatalf("the author of the lost write wrote over another one: %v", err)
		}
		return
	}
}

func TestASlotThatIsGoneStaysForADay(t *testing.T) {
	broker := brokers.ForTest(t, brokers.Redis)
	s, client := open(t, broker.URL()), plain(t, broker)
	life := func() int64 {
		t.Helper()
		seconds, err := client.Do(t.Context(), client.B().Ttl().Key("sabir:grain:k:k").Build()).AsInt64()
		if err != nil {
			t.Fatal(err)
		}
		return seconds
	}
	const forEver, day = -1, 24 * 60 * 60
	if err := s.Delete(t.Context(), "k", "k", save(t, s, "k", []byte("x"), 0)); err != nil {
		t.Fatal(err)
	}
	if got := life(); got < day-60 || got > day {
		t.Errorf("it stays for %d seconds", got)
	}
	save(t, s, "k", []byte("x"), 0)
	if got := life(); got != forEver {
		t.Errorf("what is saved stays for %d seconds", got)
	}
}

func TestAStateMayHaveSixteenMegabytes(t *testing.T) {
	s := open(t, brokers.ForTest(t, brokers.Redis).URL())
	state := bytes.Repeat([]byte("0123456789abcdef"), 1<<20)
	revision := save(t, s, "k", state, 0)
	if entry, err := s.Load(t.Context(), "k", "k"); err != nil || entry.Revision != revision || !bytes.Equal(entry.State, state) {
		t.Fatalf("got %d bytes of revision %d, %v", len(entry.State), entry.Revision, err)
	}
}

func TestPrefixesAndDatabasesShareNothing(t *testing.T) {
	broker := brokers.ForTest(t, brokers.Redis)
	for _, more := range []string{"", "?prefix=other", "/1", "/1?prefix=other"} {
		save(t, open(t, broker.URL()+more), "k", nil, 0)
	}
}

func TestWhatOthersWroteIsAnError(t *testing.T) {
	broker := brokers.ForTest(t, brokers.Redis)
	s, client := open(t, broker.URL()), plain(t, broker)
	for _, write := range []rueidis.Completed{
		client.B().Set().Key("sabir:grain:k:string").Value("x").Build(),
		client.B().Hset().Key("sabir:grain:k:hash").FieldValue().FieldValue("r", "x").Build(),
	} {
		if err := client.Do(t.Context(), write).Error(); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{"string", "hash"} {
		if _, err := s.Load(t.Context(), "k", key); err == nil {
			t.Errorf("%s was loaded", key)
		}
		if _, err := s.Save(t.Context(), "k", key, nil, 1); err == nil || errors.Is(err, store.ErrOutcomeUnknown) {
			t.Errorf("%s: got %v", key, err)
		}
	}
}

func TestAServerWithoutMemoryReportsItAndHasDoneNothing(t *testing.T) {
	broker := brokers.ForTest(t, brokers.Redis)
	s, client := open(t, broker.URL()), plain(t, broker)
	revision := save(t, s, "k", []byte("before"), 0)
	if err := client.Do(t.Context(), client.B().ConfigSet().ParameterValue().ParameterValue("maxmemory", "1").Build()).Error(); err != nil {
		t.Fatal(err)
	}
	_, err := s.Save(t.Context(), "k", "k", []byte("after"), revision)
	if !errors.Is(err, store.ErrStoreFull) || errors.Is(err, store.ErrOutcomeUnknown) {
		t.Fatalf("got %v", err)
	}
	if entry, err := s.Load(t.Context(), "k", "k"); err != nil || string(entry.State) != "before" || entry.Revision != revision {
		t.Fatalf("got %+v, %v", entry, err)
	}
}

func TestAPasswordIsUsedAndNotShown(t *testing.T) {
	broker := brokers.ForTest(t, brokers.Redis, brokers.Config{User: "ada", Password: "countess"})
	save(t, open(t, broker.URL()), "k", nil, 0)
	_, err := store.Open(t.Context(), strings.Replace(broker.URL(), "countess", "guessed", 1))
	if err == nil || strings.Contains(err.Error(), "guessed") {
		t.Fatalf("got %v", err)
	}
}
