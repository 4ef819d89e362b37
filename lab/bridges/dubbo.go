package main

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/dubbo"
	"github.com/sabir-go/sabir/lab/child"
)

// benchmarkInterface is the interface in peers/dubbo/Dubbo.java.
const benchmarkInterface = "Dubbo$Benchmark"

// arguments are those of parse.
type arguments struct {
	S    string
	A, B int32
}

// parsed is its answer, a map in Java.
type parsed struct {
	String  string  `json:"string"`
	Number  float64 `json:"number"`
	Boolean bool    `json:"boolean"`
	Array   []any   `json:"array"`
	Obj     inner   `json:"obj"`
}

type inner struct {
	String  string         `json:"string"`
	Boolean bool           `json:"boolean"`
	Array   []string       `json:"array"`
	Number  float64        `json:"number"`
	Obj     map[string]any `json:"obj"`
}

func object() parsed {
	foo := map[string]any{"foo": "bar"}
	return parsed{"hello world", 1024.1, true, []any{"hello", 1024.12, true, foo, []any{int32(1), int32(2), int32(3)}},
		inner{"hello", true, []string{"hello", "world"}, 1024.123, map[string]any{"foo": "bar"}}}
}

var errShape = errors.New("the answer is another one")

func dubboSide(o child.Order) (*sabir.Node, func(int) func() error, error) {
	address := "dubbo://" + o.Address
	if o.Role == "server" {
		_, port, err := net.SplitHostPort(o.Address)
		if err != nil {
			return nil, nil, err
		}
		address = "dubbo://0.0.0.0:" + port // Java dials another address of this machine than 127.0.0.1
		service := sabir.NewService("benchmark")
		sabir.Handle(service, "ping", func(context.Context, sabir.Empty) (string, error) { return "echo", nil })
		sabir.Handle(service, "parse", func(_ context.Context, in arguments) (parsed, error) {
			if in != (arguments{"s", 1, 2}) {
				return parsed{}, errShape
			}
			return object(), nil
		})
		return sabir.NewNode(sabir.NodeID("server"), quiet, sabir.Serve(service), dubbo.Bridge(dubbo.Config{Open: true, Serve: map[string][]dubbo.Interface{address: {{Name: benchmarkInterface, Service: "benchmark"}}}})), nil, nil
	}
	node := sabir.NewNode(sabir.NodeID("client"), quiet, dubbo.Bridge(dubbo.Config{References: map[string][]dubbo.Interface{address: {{Name: benchmarkInterface, Service: "benchmark",
		Methods: []dubbo.Method{{Name: "ping", Parameters: []string{}}, {Name: "parse", Parameters: []string{"java.lang.String", "int", "int"}}}}}}}))
	switch o.Work {
	case "ping":
		ping := sabir.Bind[sabir.Empty, string](node, "benchmark.ping")
		return node, func(int) func() error {
			return func() error {
				got, err := ping(context.Background(), sabir.Empty{})
				if err == nil && got != "echo" {
					err = errShape
				}
				return err
			}
		}, nil
	case "parse":
		parse := sabir.Bind[arguments, parsed](node, "benchmark.parse")
		return node, func(int) func() error {
			return func() error {
				got, err := parse(context.Background(), arguments{"s", 1, 2})
				if err == nil && (got.String != "hello world" || len(got.Array) != 5 || got.Obj.Obj["foo"] != "bar") {
					err = errShape
				}
				return err
			}
		}, nil
	}
	return nil, nil, fmt.Errorf("no method is called %q", o.Work)
}
