package channels_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/channeltest"
	"github.com/sabir-go/sabir/internal/engine"
)

// order sends a command to the server of a test, past the engine.
func order(t *testing.T, server *brokers.Server, words ...string) {
	t.Helper()
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{server.Addr()}, DisableCache: true, ForceSingleClient: true})
	must(t, err)
	defer client.Close()
	must(t, client.Do(t.Context(), client.B().Arbitrary(words...).Build()).Error())
}

// orders returns a function that sends commands to the server on a connection of its own.
func orders(server *brokers.Server, words ...string) func(*testing.T) {
	return func(t *testing.T) { order(t, server, words...) }
}

func TestARedisThatRefusesIsAnErrorAtOnce(t *testing.T) {
	for _, fault := range []struct {
		name        string
		cause, undo []string
		want        error
		says        string
	}{
		{"memory", []string{"CONFIG", "SET", "maxmemory", "500000"}, []string{"CONFIG", "SET", "maxmemory", "0"}, engine.ErrFull, "OOM"},
		{"it became a replica", []string{"REPLICAOF", "127.0.0.1", "1"}, []string{"REPLICAOF", "NO", "ONE"}, engine.ErrNotReady, "READONLY"},
		{"too few replicas", []string{"CONFIG", "SET", "min-replicas-to-write", "1"}, []string{"CONFIG", "SET", "min-replicas-to-write", "0"}, engine.ErrNotReady, "NOREPLICAS"},
	} {
		t.Run(fault.name, func(t *testing.T) {
			server := brokers.ForTest(t, brokers.Redis)
			channeltest.Fault{Address: server.URL(), Want: fault.want, Says: fault.says, Consumes: fault.want == engine.ErrFull,
				Cause: orders(server, fault.cause...), Undo: orders(server, fault.undo...)}.Run(t)
		})
	}
}

func TestARedisWithAFullDiskIsAnErrorAtOnce(t *testing.T) {
	brokers.Long(t)
	disk := brokers.SmallDisk(t, 24)
	server := brokers.ForTest(t, brokers.Redis, brokers.Config{Dir: disk.Dir})
	channeltest.Fault{Address: server.URL(), Want: engine.ErrFull, Says: "MISCONF",
		Cause: func(t *testing.T) { disk.Fill(t, 0) }, Undo: func(t *testing.T) { disk.Free(t) }}.Run(t)
}

// A server that was restarted answers nothing else until it has read its file.
func TestARedisThatLoadsIsAnErrorAtOnce(t *testing.T) {
	server := brokers.ForTest(t, brokers.Redis, brokers.Config{Sync: true, Extra: "key-load-delay 50\n"})
	client := plain(t, server)
	var sets []rueidis.Completed
	for n := range 20_000 { // each takes the server 0.1 ms to load
		sets = append(sets, client.B().Set().Key(fmt.Sprint("key-", n)).Value("x").Build())
	}
	for _, answer := range client.DoMulti(t.Context(), sets...) {
		must(t, answer.Error())
	}
	restarted := make(chan error, 1)
	channeltest.Fault{Address: server.URL(), Want: engine.ErrNotReady, Says: "LOADING", AtOnce: 3 * time.Second,
		Cause: func(t *testing.T) {
			must(t, server.Kill())
			go func() { restarted <- server.Restart() }()
		},
		Undo: func(t *testing.T) { must(t, <-restarted) }}.Run(t)
}

// A message that is handled while the server has no memory is not handed out again meanwhile, and a failed attempt counts.
func TestConsumersGoOnWhileRedisHasNoMemory(t *testing.T) {
	server := brokers.ForTest(t, brokers.Redis)
	s := open(t, server.URL())
	m := &engine.Outgoing{}
	m.Data = []byte("x")
	s.Publish(t.Context(), "failover", []*engine.Outgoing{m})
	must(t, m.Err)
	g, err := s.Join(t.Context(), engine.GroupSpec{Channel: "failover", Name: "group", AckWait: time.Minute, InFlight: 1})
	must(t, err)
	defer g.Close()
	order(t, server, "CONFIG", "SET", "maxmemory", "500000")
	for attempt := 1; attempt <= 3; attempt++ {
		list, err := g.Receive(t.Context(), 1)
		must(t, err)
		if list[0].Attempt != attempt || list[0].Lost != 0 {
			t.Fatalf("it is attempt %d with %d losses, want attempt %d", list[0].Attempt, list[0].Lost, attempt)
		}
		must(t, g.Extend(t.Context(), list...))
		if attempt == 3 {
			must(t, g.Done(t.Context(), list...))
			break
		}
		must(t, g.Retry(t.Context(), list[0], 0))
	}
}
