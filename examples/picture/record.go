package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/policy"
	_ "github.com/sabir-go/sabir/transport/tcp" // tcp://
)

const (
	address  = "tcp://127.0.0.1:7790"
	callers  = 32
	interval = 100 * time.Millisecond
	warmUp   = 20 // intervals
	samples  = 60
	killAt   = 25
	victim   = 1
)

type hello struct {
	Name string `json:"name"`
}

type reply struct {
	Node string `json:"node"`
}

// record starts the program of the ten-minute start three times, calls it from another node and kills one of the three.
func record(ctx context.Context) (r run, err error) {
	folder, err := os.MkdirTemp("", "picture")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(folder)
	program := filepath.Join(folder, "hello")
	if out, err := exec.Command("go", "build", "-o", program, "./examples/start/node").CombinedOutput(); err != nil {
		return r, fmt.Errorf("%w\n%s", err, out)
	}
	r = run{Machine: fmt.Sprintf("%d shared cores", runtime.NumCPU()), Callers: callers, Interval: int(interval.Milliseconds()),
		Nodes: []string{"one", "two", "three"}, Killed: victim, KilledAt: killAt}
	var processes []*exec.Cmd
	for _, id := range r.Nodes {
		p := exec.CommandContext(ctx, program, "-id", id, "-http", ":0", "-join", address)
		if err := p.Start(); err != nil {
			return r, err
		}
		defer p.Wait()
		defer p.Process.Kill()
		processes = append(processes, p)
	}

	start, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	node, err := join(start)
	if err != nil {
		return r, err
	}
	defer node.Stop(ctx)
	for a := node.Action("greeter.hello"); a == nil || len(a.Nodes()) < len(r.Nodes); a = node.Action("greeter.hello") {
		if err := start.Err(); err != nil {
			return r, err
		}
		time.Sleep(interval)
	}

	counts := make([]atomic.Int64, len(r.Nodes))
	var failed atomic.Int64
	index := map[string]int{}
	for i, id := range r.Nodes {
		index[id] = i
	}
	load, stop := context.WithCancel(ctx)
	defer stop()
	var working sync.WaitGroup
	for range callers {
		working.Go(func() {
			for load.Err() == nil {
				answer, err := sabir.Call[reply](ctx, node, "greeter.hello", hello{"Ada"})
				if err != nil {
					failed.Add(1)
					continue
				}
				counts[index[answer.Node]].Add(1)
			}
		})
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	before := make([]int64, len(r.Nodes))
	for range warmUp {
		<-tick.C
	}
	for n := range counts {
		before[n] = counts[n].Load()
	}
	for i := range samples {
		if i == killAt {
			if err := processes[victim].Process.Kill(); err != nil { // SIGKILL: it can do nothing about it
				return r, err
			}
		}
		<-tick.C
		sample := make([]int, len(r.Nodes))
		for n := range counts {
			now := counts[n].Load()
			sample[n], before[n] = int(now-before[n]), now
			r.Calls += sample[n]
		}
		r.Samples = append(r.Samples, sample)
	}
	stop()
	working.Wait()
	r.Failed = int(failed.Load())
	return r, nil
}

// join makes a node that calls the others, once one of them is there.
func join(ctx context.Context) (*sabir.Node, error) {
	for {
		node := sabir.NewNode(sabir.Join(address, cluster.Config{ClientOnly: true}), sabir.Use(policy.Retry{}))
		err := node.Start(ctx)
		if err == nil || ctx.Err() != nil {
			return node, err
		}
		time.Sleep(interval)
	}
}
