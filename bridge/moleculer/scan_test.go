package moleculer

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/gateway"
)

const (
	plainRequest = `{"id":"2b9a5c5e-7b0d-4a51-9d4a-6f7f3a3b1c2d","action":"echo.reply","params":{"a":1234,"b":["x\"}",{"c":null}]},"meta":{"user":{"id":7}},"headers":{},"timeout":8000,"level":1,` +
		`"tracing":null,"parentID":null,"requestID":"2b9a5c5e-7b0d-4a51-9d4a-6f7f3a3b1c2d","caller":"x.y","stream":false,"ver":"5","sender":"peer"}`
	plainAnswer = `{"id":"2b9a5c5e-7b0d-4a51-9d4a-6f7f3a3b1c2d","meta":{"a":"b"},"headers":{},"success":true,"data":[1,"]",{"a":-1.5e3}],"ver":"5","sender":"peer"}`
)

func TestPacketsAsMoleculerWritesThemAreReadQuickly(t *testing.T) {
	var r, want request
	if err := json.Codec.Decode([]byte(plainRequest), &want); err != nil {
		t.Fatal(err)
	}
	if !r.scan([]byte(plainRequest)) || !reflect.DeepEqual(r, want) {
		t.Errorf("a request was read as %+v, want %+v", r, want)
	}
	var a, wanted response
	if err := json.Codec.Decode([]byte(plainAnswer), &wanted); err != nil {
		t.Fatal(err)
	}
	if !a.scan([]byte(plainAnswer)) || !reflect.DeepEqual(a, wanted) {
		t.Errorf("an answer was read as %+v, want %+v", a, wanted)
	}
}

func TestWhatIsUnusualInPacketsIsLeftToTheCodec(t *testing.T) {
	for about, packet := range map[string]string{
		"white space":     `{ "id":"1"}`,
		"an escape":       `{"id":"\u0031"}`,
		"another letter":  `{"id":"é"}`,
		"a member twice":  `{"id":"1","id":"2"}`,
		"another member":  `{"id":"1","x":2}`,
		"another case":    `{"ID":"1"}`,
		"a stream":        `{"id":"1","stream":true}`,
		"a sequence":      `{"id":"1","stream":false,"seq":1}`,
		"more behind it":  `{"id":"1"}{}`,
		"no end":          `{"id":"1"`,
		"no member":       `{"id":"1",}`,
		"no value":        `{"id":}`,
		"a broken text":   `{"id":"1`,
		"another kind":    `{"id":1}`,
		"headers":         `{"id":"1","headers":{"a":1}}`,
		"a large number":  `{"id":"1","level":12345678901234567890,"timeout":1e3}`,
		"a leading zero":  `{"id":"1","level":01}`,
		"an empty packet": ``,
		"no object":       `[]`,
		"an unended part": `{"id":"1","params":{"a":"}`,
	} {
		var r request
		var a response
		if r.scan([]byte(packet)) || a.scan([]byte(packet)) {
			t.Errorf("%s: was read quickly, as %+v %+v", about, r, a)
		}
		if !reflect.DeepEqual(r, request{}) || !reflect.DeepEqual(a, response{}) {
			t.Errorf("%s: something was left in the packet: %+v %+v", about, r, a)
		}
	}
}

func TestPacketsThatAreReadQuicklyAreWhatTheCodecReads(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	tokens := []string{`"`, `\`, `{`, `}`, `[`, `]`, `,`, `:`, `null`, `true`, `{}`, `0`, `-`, `1.5`, `"id":`, `"params":`, ` `, `é`, "\x00", `"stream":true`, `,"seq":1`, `,"error":null`}
	quick := 0
	for range 20_000 {
		for _, from := range []string{plainRequest, plainAnswer} {
			data := []byte(from)
			for range random.IntN(3) {
				at := random.IntN(len(data))
				data = slices.Replace(data, at, min(len(data), at+random.IntN(4)), []byte(tokens[random.IntN(len(tokens))])...)
			}
			var r, slowly request
			if r.scan(data) {
				quick++
				if err := json.Codec.Decode(data, &slowly); err == nil && !reflect.DeepEqual(r, slowly) {
					t.Fatalf("%s\nis read as %+v, and by the codec as %+v", data, r, slowly)
				} else if err != nil && (valid(r.Params) && valid(r.Meta)) {
					t.Fatalf("%s\nis read as %+v, and refused by the codec: %v", data, r, err)
				}
			}
			var a, answer response
			if a.scan(data) {
				quick++
				if err := json.Codec.Decode(data, &answer); err == nil && !reflect.DeepEqual(a, answer) {
					t.Fatalf("%s\nis read as %+v, and by the codec as %+v", data, a, answer)
				} else if err != nil && valid(a.Data) && valid(a.Meta) {
					t.Fatalf("%s\nis read as %+v, and refused by the codec: %v", data, a, err)
				}
			}
		}
	}
	if quick < 5_000 {
		t.Errorf("only %d packets were read quickly", quick)
	}
}

// valid reports whether whoever reads the part takes it.
func valid(part raw) bool {
	var any raw
	return len(part) == 0 || json.Codec.Decode(part, &any) == nil
}

// Such a packet was dropped, and its caller waited for its time limit.
func TestARequestWithParamsThatAreNoJSONIsAnswered(t *testing.T) {
	answered := make(chan string, 1)
	took := func(subject string) {
		if strings.Contains(subject, ".RES.") {
			answered <- subject
		}
	}
	published.Store(&took)
	defer published.Store(nil)
	s := sabir.NewService("echo")
	sabir.Handle(s, "reply", func(_ context.Context, in struct{ A int }) (int, error) {
		t.Error("the handler ran")
		return in.A, nil
	})
	own := newBridge(configOf(Config{Address: "deaf://x", Expose: []string{"echo.*"}}))
	node := sabir.NewNode(sabir.Serve(s), sabir.Logger(slog.New(slog.DiscardHandler)), sabir.WithExtension(own), sabir.WithGateway(func(*sabir.Node) (gateway.Gateway, error) { return asGateway{own}, nil }))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer node.Stop(context.Background())
	for _, params := range []string{`{"a":}`, `{"a":1]`, `[}`, `nul`} {
		own.takeRequest([]byte(strings.Replace(plainRequest, `{"a":1234,"b":["x\"}",{"c":null}]}`, params, 1)))
		if to := <-answered; to != "MOL.RES.peer" {
			t.Errorf("%s: the answer went to %s", params, to)
		}
	}
}
