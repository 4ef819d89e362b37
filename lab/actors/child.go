package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"
)

// A child is this program started again, for one contender and one scenario, so that no heap or goroutine of another is in
// the way. It reports on file 3, a JSON document a line, and takes orders, a word a line, on its standard input; when
// that ends it stops.

const (
	roleVariable = "SABIR_LAB_ACTORS"
	reportFile   = 3

	roleAlone = "alone" // a scenario on one node: it measures and reports
	rolePong  = "pong"  // the node that is sent to or called: it reports that it is ready, and when all messages are here
	rolePing  = "ping"  // the node that sends or calls: it reports that it is ready, and does so when told orderGo

	orderGo       = "go"
	orderProblems = "problems"
)

// report is one line of a child.
type report struct {
	Error    string   `json:"error,omitempty"`
	Outcome  *outcome `json:"outcome,omitempty"`
	Problems []string `json:"problems,omitempty"`
	// At is when the first message was sent or the last one came, by the machine's clock, which both nodes share.
	At     time.Time `json:"at"`
	Faults faults    `json:"faults"`
}

// childMain runs the role that the environment asks for; it does nothing where none is asked for.
func childMain() (wasChild bool) {
	text := os.Getenv(roleVariable)
	if text == "" {
		return false
	}
	out := json.NewEncoder(os.NewFile(reportFile, "reports"))
	if err := runRole(text, func(r report) { out.Encode(r) }); err != nil {
		out.Encode(report{Error: err.Error()})
	}
	return true
}

func runRole(text string, say func(report)) error {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return fmt.Errorf("%s=%s: %w", roleVariable, text, err)
	}
	found := new(problems)
	for _, c := range contenders() {
		if c.name != o.Contender {
			continue
		}
		n, err := c.start(setup{Address: o.Address, Peer: o.Peer, Scenario: o.Scenario, Fail: found.add})
		if err != nil {
			return fmt.Errorf("start the node: %w", err)
		}
		defer n.stop()
		switch o.Role {
		case roleAlone:
			return runAlone(n, o, found, say)
		case rolePong:
			return runPong(n, o, found, say)
		}
		return runPing(n, o, found, say)
	}
	return fmt.Errorf("no contender is called %q", o.Contender)
}

func runAlone(n node, o order, found *problems, say func(report)) error {
	run := map[string]func(node, order) (outcome, error){local11: pingHere, localNN: pingHere, localCall: callHere,
		memory: startMany, publish: publishToMany}[o.Scenario]
	result, err := run(n, o)
	if err != nil {
		return err
	}
	result.Problems = found.all()
	say(report{Outcome: &result})
	return nil
}

func runPong(n node, o order, found *problems, say func(report)) error {
	orders := bufio.NewScanner(os.Stdin)
	if o.Callers > 0 {
		if err := n.answer(answerName); err != nil {
			return err
		}
		say(report{})
		for orders.Scan() {
		}
		return orders.Err()
	}
	counters, err := receiveAll(n, o)
	if err != nil {
		return err
	}
	say(report{})
	for orders.Scan() {
		finished, wrong := awaitAll(counters)
		say(report{At: finished, Faults: wrong, Problems: found.all()})
	}
	return orders.Err()
}

func runPing(n node, o order, found *problems, say func(report)) error {
	measure, err := preparePing(n, o)
	if err != nil {
		return err
	}
	say(report{})
	for orders := bufio.NewScanner(os.Stdin); orders.Scan(); {
		if orders.Text() == orderProblems {
			say(report{Problems: found.all()})
			continue
		}
		r, err := measure()
		if err != nil {
			return err
		}
		say(r)
	}
	return nil
}

// preparePing finds what is to be sent to or called.
func preparePing(n node, o order) (measure func() (report, error), err error) {
	if o.Callers > 0 {
		return func() (report, error) {
			result, err := callsTo(n, o, place{o.Peer, answerName}, 1)
			return report{Outcome: &result}, err
		}, nil
	}
	begin, err := sendAll(n, o)
	return func() (report, error) {
		started := time.Now()
		return report{At: started}, begin()
	}, err
}

// problems keeps the first few of what goes wrong inside a node.
type problems struct {
	lock  sync.Mutex
	first []string
	more  int
}

// keptProblems is how many are kept.
const keptProblems = 3

func (p *problems) add(err error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if len(p.first) < keptProblems {
		p.first = append(p.first, err.Error())
		return
	}
	p.more++
}

func (p *problems) all() []string {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.more > 0 {
		return append(p.first[:len(p.first):len(p.first)], fmt.Sprintf("and %d more", p.more))
	}
	return p.first
}
