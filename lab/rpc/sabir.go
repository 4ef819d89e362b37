package main

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/sabir-go/sabir"
	_ "github.com/sabir-go/sabir/broker/amqp"
	_ "github.com/sabir-go/sabir/broker/mqtt"
	_ "github.com/sabir-go/sabir/broker/nats"
	_ "github.com/sabir-go/sabir/broker/redis"
	"github.com/sabir-go/sabir/cluster"
	_ "github.com/sabir-go/sabir/codec/protobuf" // protobuf messages travel as such
	"github.com/sabir-go/sabir/secret"
	_ "github.com/sabir-go/sabir/transport/grpc"
	_ "github.com/sabir-go/sabir/transport/h2"
	_ "github.com/sabir-go/sabir/transport/http"
	_ "github.com/sabir-go/sabir/transport/kcp"
	_ "github.com/sabir-go/sabir/transport/mem"
	_ "github.com/sabir-go/sabir/transport/quic"
	_ "github.com/sabir-go/sabir/transport/tcp" // tcp:// and unix://
	_ "github.com/sabir-go/sabir/transport/utp"

	"github.com/sabir-go/sabir/lab/message"
	"github.com/sabir-go/sabir/lab/rpc/work"
)

// sabirTimeout is the time in which the client must find the server's service.
const sabirTimeout = 15 * time.Second

// sabirContenders are nodes that know each other over a transport, by its own codec and by protobuf.
func sabirContenders() []work.Contender {
	var all []work.Contender
	for _, scheme := range []string{"tcp", "unix", "quic", "kcp", "utp", "grpc", "grpc+tcp", "http", "nats", "redis", "mqtt", "amqp"} {
		over := func(address string) string { return scheme + "://" + address }
		if slices.Contains([]string{"nats", "redis", "mqtt", "amqp"}, scheme) {
			over = func(brokerURL string) string { return brokerURL }
		}
		all = append(all, sabirAt("sabir "+scheme, "hello.say", over, over, nil), sabirAt("sabir "+scheme+", protobuf", "hello.sayProto", over, over, nil))
		if scheme == "tcp" || scheme == "unix" {
			all = append(all, sabirAt("sabir "+scheme+", inline", "hello.sayInline", over, over, nil),
				sabirAt("sabir "+scheme+", protobuf, inline", "hello.sayProtoInline", over, over, nil))
		}
		if scheme == "tcp" {
			all = append(all, sabirAt("sabir tcp, inline, borrowed", "hello.sayBorrowed", over, over, nil),
				sabirAt("sabir tcp, inline, callers read", "hello.sayInline", over, over, []cluster.Option{cluster.Links{CallersRead: true}}),
				sabirAt("sabir tcp, protobuf, inline, callers read", "hello.sayProtoInline", over, over, []cluster.Option{cluster.Links{CallersRead: true}}))
		}
	}
	for name, o := range map[string]struct {
		scheme string
		option cluster.Option
	}{"sabir tcp, key": {"tcp", cluster.Config{Key: secret.New("a key that only the lab has")}}, "sabir tls": {"tls", cluster.Config{TLS: bothEnds()}}} {
		over := func(address string) string { return o.scheme + "://" + address }
		all = append(all, sabirAt(name, "hello.say", over, over, []cluster.Option{o.option}),
			sabirAt(name+", protobuf", "hello.sayProto", over, over, []cluster.Option{o.option}))
	}
	embedded := func(address string) string { return "nats://embedded:" + portOf(address) }
	joined := func(address string) string { return "nats://" + address }
	inMemory := func(string) string { return "mem://server" }
	other := func(string) string { return "mem://client" }
	return append(all, sabirAt("sabir mem", "hello.say", inMemory, other, nil, cluster.Config{Seeds: []string{"mem://server"}}),
		sabirAt("sabir mem, protobuf", "hello.sayProto", inMemory, other, nil, cluster.Config{Seeds: []string{"mem://server"}}),
		sabirAt("sabir nats embedded", "hello.say", embedded, joined, nil),
		sabirAt("sabir nats embedded, protobuf", "hello.sayProto", embedded, joined, nil),
		sabirAt("sabir nats embedded in both", "hello.say", embedded, embedded, nil), sabirAlone())
}

// sabirAt makes the two sides. atServer and atClient turn the contender's address into what each joins. The cluster has the
// contender's name, so that several can share a broker.
func sabirAt(name, action string, atServer, atClient func(address string) string, ofBoth []cluster.Option, ofClient ...cluster.Option) work.Contender {
	of := func(more ...cluster.Option) []cluster.Option {
		return slices.Concat([]cluster.Option{cluster.Config{Name: name}}, ofBoth, more)
	}
	return work.Contender{
		Name: name,
		Serve: func(address string) (func(), error) {
			return startSabir(sabir.NodeID("server"), sabir.Join(atServer(address), of()...), sabir.Serve(sabirHello()))
		},
		Dial: func(address string, callers int) (*work.Client, error) {
			node := sabir.NewNode(sabir.NodeID("client"), sabir.Logger(slog.New(slog.DiscardHandler)),
				sabir.Join(atClient(address), of(ofClient...)...))
			return sabirClient(node, action)
		},
	}
}

// sabirAlone is one node that calls itself.
func sabirAlone() work.Contender {
	return work.Contender{
		Name:  "sabir, one node",
		Serve: func(string) (func(), error) { return func() {}, nil },
		Dial: func(string, int) (*work.Client, error) {
			node := sabir.NewNode(sabir.NodeID("both"), sabir.Logger(slog.New(slog.DiscardHandler)), sabir.Serve(sabirHello()))
			return sabirClient(node, "hello.say")
		},
	}
}

func startSabir(options ...sabir.NodeOption) (stop func(), err error) {
	node := sabir.NewNode(append(options, sabir.Logger(slog.New(slog.DiscardHandler)))...)
	if err := node.Start(context.Background()); err != nil {
		return nil, err
	}
	return func() { node.Stop(context.Background()) }, nil
}

func sabirClient(node *sabir.Node, action string) (*work.Client, error) {
	if err := node.Start(context.Background()); err != nil {
		return nil, err
	}
	stop := func() { node.Stop(context.Background()) }
	ctx, cancel := context.WithTimeout(context.Background(), sabirTimeout)
	defer cancel()
	if err := node.WaitFor(ctx, "hello"); err != nil {
		stop()
		return nil, err
	}
	c := &work.Client{
		Close: stop,
		Say:   func(caller int) work.RoundTrip { return sabirSay(node, action, caller) },
		Echo:  func(caller, size int) work.RoundTrip { return sabirEcho(node, caller, size) },
		Push:  func(caller, size int) (*work.Pushing, error) { return sabirPush(node, size) },
	}
	if strings.HasPrefix(action, "hello.sayProto") {
		say := sabir.Bind[*message.Proto, *message.Proto](node, action)
		c.Say = work.ProtoSay(func(request *message.Proto) (*message.Proto, error) { return say(context.Background(), request) })
	}
	return c, nil
}

func sabirHello() *sabir.Service {
	hello := sabir.NewService("hello")
	say := func(_ context.Context, in message.Message) (message.Message, error) {
		in.Answer()
		return in, nil
	}
	sayProto := func(_ context.Context, in *message.Proto) (*message.Proto, error) {
		in.Answer()
		return in, nil
	}
	sabir.Handle(hello, "say", say)
	sabir.Handle(hello, "sayInline", say, sabir.Inline())
	sabir.Handle(hello, "sayBorrowed", say, sabir.Inline(), sabir.Borrow())
	sabir.Handle(hello, "sayProto", sayProto)
	sabir.Handle(hello, "sayProtoInline", sayProto, sabir.Inline())
	sabir.Handle(hello, "echo", func(_ context.Context, in message.Blob) (message.Blob, error) { return in, nil })
	sabir.HandleStream(hello, "push", func(_ context.Context, s *sabir.Stream[message.Blob, message.Received]) error {
		var counted message.Received
		for {
			blob, err := s.Recv()
			if err == io.EOF {
				return s.Send(counted)
			}
			if err != nil {
				return err
			}
			counted.Messages++
			counted.Bytes += int64(len(blob.Data))
		}
	})
	return hello
}

func sabirSay(node *sabir.Node, action string, caller int) work.RoundTrip {
	say, request := sabir.Bind[message.Message, message.Message](node, action), message.New()
	kept := new(message.Keeper)
	return func(sequence int, full bool) error {
		request.Mark(caller, sequence)
		reply, err := say(context.Background(), *request)
		if err != nil {
			return err
		}
		if err := request.CheckReply(&reply, full); err != nil || !full {
			return err
		}
		return kept.Message(request, &reply)
	}
}

func sabirEcho(node *sabir.Node, caller, size int) work.RoundTrip {
	echo, data := sabir.Bind[message.Blob, message.Blob](node, "hello.echo"), message.NewBytes(size)
	return func(sequence int, full bool) error {
		message.MarkBytes(data, caller, sequence)
		reply, err := echo(context.Background(), message.Blob{Data: data})
		if err != nil {
			return err
		}
		return message.CheckBytes(data, reply.Data, full)
	}
}

func sabirPush(node *sabir.Node, size int) (*work.Pushing, error) {
	stream, err := sabir.OpenStream[message.Blob, message.Received](context.Background(), node, "hello.push")
	if err != nil {
		return nil, err
	}
	data := message.NewBytes(size)
	return &work.Pushing{
		Send: func() error { return stream.Send(message.Blob{Data: data}) },
		Finish: func() (int64, int64, error) {
			defer stream.Close()
			stream.CloseSend()
			counted, err := stream.Recv()
			return counted.Messages, counted.Bytes, err
		},
	}, nil
}
