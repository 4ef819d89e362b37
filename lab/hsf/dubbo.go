package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	dubbo "dubbo.apache.org/dubbo-go/v3/client"
	_ "dubbo.apache.org/dubbo-go/v3/cluster/cluster/failover"
	_ "dubbo.apache.org/dubbo-go/v3/cluster/loadbalance/random"
	"dubbo.apache.org/dubbo-go/v3/common/constant"
	_ "dubbo.apache.org/dubbo-go/v3/filter/filter_impl"
	"dubbo.apache.org/dubbo-go/v3/logger"
	"dubbo.apache.org/dubbo-go/v3/protocol"
	_ "dubbo.apache.org/dubbo-go/v3/protocol/dubbo"
	_ "dubbo.apache.org/dubbo-go/v3/proxy/proxy_factory"
	"dubbo.apache.org/dubbo-go/v3/remoting/getty"
	"dubbo.apache.org/dubbo-go/v3/server"
)

// dubboInterface is the service's name.
const dubboInterface = "lab.Benchmark"

// dubboMethods are the methods' names in Go.
var dubboMethods = map[string]string{ping: "Ping", parse: "Parse", noError: "NoError", asyncError: "AsyncError"}

// DubboService is the service of the report as dubbo-go wants it.
type DubboService struct{}

func (*DubboService) Reference() string { return dubboInterface }

func (*DubboService) Ping(context.Context) (string, error) { return "echo", nil }

func (*DubboService) NoError(context.Context) (string, error) { return "ok", nil }

func (*DubboService) Parse(_ context.Context, s string, a, b int32) (map[string]any, error) {
	return parsedMap(), checkArgs(Args{s, int(a), int(b)})
}

func (*DubboService) AsyncError(context.Context) (string, error) {
	failed := make(chan error, 1)
	go func() { failed <- errors.New("async is not defined") }()
	return "", <-failed
}

func serveDubbo(address string, _ Setting) (func(), error) {
	_, text, err := net.SplitHostPort(address) // not the host: its service of metadata listens at the same port of all of them
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return nil, err
	}
	s, err := server.NewServer(server.WithServerProtocol(protocol.WithDubbo(), protocol.WithPort(port)))
	if err != nil {
		return nil, err
	}
	logger.SetLoggerLevel("fatal") // it is made anew by NewServer
	err = s.Register(&DubboService{}, nil, server.WithInterface(dubboInterface), server.WithNotRegister(),
		server.WithSerialization(constant.Hessian2Serialization))
	if err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve() }() // for ever
	const tries, between = 500, 10 * time.Millisecond
	for range tries {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			return nil, conn.Close()
		}
		select {
		case err := <-ended:
			return nil, err
		case <-time.After(between):
		}
	}
	return nil, fmt.Errorf("dubbo-go does not listen on %s", address)
}

func dialDubbo(address, method string, connections int, _ Setting) (*client, error) {
	name, known := dubboMethods[method]
	if !known {
		return nil, fmt.Errorf("no method of dubbo-go's is called %q", method)
	}
	config := *getty.GetDefaultClientConfig()
	config.ConnectionNum = max(connections, 1)
	getty.SetClientConf(config)
	c, err := dubbo.NewClient(dubbo.WithClientProtocolDubbo(), dubbo.WithClientURL("dubbo://"+address),
		dubbo.WithClientSerialization(constant.Hessian2Serialization), dubbo.WithClientRetries(0), dubbo.WithClientNoCheck())
	if err != nil {
		return nil, err
	}
	logger.SetLoggerLevel("fatal")
	conn, err := c.Dial(dubboInterface)
	if err != nil {
		return nil, err
	}
	var once func(full bool) error
	switch method {
	case parse:
		arguments := []any{args.S, int32(args.A), int32(args.B)}
		once = func(full bool) error {
			var reply map[any]any
			if err := conn.CallUnary(context.Background(), arguments, &reply, name); err != nil {
				return err
			}
			return checkMap(reply, full)
		}
	case asyncError:
		once = func(bool) error {
			var reply string
			err := conn.CallUnary(context.Background(), []any{}, &reply, name)
			if err == nil {
				return errors.New("it did not fail")
			}
			if err.Error() != "async is not defined" {
				return fmt.Errorf("it failed with another error: %w", err)
			}
			return nil
		}
	default:
		check := wantText(map[string]string{ping: "echo", noError: "ok"}[method])
		once = func(bool) error {
			var reply string
			err := conn.CallUnary(context.Background(), []any{}, &reply, name)
			return check(reply, err)
		}
	}
	return &client{close: func() {}, call: func(int) func(bool) error { return once }}, nil
}

// parsedMap is the reply of parse as a map, for peers that do not have its class.
func parsedMap() map[string]any {
	return map[string]any{
		"string": "hello world", "number": 1024.1, "boolean": true,
		"array": []any{"hello", 1024.12, true, map[string]any{"foo": "bar"}, []any{int32(1), int32(2), int32(3)}},
		"obj": map[string]any{"string": "hello", "boolean": true, "array": []any{"hello", "world"}, "number": 1024.123,
			"obj": map[string]any{"foo": "bar"}},
	}
}

// checkMap looks at the object's shape, or at all of it.
func checkMap(m map[any]any, full bool) error {
	array, _ := m["array"].([]any)
	text, _ := m["string"].(string)
	if len(m) != 5 || len(array) != 5 || len(text) != 11 {
		return errShape
	}
	if !full {
		return nil
	}
	return sameAsWanted(withTextKeys(m))
}

// withTextKeys makes the maps what JSON has.
func withTextKeys(v any) any {
	switch v := v.(type) {
	case map[any]any:
		m := make(map[string]any, len(v))
		for key, value := range v {
			m[fmt.Sprint(key)] = withTextKeys(value)
		}
		return m
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = withTextKeys(v[i])
		}
		return all
	}
	return v
}
