package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/sabir-go/sabir/lab/message"
)

// A child is this program started again, as the server or the client of one contender, so that neither has a heap or
// goroutines of another contender. It reports on file 3, a JSON document a line, and takes orders, a word a line, on its
// standard input; when that ends it stops.

// order is what a child is started with, in the environment variable roleVariable.
type order struct {
	Role      string `json:"role"` // "server" or "client"
	Contender string `json:"contender"`
	Address   string `json:"address"`
	Load      load   `json:"load"`

	// Request is the message as JSON, for the peers that are not written in Go.
	Request *message.Message `json:"request,omitempty"`
}

// report is one line of a child.
type report struct {
	Error   string   `json:"error,omitempty"`
	Usage   *usage   `json:"usage,omitempty"`
	Outcome *outcome `json:"outcome,omitempty"`
}

const (
	roleVariable = "SABIR_LAB_ROLE"
	reportFile   = 3
	orderUsage   = "usage" // to a server: report what you have used
	orderGo      = "go"    // to a client: measure
)

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
	orders := bufio.NewScanner(os.Stdin)
	for _, c := range slices.Concat(contenders(), carried()) {
		if c.name != o.Contender {
			continue
		}
		if o.Role == "server" {
			return runServer(c, o, orders, say)
		}
		return runClient(c, o, orders, say)
	}
	return fmt.Errorf("no contender is called %q", o.Contender)
}

func runServer(c contender, o order, orders *bufio.Scanner, say func(report)) error {
	stop, err := c.serve(o.Address)
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	defer stop()
	say(report{})
	for orders.Scan() {
		used, err := usageNow()
		if err != nil {
			return err
		}
		say(report{Usage: &used})
	}
	return orders.Err()
}

func runClient(c contender, o order, orders *bufio.Scanner, say func(report)) error {
	dialed, err := c.dial(o.Address, o.Load.Callers)
	if err != nil {
		return fmt.Errorf("client: %w", err)
	}
	defer dialed.close()
	measure, err := o.Load.prepare(dialed)
	if err != nil {
		return err
	}
	say(report{})
	if !orders.Scan() {
		return orders.Err()
	}
	result, err := measure()
	if err != nil {
		return err
	}
	say(report{Outcome: &result})
	return nil
}

// prepare warms up and returns what then measures.
func (l load) prepare(c *client) (measure func() (outcome, error), err error) {
	if l.Mode == batchMode {
		return l.prepareBatches(c)
	}
	if l.Mode == streamMode {
		warm := l
		warm.Duration = l.Warmup
		result, err := warm.push(c)
		if err != nil {
			return nil, err
		}
		if result.Errors > 0 {
			return nil, fmt.Errorf("warm-up: %s", result.Problem)
		}
		return func() (outcome, error) { return l.push(c) }, nil
	}
	callers, err := l.callers(c)
	if err != nil {
		return nil, err
	}
	return func() (outcome, error) { return l.measure(callers) }, nil
}
