// Command actors measures Go's actor libraries side by side: messages between processes on one node and on two, calls, what
// a million processes take, and one publication to a million subscribers. Each run of each contender has OS processes of
// its own, all contenders run once before any runs a second time, and every message and reply is checked.
//
//	go run ./actors                                  everything, three rounds
//	go run ./actors -only local-1-1,ergo,hollywood   one scenario, two contenders
//	go run ./actors -messages 30000 -processes 10000 -rounds 1   a smoke run
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/sabir-go/sabir/lab/table"
)

func main() {
	if childMain() {
		return
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "actors:", err)
		os.Exit(1)
	}
}

// plan is what the flags ask for.
type plan struct {
	scenarios  []scenario
	contenders []contender
	rounds     int
	messages   uint64 // 1-1; each pair of N-N has a third
	processes  int
	duration   time.Duration // of calls
	patience   time.Duration // for one run
	json       bool
}

// manyCallers is how many callers the scenario with many has.
const manyCallers = 100

func scenarios() []scenario {
	more := func(name string, write func(float64) string) column { return column{name: name, write: write} }
	less := func(name string, write func(float64) string) column {
		return column{name: name, write: write, less: true}
	}
	rate := []column{more("messages/s", table.Count)}
	calls := []column{less("mean µs", table.Micros), more("calls/s", table.Count), less("p50 µs", table.Micros), less("p99 µs", table.Micros)}
	return []scenario{
		{name: local11, title: "one process sends %d messages to one on the same node", columns: rate},
		{name: localNN, title: "%d pairs on one node, %d messages each", columns: rate},
		{name: remote11, title: "one process sends %d messages to one on a node in another OS process", columns: rate, remote: true},
		{name: remoteNN, title: "%d pairs across two nodes, %d messages each", columns: rate, remote: true},
		{name: localCall, title: "one caller on the same node; percentiles are those of the means of 64 calls", columns: calls},
		{name: remoteCall, title: "one caller on another node", columns: calls, remote: true},
		{name: remoteCalls, title: "100 callers on another node", columns: calls, remote: true},
		{name: memory, title: "processes that wait", columns: []column{less("bytes each", table.Count), less("RSS each", table.Count),
			less("s to start", table.Digits), more("starts/s", table.Count), less("s for a GC", table.Digits), more("processes", table.Count)}},
		{name: publish, title: "one message to all subscribers on one node", columns: []column{more("deliveries/s", table.Count),
			less("s to subscribe", table.Digits), more("subscribers", table.Count)}},
	}
}

// about is the title with the plan's numbers in it.
func (s scenario) about(p plan) string {
	switch s.name {
	case local11, remote11:
		return fmt.Sprintf(s.title, p.messages)
	case localNN, remoteNN:
		return fmt.Sprintf(s.title, runtime.NumCPU(), p.messages/3)
	}
	return s.title
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	p, err := planOf(args, progress)
	if err != nil {
		return err
	}
	load := loadNow()
	groups := p.measure(ctx, progress)
	if p.json {
		return writeJSON(out, p, groups, load)
	}
	return writeTables(out, p, groups, load)
}

func planOf(args []string, messages io.Writer) (plan, error) {
	p := plan{}
	flags := flag.NewFlagSet("actors", flag.ContinueOnError)
	flags.SetOutput(messages)
	flags.IntVar(&p.rounds, "rounds", 3, "rounds, in each of which every contender runs once; the medians are shown")
	flags.Uint64Var(&p.messages, "messages", 3_000_000, "messages of the 1-1 pings; each pair of N-N sends a third")
	flags.IntVar(&p.processes, "processes", 1_000_000, "processes of the memory and publish scenarios, where the contender can have that many")
	flags.DurationVar(&p.duration, "duration", 2*time.Second, "length of the calls' runs, without a fifth of that to warm up")
	flags.DurationVar(&p.patience, "patience", 5*time.Minute, "time limit of one run")
	only := flags.String("only", "", "parts of names of scenarios, of contenders, or of both, a list")
	flags.BoolVar(&p.json, "json", false, "write JSON")
	if err := flags.Parse(args); err != nil {
		return plan{}, err
	}
	if flags.NArg() > 0 {
		return plan{}, fmt.Errorf("%q is not a flag; see -help", flags.Arg(0))
	}
	if p.rounds < 1 || p.messages < 3 || p.processes < 1 || p.duration < 10*time.Millisecond {
		return plan{}, errors.New("want at least 1 round, 3 messages, 1 process and 10ms of calls")
	}
	var err error
	p.scenarios, p.contenders, err = choose(*only)
	return p, err
}

// choose keeps the scenarios that a part of the list names, or all if none does; the contenders likewise.
func choose(list string) ([]scenario, []contender, error) {
	allScenarios, allContenders := scenarios(), contenders()
	if list == "" {
		return allScenarios, allContenders, nil
	}
	keepScenarios, keepContenders := map[string]bool{}, map[string]bool{}
	for part := range strings.SplitSeq(list, ",") {
		part = strings.TrimSpace(part)
		known := false
		for _, s := range allScenarios {
			if strings.Contains(s.name, part) {
				keepScenarios[s.name], known = true, true
			}
		}
		for _, c := range allContenders {
			if strings.Contains(c.name, part) {
				keepContenders[c.name], known = true, true
			}
		}
		if !known {
			return nil, nil, fmt.Errorf("-only: %q is in the name of no scenario and no contender. Scenarios: %s. Contenders: %s", part,
				namesOf(allScenarios, func(s scenario) string { return s.name }), namesOf(allContenders, func(c contender) string { return c.name }))
		}
	}
	if len(keepScenarios) > 0 {
		allScenarios = slices.DeleteFunc(allScenarios, func(s scenario) bool { return !keepScenarios[s.name] })
	}
	if len(keepContenders) > 0 {
		allContenders = slices.DeleteFunc(allContenders, func(c contender) bool { return !keepContenders[c.name] })
	}
	return allScenarios, allContenders, nil
}

func namesOf[T any](all []T, name func(T) string) string {
	var list []string
	for _, one := range all {
		list = append(list, name(one))
	}
	return strings.Join(list, ", ")
}

// measure runs every contender in every scenario once a round, so that noise hits all alike.
func (p plan) measure(ctx context.Context, progress io.Writer) []group {
	var groups []group
	for _, s := range p.scenarios {
		for _, c := range p.contenders {
			if c.has(s.name) {
				groups = append(groups, group{scenario: s, contender: c})
			}
		}
	}
	for round := range p.rounds {
		for i := range groups {
			g := &groups[i]
			result, err := runOnce(ctx, g.scenario, p.order(g.scenario.name, g.contender), p.patience)
			if ctx.Err() != nil {
				return groups
			}
			g.add(result, err)
			fmt.Fprintf(progress, "round %d of %d: %s, %s\n", round+1, p.rounds, g.scenario.name, g.contender.name)
		}
	}
	return groups
}

// order is what a child of a contender does in a scenario.
func (p plan) order(scenario string, c contender) order {
	o := order{Contender: c.name, Scenario: scenario}
	switch scenario {
	case local11, remote11:
		o.Pairs, o.Messages = 1, p.messages
	case localNN, remoteNN:
		o.Pairs, o.Messages = runtime.NumCPU(), p.messages/3
	case localCall, remoteCall:
		o.Callers, o.Duration = 1, p.duration
	case remoteCalls:
		o.Callers, o.Duration = manyCallers, p.duration
	case memory, publish:
		o.Processes = p.processes
		if c.processes > 0 {
			o.Processes = min(o.Processes, c.processes)
		}
	}
	return o
}
