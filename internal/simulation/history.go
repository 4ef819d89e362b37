package simulation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// History holds the events of one simulation. It follows from the seed.
type History struct {
	Seed   uint64
	Nodes  int
	Broker bool   // the nodes reach each other over a broker, not over connections of their own
	Key    bool   // they have a cluster key
	Sparse bool   // links are made when they are needed; there are no processes then, which keep all links
	Steps  []Step // by time
}

// Step is one thing that a caller does, or that befalls the network or a node.
type Step struct {
	Number int // in the whole history of the seed
	At     time.Duration
	Kind   Kind
	Node   int           // who does it, or whom it befalls
	Other  int           // the other end of a path
	For    time.Duration // how long a fault lasts, or the deadline of a call; 0 for none
	Work   time.Duration // of the handler
	Cancel time.Duration // after which the caller cancels; 0 for never
	Size   int           // of a payload, or how many values a stream has
}

// Kind says what a step does.
type Kind string

// What callers do.
const (
	Call           Kind = "call"            // of an action that may run once only
	CallIdempotent Kind = "call idempotent" // of one that may be tried again
	CallSingle     Kind = "call single"     // of the service that runs on one node at a time
	Stream         Kind = "stream"
	Emit           Kind = "emit"
	Note           Kind = "note"    // messages of a process to one of another node
	Ask            Kind = "ask"     // a call of a process of another node
	Monitor        Kind = "monitor" // of a process of another node
	Link           Kind = "link"    // of two processes of two nodes
	Pay            Kind = "pay"     // a call of a grain, which saves
	AddService     Kind = "add service"
	RemoveService  Kind = "remove service"
)

// FaultKind says what befalls the network or a node.
type FaultKind = Kind

// Faults.
const (
	Cut      FaultKind = "cut"      // connections are reset, and no way leads there for a while
	Hold     FaultKind = "hold"     // nothing arrives for a while, either way
	HoldOne  FaultKind = "hold one" // nothing arrives for a while, one way
	Slow     FaultKind = "slow"
	Reset    FaultKind = "reset"     // connections are reset
	HalfOpen FaultKind = "half-open" // connections are reset for one side
	Stall    FaultKind = "stall"     // nothing leaves a node or arrives there for a while, as with SIGSTOP
	Restart  FaultKind = "restart"   // a node is stopped in order, and started again
	Kill     FaultKind = "kill"      // a node ends at once, and is started again
	Vanish   FaultKind = "vanish"    // and its machine with it
	NoBroker FaultKind = "no broker" // the broker is stopped, and started again
	NoStore  FaultKind = "no store"  // the store of the grains cannot be reached for a while
)

// Most of what a history takes.
const (
	activeTime = 20 * time.Second // in which the steps begin
	mostNodes  = 5
	mostSteps  = 120
	mostFaults = 9
	perFault   = 18 // steps that begin shortly before a fault

	mostSingleCalls = 60
)

// NewHistory returns the history of a seed: of each four, one is a rolling restart.
func NewHistory(seed uint64) History {
	h := randomHistory(seed)
	if seed%4 == 0 {
		h = rollingRestart(seed)
	}
	r := rand.New(rand.NewPCG(seed, 0xb40))
	h.Broker, h.Key = r.IntN(4) == 0, r.IntN(4) == 0
	for _, more := range outages(r, h.Broker) {
		h.Steps = append(h.Steps, more)
		h.Steps = append(h.Steps, stepsInFlight(r, more, h.Nodes)...)
	}
	h.Steps = append(h.Steps, singleCalls(r, h.Nodes)...)
	if h.Sparse = rand.New(rand.NewPCG(seed, 0x59a)).IntN(4) == 0; h.Sparse {
		h.Steps = slices.DeleteFunc(h.Steps, func(s Step) bool { return slices.Contains(ofProcesses, s.Kind) })
	}
	return h.inOrder()
}

var ofProcesses = []Kind{Note, Ask, Monitor, Link, Pay}

// singleCalls returns calls of the service that runs once, all through the history, so that one is mostly being handled where a node loses the lease.
func singleCalls(r *rand.Rand, nodes int) (steps []Step) {
	for range r.IntN(mostSingleCalls) {
		steps = append(steps, Step{At: within(r, 0, activeTime), Kind: CallSingle, Node: r.IntN(nodes), Size: 1 + r.IntN(64), Work: within(r, 0, 3*time.Second)})
	}
	return steps
}

// outages returns faults of the broker, where there is one, and of the store.
func outages(r *rand.Rand, broker bool) (steps []Step) {
	kinds := []FaultKind{NoStore}
	if broker {
		kinds = append(kinds, NoBroker)
	}
	for _, kind := range kinds {
		for range r.IntN(3) {
			steps = append(steps, Step{At: within(r, 0, activeTime), Kind: kind, For: within(r, 0, 8*time.Second)})
		}
	}
	return steps
}

func randomHistory(seed uint64) History {
	r := rand.New(rand.NewPCG(seed, 0x5ab14))
	h := History{Seed: seed, Nodes: 3 + r.IntN(mostNodes-2)}
	for range 20 + r.IntN(mostSteps-20) {
		h.Steps = append(h.Steps, callerStep(r, h.Nodes))
	}
	for range r.IntN(mostFaults + 1) {
		fault := faultStep(r, h.Nodes)
		h.Steps = append(h.Steps, fault)
		h.Steps = append(h.Steps, stepsInFlight(r, fault, h.Nodes)...)
	}
	return h
}

// rollingRestart returns a history in which each node is restarted in turn under load, twice.
func rollingRestart(seed uint64) History {
	r := rand.New(rand.NewPCG(seed, 0x2011))
	h := History{Seed: seed, Nodes: 3}
	at := time.Second
	for range 2 {
		for node := range h.Nodes {
			restart := Step{At: at, Kind: Restart, Node: node, Other: (node + 1) % h.Nodes, For: within(r, 0, 2*time.Second)}
			h.Steps = append(h.Steps, restart)
			h.Steps = append(h.Steps, stepsInFlight(r, restart, h.Nodes)...)
			at += within(r, 500*time.Millisecond, 4*time.Second)
		}
	}
	for range 100 {
		step := callerStep(r, h.Nodes)
		step.At = within(r, 0, at)
		h.Steps = append(h.Steps, step)
	}
	return h
}

func (h History) inOrder() History {
	slices.SortStableFunc(h.Steps, func(a, b Step) int { return int(a.At - b.At) })
	for i := range h.Steps {
		h.Steps[i].Number = i
	}
	return h
}

// within is a random time between two.
func within(r *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(r.Int64N(int64(most-least)+1))
}

func callerStep(r *rand.Rand, nodes int) Step {
	s := Step{At: within(r, 0, activeTime), Node: r.IntN(nodes), Size: 1 + r.IntN(64)}
	s.Other = another(r, s.Node, nodes)
	switch n := r.IntN(100); {
	case n < 20:
		s.Kind = Call
	case n < 35:
		s.Kind = CallIdempotent
	case n < 45:
		s.Kind = Stream
	case n < 60:
		s.Kind = Emit
	case n < 65:
		s.Kind = AddService
	case n < 70:
		s.Kind = RemoveService
	case n < 77:
		s.Kind = Note
	case n < 82:
		s.Kind = Ask
	case n < 86:
		s.Kind = Monitor
	case n < 90:
		s.Kind = Link
	default:
		s.Kind = Pay
	}
	if r.IntN(3) == 0 {
		s.Work = within(r, 0, 300*time.Millisecond)
	}
	if r.IntN(3) == 0 {
		s.For = within(r, time.Millisecond, 2*time.Second)
	}
	if r.IntN(8) == 0 {
		s.Cancel = within(r, time.Millisecond, 500*time.Millisecond)
	}
	if r.IntN(20) == 0 {
		s.Size *= 1000
	}
	return s
}

func faultStep(r *rand.Rand, nodes int) Step {
	s := Step{At: within(r, 0, activeTime), Node: r.IntN(nodes)}
	s.Other = another(r, s.Node, nodes)
	s.Kind = []FaultKind{Cut, Hold, HoldOne, Slow, Reset, HalfOpen, Stall, Restart, Restart, Kill, Kill, Vanish}[r.IntN(12)]
	s.For = within(r, 0, []time.Duration{500 * time.Millisecond, 3 * time.Second, 12 * time.Second}[r.IntN(3)])
	return s
}

func another(r *rand.Rand, than, nodes int) int { return (than + 1 + r.IntN(nodes-1)) % nodes }

// stepsInFlight returns calls, events, messages and monitors that begin shortly before a fault, at both nodes that it befalls, and are mostly
// not answered when it comes. Spread over the whole history, few steps would be under way in that moment, and what a link does with those is what breaks.
func stepsInFlight(r *rand.Rand, fault Step, nodes int) (steps []Step) {
	for i := range perFault {
		s := Step{At: max(0, fault.At-within(r, 0, 60*time.Millisecond)), Kind: inFlight[i%len(inFlight)], Size: 1 + r.IntN(64)}
		s.Node = []int{fault.Node, fault.Other}[r.IntN(2)]
		s.Other = another(r, s.Node, nodes)
		s.Work = within(r, 0, 200*time.Millisecond)
		steps = append(steps, s)
	}
	return steps
}

var inFlight = []Kind{Call, CallIdempotent, Call, Emit, Pay, Note, Ask, Monitor, Link}

// Only returns the history with these steps, by their numbers, and no others.
func (h History) Only(steps []int) History {
	h.Steps = slices.DeleteFunc(slices.Clone(h.Steps), func(s Step) bool { return !slices.Contains(steps, s.Number) })
	return h
}

// String describes the history, a step a line.
func (h History) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, %d nodes", h.Seed, h.Nodes)
	if h.Broker {
		b.WriteString(", over a broker")
	}
	if h.Key {
		b.WriteString(", with a key")
	}
	if h.Sparse {
		b.WriteString(", with links on demand")
	}
	b.WriteString("\n")
	for _, s := range h.Steps {
		fmt.Fprintf(&b, "%4d  %9v  %s\n", s.Number, s.At.Round(time.Millisecond), s)
	}
	return b.String()
}

func (s Step) String() string {
	text := string(s.Kind) + " " + nodeName(s.Node)
	switch s.Kind {
	case NoBroker, NoStore:
		text = string(s.Kind)
	case Cut, Hold, HoldOne, Slow, Reset, HalfOpen, Note, Ask, Monitor, Link:
		text += "-" + nodeName(s.Other)
	}
	for _, part := range []struct {
		name string
		d    time.Duration
	}{{"for", s.For}, {"work", s.Work}, {"cancel after", s.Cancel}} {
		if part.d > 0 {
			text += fmt.Sprintf(", %s %v", part.name, part.d.Round(time.Microsecond))
		}
	}
	return text
}

func nodeName(i int) string { return string(rune('a' + i)) }
