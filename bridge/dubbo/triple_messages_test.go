package dubbo_test

import (
	"strings"
	"testing"

	"github.com/sabir-go/sabir/bridge/dubbo"
)

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
	address, _ := adding(t, dubbo.Config{})
	client := http2Client(t)
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
	address, _ := adding(t, dubbo.Config{})
	client := http2Client(t)
	for _, kind := range []string{"application/grpc", "application/grpc+proto", "application/grpc+data", "application/grpc+x", "Application/GRPC+Proto", "application/grpc ;a=b"} {
		answer := grpc(t, client, address, "/com.shop.Adder/add", map[string]string{"Content-Type": kind}, strings.NewReader(message("\x08\x01\x10\x02")))
		if got := answer.text(); got != "\x08\x03" || answer.header.Get("Content-Type") != kind {
			t.Errorf("%s: got %q as %q", kind, got, answer.header.Get("Content-Type"))
		}
	}
}

// Dubbo for Python 3.0.0b1 ends what it sends with an empty message.
func TestAnEmptyMessageBehindTheOneValueOfAStreamIsNone(t *testing.T) {
	address, _ := adding(t, dubbo.Config{})
	client := http2Client(t)
	const in, empty, want = "\x08\x02", "", "\x08\x01,\x08\x02"
	if got := grpc(t, client, address, "/com.shop.Adder/count", nil, strings.NewReader(message(in)+message(empty))).text(); got != want {
		t.Errorf("got %q", got)
	}
	if got := grpc(t, client, address, "/com.shop.Adder/add", nil, strings.NewReader(message("\x08\x01\x10\x02")+message(empty))).text(); got != "\x08\x03" {
		t.Errorf("a call: got %q", got)
	}
}
