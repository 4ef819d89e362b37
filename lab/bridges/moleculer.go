package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/moleculer"
	_ "github.com/sabir-go/sabir/broker/nats"
	"github.com/sabir-go/sabir/lab/child"
)

// number is the input and the answer of a call, ten bytes of JSON, as in the programs for Node.
type number struct {
	A int `json:"a"`
}

// numbers are as many as there are of four digits.
const numbers = 9000

func moleculerSide(o child.Order) (*sabir.Node, func(int) func() error, error) {
	var s struct {
		Cluster string `json:"cluster"`
	}
	if err := json.Unmarshal(o.Extra, &s); err != nil {
		return nil, nil, fmt.Errorf("the order's extra: %w", err)
	}
	c := moleculer.Config{Address: o.Address, Namespace: s.Cluster}
	if o.Role == "server" {
		service := sabir.NewService("echo")
		sabir.Handle(service, "reply", func(_ context.Context, in number) (number, error) { return in, nil })
		c.Expose = []string{"echo.*"}
		return sabir.NewNode(sabir.NodeID("server"), quiet, sabir.Serve(service), moleculer.Bridge(c)), nil, nil
	}
	node := sabir.NewNode(sabir.NodeID("client"), quiet, moleculer.Bridge(c))
	reply := sabir.Bind[number, number](node, "echo.reply")
	return node, func(caller int) func() error {
		sequence := 0
		return func() error {
			sequence++
			sent := number{1000 + (caller*89+sequence)%numbers}
			got, err := reply(context.Background(), sent)
			if err == nil && got != sent {
				err = fmt.Errorf("caller %d sent %v and got %v", caller, sent, got)
			}
			return err
		}
	}, nil
}
