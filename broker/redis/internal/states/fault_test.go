package states_test

import (
	"testing"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/storetest"
)

// orders returns a function that sends commands to the server on a connection of its own, past the store.
func orders(server *brokers.Server, words ...string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{server.Addr()}, DisableCache: true, ForceSingleClient: true})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		if err := client.Do(t.Context(), client.B().Arbitrary(words...).Build()).Error(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestARedisThatRefusesIsAnErrorAtOnce(t *testing.T) {
	for _, fault := range []struct {
		name        string
		cause, undo []string
		want        error
		says        string
	}{
		{"memory", []string{"CONFIG", "SET", "maxmemory", "500000"}, []string{"CONFIG", "SET", "maxmemory", "0"}, store.ErrStoreFull, "OOM"},
		{"it became a replica", []string{"REPLICAOF", "127.0.0.1", "1"}, []string{"REPLICAOF", "NO", "ONE"}, store.ErrStoreUnreachable, "READONLY"},
		{"too few replicas", []string{"CONFIG", "SET", "min-replicas-to-write", "1"}, []string{"CONFIG", "SET", "min-replicas-to-write", "0"},
			store.ErrStoreUnreachable, "NOREPLICAS"},
	} {
		t.Run(fault.name, func(t *testing.T) {
			server := brokers.ForTest(t, brokers.Redis)
			storetest.Fault{Address: server.URL(), Want: fault.want, Says: fault.says,
				Cause: orders(server, fault.cause...), Undo: orders(server, fault.undo...)}.Run(t)
		})
	}
}

func TestARedisWithAFullDiskIsAnErrorAtOnce(t *testing.T) {
	brokers.Long(t)
	disk := brokers.SmallDisk(t, 24)
	server := brokers.ForTest(t, brokers.Redis, brokers.Config{Dir: disk.Dir})
	storetest.Fault{Address: server.URL(), Want: store.ErrStoreFull, Says: "MISCONF",
		Cause: func(t *testing.T) { disk.Fill(t, 0) }, Undo: func(t *testing.T) { disk.Free(t) }}.Run(t)
}

// A grain that is deleted makes room, so it can be while there is none.
func TestGrainsAreDeletedWhileRedisHasNoMemory(t *testing.T) {
	server := brokers.ForTest(t, brokers.Redis)
	st, err := store.Open(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	revision, err := st.Save(t.Context(), "order", "1", []byte("x"), 0)
	if err != nil {
		t.Fatal(err)
	}
	orders(server, "CONFIG", "SET", "maxmemory", "500000")(t)
	if err := st.Delete(t.Context(), "order", "1", revision); err != nil {
		t.Error(err)
	}
}
