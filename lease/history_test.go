package lease_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/lease"
)

// A history is five processes that campaign for one lease, over random faults by a seed: each is cut off from the store and comes back, gets its
// answers late or not at all, stands still between its look at the lease and its write, and dies.

const histories = 300

// network has the faults between one process and the store.
type network struct {
	store.Store
	mu     sync.Mutex
	random *rand.Rand
	cut    bool
	slow   time.Duration // the longest time that one way takes
	lost   float64       // share of the answers that are lost
}

func (n *network) set(cut bool, slow time.Duration, lost float64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut, n.slow, n.lost = cut, slow, lost
}

// way waits for as long as one way takes; it reports whether anything arrives.
func (n *network) way(ctx context.Context) bool {
	n.mu.Lock()
	cut, lost, wait := n.cut, n.random.Float64() < n.lost, time.Duration(0)
	if n.slow > 0 {
		wait = time.Duration(n.random.Int64N(int64(n.slow)))
	}
	n.mu.Unlock()
	if cut || lost {
		<-ctx.Done()
		return false
	}
	select {
	case <-time.After(wait):
		return true
	case <-ctx.Done():
		return false
	}
}

func (n *network) Load(ctx context.Context, kind, key string) (store.Entry, error) {
	if !n.way(ctx) {
		return store.Entry{}, store.ErrStoreUnreachable
	}
	e, err := n.Store.Load(ctx, kind, key)
	if !n.way(ctx) {
		return store.Entry{}, store.ErrStoreUnreachable
	}
	return e, err
}

func (n *network) Save(ctx context.Context, kind, key string, state []byte, revision uint64) (uint64, error) {
	if !n.way(ctx) {
		return 0, store.ErrOutcomeUnknown // the write itself may come later than its sender waits; here it does not come
	}
	revision, err := n.Store.Save(context.WithoutCancel(ctx), kind, key, state, revision)
	if !n.way(ctx) {
		return 0, store.ErrOutcomeUnknown
	}
	return revision, err
}

// register stands for a database that the holders write to. It refuses tokens below the highest that it has seen.
type register struct {
	mu      sync.Mutex
	highest uint64
	writer  map[uint64]int // by token
	refused int
	wrong   string
}

func (r *register) write(token uint64, by int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if token < r.highest {
		r.refused++
		return
	}
	r.highest = token
	if first, known := r.writer[token]; known && first != by {
		r.wrong = fmt.Sprintf("token %d is that of processes %d and %d", token, first, by)
	}
	r.writer[token] = by
}

func TestNoHistoryOfFaultsLetsTwoHoldALease(t *testing.T) {
	refused := 0
	for seed := range uint64(histories) {
		bubbletest.Run(t, func(t *testing.T) {
			refused += play(t, seed)
		})
		if t.Failed() {
			return
		}
	}
	if refused == 0 {
		t.Error("in no history a holder came too late with its write: the histories do not reach what tokens are for")
	}
}

func play(t *testing.T, seed uint64) (refused int) {
	random := rand.New(rand.NewPCG(seed, 0))
	shared := store.Memory()
	written := &register{writer: make(map[uint64]int)}
	var mu sync.Mutex
	var current [5]*lease.Lease // of each process; nil before its first
	var networks [5]*network
	var dies [5]context.CancelFunc
	var running sync.WaitGroup
	campaign := func(i int, pauses *rand.Rand) {
		networks[i] = &network{Store: shared, random: rand.New(rand.NewPCG(seed, uint64(i)+1))}
		ctx, cancel := context.WithCancel(t.Context())
		dies[i] = cancel
		running.Go(func() {
			_ = leases(networks[i]).Lead(ctx, "bill", func(ctx context.Context) error {
				held := lease.FromContext(ctx)
				mu.Lock()
				current[i] = held
				mu.Unlock()
				for ctx.Err() == nil {
					if pauses.IntN(20) == 0 {
						time.Sleep(time.Duration(pauses.Int64N(int64(6 * time.Second)))) // it stands still here
					}
					written.write(held.Token(), i)
					time.Sleep(50 * time.Millisecond)
				}
				return nil
			})
		})
	}
	for i := range current {
		campaign(i, rand.New(rand.NewPCG(seed, uint64(i)+100)))
	}
	holders := func() (list []int) {
		mu.Lock()
		defer mu.Unlock()
		for i, h := range current {
			if h != nil && h.Valid() {
				list = append(list, i)
			}
		}
		return list
	}
	for range 600 { // a minute, in steps; in each a network may change
		if i := random.IntN(5); random.IntN(10) == 0 {
			networks[i].set(random.IntN(3) == 0, time.Duration(random.Int64N(int64(2*time.Second))), random.Float64()/3)
		}
		if random.IntN(100) == 0 { // a process dies: what it asked the store for is cut off, and it asks nothing more
			i := random.IntN(5)
			networks[i].set(true, 0, 0)
		}
		time.Sleep(100 * time.Millisecond)
		if list := holders(); len(list) > 1 {
			t.Errorf("seed %d: processes %v hold the lease at once", seed, list)
			break
		}
	}
	for i := range networks {
		networks[i].set(false, 0, 0)
	}
	begun := time.Now()
	for len(holders()) == 0 && time.Since(begun) < time.Minute {
		time.Sleep(10 * time.Millisecond)
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("seed %d: after all faults it took %v until somebody had the lease", seed, took)
	}
	for _, die := range dies {
		die()
	}
	running.Wait()
	if written.wrong != "" {
		t.Errorf("seed %d: %s", seed, written.wrong)
	}
	return written.refused
}
