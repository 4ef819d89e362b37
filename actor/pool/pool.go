// Package pool puts several worker processes behind one address:
//
//	resizers, err := pool.Start(system, resizer.Spec(struct{}{}), pool.Size(8), pool.Pick(pool.LeastWaiting))
//	small, err := actor.Call[Image](ctx, system, resizers, Resize{large, 100})
//
// What is sent to the pool, messages and calls of any type, goes on unopened to one of the workers, with its sender; the answer
// of a call goes straight from the worker to the caller.
//
// A worker that ends, for whatever reason, is started anew. What was in its mailbox is lost, and a caller that waits for its
// answer is notified. Where workers end too often, see [Restarts], the pool ends with the reason of the last. Workers end with
// the pool.
package pool

import (
	"context"
	"fmt"
	"time"

	"github.com/sabir-go/sabir/actor"
)

// Option is an option of a pool.
type Option func(*config)

type config struct {
	worker   actor.Spec
	size     int
	pick     Picking
	key      func(message any) string
	restarts int
	within   time.Duration
	options  []actor.SpawnOption
}

// maxSize bounds how many workers a pool has.
const maxSize = 10_000

// Size sets the number of workers, 1 to 10,000. Default: GOMAXPROCS.
func Size(n int) Option { return func(c *config) { c.size = n } }

// Pick sets which worker gets a message. Default: RoundRobin.
func Pick(by Picking) Option { return func(c *config) { c.pick = by } }

// Key makes all messages for which key returns the same go to the same worker, so that they are handled in order. It is that for
// as long as the size stays the same; a change of size moves as few keys as possible (Lamping and Veach, "A Fast, Minimal
// Memory, Consistent Hash Algorithm"). key gets what was sent, and must be quick.
func Key(key func(message any) string) Option { return func(c *config) { c.key = key } }

// Restarts bounds the ends of workers that the pool permits within a time.
// Default: 3 for each worker within 5 s.
func Restarts(n int, within time.Duration) Option {
	return func(c *config) { c.restarts, c.within = n, within }
}

// The restarts that a pool permits by default.
const (
	defaultRestarts = 3
	defaultWithin   = 5 * time.Second
)

// With gives the pool's own process options, such as actor.Named.
func With(options ...actor.SpawnOption) Option {
	return func(c *config) { c.options = append(c.options, options...) }
}

// Picking selects the worker for a message.
type Picking uint8

const (
	RoundRobin   Picking = iota // one after the other
	Random                      // any, equally often
	LeastWaiting                // that with the fewest messages waiting; for workers of this node, those on others count as idle
)

// String is the picking in words.
func (p Picking) String() string {
	if p > LeastWaiting {
		return "unknown"
	}
	return [...]string{"round robin", "random", "least waiting"}[p]
}

// Start starts a pool and its workers, and returns the pool's address.
func Start(from actor.Sender, worker actor.Spec, options ...Option) (actor.PID, error) {
	return Spec(worker, options...).Start(from)
}

// Spec is a pool to be started by another process, such as a supervisor.
func Spec(worker actor.Spec, options ...Option) actor.Spec {
	c := config{worker: worker, size: defaultSize(), within: defaultWithin}
	for _, option := range options {
		option(&c)
	}
	return behavior.Spec(c, c.options...)
}

func (c *config) check() error {
	switch {
	case c.size < 1 || c.size > maxSize:
		return fmt.Errorf("pool: Size(%d): a pool has 1 to %d workers", c.size, maxSize)
	case c.pick > LeastWaiting:
		return fmt.Errorf("pool: Pick(%d): there is no such way", c.pick)
	case c.restarts < 0 || c.within <= 0:
		return fmt.Errorf("pool: Restarts(%d, %s): both are to be positive", c.restarts, c.within)
	}
	return nil
}

// resize and ask are the messages with which the functions below call the pool.
type (
	resize struct{ Size int }
	ask    struct{}
)

// Resize changes how many workers a pool has. It returns when the new ones have started; those that are too many get nothing
// more, and end when they have handled what waits for them; one on another node ends after what it is handling, since what waits there is
// not known here, and callers that wait for it get [actor.ErrNoProcess]. Where a new one cannot be started, the size stays as it was.
func Resize[A actor.Address](ctx context.Context, from actor.Sender, pool A, size int) error {
	_, err := actor.Call[Info](ctx, from, pool, resize{size})
	return err
}

// Info describes a pool.
type Info struct {
	Workers  []actor.PID
	Retiring int // that handle what they have, after Resize
	Restarts int // of workers, since the pool began
}

// Ask asks a pool how it is.
func Ask[A actor.Address](ctx context.Context, from actor.Sender, pool A) (Info, error) {
	return actor.Call[Info](ctx, from, pool, ask{})
}
