package main

import (
	"ergo.services/ergo"
	"ergo.services/ergo/act"
	"ergo.services/ergo/gen"

	"github.com/sabir-go/sabir/lab/child"
)

var ergoWorks = map[string]func(child.Order) (work, error){"call": ergoCalls}

type ergoAdder struct{ act.Actor }

func (*ergoAdder) HandleCall(_ gen.PID, _ gen.Ref, request any) (any, error) {
	pair := request.(Pair)
	return pair.A + pair.B, nil
}

// ergoCaller calls from inside of a process, as Ergo wants it.
type ergoCaller struct {
	act.Actor
	do func(n int) error
}

// ergoRun has the caller do a number of calls.
type ergoRun struct {
	n    int
	done chan<- error
}

func (c *ergoCaller) HandleMessage(_ gen.PID, message any) error {
	run := message.(ergoRun)
	run.done <- c.do(run.n)
	return nil
}

// ergoSeconds limits a call.
const ergoSeconds = 10

// ergoCalls has one process ask another for the sum.
func ergoCalls(child.Order) (work, error) {
	var options gen.NodeOptions
	options.Log.DefaultLogger.Disable = true
	options.Network.Mode = gen.NetworkModeDisabled
	node, err := ergo.StartNode("local@localhost", options)
	if err != nil {
		return work{}, err
	}
	adder, err := node.Spawn(func() gen.ProcessBehavior { return new(ergoAdder) }, gen.ProcessOptions{})
	if err != nil {
		return work{}, err
	}
	caller, err := node.Spawn(func() gen.ProcessBehavior {
		c := new(ergoCaller)
		c.do = sums(func(in Pair) (int, error) {
			sum, err := c.CallPID(adder, in, ergoSeconds)
			if err != nil {
				return 0, err
			}
			return sum.(int), nil
		})
		return c
	}, gen.ProcessOptions{})
	if err != nil {
		return work{}, err
	}
	done := make(chan error)
	return work{stop: node.StopForce, do: func(n int) error {
		if err := node.Send(caller, ergoRun{n, done}); err != nil {
			return err
		}
		return <-done
	}}, nil
}
