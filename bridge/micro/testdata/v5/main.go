// Command peer is a service and a client of go-micro. It serves Lab, calls what each line of its input orders, and answers with a line.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/wrapperspb"

	"go-micro.dev/v5/broker"
	"go-micro.dev/v5/client"
	"go-micro.dev/v5/codec/bytes"
	"go-micro.dev/v5/errors"
	"go-micro.dev/v5/logger"
	"go-micro.dev/v5/metadata"
	"go-micro.dev/v5/registry"
	"go-micro.dev/v5/selector"
	"go-micro.dev/v5/server"
)

// Lab is exported because go-micro finds only such handlers.
type Lab struct{ name string }

// In holds the input of the methods in JSON.
type In struct {
	A     int    `json:"a"`
	B     int    `json:"b"`
	Text  string `json:"text"`
	Bytes []byte `json:"bytes"`
	Code  int32  `json:"code"`
	MS    int    `json:"ms"`
}

// Out holds the answer of the methods in JSON.
type Out struct {
	Sum      int               `json:"sum"`
	Text     string            `json:"text"`
	Bytes    []byte            `json:"bytes"`
	Metadata map[string]string `json:"metadata"`
	Limit    int64             `json:"limit"` // ms that the deadline leaves; -1 for none
}

// Add adds.
func (l *Lab) Add(_ context.Context, in *In, out *Out) error {
	out.Sum, out.Text, out.Bytes = in.A+in.B, l.name, in.Bytes
	return nil
}

// Info answers with what came beside the input.
func (*Lab) Info(ctx context.Context, _ *In, out *Out) error {
	out.Metadata, _ = metadata.FromContext(ctx)
	out.Limit = -1
	if deadline, ok := ctx.Deadline(); ok {
		out.Limit = time.Until(deadline).Milliseconds()
	}
	return nil
}

// Fail fails with an error of go-micro, or with one of Go if the code is 0.
func (*Lab) Fail(_ context.Context, in *In, _ *Out) error {
	if in.Code == 0 {
		return fmt.Errorf("%s", in.Text)
	}
	return errors.New("lab.fail", in.Text, in.Code)
}

// Sleep sleeps.
func (*Lab) Sleep(_ context.Context, in *In, out *Out) error {
	time.Sleep(time.Duration(in.MS) * time.Millisecond)
	out.Text = "slept"
	return nil
}

// Greet takes messages of Protocol Buffers.
func (*Lab) Greet(_ context.Context, in, out *wrapperspb.StringValue) error {
	out.Value = "Hello, " + in.Value
	return nil
}

// order is a call that the peer is to make.
type order struct {
	ID       int
	Service  string
	Endpoint string
	As       string // the content type
	In       json.RawMessage
	Address  string // "" asks the registry
	Metadata map[string]string
	MS       int // the time limit; 0 for go-micro's own
}

type answer struct {
	ID    int
	Out   json.RawMessage `json:",omitempty"`
	Text  string          `json:",omitempty"`
	Error string          `json:",omitempty"`
}

func main() {
	name := flag.String("name", "lab", "of the service")
	address := flag.String("address", "127.0.0.1:0", "of the server")
	mdns := flag.Bool("mdns", false, "use mDNS, go-micro's default registry, in place of one in memory")
	serve := flag.Bool("serve", true, "serve Lab")
	grpc := flag.Bool("grpc", false, "use gRPC in place of the HTTP transport")
	flag.Parse()
	if *grpc {
		useGRPC()
	}
	if err := run(*name, *address, *mdns, *serve); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(name, address string, mdns, serve bool) error {
	logger.Init(logger.WithLevel(logger.FatalLevel))
	known := registry.DefaultRegistry
	if !mdns {
		known = registry.NewMemoryRegistry()
	}
	at := ""
	if serve {
		s := newServer(server.Name(name), server.Address(address), server.Registry(known), server.Broker(broker.NewMemoryBroker()))
		if err := s.Handle(s.NewHandler(&Lab{name})); err != nil {
			return err
		}
		if err := s.Start(); err != nil {
			return err
		}
		defer s.Stop()
		at = s.Options().Address
	}
	c := newClient(client.Registry(known), client.Broker(broker.NewMemoryBroker()), client.Selector(selector.NewSelector(selector.Registry(known))), client.PoolSize(100))
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(answer{Text: at}); err != nil {
		return err
	}
	var mu sync.Mutex
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var o order
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			return err
		}
		go func() {
			a := answer{ID: o.ID}
			if err := call(c, &o, &a); err != nil {
				a.Error = err.Error()
			}
			mu.Lock()
			defer mu.Unlock()
			out.Encode(a)
		}()
	}
	return lines.Err()
}

func call(c client.Client, o *order, a *answer) error {
	ctx := context.Background()
	if o.Metadata != nil {
		ctx = metadata.NewContext(ctx, o.Metadata)
	}
	if o.MS > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(o.MS)*time.Millisecond)
		defer cancel()
	}
	options := []client.CallOption{client.WithRetries(0)}
	if o.Address != "" {
		options = append(options, client.WithAddress(o.Address))
	}
	if o.MS > 0 {
		options = append(options, connectionTimeout(time.Duration(o.MS)*time.Millisecond))
	}
	switch o.As {
	case "application/protobuf", "application/grpc+proto":
		var text string
		if err := json.Unmarshal(o.In, &text); err != nil {
			return err
		}
		out := new(wrapperspb.StringValue)
		err := c.Call(ctx, c.NewRequest(o.Service, o.Endpoint, wrapperspb.String(text), client.WithContentType(o.As)), out, options...)
		a.Text = out.Value
		return err
	case "application/octet-stream":
		out := new(bytes.Frame)
		err := c.Call(ctx, c.NewRequest(o.Service, o.Endpoint, &bytes.Frame{Data: o.In}, client.WithContentType(o.As)), out, options...)
		a.Text = string(out.Data)
		return err
	}
	return c.Call(ctx, c.NewRequest(o.Service, o.Endpoint, o.In, client.WithContentType(o.As)), &a.Out, options...)
}

// connectionTimeout sets the header Timeout that go-micro sends.
func connectionTimeout(d time.Duration) client.CallOption {
	return func(o *client.CallOptions) { o.ConnectionTimeout = d }
}
