package cluster

import (
	"errors"
	"time"

	"github.com/sabir-go/sabir/internal/joining"
	"github.com/sabir-go/sabir/internal/outlier"
)

// Outlier is an option that says when this node leaves a sick node out: it sends no calls of an action to a node on which that action
// answers worse than on the others, until a trial shows that it is well. This is on by default; 0 stands for each default.
//
//	sabir.Join("tcp://:7700", cluster.Outlier{Base: 10 * time.Second, MaxShare: 0.2})
//
// Failures are errors that are retryable or Unavailable, deadlines that passed, lost links and TooManyCalls; other errors are answers of
// a handler that works. Each node decides for itself by its own calls, for each action alone. docs/cluster.md says more.
type Outlier struct {
	// Off counts nothing and leaves out no node. Nodes that answer nothing at all are still avoided.
	Off bool
	// Failures is the number of failures one after the other that make a node sick, if that is no chance by what the other nodes
	// answer. TooManyCalls is not among them. 1 to 1,000. Default: 5.
	Failures int
	// Gap is the difference between a node's share of failures and that of the others that makes it sick: above 0, up to 1. Default: 0.2.
	Gap float64
	// SlowFactor makes a node sick whose median time is so many times that of the others, and 100 ms longer besides: more than 1.
	// Default: 5; -1 compares no times.
	SlowFactor float64
	// Base is how long a node is left out the first time; the n-th time it is n times as long. Default: 2 s.
	Base time.Duration
	// Max bounds the time that a node is left out. Default: 60 s, or Base if that is longer.
	Max time.Duration
	// MaxShare is the share of the nodes that offer an action that may be left out at once, rounded down: above 0, below 1. One node at
	// least stays whatever it is. Default: 0.5.
	MaxShare float64
}

// ApplyJoin makes Outlier an Option.
func (o Outlier) ApplyJoin(c *joining.Config) {
	c.Once("cluster.Outlier", c.At)
	want := func(ok bool, problem string) {
		if !ok {
			c.Problems = append(c.Problems, errors.New("cluster.Outlier: "+problem))
		}
	}
	want(o.Failures >= 0 && o.Failures <= 1000, "Failures is out of its range: want 1 to 1,000")
	want(o.Gap >= 0 && o.Gap <= 1, "Gap is out of its range: want more than 0, at most 1")
	want(o.SlowFactor == 0 || o.SlowFactor == -1 || o.SlowFactor > 1, "SlowFactor is out of its range: want more than 1, or -1")
	want(o.Base >= 0 && o.Max >= 0 && (o.Max == 0 || o.Base <= o.Max), "Base and Max are out of their range: want positive times, Max the longer one")
	want(o.MaxShare >= 0 && o.MaxShare < 1, "MaxShare is out of its range: want more than 0, less than 1")
	if o.Max == 0 && o.Base > time.Minute {
		o.Max = o.Base
	}
	c.Outlier = outlier.Settings{Off: o.Off, Failures: o.Failures, Gap: o.Gap, SlowFactor: o.SlowFactor, Base: o.Base, Max: o.Max, MaxShare: o.MaxShare}
}
