package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/codec"
	_ "github.com/sabir-go/sabir/codec/hessian"
	_ "github.com/sabir-go/sabir/transport/tcp"
)

// sabirTimeout is the time in which the client must find the server's service.
const sabirTimeout = 15 * time.Second

var errAsync = sabir.NewError(sabir.CodeInternal, "AsyncError", "async is not defined")

func serveSabir(address string, s Setting) (func(), error) {
	values, err := codecOf(s)
	if err != nil {
		return nil, err
	}
	node := sabir.NewNode(sabir.NodeID("server"), sabir.Logger(slog.New(slog.DiscardHandler)), sabir.Serve(benchmark()),
		sabir.Join("tcp://"+address, sabir.Codecs(values)))
	if err := node.Start(context.Background()); err != nil {
		return nil, err
	}
	return func() { node.Stop(context.Background()) }, nil
}

// codecOf returns the codec that a setting names.
func codecOf(s Setting) (codec.Codec, error) {
	c, ok := codec.Lookup(s.Codec)
	if !ok {
		return nil, fmt.Errorf("no codec is called %q", s.Codec)
	}
	return c, nil
}

// benchmark is the service of the report.
func benchmark() *sabir.Service {
	service := sabir.NewService("benchmark")
	sabir.Handle(service, ping, func(context.Context, sabir.Empty) (string, error) { return "echo", nil })
	sabir.Handle(service, noError, func(context.Context, sabir.Empty) (string, error) { return "ok", nil })
	sabir.Handle(service, parse, func(_ context.Context, in Args) (Parsed, error) { return parsed(), checkArgs(in) })
	sabir.Handle(service, asyncError, func(ctx context.Context, _ sabir.Empty) (string, error) {
		sabir.Go(ctx, func(context.Context) error { return errAsync })
		return "not reached its caller", nil
	})
	sabir.Handle(service, panics, func(ctx context.Context, _ sabir.Empty) (string, error) {
		sabir.Go(ctx, func(context.Context) error { panic("async is not defined") })
		return "not reached its caller", nil
	})
	return service
}

// dialSabir starts a node that does not listen. All its calls then go over the links that it dials, so a proxy can count their
// bytes.
func dialSabir(address, method string, connections int, s Setting) (*client, error) {
	values, err := codecOf(s)
	if err != nil {
		return nil, err
	}
	node := sabir.NewNode(sabir.NodeID("client"), sabir.Logger(slog.New(slog.DiscardHandler)),
		sabir.Join("tcp://"+address, cluster.Config{ClientOnly: true}, cluster.Links{Connections: max(connections, 1)}, sabir.Codecs(values)))
	if err := node.Start(context.Background()); err != nil {
		return nil, err
	}
	stop := func() { node.Stop(context.Background()) }
	ctx, cancel := context.WithTimeout(context.Background(), sabirTimeout)
	defer cancel()
	if err := node.WaitFor(ctx, "benchmark"); err != nil {
		stop()
		return nil, err
	}
	action := "benchmark." + method
	if method == parse {
		call := sabir.Bind[Args, Parsed](node, action)
		return &client{close: stop, call: func(int) func(bool) error {
			return func(full bool) error {
				reply, err := call(context.Background(), args)
				if err != nil {
					return err
				}
				return reply.check(full)
			}
		}}, nil
	}
	call := sabir.Bind[sabir.Empty, string](node, action)
	check, known := sabirChecks[method]
	if !known {
		stop()
		return nil, fmt.Errorf("no method is called %q", method)
	}
	return &client{close: stop, call: func(int) func(bool) error {
		return func(bool) error { return check(call(context.Background(), sabir.Empty{})) }
	}}, nil
}

var sabirChecks = map[string]func(reply string, err error) error{
	ping:       wantText("echo"),
	noError:    wantText("ok"),
	asyncError: wantError(errAsync),
	panics:     wantError(sabir.ErrPanic),
}

func wantText(text string) func(string, error) error {
	return func(reply string, err error) error {
		if err == nil && reply != text {
			return errText
		}
		return err
	}
}

func wantError(want *sabir.Error) func(string, error) error {
	return func(_ string, err error) error {
		if err == nil {
			return errors.New("it did not fail")
		}
		if got := sabir.AsError(err); got.Name != want.Name || got.Code != want.Code {
			return fmt.Errorf("it failed with another error: %w", err)
		}
		return nil
	}
}
