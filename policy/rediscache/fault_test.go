package rediscache_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/policy/rediscache"
)

// fault is something that happens to a Redis that goes on running.
type fault struct {
	server      *brokers.Server
	cause, undo func(t *testing.T)
}

func ordered(t *testing.T, cause, undo []string) fault {
	server := brokers.ForTest(t, brokers.Redis)
	order := func(words []string) func(t *testing.T) {
		return func(t *testing.T) {
			t.Helper()
			raw := client(t, server.URL())
			if err := raw.Do(t.Context(), raw.B().Arbitrary(words...).Build()).Error(); err != nil {
				t.Fatal(err)
			}
		}
	}
	return fault{server, order(cause), order(undo)}
}

// faults are those in which Redis answers that it does not take what it is given.
var faults = map[string]func(t *testing.T) fault{
	"memory": func(t *testing.T) fault {
		return ordered(t, []string{"CONFIG", "SET", "maxmemory", "500000"}, []string{"CONFIG", "SET", "maxmemory", "0"})
	},
	"it became a replica": func(t *testing.T) fault {
		return ordered(t, []string{"REPLICAOF", "127.0.0.1", "1"}, []string{"REPLICAOF", "NO", "ONE"})
	},
	"too few replicas": func(t *testing.T) fault {
		return ordered(t, []string{"CONFIG", "SET", "min-replicas-to-write", "1"}, []string{"CONFIG", "SET", "min-replicas-to-write", "0"})
	},
	"disk": func(t *testing.T) fault {
		disk := brokers.SmallDisk(t, 24)
		server := brokers.ForTest(t, brokers.Redis, brokers.Config{Dir: disk.Dir})
		return fault{server, func(t *testing.T) { disk.Fill(t, 0) }, func(t *testing.T) { disk.Free(t) }}
	},
}

func TestCallsDoNotWaitForARedisThatTakesNothing(t *testing.T) {
	brokers.Long(t)
	for name, cause := range faults {
		t.Run(name, func(t *testing.T) {
			f := cause(t)
			var r runs
			n := newNode(t, open(t, f.server.URL(), rediscache.Config{Timeout: 2 * time.Second}), r.handler)
			kept := n.get(t, "ada")
			f.cause(t)
			begun := time.Now()
			for i := range 100 {
				n.get(t, fmt.Sprint("new-", i)) // which fails the test where a call does
			}
			if took := time.Since(begun); took > time.Second {
				t.Errorf("100 calls took %v", took)
			}
			if got := n.get(t, "ada"); got != kept {
				t.Errorf("an answer that was kept before is not given: run %d, want %d", got, kept)
			}
			f.undo(t)
			begun = time.Now()
			eventually(t, "answers are kept again", func() bool { return n.keeps(t, fmt.Sprint("again-", time.Now().UnixNano())) })
			if took := time.Since(begun); took > 2*time.Second {
				t.Errorf("answers are kept again after %v", took)
			}
		})
	}
}

// What was cleaned must not be given, whatever space there is.
func TestACleaningHoldsWhileRedisHasNoMemory(t *testing.T) {
	f := faults["memory"](t)
	var r runs
	one, other := newNode(t, open(t, f.server.URL()), r.handler), newNode(t, open(t, f.server.URL()), r.handler)
	kept := one.get(t, "ada")
	if got := other.get(t, "ada"); got != kept {
		t.Fatalf("the nodes do not share answers: runs %d and %d", got, kept)
	}
	f.cause(t)
	one.clean(t, "users.*")
	if got := other.get(t, "ada"); got == kept {
		t.Error("the other node gives the answer that was cleaned")
	}
}
