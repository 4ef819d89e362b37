// Package scale measures what a node of a cluster costs, by the size of the cluster: links, goroutines, memory, processor and bytes while nobody calls, and how
// long all nodes take to know a change.
//
//	go run -C lab . scale                       the table of docs/scale.md, in some ten minutes
//	go run -C lab . scale --nodes 10,30,100
//
// All nodes are in one process and have links over TCP, each with its own services. What is measured is of all of them together, divided by
// their number. Nothing else may run meanwhile: bytes are those of the machine's loopback interface.
package scale

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir"
	_ "github.com/sabir-go/sabir/transport/tcp"
)

// settings are the command's flags.
type settings struct {
	nodes   []int
	actions int
	idle    time.Duration
}

// Command is "lab scale".
func Command() *cobra.Command {
	var s settings
	c := &cobra.Command{
		Use:   "scale",
		Short: "What a node costs in clusters of several sizes, as a table",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return s.run(c.Context(), c.OutOrStdout()) },
	}
	f := c.Flags()
	f.IntSliceVar(&s.nodes, "nodes", []int{2, 10, 30, 100, 200}, "the sizes")
	f.IntVar(&s.actions, "actions", 50, "the actions of each node")
	f.DurationVar(&s.idle, "idle", 20*time.Second, "the time without calls")
	return c
}

func (s *settings) run(ctx context.Context, out io.Writer) error {
	fmt.Fprintln(out, "| nodes | links of a node | goroutines | heap and stacks | idle: processor | idle: bytes sent | all know a new service after | all know a restarted node after |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|---|---|")
	for _, size := range s.nodes {
		row, err := s.measure(ctx, size)
		if err != nil {
			return fmt.Errorf("%d nodes: %w", size, err)
		}
		fmt.Fprintln(out, row)
	}
	return nil
}

// cluster is nodes that have found each other.
type cluster struct {
	nodes   []*sabir.Node
	actions int
	seed    string
}

func (s *settings) measure(ctx context.Context, size int) (row string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	before := used()
	c := &cluster{actions: s.actions}
	defer c.stop()
	for i := range size {
		n, err := c.start(ctx, i)
		if err != nil {
			return "", err
		}
		c.nodes = append(c.nodes, n)
	}
	if err := c.know(ctx, c.services()...); err != nil {
		return "", err
	}
	each := func(all int64) float64 { return float64(all) / float64(size) }
	first := used()
	time.Sleep(s.idle)
	last := used()
	links := 0
	for _, n := range c.nodes {
		links += n.Info().Links
	}
	idle := last.at.Sub(first.at)

	begun := time.Now()
	if err := c.nodes[0].Add(ctx, c.service("added")); err != nil {
		return "", err
	}
	if err := c.know(ctx, "added"); err != nil {
		return "", err
	}
	added := time.Since(begun)
	restarted, err := c.restart(ctx)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("| %d | %d | %.0f | %.1f MB | %.2f %% of a core | %.1f kB/s | %v | %v |", size, links/size, each(last.goroutines-before.goroutines),
		each(last.memory-before.memory)/1e6, 100*each(int64(last.processor-first.processor))/float64(idle), each(last.sent-first.sent)/1e3/idle.Seconds(),
		added.Round(time.Millisecond), restarted.Round(time.Millisecond)), nil
}

// start makes the node i, which has a service of its own.
func (c *cluster) start(ctx context.Context, i int) (*sabir.Node, error) {
	address := "tcp://127.0.0.1:0"
	if c.seed != "" {
		address += "?seeds=" + c.seed
	}
	n := sabir.NewNode(sabir.NodeID(fmt.Sprint("n", i)), sabir.Serve(c.service(fmt.Sprint("s", i))), sabir.Join(address), sabir.Logger(slog.New(slog.DiscardHandler)))
	if err := n.Start(ctx); err != nil {
		return nil, err
	}
	if c.seed == "" {
		c.seed = n.Info().Addr
	}
	return n, nil
}

func (c *cluster) service(name string) *sabir.Service {
	s := sabir.NewService(name)
	for i := range c.actions {
		sabir.Handle(s, fmt.Sprint("action", i), func(_ context.Context, in int) (int, error) { return in + i, nil })
	}
	return s
}

func (c *cluster) services() (names []string) {
	for i := range c.nodes {
		names = append(names, fmt.Sprint("s", i))
	}
	return names
}

// know waits until all nodes know of the services.
func (c *cluster) know(ctx context.Context, services ...string) error {
	for _, n := range c.nodes {
		if err := n.WaitFor(ctx, services...); err != nil {
			return fmt.Errorf("%s: %w", n.ID(), err)
		}
	}
	return nil
}

// restart stops the last node in order and starts it anew, and returns how long that took until all know its service again.
func (c *cluster) restart(ctx context.Context) (time.Duration, error) {
	last := len(c.nodes) - 1
	begun := time.Now()
	if err := c.nodes[last].Stop(ctx); err != nil {
		return 0, err
	}
	n, err := c.start(ctx, last)
	if err != nil {
		return 0, err
	}
	c.nodes[last] = n
	err = c.know(ctx, fmt.Sprint("s", last))
	return time.Since(begun), err
}

func (c *cluster) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for i := len(c.nodes) - 1; i >= 0; i-- {
		_ = c.nodes[i].Stop(ctx)
	}
}

// usage counts what this process has used until a moment, so that two of them say what it used in between.
type usage struct {
	at         time.Time
	goroutines int64
	memory     int64 // of the heap that lives, and of stacks
	processor  time.Duration
	sent       int64 // over the loopback interface, by all processes
}

func used() usage {
	runtime.GC()
	runtime.GC() // what the first has cleared of pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return usage{time.Now(), int64(runtime.NumGoroutine()), int64(m.HeapAlloc + m.StackInuse), time.Duration(r.Utime.Nano() + r.Stime.Nano()), loopback()}
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
