// Package scale measures what a node of a cluster costs, by the size of the cluster: links, goroutines, memory, processor and bytes while nobody calls, how
// long all nodes take to know a change, and whether calls fail while nodes are restarted.
//
//	go run -C lab . scale                       the table of docs/scale.md, in some six minutes
//	go run -C lab . scale --nodes 10,30,100
//
// Each node is a process of its own and has links over TCP. The figures are means over all nodes. Nothing else may run meanwhile: bytes are those of the
// machine's loopback interface.
package scale

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/child"
	"github.com/sabir-go/sabir/lab/scale/member"
)

// settings are the command's flags, and what tests set otherwise.
type settings struct {
	nodes   []int
	actions int
	calls   int
	idle    time.Duration
	settle  time.Duration // in which links that were needed for the start come to rest
}

// Command is "lab scale".
func Command() *cobra.Command {
	s := settings{settle: 40 * time.Second}
	c := &cobra.Command{
		Use:   "scale",
		Short: "What a node costs in clusters of several sizes, as a table",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return s.run(c.Context(), c.OutOrStdout(), c.ErrOrStderr()) },
	}
	f := c.Flags()
	f.IntSliceVar(&s.nodes, "nodes", []int{1, 2, 10, 30}, "the sizes")
	f.IntVar(&s.actions, "actions", 50, "the actions of each node")
	f.IntVar(&s.calls, "calls", 10, "the actions of others that each node calls, every five seconds")
	f.DurationVar(&s.idle, "idle", 20*time.Second, "the time without calls")
	return c
}

func (s *settings) run(ctx context.Context, out, messages io.Writer) error {
	program := bench.Go("scale/node")
	if err := program.Prepare(ctx, messages); err != nil {
		return err
	}
	fmt.Fprintln(out, "| nodes | links of a node | goroutines | heap and stacks | of the system | idle: processor | idle: bytes sent | all know a new service after | a tenth restarts, one after the other, in | calls meanwhile |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|---|---|---|---|")
	for _, size := range s.nodes {
		c := &cluster{settings: s, program: program, messages: messages, processes: make([]*bench.Process, size)}
		row, err := c.measure(ctx)
		c.stop()
		if err != nil {
			return fmt.Errorf("%d nodes: %w", size, err)
		}
		fmt.Fprintln(out, row)
	}
	return nil
}

// cluster is processes with a node each, which find each other.
type cluster struct {
	*settings
	program   *bench.Program
	messages  io.Writer
	processes []*bench.Process // by the node's index
	seed      string           // the first one's address
}

// startedAtOnce is the number of processes that start at one moment.
const startedAtOnce = 4

// figures are one row of the table.
type figures struct {
	called           usage         // when each node has called the others that it calls
	processor        float64       // part of a core of each node while nobody calls
	sent             float64       // bytes a second of each node while nobody calls
	known, restarted time.Duration // until all knew a new service; until a tenth was restarted and all knew all again
	calls            member.Calls  // made meanwhile
}

func (c *cluster) measure(ctx context.Context) (row string, err error) {
	var f figures
	for _, phase := range []func(context.Context, *figures) error{c.begin, c.work, c.rest, c.add, c.restart} {
		if err := phase(ctx, &f); err != nil {
			return "", err
		}
	}
	size := len(c.processes)
	return fmt.Sprintf("| %d | %d, at most %d | %d | %.1f MB | %.1f MB | %.2f %% of a core | %.1f kB/s | %v | %v | %d, %d failed |", size, f.called.Links/size, f.called.most, f.called.Goroutines/size,
		float64(f.called.Memory)/float64(size)/1e6, float64(f.called.Resident)/float64(size)/1e6, 100*f.processor, f.sent/1e3,
		f.known.Round(time.Millisecond), f.restarted.Round(100*time.Millisecond), f.calls.Made, f.calls.Failed), nil
}

// begin starts the nodes, the first one before the others, whose seed it is.
func (c *cluster) begin(ctx context.Context, _ *figures) (err error) {
	if err := c.start(ctx, 0); err != nil {
		return err
	}
	if c.seed, err = ask[string](ctx, c.processes[0], "address"); err != nil {
		return err
	}
	if err := c.each(startedAtOnce, func(i int) error {
		if i == 0 {
			return nil
		}
		return c.start(ctx, i)
	}); err != nil {
		return err
	}
	fmt.Fprintf(c.messages, "%d nodes have started\n", len(c.processes))
	if err := c.knowAll(ctx); err != nil {
		return err
	}
	fmt.Fprintf(c.messages, "%d nodes know each other\n", len(c.processes))
	return nil
}

// work has each node call others, which makes the links that it needs.
func (c *cluster) work(ctx context.Context, f *figures) (err error) {
	if err := c.say(ctx, "call"); err != nil {
		return err
	}
	if err := wait(ctx, member.CallEvery); err != nil {
		return err
	}
	if err := c.say(ctx, "collect"); err != nil {
		return err
	}
	if f.called, err = c.usage(ctx); err != nil {
		return err
	}
	_, err = c.called(ctx)
	return err
}

// rest leaves the nodes alone.
func (c *cluster) rest(ctx context.Context, f *figures) error {
	if err := wait(ctx, c.settle); err != nil {
		return err
	}
	first, err := c.usage(ctx)
	if err != nil {
		return err
	}
	begun, before := time.Now(), loopback()
	if err := wait(ctx, c.idle); err != nil {
		return err
	}
	all := time.Since(begun).Seconds() * float64(len(c.processes))
	f.sent = float64(loopback()-before) / all
	last, err := c.usage(ctx)
	f.processor = (last.CPU - first.CPU).Seconds() / all
	return err
}

// add adds a service to one node.
func (c *cluster) add(ctx context.Context, f *figures) error {
	begun := time.Now()
	if _, err := c.processes[0].Ask(ctx, "add"); err != nil {
		return err
	}
	err := c.say(ctx, "has added")
	f.known = time.Since(begun)
	return err
}

// restart restarts a tenth of the nodes, one after the other, while all call.
func (c *cluster) restart(ctx context.Context, f *figures) (err error) {
	if err := c.say(ctx, "call"); err != nil {
		return err
	}
	begun, size := time.Now(), len(c.processes)
	for i := size - 1; i >= size-size/10; i-- {
		c.processes[i].Stop()
		if err := c.start(ctx, i); err != nil {
			return err
		}
	}
	if err := c.knowAll(ctx); err != nil {
		return err
	}
	f.restarted = time.Since(begun)
	if f.calls, err = c.called(ctx); f.calls.Failed > 0 {
		fmt.Fprintf(c.messages, "a call failed: %s\n", f.calls.Failure)
	}
	return err
}

// knowAll waits until each node knows the two services of each.
func (c *cluster) knowAll(ctx context.Context) error {
	return c.say(ctx, fmt.Sprint("know ", 2*len(c.processes)))
}

// start starts the process of the node i.
func (c *cluster) start(ctx context.Context, i int) error {
	extra, err := json.Marshal(member.Place{Index: i, Nodes: len(c.processes), Actions: c.actions, Calls: c.calls, Seed: c.seed})
	if err != nil {
		return err
	}
	started, err := bench.StartChild(ctx, c.program, child.Order{Role: fmt.Sprint("node ", i), Extra: extra}, bench.Unpinned)
	if err == nil {
		c.processes[i] = started
	}
	return err
}

// usage is the sum of what the nodes use.
type usage struct {
	member.Usage
	most int // links of one node
}

func (c *cluster) usage(ctx context.Context) (sum usage, err error) {
	var mu sync.Mutex
	err = c.each(len(c.processes), func(i int) error {
		u, err := ask[member.Usage](ctx, c.processes[i], "usage")
		mu.Lock()
		defer mu.Unlock()
		sum.Links, sum.most, sum.Goroutines = sum.Links+u.Links, max(sum.most, u.Links), sum.Goroutines+u.Goroutines
		sum.Memory, sum.Resident, sum.CPU = sum.Memory+u.Memory, sum.Resident+u.Resident, sum.CPU+u.CPU
		return err
	})
	return sum, err
}

// called ends the calls of all nodes, and returns the sum of those that were made.
func (c *cluster) called(ctx context.Context) (sum member.Calls, err error) {
	var mu sync.Mutex
	err = c.each(len(c.processes), func(i int) error {
		made, err := ask[member.Calls](ctx, c.processes[i], "called")
		mu.Lock()
		defer mu.Unlock()
		sum.Made, sum.Failed = sum.Made+made.Made, sum.Failed+made.Failed
		if made.Failed > 0 {
			sum.Failure = made.Failure
		}
		return err
	})
	return sum, err
}

// say says a word to all nodes, and waits for their answers.
func (c *cluster) say(ctx context.Context, word string) error {
	return c.each(len(c.processes), func(i int) error {
		_, err := c.processes[i].Ask(ctx, word)
		return err
	})
}

// each does something for each node, for some of them at a time.
func (c *cluster) each(atOnce int, do func(i int) error) error {
	var all errgroup.Group
	all.SetLimit(atOnce)
	for i := range c.processes {
		all.Go(func() error { return do(i) })
	}
	return all.Wait()
}

func (c *cluster) stop() {
	_ = c.each(startedAtOnce, func(i int) error {
		if p := c.processes[i]; p != nil {
			p.Stop()
		}
		return nil
	})
}

func ask[T any](ctx context.Context, p *bench.Process, word string) (answer T, err error) {
	r, err := p.Ask(ctx, word)
	if err != nil {
		return answer, err
	}
	return answer, json.Unmarshal(r.Data, &answer)
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// loopback is the number of bytes that were sent over the loopback interface; 0 where the system does not tell.
func loopback() int64 {
	text, err := os.ReadFile("/proc/net/dev")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(text) {
		if name, counts, ok := strings.Cut(string(line), ":"); ok && strings.TrimSpace(name) == "lo" {
			if f := strings.Fields(counts); len(f) > 8 {
				sent, _ := strconv.ParseInt(f[8], 10, 64)
				return sent
			}
		}
	}
	return 0
}
