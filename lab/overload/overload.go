// Package overload asks a node for more than it can do, and draws how much of what it does is still of use: the answers that come
// before their callers give up.
//
//	go run -C lab . overload                          the curves of docs/overload.md, in about four minutes
//	go run -C lab . overload --deadline 20ms --over http
//
// The node is a process of its own with one processor. Its capacity is what it answers to a few callers that wait for each answer. Then
// calls come at a fixed rate, whether earlier ones are answered or not (an open loop), each with a deadline.
package overload

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
)

// Load is one measurement: calls at a rate.
type Load struct {
	Offered  float64 // in capacities
	Goodput  float64 // in capacities: answers in time
	Late     int     // callers that gave up
	Refused  int     // TooManyCalls
	Lost     int     // with the link
	Other    int
	Answered Percentiles
	Refusals Percentiles
	// Processor is the part of the time for which the node had its processor. Where it waits for one, since the machine has other work, the
	// load is a larger one than Offered says.
	Processor float64
}

// Percentiles are times from the call to its end.
type Percentiles struct{ P50, P99 time.Duration }

// Curve is the loads of one kind of work.
type Curve struct {
	Name     string
	Capacity float64 // answers in a second
	Loads    []Load
}

// settings are the command's flags.
type settings struct {
	over     string
	deadline time.Duration
	lasting  time.Duration
	offered  []float64
	picture  string
}

// Command is "lab overload".
func Command() *cobra.Command {
	var s settings
	c := &cobra.Command{
		Use:   "overload",
		Short: "A node that is asked for more than it can do, as curves",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if os.Getenv(workVariable) != "" {
				return serve(c.Context())
			}
			return s.run(c.Context(), c.OutOrStdout())
		},
	}
	f := c.Flags()
	f.StringVar(&s.over, "over", "tcp", "how calls come: tcp or http")
	f.DurationVar(&s.deadline, "deadline", 50*time.Millisecond, "when a caller gives up")
	f.DurationVar(&s.lasting, "for", 4*time.Second, "the time of each load")
	f.Float64SliceVar(&s.offered, "offered", []float64{0.5, 0.8, 1, 1.5, 2, 3, 5, 10}, "the loads, in capacities")
	f.StringVar(&s.picture, "picture", "", "draw the curves into this file")
	return c
}

func (s *settings) run(ctx context.Context, out io.Writer) error {
	var curves []Curve
	for _, w := range works {
		curve, err := s.curve(ctx, w, out)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		curves = append(curves, curve)
	}
	if s.picture == "" {
		return nil
	}
	return os.WriteFile(s.picture, draw(curves, s.deadline), 0o644)
}

func (s *settings) curve(ctx context.Context, w work, out io.Writer) (Curve, error) {
	node, err := startNode(ctx, w, s.over)
	if err != nil {
		return Curve{}, err
	}
	defer node.stop()
	c := Curve{Name: w.name, Capacity: node.capacity(ctx)}
	if c.Capacity == 0 {
		return c, fmt.Errorf("the node answered no call")
	}
	fmt.Fprintf(out, "%s, over %s, deadline %v: capacity %.0f/s\n", w.name, s.over, s.deadline, c.Capacity)
	for _, offered := range s.offered {
		l := node.load(ctx, offered, c.Capacity, s.deadline, s.lasting)
		fmt.Fprintf(out, "%5.1fx: %3.0f %% answered in time (p50 %v, p99 %v); refused %d (p50 %v, p99 %v), late %d, links lost %d, other errors %d; the node had %.0f %% of a processor\n",
			l.Offered, 100*l.Goodput, round(l.Answered.P50), round(l.Answered.P99), l.Refused, round(l.Refusals.P50), round(l.Refusals.P99), l.Late, l.Lost, l.Other, 100*l.Processor)
		c.Loads = append(c.Loads, l)
	}
	return c, nil
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }
