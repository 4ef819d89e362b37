package main

import (
	"context"
	"net"
	"sync"
	"time"

	kitex "github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/connpool"
	"github.com/cloudwego/kitex/pkg/klog"
	"github.com/cloudwego/kitex/pkg/serviceinfo"
	kitexserver "github.com/cloudwego/kitex/server"
	"github.com/cloudwego/kitex/transport"
	"google.golang.org/protobuf/proto"

	"github.com/sabir-go/sabir/lab/message"
	"github.com/sabir-go/sabir/lab/rpc/work"
)

func kitexContenders() []work.Contender {
	return []work.Contender{
		kitexWith("kitex, mux", []kitexserver.Option{kitexserver.WithMuxTransport()}, kitex.WithMuxConnection(1)),
		kitexWith("kitex, pool", nil, kitex.WithLongConnection(kitexPool)),
	}
}

// kitexPool keeps a connection for every caller: up to 1000.
var kitexPool = connpool.IdleConfig{MaxIdlePerAddress: 1000, MaxIdleGlobal: 1000, MaxIdleTimeout: time.Minute}

var quietKitex = sync.OnceFunc(func() { klog.SetLevel(klog.LevelFatal) })

func kitexWith(name string, serverOptions []kitexserver.Option, clientOption kitex.Option) work.Contender {
	return work.Contender{
		Name: name,
		Serve: func(address string) (func(), error) {
			quietKitex()
			listener, err := net.Listen("tcp", address)
			if err != nil {
				return nil, err
			}
			server := kitexserver.NewServer(append(serverOptions, kitexserver.WithListener(listener))...)
			if err := server.RegisterService(kitexService(), &kitexHello{}); err != nil {
				return nil, err
			}
			go server.Run()
			return func() { server.Stop() }, nil
		},
		Dial: func(address string, callers int) (*work.Client, error) {
			quietKitex()
			c, err := kitex.NewClient(kitexService(), kitex.WithDestService("Hello"), kitex.WithHostPorts(address),
				kitex.WithTransportProtocol(transport.TTHeader), clientOption)
			if err != nil {
				return nil, err
			}
			return &work.Client{
				Close: func() {},
				Say: work.ProtoSay(func(request *message.Proto) (*message.Proto, error) {
					var reply kitexProto
					err := c.Call(context.Background(), "Say", &kitexProto{value: request}, &reply)
					return reply.value, err
				}),
				Echo: work.ProtoEcho(func(request *message.ProtoBlob) (*message.ProtoBlob, error) {
					var reply kitexBlob
					err := c.Call(context.Background(), "Echo", &kitexBlob{value: request}, &reply)
					return reply.value, err
				}),
			}, nil
		},
	}
}

type kitexHello struct{}

// kitexService describes the service as kitex's generated code does; its generator ends with a panic on our .proto file.
func kitexService() *serviceinfo.ServiceInfo {
	say := func(_ context.Context, _, args, result any) error {
		in := args.(*kitexProto).value
		in.Answer()
		result.(*kitexProto).value = in
		return nil
	}
	echo := func(_ context.Context, _, args, result any) error {
		result.(*kitexBlob).value = args.(*kitexBlob).value
		return nil
	}
	newProto, newBlob := func() any { return new(kitexProto) }, func() any { return new(kitexBlob) }
	return &serviceinfo.ServiceInfo{
		ServiceName: "Hello", HandlerType: (*any)(nil), PayloadCodec: serviceinfo.Protobuf,
		Methods: map[string]serviceinfo.MethodInfo{
			"Say":  serviceinfo.NewMethodInfo(say, newProto, newProto, false, serviceinfo.WithStreamingMode(serviceinfo.StreamingNone)),
			"Echo": serviceinfo.NewMethodInfo(echo, newBlob, newBlob, false, serviceinfo.WithStreamingMode(serviceinfo.StreamingNone)),
		},
		Extra: map[string]any{"PackageName": "message"},
	}
}

type (
	kitexProto = kitexValue[message.Proto, *message.Proto]
	kitexBlob  = kitexValue[message.ProtoBlob, *message.ProtoBlob]
)

// kitexValue is a method's argument or result.
type kitexValue[T any, P interface {
	*T
	proto.Message
}] struct{ value P }

func (v *kitexValue[T, P]) Marshal(_ []byte) ([]byte, error) { return proto.Marshal(v.value) }

func (v *kitexValue[T, P]) Unmarshal(data []byte) error {
	v.value = new(T)
	return proto.Unmarshal(data, v.value)
}

func (v *kitexValue[T, P]) GetFirstArgument() any { return v.value }
func (v *kitexValue[T, P]) GetResult() any        { return v.value }
func (v *kitexValue[T, P]) SetSuccess(value any)  { v.value = value.(P) }
