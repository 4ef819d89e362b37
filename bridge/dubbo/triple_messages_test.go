package dubbo_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/dubbo"
)

// addIn is the input of an adder, and addOut its answer.
type (
	addIn  struct{ A, B int64 }
	addOut struct{ Sum int64 }
)

// startAdder starts a provider whose values are messages of Protocol Buffers.
func startAdder(t *testing.T) (address string, client *http.Client) {
	t.Helper()
	address = freeAddress(t)
	s := sabir.NewService("orders")
	sabir.Handle(s, "add", func(_ context.Context, in addIn) (addOut, error) {
		if in.A == 0 {
			return addOut{}, sabir.NewError(sabir.CodeInvalidArgument, "NoA", "a is 0")
		}
		return addOut{in.A + in.B}, nil
	})
	sabir.HandleStream(s, "count", func(_ context.Context, stream *sabir.Stream[addIn, addOut]) error {
		in, err := stream.Recv()
		if err != nil {
			return err
		}
		for i := range in.B {
			if err := stream.Send(addOut{in.A + i}); err != nil {
				return err
			}
		}
		return nil
	}, sabir.ServerStream())
	start(t, sabir.Serve(s), dubbo.Bridge(dubbo.Serve("tri://"+address, dubbo.Interface("com.shop.Adder", "orders", dubbo.Protobuf()))))
	return address, http2Client(t)
}

// text is the messages of an answer, or its status where there are none.
func (a *tripled) text() string {
	if len(a.messages) == 0 {
		return "status " + a.trailer.Get("Grpc-Status") + " " + a.trailer.Get("Grpc-Message")
	}
	var out []string
	for _, m := range a.messages {
		out = append(out, string(m))
	}
	return strings.Join(out, ",")
}

func TestProtocolBuffersTravelWithoutAWrapper(t *testing.T) {
	address, client := startAdder(t)
	for body, want := range map[string]string{"\x08\x01\x10\x02": "\x08\x03", "\x10\x02": "status 3 a is 0", "\x08": "status 3"} {
		answer := grpc(t, client, address, "/com.shop.Adder/Add", nil, strings.NewReader(message(body))) // as a .proto has the method
		if got := answer.text(); !strings.HasPrefix(got, want) {
			t.Errorf("%x: got %q, want %q", body, got, want)
		}
	}
	missing := grpc(t, client, address, "/com.shop.Adder/Multiply", nil, strings.NewReader(message("\x08\x01\x10\x02")))
	if got := missing.text(); !strings.HasPrefix(got, "status 12 com.shop.Adder has no method Multiply") {
		t.Errorf("a method that is not there: got %q", got)
	}
}

// The content type of gRPC may end with any name for the form of messages, and Dubbo for Java looks at none.
func TestAnyNameForTheFormOfMessagesIsTaken(t *testing.T) {
	address, client := startAdder(t)
	for _, kind := range []string{"application/grpc", "application/grpc+proto", "application/grpc+data", "application/grpc+x", "Application/GRPC+Proto", "application/grpc ;a=b"} {
		answer := grpc(t, client, address, "/com.shop.Adder/add", map[string]string{"Content-Type": kind}, strings.NewReader(message("\x08\x01\x10\x02")))
		if got := answer.text(); got != "\x08\x03" || answer.header.Get("Content-Type") != kind {
			t.Errorf("%s: got %q as %q", kind, got, answer.header.Get("Content-Type"))
		}
	}
}

// Dubbo for Python 3.0.0b1 ends what it sends with an empty message.
func TestAnEmptyMessageBehindTheOneValueOfAStreamIsNone(t *testing.T) {
	address, client := startAdder(t)
	const in, empty, want = "\x08\x05\x10\x02", "", "\x08\x05,\x08\x06"
	if got := grpc(t, client, address, "/com.shop.Adder/count", nil, strings.NewReader(message(in)+message(empty))).text(); got != want {
		t.Errorf("got %q", got)
	}
	if got := grpc(t, client, address, "/com.shop.Adder/add", nil, strings.NewReader(message("\x08\x01\x10\x02")+message(empty))).text(); got != "\x08\x03" {
		t.Errorf("a call: got %q", got)
	}
}
