package grain

import (
	"context"
	"errors"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/internal/grainstore"
)

// directory is the activations of a node. An activation is in it from its beginning until its process handles nothing more.
type directory struct {
	grains *Grains
	seed   maphash.Seed
	count  atomic.Int64
	shards [shardCount]shard
}

const shardCount = 256

type shard struct {
	mu     sync.RWMutex
	active map[Address]*activation
	_      [24]byte // so that two do not share a line of the cache
}

// parked waits for the next activation, and gets it with a pin, or an error. It runs under the shard's mu and must not wait.
type parked func(*activation, error)

// errEnding reports that the activation is ending. It stays in this file.
var errEnding = errors.New("grain: the activation is ending")

// maxParked bounds how many callers may wait for the end of one activation.
const maxParked = 10_000

func (d *directory) shard(a Address) *shard {
	return &d.shards[maphash.String(d.seed, a.Key)%shardCount]
}

// find is the activation of a grain that is here, with a pin; nil for none that lets a message in.
func (d *directory) find(of Address) *activation {
	sh := d.shard(of)
	sh.mu.RLock()
	a := sh.active[of]
	sh.mu.RUnlock()
	if a != nil && a.pin() == pinOpen {
		return a
	}
	return nil
}

// enter is find that activates the grain where it is not active. Where its activation is ending, wait is kept for the next,
// and both results are nil; without wait the error is errEnding.
func (d *directory) enter(of Address, wait parked) (*activation, error) {
	for sh := d.shard(of); ; {
		sh.mu.RLock()
		a := sh.active[of]
		sh.mu.RUnlock()
		if a == nil {
			a, err := d.begin(sh, of)
			if a != nil || err != nil {
				return a, err
			}
			continue
		}
		switch a.pin() {
		case pinOpen:
			return a, nil
		case pinFull:
			return nil, problem(actor.ErrMailboxFull, d.grains.self, "%d messages wait for grain %s", d.grains.mailbox, of)
		}
		if wait == nil {
			return nil, errEnding
		}
		if waits, err := sh.park(a, wait); waits || err != nil {
			return nil, err
		}
	}
}

// begin activates a grain, unless another goroutine just has.
func (d *directory) begin(sh *shard, of Address) (*activation, error) {
	if err := d.admit(of); err != nil { // which is asked again below, but here costs little
		return nil, err
	}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.active[of] != nil {
		return nil, nil
	}
	return d.activate(sh, of)
}

// admit reports whether a grain may be activated here.
func (d *directory) admit(of Address) error {
	if !d.grains.view.Load().mine(of) || d.grains.kinds[of.Kind] == nil {
		return errGrainMoved
	}
	return grainstore.CheckName(of.Kind, of.Key)
}

// activate makes an activation, which has one pin. It runs under the shard's mu, and looks at the view only when it holds that
// and is counted: so what it makes by an old view is seen by the janitor, which comes after the new one, and by Stop.
func (d *directory) activate(sh *shard, of Address) (*activation, error) {
	a, err := d.start(of, d.count.Add(1))
	if err != nil {
		d.grains.left(d.count.Add(-1))
		return nil, err
	}
	if sh.active == nil {
		sh.active = map[Address]*activation{}
	}
	sh.active[of] = a
	return a, nil
}

// start starts the process of an activation, the nth now.
func (d *directory) start(of Address, nth int64) (*activation, error) {
	if err := d.admit(of); err != nil {
		return nil, err
	}
	g := d.grains
	if nth > int64(g.maxActive) {
		return nil, problem(errTooManyGrains, g.self, "%d, when %s was to be", g.maxActive, of)
	}
	a := &activation{grains: g, kind: g.kinds[of.Kind], address: of}
	a.pins.Store(1)
	a.used.Store(g.look.Load())
	pid, err := a.kind.spawn(a)
	if err != nil {
		if e, ok := err.(interface{ Is(error) bool }); ok && e.Is(actor.ErrSystemStopped) {
			err = errGrainMoved
		}
		return nil, err
	}
	a.pid = pid
	return a, nil
}

// park keeps wait until the end of an activation, unless that has come.
func (sh *shard) park(a *activation, wait parked) (waits bool, err error) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.active[a.address] != a {
		return false, nil
	}
	if len(a.parked) >= maxParked {
		return false, problem(actor.ErrMailboxFull, a.grains.self, "%d calls and messages wait until grain %s rests", maxParked, a.address)
	}
	a.parked = append(a.parked, wait)
	return true, nil
}

// gone takes an activation out. A caller that waits gets the next, or learns that it is elsewhere.
func (d *directory) gone(a *activation) {
	parked, err := d.replace(a)
	for _, wait := range parked {
		wait(nil, err)
	}
}

// replace takes an activation out, and begins the next where a caller waits for it. Those that the error is for are left.
func (d *directory) replace(a *activation) (left []parked, _ error) {
	sh := d.shard(a.address)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.active[a.address] != a {
		return nil, nil
	}
	delete(sh.active, a.address)
	d.grains.left(d.count.Add(-1))
	if len(a.parked) == 0 {
		return nil, nil
	}
	next, err := d.activate(sh, a.address)
	if err != nil {
		return a.parked, err
	}
	for _, wait := range a.parked {
		next.pins.Add(1) // nothing else comes in before all these are in
		wait(next, nil)
	}
	next.unpin()
	return nil, nil
}

// dead takes an activation out whose process was killed.
func (d *directory) dead(a *activation) {
	if !d.grains.system.Alive(a.pid) {
		d.gone(a)
	}
}

// await is enter for a caller that can wait until ctx ends, or for atMost.
func (d *directory) await(ctx context.Context, of Address, atMost time.Duration) (*activation, error) {
	if a, err := d.enter(of, nil); err != errEnding {
		return a, err
	}
	ctx, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	type next struct {
		a   *activation
		err error
	}
	var given atomic.Bool
	came := make(chan next, 1)
	a, err := d.enter(of, func(a *activation, err error) {
		if given.CompareAndSwap(false, true) {
			came <- next{a, err}
		} else if a != nil {
			a.unpin()
		}
	})
	if a != nil || err != nil {
		return a, err
	}
	select {
	case n := <-came:
		return n.a, n.err
	case <-ctx.Done():
		if !given.CompareAndSwap(false, true) {
			n := <-came
			return n.a, n.err
		}
		return nil, problem(ErrNoOwner, d.grains.self, "%s has not come to rest in time (%w)", of, ctx.Err())
	}
}
