package ergo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"time"

	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/child"
)

// openRow is bench.Row's Open.
type openRow = func(context.Context, *bench.Env) (bench.Runner, error)

const (
	server = "server" // the node that is there first, see program actors
	client = "client"
)

// oneNode is counted work on one node, anew for each measurement.
func oneNode(o child.Order) bench.Runner {
	return bench.Fresh(func(ctx context.Context) (bench.Runner, error) {
		o.Role = client
		return bench.Children(ctx, bench.Child(actors, o, bench.Unpinned))
	})
}

// callers call a process that answers, on the same node, or on another where there are two.
func callers(ctx context.Context, o child.Order, nodes int) (bench.Runner, error) {
	if nodes == 1 {
		o.Role = client
		return bench.Children(ctx, bench.Child(actors, o, bench.Unpinned))
	}
	first, second, err := twoNodes(o)
	if err != nil {
		return nil, err
	}
	return bench.Children(ctx, bench.Child(actors, first, bench.Unpinned), bench.Child(actors, second, bench.Unpinned))
}

// twoNodes are the orders of two nodes that know each other.
func twoNodes(o child.Order) (first, second child.Order, err error) {
	addresses, err := freeAddresses()
	first, second = o, o
	first.Role, first.Address, first.Peer = server, addresses[0], addresses[1]
	second.Role, second.Address, second.Peer = client, addresses[1], addresses[0]
	return first, second, err
}

// between is counted work of two nodes, anew for each measurement: so many operations, sent by the server or by the client.
func between(o child.Order, operations int64, sender string) bench.Runner {
	return bench.Fresh(func(ctx context.Context) (bench.Runner, error) {
		first, second, err := twoNodes(o)
		if err != nil {
			return nil, err
		}
		serves, err := bench.StartChild(ctx, actors, first, bench.Unpinned)
		if err != nil {
			return nil, err
		}
		calls, err := bench.StartChild(ctx, actors, second, bench.Unpinned)
		if err != nil {
			serves.Stop()
			return nil, err
		}
		if sender == server {
			return &pair{sends: serves, receives: calls, operations: operations}, nil
		}
		return &pair{sends: calls, receives: serves, operations: operations}, nil
	})
}

// pair is two nodes at counted work.
type pair struct {
	sends, receives *bench.Process
	operations      int64
}

// moment is a node's answer to a command; see program actors.
type moment struct {
	At      int64
	CPU     time.Duration
	Memory  float64
	Wrong   int64
	Problem string
}

func say(ctx context.Context, to *bench.Process, word string) (m moment, err error) {
	r, err := to.Ask(ctx, word)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(r.Data, &m); err != nil {
		return m, fmt.Errorf("the %s's answer to %q: %w", to.Role, word, err)
	}
	return m, nil
}

func (p *pair) Measure(ctx context.Context, _ time.Duration) (child.Sample, error) {
	if _, err := say(ctx, p.receives, "begin"); err != nil {
		return child.Sample{}, err
	}
	begun, err := say(ctx, p.sends, "begin")
	if err != nil {
		return child.Sample{}, err
	}
	come, err := say(ctx, p.receives, "end")
	if err != nil {
		return child.Sample{}, err
	}
	sent, err := say(ctx, p.sends, "end")
	if err != nil {
		return child.Sample{}, err
	}
	problem := strings.TrimPrefix(come.Problem+"; "+sent.Problem, "; ")
	return child.Sample{Operations: p.operations, Elapsed: time.Duration(come.At - begun.At), CPU: sent.CPU + come.CPU,
		Wrong: sent.Wrong + come.Wrong, Problem: strings.TrimSuffix(problem, "; "),
		Figures: map[string]float64{"memory": sent.Memory + come.Memory, "processes": float64(p.operations)}}, nil
}

func (p *pair) Processes() []*bench.Process { return []*bench.Process{p.receives, p.sends} }

func (p *pair) Close() {
	p.sends.Stop()
	p.receives.Stop()
}

// freeAddresses are two addresses with neighbouring ports that nobody listens at just now, nor at the port below them, which
// Ergo's registrar uses too.
func freeAddresses() ([2]string, error) {
	const tries = 100
	for range tries {
		port := 20_000 + rand.IntN(10_000)
		if free(port) && free(port+1) && free(port+2) {
			return [2]string{fmt.Sprintf("127.0.0.1:%d", port+1), fmt.Sprintf("127.0.0.1:%d", port+2)}, nil
		}
	}
	return [2]string{}, errors.New("no three free ports in a row between 20000 and 30000")
}

func free(port int) bool {
	listener, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
	if err != nil {
		return false
	}
	listener.Close()
	return true
}
