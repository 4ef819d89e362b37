// Command peer is a service and a client of go-micro. It serves Lab, calls what each line of its input orders, and answers with a line.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
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

// Chat answers each value at once.
func (*Lab) Chat(_ context.Context, stream server.Stream) error {
	for {
		in := new(In)
		if err := stream.Recv(in); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if in.Code != 0 {
			return errors.New("lab.chat", in.Text, in.Code)
		}
		if err := stream.Send(&Out{Sum: in.A + in.B, Text: in.Text}); err != nil {
			return err
		}
	}
}

// Count answers one value with A values, and fails then with an error if there is a code.
func (*Lab) Count(_ context.Context, stream server.Stream) error {
	in := new(In)
	if err := stream.Recv(in); err != nil {
		return err
	}
	for i := range in.A {
		if err := stream.Send(&Out{Sum: i + 1, Text: strings.Repeat("x", in.B)}); err != nil {
			return err
		}
		time.Sleep(time.Duration(in.MS) * time.Millisecond)
	}
	if in.Code != 0 {
		return errors.New("lab.count", in.Text, in.Code)
	}
	return nil
}

// Total answers with the sum of all values when there are no more.
func (*Lab) Total(_ context.Context, stream server.Stream) error {
	sum := 0
	for {
		in := new(In)
		if err := stream.Recv(in); err == io.EOF {
			return stream.Send(&Out{Sum: sum})
		} else if err != nil {
			return err
		}
		sum += in.A
	}
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
	Request  int // RequestTimeout in ms; 0 for go-micro's own
	Retries  int
	Topic    string // publishes In in place of a call
	Stream   string // the values of In are those of a stream: "turns" waits for an answer to each, "all" for none
	Version  string // selects nodes by their version
	Region   string // selects nodes by their label
}

type answer struct {
	ID    int
	Out   json.RawMessage `json:",omitempty"`
	Text  string          `json:",omitempty"`
	Error string          `json:",omitempty"`
	Event *event          `json:",omitempty"`
	Outs  []Out           `json:",omitempty"`
}

// event holds what a subscriber got.
type event struct {
	Topic, Queue string
	In           json.RawMessage
	Metadata     map[string]string
}

func main() {
	name := flag.String("name", "lab", "of the service")
	address := flag.String("address", "127.0.0.1:0", "of the server")
	mdns := flag.Bool("mdns", false, "use mDNS, go-micro's default registry, in place of one in memory")
	serve := flag.Bool("serve", true, "serve Lab")
	grpc := flag.Bool("grpc", false, "use gRPC in place of the HTTP transport")
	version := flag.String("version", "latest", "of the service")
	region := flag.String("region", "", "in the metadata of the node")
	ttl := flag.Duration("ttl", 90*time.Second, "of the entries in the registry, which are renewed three times within it")
	at := flag.String("registry", "", "of a registry other than mDNS: etcd, consul or nats, and its address behind =")
	through := flag.String("broker", "", "memory, http, or nats=address")
	subscribe := flag.String("subscribe", "", "topics, each with a queue behind =, with commas between")
	flag.Parse()
	if *grpc {
		useGRPC()
	}
	o := []server.Option{server.Name(*name), server.Address(*address), server.Version(*version), server.RegisterTTL(*ttl), server.RegisterInterval(*ttl / 3)}
	if *region != "" {
		o = append(o, server.Metadata(map[string]string{"region": *region}))
	}
	known := registry.DefaultRegistry
	if kind, address, ok := strings.Cut(*at, "="); ok {
		known = newRegistry(kind, address)
	} else if !*mdns {
		known = registry.NewMemoryRegistry()
	}
	events := broker.NewMemoryBroker()
	if kind, address, ok := strings.Cut(*through, "="); ok {
		events = newBroker(kind, address)
	} else if kind == "http" {
		events = broker.DefaultBroker
		if err := events.Init(broker.Registry(known)); err != nil {
			panic(err)
		}
	}
	if err := run(o, *name, known, events, *serve, *subscribe); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(o []server.Option, name string, known registry.Registry, events broker.Broker, serve bool, subscribe string) error {
	logger.Init(logger.WithLevel(logger.FatalLevel))
	var mu sync.Mutex
	out := json.NewEncoder(os.Stdout)
	tell := func(a answer) {
		mu.Lock()
		defer mu.Unlock()
		out.Encode(a)
	}
	mu.Lock() // until the first line is written
	at := ""
	if serve {
		s := newServer(append(o, server.Registry(known), server.Broker(events))...)
		if err := s.Handle(s.NewHandler(&Lab{name})); err != nil {
			return err
		}
		for _, one := range strings.FieldsFunc(subscribe, func(r rune) bool { return r == ',' }) {
			topic, queue, _ := strings.Cut(one, "=")
			var options []server.SubscriberOption
			if queue != "" {
				options = append(options, server.SubscriberQueue(queue))
			}
			if err := s.Subscribe(s.NewSubscriber(topic, subscriber(topic, queue, tell), options...)); err != nil {
				return err
			}
		}
		if err := s.Start(); err != nil {
			return err
		}
		defer s.Stop()
		at = s.Options().Address
	}
	c := newClient(client.Registry(known), client.Broker(events), client.Selector(selector.NewSelector(selector.Registry(known))), client.PoolSize(100))
	if err := out.Encode(answer{Text: at}); err != nil {
		return err
	}
	mu.Unlock()
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
			tell(a)
		}()
	}
	return lines.Err()
}

// subscriber returns a handler that tells of the events that it gets. Those of the topic proto are Protocol Buffers.
func subscriber(topic, queue string, tell func(answer)) any {
	note := func(ctx context.Context, in any) error {
		e := event{Topic: topic, Queue: queue}
		e.In, _ = json.Marshal(in)
		e.Metadata, _ = metadata.FromContext(ctx)
		tell(answer{Event: &e})
		return nil
	}
	if strings.HasSuffix(topic, ".proto") {
		return func(ctx context.Context, in *wrapperspb.StringValue) error { return note(ctx, in.Value) }
	}
	return func(ctx context.Context, in *In) error { return note(ctx, in) }
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
	if o.Topic != "" {
		var in any = o.In
		if o.As == "application/protobuf" || o.As == "application/grpc+proto" {
			var text string
			if err := json.Unmarshal(o.In, &text); err != nil {
				return err
			}
			in = wrapperspb.String(text)
		}
		return c.Publish(ctx, c.NewMessage(o.Topic, in, client.WithMessageContentType(o.As)))
	}
	options := []client.CallOption{client.WithRetries(o.Retries)}
	if o.Request > 0 {
		options = append(options, client.WithRequestTimeout(time.Duration(o.Request)*time.Millisecond))
	}
	if o.Address != "" {
		options = append(options, client.WithAddress(o.Address))
	}
	if o.Version != "" {
		options = append(options, client.WithSelectOption(selector.WithFilter(selector.FilterVersion(o.Version))))
	}
	if o.Region != "" {
		options = append(options, client.WithSelectOption(selector.WithFilter(selector.FilterLabel("region", o.Region))))
	}
	if o.MS > 0 {
		options = append(options, connectionTimeout(time.Duration(o.MS)*time.Millisecond))
	}
	if o.Stream != "" {
		return stream(ctx, c, o, a, options)
	}
	switch o.As {
	case "application/protobuf", "application/proto-rpc", "application/grpc+proto", "application/grpc":
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

// stream opens a stream, sends the values of In, and notes what comes back.
func stream(ctx context.Context, c client.Client, o *order, a *answer, options []client.CallOption) error {
	var ins []In
	if err := json.Unmarshal(o.In, &ins); err != nil {
		return err
	}
	s, err := c.Stream(ctx, c.NewRequest(o.Service, o.Endpoint, &In{}, client.WithContentType(o.As), client.StreamingRequest()), options...)
	if err != nil {
		return err
	}
	defer s.Close()
	receive := func() error {
		var out Out
		err := s.Recv(&out)
		if err == nil {
			a.Outs = append(a.Outs, out)
		}
		return err
	}
	for i := range ins {
		if err := s.Send(&ins[i]); err == io.EOF {
			return receive() // the reason
		} else if err != nil {
			return err
		}
		if o.Stream == "turns" {
			if err := receive(); err != nil {
				return err
			}
		}
	}
	if o.Stream == "turns" {
		return nil
	}
	if closer, ok := s.(interface{ CloseSend() error }); ok {
		closer.CloseSend() // go-micro's HTTP client cannot
	}
	for {
		if err := receive(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// connectionTimeout sets the header Timeout that go-micro sends.
func connectionTimeout(d time.Duration) client.CallOption {
	return func(o *client.CallOptions) { o.ConnectionTimeout = d }
}
