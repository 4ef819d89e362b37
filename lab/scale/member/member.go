// Package member is one node of the clusters that "lab scale" measures, in a process of its own. It says what it costs, and calls others.
package member

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/lab/child"
	"github.com/sabir-go/sabir/policy"
	_ "github.com/sabir-go/sabir/transport/tcp"
)

// Place is the order's Extra: which node of the cluster this is.
type Place struct {
	Index   int    // of this node, from 0
	Nodes   int    // of the cluster
	Actions int    // of each node, in two services: one of its own, one that Replicas nodes have
	Calls   int    // to others, every CallEvery
	Seed    string // the address of another node; "" for the first
}

const (
	// Replicas is the number of nodes that offer each service that others call.
	Replicas = 5
	// CallEvery is the interval at which each node makes its calls.
	CallEvery = 5 * time.Second
	// answerTimeout is the time in which a node must know what it is asked for.
	answerTimeout = 5 * time.Minute
)

// Usage is the answer to "usage".
type Usage struct {
	Links, Goroutines int
	Memory            int64         // bytes of the heap that lives, and of stacks
	Resident          int64         // bytes of memory that the system has given the process, without the program's file
	CPU               time.Duration // since the process began
}

// Calls is the answer to "called".
type Calls struct {
	Made, Failed int
	Failure      string // of the last that failed
}

// node is the process's node.
type node struct {
	*sabir.Node
	place  Place
	end    context.CancelFunc // of the calls
	called chan Calls         // gets the sum when the calls have ended; nil while it makes none
}

// Start makes the node of an order.
func Start(o child.Order) (child.Job, error) {
	n := &node{}
	if err := json.Unmarshal(o.Extra, &n.place); err != nil {
		return child.Job{}, err
	}
	address := "tcp://127.0.0.1:0"
	if n.place.Seed != "" {
		address += "?seeds=" + n.place.Seed
	}
	n.Node = sabir.NewNode(sabir.NodeID(fmt.Sprint("n", n.place.Index)), sabir.Serve(n.service(fmt.Sprint("own", n.place.Index)), n.service(fmt.Sprint("shared", n.place.Index/Replicas))),
		sabir.Use(policy.Retry{}), sabir.Join(address), sabir.Logger(slog.New(slog.DiscardHandler)))
	if err := n.Node.Start(context.Background()); err != nil {
		return child.Job{}, err
	}
	return child.Job{Answer: n.answer, Stop: n.stop}, nil
}

func (n *node) service(name string) *sabir.Service {
	s := sabir.NewService(name)
	for i := range n.place.Actions / 2 {
		sabir.Handle(s, fmt.Sprint("action", i), func(_ context.Context, in int) (int, error) { return in + i, nil }, sabir.Idempotent())
	}
	return s
}

// answer knows the words "address", "know N" for N services of all nodes, "has NAME" of a service, "add" for the service "added", "collect" for what is
// garbage, "usage", and "call" and "called" around the time in which it calls others.
func (n *node) answer(word string) (any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	word, argument, _ := strings.Cut(word, " ")
	switch word {
	case "address":
		return n.Info().Addr, nil
	case "know":
		return nil, n.know(ctx, argument)
	case "has":
		return nil, n.WaitFor(ctx, argument)
	case "add":
		return nil, n.Add(ctx, n.service("added"))
	case "collect":
		runtime.GC()
		runtime.GC() // what the first has cleared of pools
		return nil, nil
	case "usage":
		return n.usage()
	case "call":
		return nil, n.call()
	case "called":
		return n.callNoMore(), nil
	}
	return nil, fmt.Errorf("a node knows no %q", word)
}

// know waits until the node knows as many services, each counted once for each node that offers it.
func (n *node) know(ctx context.Context, services string) error {
	want, err := strconv.Atoi(services)
	if err != nil {
		return err
	}
	for look := time.NewTicker(20 * time.Millisecond); ; {
		if len(n.Services()) >= want {
			return nil
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return fmt.Errorf("n%d knows %d nodes and %d services of %d", n.place.Index, len(n.Nodes()), len(n.Services()), want)
		}
	}
}

// call begins to call others: each node always the same actions.
func (n *node) call() error {
	var ctx context.Context
	ctx, n.end = context.WithCancel(context.Background())
	n.called = make(chan Calls, 1)
	go func() {
		var c Calls
		defer func() { n.called <- c }()
		for again := time.NewTicker(CallEvery); ; {
			r := rand.New(rand.NewPCG(uint64(n.place.Index), 1))
			for range n.place.Calls {
				action := r.IntN(n.place.Actions / 2)
				got, err := sabir.Call[int](context.Background(), n.Node, fmt.Sprintf("shared%d.action%d", r.IntN(n.place.Nodes)/Replicas, action), 1)
				c.Made++
				if err != nil || got != 1+action {
					c.Failed, c.Failure = c.Failed+1, fmt.Sprint(got, err)
				}
			}
			select {
			case <-again.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return nil
}

// callNoMore ends the calls, and returns what they were.
func (n *node) callNoMore() (c Calls) {
	if n.called != nil {
		n.end()
		c, n.called = <-n.called, nil
	}
	return c
}

func (n *node) usage() (Usage, error) {
	u := Usage{Links: n.Info().Links, Goroutines: runtime.NumGoroutine()}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u.Memory = int64(m.HeapAlloc + m.StackInuse)
	var err error
	if u.CPU, err = child.CPU(); err != nil {
		return u, err
	}
	u.Resident, err = resident()
	return u, err
}

// resident is 0 where the system does not tell.
func resident() (int64, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, nil
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kB, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kB << 10, err
		}
	}
	return 0, nil
}

func (n *node) stop() {
	n.callNoMore()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = n.Node.Stop(ctx)
}
