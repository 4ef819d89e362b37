// Package pool puts several worker processes behind one address:
//
//	resizers, err := pool.Spec(resizer.Spec(struct{}{}), pool.Config{Size: 8, Pick: "least-waiting"}).Start(system)
//	small, err := actor.Call[Image](ctx, system, resizers, Resize{large, 100})
//
// What is sent to the pool, messages and calls of any type, goes on unopened to one of the workers, with its sender; the answer
// of a call goes straight from the worker to the caller.
//
// A worker that ends, for whatever reason, is started anew. What was in its mailbox is lost, and a caller that waits for its
// answer is notified. Where workers end too often, see [Config], the pool ends with the reason of the last. Workers end with
// the pool.
package pool

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/sabir-go/sabir/actor"
)

// Config holds the settings of a pool. The zero Config is fit for use.
type Config struct {
	// Size is the number of workers, 1 to 10,000. Default: GOMAXPROCS.
	Size int
	// Pick determines which worker gets a message: "round-robin", one after the other; "random", any, equally often; or "least-waiting", that
	// with the fewest messages waiting, where workers on other nodes count as idle. Default: "round-robin".
	Pick string
	// Key makes all messages for which it returns the same go to the same worker, so that they are handled in order. It is that for
	// as long as the size stays the same; a change of size moves as few keys as possible (Lamping and Veach, "A Fast, Minimal
	// Memory, Consistent Hash Algorithm"). It gets what was sent, and must be quick.
	Key func(message any) string
	// Restarts bounds the ends of workers that the pool permits within the time Within. Default: 3 for each worker.
	Restarts int
	// Within is the time of Restarts. Default: 5 s.
	Within time.Duration
}

// maxSize bounds how many workers a pool has.
const maxSize = 10_000

// The restarts that a pool permits by default.
const (
	defaultRestarts = 3
	defaultWithin   = 5 * time.Second
)

// work holds the worker and the settings that the process of a pool begins with.
type work struct {
	worker actor.Spec
	Config
}

// The words of Config.Pick.
const (
	roundRobin   = "round-robin"
	random       = "random"
	leastWaiting = "least-waiting"
)

// Spec is a pool and its workers, to be started by its method Start, which returns the pool's address, or by another process, such as a
// supervisor. The actor.SpawnConfig is for the pool's own process, such as its name.
func Spec(worker actor.Spec, config Config, spawn ...actor.SpawnConfig) actor.Spec {
	config.Size, config.Within = cmp.Or(config.Size, defaultSize()), cmp.Or(config.Within, defaultWithin)
	return behavior.Spec(work{worker, config}, spawn...)
}

func (c *Config) check() error {
	switch {
	case c.Size < 1 || c.Size > maxSize:
		return fmt.Errorf("pool: the Size is %d: a pool has 1 to %d workers", c.Size, maxSize)
	case c.Pick != "" && c.Pick != roundRobin && c.Pick != random && c.Pick != leastWaiting:
		return fmt.Errorf("pool: Pick is %q: want %q, %q or %q", c.Pick, roundRobin, random, leastWaiting)
	case c.Restarts < 0 || c.Within < 0:
		return fmt.Errorf("pool: there are %d Restarts within %s: neither may be negative", c.Restarts, c.Within)
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
