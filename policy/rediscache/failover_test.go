package rediscache_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/replication"
	"github.com/sabir-go/sabir/policy"
	"github.com/sabir-go/sabir/policy/rediscache"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// behind has the replica stand still, and its primary send it nothing more, not even into its socket.
func behind(t *testing.T, r *brokers.Replicated) {
	t.Helper()
	must(t, r.Replicas[0].Suspend())
	primary := client(t, r.Primary.URL())
	must(t, primary.Do(t.Context(), primary.B().ClientKill().TypeReplica().Build()).Error())
	r.AwaitReplicas(t, r.Primary, 0)
}

func TestALockIsOnTheReplicaBeforeItsHolderBegins(t *testing.T) {
	r := brokers.ReplicatedForTest(t, 1)
	store, replica := open(t, r.URL()), client(t, r.Replicas[0].URL())
	must(t, r.Replicas[0].Suspend())
	var resumed atomic.Bool
	time.AfterFunc(100*time.Millisecond, func() { // less than a holder waits
		resumed.Store(true)
		r.Replicas[0].Resume()
	})
	_, unlock, err := lock(t.Context(), store, "ada")
	must(t, err)
	if !resumed.Load() {
		t.Error("the holder began while the replica stood still")
	}
	keys, err := replica.Do(t.Context(), replica.B().Keys().Pattern("test:lock:*").Build()).AsStrSlice()
	if err != nil || len(keys) != 1 {
		t.Errorf("the replica has the locks %v, %v", keys, err)
	}
	must(t, r.Primary.Kill())
	r.Promote(t, r.Replicas[0])
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if _, _, err := lock(ctx, open(t, r.URL()), "ada"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("another got the lock after the replica took over: %v", err)
	}
	unlock()
}

// The replica that takes over has not got the lock, so there are two holders.
func TestOfTwoHoldersOneKeepsItsAnswer(t *testing.T) {
	for _, firstIsLate := range []bool{true, false} {
		name := "the first one returns before the second"
		if firstIsLate {
			name = "the first one returns after the second"
		}
		t.Run(name, func(t *testing.T) {
			r := brokers.ReplicatedForTest(t, 1)
			a, b := open(t, r.URL()).Open("users.get", "form"), open(t, r.URL()).Open("users.get", "form")
			behind(t, r)
			first, unlockFirst, err := a.(policy.Locker).Lock(t.Context(), []byte("ada"))
			must(t, err)
			must(t, r.Primary.Kill())
			must(t, r.Replicas[0].Resume())
			r.Promote(t, r.Replicas[0])
			var second policy.Entry
			var unlockSecond func()
			eventually(t, "the second one gets the lock", func() bool {
				second, unlockSecond, err = b.(policy.Locker).Lock(t.Context(), []byte("ada"))
				return err == nil
			})
			keep := func(p policy.Bucket, kept policy.Entry, unlock func(), answer string) error {
				defer unlock()
				var err error
				eventually(t, "Redis answers", func() bool {
					err = p.Set(t.Context(), []byte("ada"), []byte(answer), time.Minute, kept.Generation)
					return err == nil || strings.Contains(err.Error(), "lock")
				})
				return err
			}
			order := []func(){
				func() {
					if err := keep(a, first, unlockFirst, "first"); err == nil {
						t.Error("the first one kept its answer, and its lock is lost")
					}
				},
				func() { must(t, keep(b, second, unlockSecond, "second")) },
			}
			if firstIsLate {
				order[0], order[1] = order[1], order[0]
			}
			for _, one := range order {
				one()
			}
			kept, err := b.Get(t.Context(), []byte("ada"))
			if answer, _ := kept.Answer.([]byte); err != nil || string(answer) != "second" {
				t.Errorf("got %q, %v", kept.Answer, err)
			}
		})
	}
}

func TestACleaningHoldsAfterAReplicaTookOver(t *testing.T) {
	for _, test := range []struct {
		name   string
		config rediscache.Config
		holds  bool
	}{
		{"when the replica has it", rediscache.Config{}, true},
		{"and not without waiting for the replica", rediscache.Config{Replicas: -1}, false}, // what the waiting is for
	} {
		t.Run(test.name, func(t *testing.T) {
			r := brokers.ReplicatedForTest(t, 1)
			store := open(t, r.URL(), test.config)
			actionCache := store.Open("users.get", "form")
			must(t, store.Invalidate(t.Context(), "others.*"))
			kept, err := actionCache.Get(t.Context(), []byte("ada"))
			must(t, err)
			must(t, actionCache.Set(t.Context(), []byte("ada"), []byte("old"), time.Minute, kept.Generation))
			replica := client(t, r.Replicas[0].URL())
			eventually(t, "the replica has the answer", func() bool {
				keys, _ := replica.Do(t.Context(), replica.B().Keys().Pattern("test:answer:*").Build()).AsStrSlice()
				return len(keys) == 1
			})
			behind(t, r)
			err = store.Invalidate(t.Context(), "users.*")
			if _, unconfirmed := errors.AsType[*replication.Unconfirmed](err); unconfirmed != test.holds {
				t.Fatalf("while the replica stands still: got %v", err)
			}
			if test.holds {
				must(t, r.Replicas[0].Resume())
				eventually(t, "the replica has the cleaning", func() bool { return store.Invalidate(t.Context(), "users.*") == nil })
				must(t, r.Primary.Kill())
			} else {
				must(t, r.Primary.Kill())
				must(t, r.Replicas[0].Resume())
			}
			r.Promote(t, r.Replicas[0])
			other := open(t, r.URL()).Open("users.get", "form") // of a node that does not know of the cleaning
			kept, err = other.Get(t.Context(), []byte("ada"))
			if err != nil || kept.Found == test.holds {
				t.Errorf("an answer from before the cleaning: found %v, %v", kept.Found, err)
			}
		})
	}
}
