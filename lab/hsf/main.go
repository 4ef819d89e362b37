// Command hsf has the calls of node-hsf's benchmark, served and made by Sabir, by dubbo-go and by a bare echo, each as the lab
// orders it. The order's Row is the contender, its Work the method, its Size the connections and its Extra a Setting.
package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/sabir-go/sabir/lab/child"
)

func main() { child.Main(start) }

// Setting is the part of an order that only this program has.
type Setting struct {
	Codec string `json:"codec"` // "json" or "hessian"
}

// The methods. Each is a name, what a caller asks, and what it must be answered.
const (
	ping       = "ping"       // answers "echo"
	parse      = "parse"      // answers the complex object to "s", 1, 2
	noError    = "noError"    // answers "ok"
	asyncError = "asyncError" // fails on another goroutine than its own
	panics     = "panic"      // the same, by a panic
)

// contender is one library.
type contender struct {
	serve func(address string, s Setting) (stop func(), err error)
	dial  func(address, method string, connections int, s Setting) (*client, error)
}

// client is a contender's client, connected. call makes the calls of one caller; each reports a wrong answer as an error, and
// looks at the whole of it where full is set.
type client struct {
	call  func(caller int) func(full bool) error
	close func()
}

var contenders = map[string]contender{
	"sabir":    {serve: serveSabir, dial: dialSabir},
	"raw":      {serve: serveRaw, dial: dialRaw},
	"dubbo-go": {serve: serveDubbo, dial: dialDubbo},
}

func start(o child.Order) (child.Job, error) {
	c, known := contenders[o.Row]
	if !known {
		return child.Job{}, fmt.Errorf("no contender is called %q", o.Row)
	}
	var s Setting
	if err := json.Unmarshal(o.Extra, &s); err != nil {
		return child.Job{}, fmt.Errorf("the order's extra: %w", err)
	}
	if o.Role == "server" {
		stop, err := c.serve(o.Address, s)
		return child.Job{Stop: stop}, err
	}
	client, err := c.dial(o.Address, o.Work, o.Size, s)
	if err != nil {
		return child.Job{}, err
	}
	return child.Job{Stop: client.close, Measure: func(d time.Duration) (child.Sample, error) {
		return child.Closed(d, o.Callers, client.caller)
	}}, nil
}

// One of fullEach answers is compared in full.
const fullEach = 1000

// caller is one of the closed loop's. Its first answer is compared in full, too.
func (c *client) caller(i int) func() error {
	call, n := c.call(i), 0
	return func() error {
		full := n%fullEach == 0
		n++
		return call(full)
	}
}
