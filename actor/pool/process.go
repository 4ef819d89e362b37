package pool

import (
	"errors"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/sabir-go/sabir/actor"
)

// pool is the state of a pool's process.
type pool struct {
	work
	workers  []actor.PID
	retiring []actor.PID
	next     int
	seed     maphash.Seed
	ended    []time.Time // of the workers that ended within the time
	count    int         // of restarts since the beginning
}

var behavior = actor.Define("pool", (*pool).Init,
	actor.OnAnyMessage((*pool).pass), actor.OnAnyCall((*pool).passCall),
	actor.OnMessage((*pool).Exit), actor.OnMessage((*pool).Retire),
	actor.OnCall((*pool).Resize), actor.OnCall((*pool).Info),
)

func defaultSize() int { return runtime.GOMAXPROCS(0) }

func (l *pool) Init(p *actor.Process, w work) error {
	if err := w.check(); err != nil {
		return err
	}
	l.work, l.seed = w, maphash.MakeSeed()
	return l.grow(p, w.Size)
}

// grow starts workers until there are size.
func (l *pool) grow(p *actor.Process, size int) error {
	for len(l.workers) < size {
		pid, err := l.worker.Start(p, actor.SpawnConfig{Linked: true})
		if err != nil {
			return fmt.Errorf("pool: a worker, %s, could not be started: %w", l.worker.Behavior(), err)
		}
		l.workers = append(l.workers, pid)
	}
	return nil
}

func (l *pool) pass(p *actor.Process, message any) error {
	_ = actor.Forward(p, l.choose(p, message)) // to a full or ended worker: what Send to that would do
	return nil
}

func (l *pool) passCall(p *actor.Process, in any) (any, error) {
	if err := actor.Forward(p, l.choose(p, in)); err != nil {
		return nil, err
	}
	return nil, actor.ErrNoReply
}

// choose picks the worker for a message.
func (l *pool) choose(p *actor.Process, message any) actor.PID {
	n := len(l.workers)
	switch {
	case l.Key != nil:
		return l.workers[jump(maphash.String(l.seed, l.Key(message)), n)]
	case l.Pick == random:
		return l.workers[rand.IntN(n)]
	case l.Pick == leastWaiting:
		return l.leastWaiting(p.System())
	}
	l.next = (l.next + 1) % n
	return l.workers[l.next]
}

// leastWaiting begins after the one that was picked last, so that of several with nothing waiting each has its turn.
func (l *pool) leastWaiting(s *actor.System) actor.PID {
	best, least := 0, -1
	for i := range l.workers {
		at := (l.next + 1 + i) % len(l.workers)
		waiting := s.Waiting(l.workers[at])
		if least < 0 || waiting < least {
			best, least = at, waiting
		}
		if waiting == 0 {
			break
		}
	}
	l.next = best
	return l.workers[best]
}

// jump is the bucket of a key among n: Lamping and Veach, arXiv:1406.2294.
func jump(key uint64, n int) int {
	b, j := int64(-1), int64(0)
	for j < int64(n) {
		b = j
		key = key*2862933555777941757 + 1
		j = int64(float64(b+1) * (float64(int64(1)<<31) / float64((key>>33)+1)))
	}
	return int(b)
}

// Exit starts a worker anew, in the place of the one that has ended. An exit from any other process ends the pool.
func (l *pool) Exit(p *actor.Process, e actor.Exit) error {
	if i := slices.Index(l.retiring, e.From); i >= 0 {
		l.retiring = slices.Delete(l.retiring, i, i+1)
		return nil
	}
	at := slices.Index(l.workers, e.From)
	if at < 0 {
		return e.Reason
	}
	for reason := e.Reason; ; {
		if !l.bears(p.Now()) {
			p.Log().Error("the pool ends: its workers end too often", "restarts", len(l.ended)-1, "within", l.Within, "reason", reason)
			return reason
		}
		pid, err := l.worker.Start(p, actor.SpawnConfig{Linked: true})
		if err == nil {
			l.workers[at] = pid
			return nil
		}
		if errors.Is(err, actor.ErrSystemStopped) {
			return actor.ErrShutdown // the whole system ends
		}
		reason = err
	}
}

// bears counts the end of a worker, and reports whether the pool goes on.
func (l *pool) bears(now time.Time) bool {
	l.count++
	l.ended = slices.DeleteFunc(l.ended, func(t time.Time) bool { return now.Sub(t) > l.Within })
	l.ended = append(l.ended, now)
	limit := l.Restarts
	if limit == 0 {
		limit = defaultRestarts * l.Size
	}
	return len(l.ended) <= limit
}

// retire makes the pool check a worker that is to end.
type retire struct{ worker actor.PID }

// retireEvery is the interval at which the pool checks whether a retiring worker has finished.
const retireEvery = 10 * time.Millisecond

func (l *pool) Retire(p *actor.Process, r retire) error {
	if p.System().Waiting(r.worker) == 0 {
		_ = actor.Stop(p, r.worker, actor.ErrShutdown) // unless it has ended already
		return nil
	}
	actor.SendAfter(p, p.PID(), retireEvery, r)
	return nil
}

func (l *pool) Resize(p *actor.Process, r resize) (Info, error) {
	c := Config{Size: r.Size}
	if err := c.check(); err != nil {
		return Info{}, err
	}
	before := len(l.workers)
	if err := l.grow(p, r.Size); err != nil {
		return Info{}, errors.Join(err, l.shrink(p, before)) // those that have started are too many
	}
	if err := l.shrink(p, r.Size); err != nil {
		return Info{}, err
	}
	l.Size = r.Size
	return l.info(), nil
}

// shrink lets the workers that are too many end.
func (l *pool) shrink(p *actor.Process, size int) error {
	for _, pid := range l.workers[size:] {
		l.retiring = append(l.retiring, pid)
		if err := actor.Send(p, p.PID(), retire{pid}); err != nil { // after what was forwarded
			return err
		}
	}
	l.workers = slices.Delete(l.workers, size, len(l.workers))
	return nil
}

func (l *pool) Info(*actor.Process, ask) (Info, error) { return l.info(), nil }

func (l *pool) info() Info {
	return Info{slices.Clone(l.workers), len(l.retiring), l.count}
}
