package main

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/sabir-go/sabir"
	_ "github.com/sabir-go/sabir/codec/protobuf" // protobuf messages travel as such
	_ "github.com/sabir-go/sabir/transport/tcp"  // tcp:// and unix://

	"github.com/sabir-go/sabir/lab/message"
)

// sabirPatience is how long a client waits for the server's service to be known to it.
const sabirPatience = 15 * time.Second

func sabirContenders() []contender {
	all := []mode{callMode, echoMode, streamMode}
	return []contender{
		sabirWith("sabir", "native", "1 link, default handlers", "tcp", "hello.say", all),
		sabirWith("sabir, inline", "native", "1 link, inline handlers", "tcp", "hello.sayInline", []mode{callMode}),
		sabirWith("sabir, unix", "native", "1 link, default handlers", "unix", "hello.say", all),
		sabirWith("sabir, inline, unix", "native", "1 link, inline handlers", "unix", "hello.sayInline", []mode{callMode}),
		sabirWith("sabir, protobuf", "google protobuf", "1 link, default handlers", "tcp", "hello.sayProto", []mode{callMode}),
		sabirWith("sabir, protobuf, inline", "google protobuf", "1 link, inline handlers", "tcp", "hello.sayProtoInline", []mode{callMode}),
	}
}

func sabirWith(name, codec, settings, network, action string, modes []mode) contender {
	c := contender{name: name, codec: codec, settings: settings, network: network, modes: modes, quick: name == "sabir"}
	address := func(address string) string { return network + "://" + address }
	return sabirAt(c, action, address, address)
}

// sabirAt makes the two sides. atServer and atClient turn the contender's address into what each joins.
func sabirAt(c contender, action string, atServer, atClient func(address string) string) contender {
	c.serve = func(address string) (func(), error) {
		node := sabir.NewNode(sabir.ID("server"), sabir.Logger(slog.New(slog.DiscardHandler)),
			sabir.Join(atServer(address)), sabir.Serve(sabirHello()))
		if err := node.Start(context.Background()); err != nil {
			return nil, err
		}
		return func() { node.Stop(context.Background()) }, nil
	}
	c.dial = func(address string, callers int) (*client, error) {
		node := sabir.NewNode(sabir.ID("client"), sabir.Logger(slog.New(slog.DiscardHandler)), sabir.Join(atClient(address)))
		if err := node.Start(context.Background()); err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(context.Background(), sabirPatience)
		defer cancel()
		if err := node.WaitFor(ctx, "hello"); err != nil {
			return nil, err
		}
		dialed := &client{
			close: func() { node.Stop(context.Background()) },
			say:   func(caller int) roundTrip { return sabirSay(node, action, caller) },
			echo:  func(caller, size int) roundTrip { return sabirEcho(node, caller, size) },
			push:  func(caller, size int) (*pushing, error) { return sabirPush(node, size) },
		}
		if c.codec == "google protobuf" {
			say := sabir.Bind[*message.Proto, *message.Proto](node, action)
			dialed.say = protoSay(func(request *message.Proto) (*message.Proto, error) { return say(context.Background(), request) })
		}
		return dialed, nil
	}
	return c
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

func sabirSay(node *sabir.Node, action string, caller int) roundTrip {
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

func sabirEcho(node *sabir.Node, caller, size int) roundTrip {
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

func sabirPush(node *sabir.Node, size int) (*pushing, error) {
	stream, err := sabir.OpenStream[message.Blob, message.Received](context.Background(), node, "hello.push")
	if err != nil {
		return nil, err
	}
	data := message.NewBytes(size)
	return &pushing{
		send: func() error { return stream.Send(message.Blob{Data: data}) },
		finish: func() (int64, int64, error) {
			defer stream.Close()
			stream.CloseSend()
			counted, err := stream.Recv()
			return counted.Messages, counted.Bytes, err
		},
	}, nil
}
