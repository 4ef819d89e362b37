// Package child is a measured program's side of the lab. The lab starts each row of a table as one or more processes, so that
// none has the heap, the threads or the packages of another: it hands each its Order, waits until it is ready, has one of them
// measure again and again, and reads from the system what all of them used.
//
// The protocol is the same for programs in any language:
//
//   - The order is a JSON document in the environment variable SABIR_LAB_ORDER.
//   - Reports are JSON documents, a line each, on file descriptor 3. The first, when the process is ready, is {} or {"error": …}.
//   - What the lab wants next is a line on the standard input: "measure NANOSECONDS", or a word of the program's own. Each is
//     answered by one report. When the standard input ends, the process ends.
package child

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Variable is the environment variable with the order.
const Variable = "SABIR_LAB_ORDER"

const reportFile = 3

// Order is the order with which the lab starts a process. The program defines the meaning of the names.
type Order struct {
	Role    string          `json:"role"`              // such as "server" or "client"
	Row     string          `json:"row"`               // which contender
	Work    string          `json:"work"`              // what it does: the table, a scenario, a mode
	Address string          `json:"address,omitempty"` // where the server listens, or is; a broker's URL
	Peer    string          `json:"peer,omitempty"`    // a second address, where two nodes know each other
	Callers int             `json:"callers,omitempty"` // concurrent callers
	Size    int             `json:"size,omitempty"`    // bytes of a message, or whatever the work counts
	Rate    float64         `json:"rate,omitempty"`    // operations a second of an open loop; 0: a closed one
	Extra   json.RawMessage `json:"extra,omitempty"`   // what only this program knows
}

// Sample is the result of one measurement. Operations were answered and right; Wrong were not.
type Sample struct {
	Operations int64              `json:"operations"`
	Elapsed    time.Duration      `json:"elapsed"`             // nanoseconds, as all durations here
	Latencies  Latencies          `json:"latencies,omitempty"` // of single operations, where they were timed
	CPU        time.Duration      `json:"cpu,omitempty"`       // of the measuring process; 0: the lab reads it from the system
	Figures    map[string]float64 `json:"figures,omitempty"`   // what the table has besides, by its columns' keys
	Wrong      int64              `json:"wrong,omitempty"`     // wrong answers and errors: any of them fails the row
	Problem    string             `json:"problem,omitempty"`   // the first of them, in words
}

// Report is one line of a process.
type Report struct {
	Error  string          `json:"error,omitempty"`
	Sample *Sample         `json:"sample,omitempty"`
	Data   json.RawMessage `json:"data,omitempty"` // the answer to a word of the program's own
}

// Job is a process at work. Only Measure of the process that measures is called, and Answer where the lab says other words.
type Job struct {
	Measure func(d time.Duration) (Sample, error) // works for about d, checking every answer
	Answer  func(word string) (any, error)        // becomes the report's data
	Stop    func()                                // before the process ends
}

// Main is the main function of a measured program: start makes the process ready for its order. It ends the program.
func Main(start func(Order) (Job, error)) {
	out := json.NewEncoder(os.NewFile(reportFile, "reports"))
	if err := run(os.Getenv(Variable), bufio.NewScanner(os.Stdin), start, func(r Report) { out.Encode(r) }); err != nil {
		out.Encode(Report{Error: err.Error()})
		os.Exit(1)
	}
}

func run(order string, orders *bufio.Scanner, start func(Order) (Job, error), say func(Report)) error {
	if order == "" {
		return fmt.Errorf("this program is started by the lab: go run -C lab . run")
	}
	var o Order
	if err := json.Unmarshal([]byte(order), &o); err != nil {
		return fmt.Errorf("%s=%s: %w", Variable, order, err)
	}
	job, err := start(o)
	if err != nil {
		return err
	}
	if job.Stop != nil {
		defer job.Stop()
	}
	say(Report{})
	for orders.Scan() {
		r, err := job.answer(orders.Text())
		if err != nil {
			r = Report{Error: err.Error()}
		}
		say(r)
	}
	return orders.Err()
}

func (j Job) answer(line string) (Report, error) {
	if text, ok := strings.CutPrefix(line, "measure "); ok && j.Measure != nil {
		nanoseconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return Report{}, fmt.Errorf("%q: %w", line, err)
		}
		s, err := j.Measure(time.Duration(nanoseconds))
		return Report{Sample: &s}, err
	}
	if j.Answer == nil {
		return Report{}, fmt.Errorf("this process knows no %q", line)
	}
	v, err := j.Answer(line)
	if err != nil {
		return Report{}, err
	}
	data, err := json.Marshal(v)
	return Report{Data: data}, err
}
