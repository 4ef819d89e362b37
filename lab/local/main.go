// Program local is one contender of the tables that compare what happens within one process: calls, middlewares, telemetry,
// caches, validation and events. The lab starts it; package seeds/moleculer has the tables.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/sabir-go/sabir"

	"github.com/sabir-go/sabir/lab/child"
)

func main() { child.Main(start) }

// work is the work of one row.
type work struct {
	do    func(n int) error                  // n operations, one after another, all checked
	after func() (map[string]float64, error) // after a measurement: further figures, and what was found wrong; may be nil
	stop  func()                             // may be nil
}

// contenders make their works, by the order's row and work.
var contenders = map[string]map[string]func(child.Order) (work, error){
	"plain":         plainWorks,
	"sabir":         sabirWorks,
	"sabir bound":   sabirBoundWorks,
	"sabir process": sabirProcessWorks,
	"sabir clone":   sabirCloneWorks,
	"go-micro":      goMicroWorks,
	"ergo":          ergoWorks,
}

func start(o child.Order) (child.Job, error) {
	begin := contenders[o.Row][o.Work]
	if begin == nil {
		return child.Job{}, fmt.Errorf("there is no %q of %q", o.Work, o.Row)
	}
	w, err := begin(o)
	if err != nil {
		return child.Job{}, err
	}
	return child.Job{Measure: w.measure, Stop: w.stop}, nil
}

func (w work) measure(d time.Duration) (child.Sample, error) {
	s, err := child.Repeat(d, w.do)
	if err != nil || w.after == nil {
		return s, err
	}
	s.Figures, err = w.after()
	return s, err
}

// stopTimeout is the time in which a contender must stop.
const stopTimeout = 2 * time.Second

// started is a running node, and what stops it.
func started(options ...sabir.NodeOption) (*sabir.Node, func(), error) {
	node := sabir.NewNode(append(options, sabir.Logger(quiet))...)
	if err := node.Start(context.Background()); err != nil {
		return nil, nil, err
	}
	return node, func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		node.Stop(ctx)
	}, nil
}

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))
