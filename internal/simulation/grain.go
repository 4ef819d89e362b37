package simulation

import (
	"context"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/grain"
	"github.com/sabir-go/sabir/actor/grain/store"
)

// The states of grains are kept by a machine of their own, which nodes reach over the network of the simulation.
const storeName = "store"

// accounts is the number of grains.
const accounts = 5

// ledger is a grain that keeps the payments made to it.
type ledger struct{ grain.State[payments] }

type (
	payments struct{ IDs []int }
	pay      struct{ ID int }
	list     struct{}
)

func (l *ledger) Pay(p *actor.Process, in pay) (int, error) {
	l.Value.IDs = append(l.Value.IDs, in.ID)
	return len(l.Value.IDs), l.Save(p)
}

func (l *ledger) List(*actor.Process, list) ([]int, error) { return slices.Clone(l.Value.IDs), nil }

var ledgers = grain.Define("ledger", grain.OnCall((*ledger).Pay), grain.OnCall((*ledger).List).Strong())

// pay calls a grain, which saves the payment.
func (w *world) pay(ctx context.Context, m *member, s Step) {
	i := m.current()
	if i == nil {
		return
	}
	ctx, cancel := s.callContext(ctx)
	defer cancel()
	id, account := w.record.id(), strconv.Itoa(s.Size%accounts)
	_, err := grain.Call[int](ctx, i.system, ledgers.Key(account), pay{id})
	w.later(func() {
		switch times := w.record.paid(account, id); {
		case times > 1, err == nil && times == 0:
			w.record.fail("step %d: a payment to %s that ended with %v was made %d times", s.Number, account, err, times)
		case times > 0 && err != nil && sabir.AsError(err).Retryable:
			w.record.fail("step %d: a payment to %s was made, and failed with an error that is retryable: %v", s.Number, account, err)
		}
	})
}

// finalAccounts reads all grains by each node, when nothing is broken. All must read the same.
func (w *world) finalAccounts(ctx context.Context) {
	for account := range accounts {
		key := strconv.Itoa(account)
		for n, m := range w.members {
			i := m.current()
			if i == nil {
				continue
			}
			ids, err := listOf(ctx, i.system, key)
			if err != nil {
				w.record.fail("when all is quiet, %s reads account %s: %v", m.name, key, err)
				continue
			}
			if n == 0 {
				w.record.account(key, ids)
			} else if first := w.record.accountOf(key); !slices.Equal(first, ids) {
				w.record.fail("when all is quiet, account %s has %v for %s and %v for %s", key, first, w.members[0].name, ids, m.name)
			}
		}
	}
}

// listOf asks again where an activation learns that another one has saved.
func listOf(ctx context.Context, from actor.Sender, account string) ([]int, error) {
	for {
		ids, err := grain.Call[[]int](ctx, from, ledgers.Key(account), list{})
		if err == nil || !sabir.AsError(err).Retryable || ctx.Err() != nil {
			return ids, err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// nodeStore is the store as a node reaches it, over the network of the simulation.
type nodeStore struct {
	store.Store
	network *network
	node    string
	gone    atomic.Bool // the node's process has ended
}

// way takes the time of a request or an answer. It reports whether that arrives.
func (s *nodeStore) way(ctx context.Context, from, to string) bool {
	return !s.gone.Load() && s.network.pass(ctx, from, to) == nil
}

func (s *nodeStore) Load(ctx context.Context, kind, key string) (store.Entry, error) {
	if !s.way(ctx, s.node, storeName) {
		return store.Entry{}, store.ErrStoreUnreachable
	}
	e, err := s.Store.Load(context.WithoutCancel(ctx), kind, key)
	if !s.way(ctx, storeName, s.node) {
		return store.Entry{}, store.ErrStoreUnreachable
	}
	return e, err
}

func (s *nodeStore) Save(ctx context.Context, kind, key string, state []byte, revision uint64) (uint64, error) {
	if !s.way(ctx, s.node, storeName) {
		return 0, store.ErrStoreUnreachable
	}
	revision, err := s.Store.Save(context.WithoutCancel(ctx), kind, key, state, revision)
	if !s.way(ctx, storeName, s.node) {
		return 0, store.ErrOutcomeUnknown
	}
	return revision, err
}
