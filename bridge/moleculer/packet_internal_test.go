package moleculer

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/cbor"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/codec/msgpack"
)

func TestTextsOfPacketsAreThoseOfJSONAndPlainOnesTakeNoMemory(t *testing.T) {
	for c := range 0x300 {
		text := "node-" + string(rune(c)) + "1"
		want, err := json.Codec.Append(nil, text)
		if got := appendText(nil, text); err != nil || string(got) != string(want) {
			t.Errorf("%q is %s, and by the codec %s (%v)", text, got, want, err)
		}
	}
	if got := appendText(nil, "\xff"); string(got) != `"`+"\ufffd"+`"` {
		t.Errorf("bytes that are no text are %s", got)
	}
	buffer := make([]byte, 0, 64)
	if n := testing.AllocsPerRun(100, func() { appendText(buffer, "2b9a5c5e-7b0d-4a51-9d4a-6f7f3a3b1c2d") }); n != 0 {
		t.Errorf("a plain text took %v allocations", n)
	}
}

// A packet that is no JSON is dropped by its receiver, whose caller then waits for its time limit.
func TestErrorsWhoseTextsAreNoTextsAreAnsweredNevertheless(t *testing.T) {
	for about, err := range map[string]error{
		"of Sabir":     sabir.NewError(sabir.CodeInvalidArgument, "B\xe9", "caf\xe9"),
		"of Moleculer": &Error{Class: "C\xe9", Type: "T\xe9", Message: "caf\xe9", Node: "n\xe9"},
		"with data":    sabir.NewError(sabir.CodeInvalidArgument, "Bad", "bad").WithData("caf\xe9"),
	} {
		if packet := append(appendFailure([]byte(`{"id":"1"`), errorTo(err, "a.b", "n"), nil), '}'); !stdjson.Valid(packet) {
			t.Errorf("%s: %s", about, packet)
		}
	}
}

// The pieces are as moleculer-java writes them in MsgPack, moleculerpy in JSON, and JavaScript.
func TestAPieceOfAStreamOfBytesIsReadInEachForm(t *testing.T) {
	for name, c := range map[string]struct {
		codec codec.Codec
		piece any
	}{
		"a Buffer of Java in MsgPack":      {msgpack.Codec, map[string]any{"type": "Buffer", "data": []int{1, 2, -1}}},
		"a Buffer of Java in CBOR":         {cbor.Codec, map[string]any{"type": "Buffer", "data": []int{1, 2, -1}}},
		"bytes in MsgPack":                 {msgpack.Codec, []byte{1, 2, 255}},
		"a Buffer of Python in JSON":       {nil, `{"type": "Buffer", "data": [1, 2, 255]}`},
		"a Buffer of JavaScript in JSON":   {nil, `{"type":"Buffer","data":[1,2,255]}`},
		"a Buffer as Go writes it in JSON": {nil, `{"data":[1,2,255],"type":"Buffer"}`},
	} {
		wire, err := newSerializer(c.codec)
		if err != nil {
			t.Fatal(err)
		}
		text, isJSON := c.piece.(string)
		packed := raw(text)
		if !isJSON {
			if packed, err = c.codec.Append(nil, c.piece); err != nil {
				t.Fatal(err)
			}
		}
		if data, err := wire.pieceOf(packed); err != nil || !bytes.Equal(data, []byte{1, 2, 255}) {
			t.Errorf("%s is %v, %v", name, data, err)
		}
	}
}

// A node drops packets of another version than its own.
func TestNodesThatMeetOverTCPAreSpokenToInTheirVersion(t *testing.T) {
	b := newBridge(configOf(Config{}))
	for want, clients := range map[string][]infoClient{
		"5": {{Type: "nodejs", Version: "0.15.2"}, {Type: "sabir", Version: "0.1.0"}},
		"4": {{Type: "nodejs", Version: "0.14.36"}, {Type: "java", Version: "1.2.6"}, {Type: "python"}},
	} {
		for _, c := range clients {
			if got := b.versionOf(&infoPacket{Client: c}); got != want {
				t.Errorf("%s %s is spoken to in version %s, want %s", c.Type, c.Version, got, want)
			}
		}
	}
}

// JSON.stringify makes null of them. A packet of another serializer was dropped, and its caller waited for its time limit.
func TestNumbersThatJSONHasNotAreNullInWhatGoesWithAPayload(t *testing.T) {
	for _, c := range []codec.Codec{msgpack.Codec, cbor.Codec} {
		s, err := newSerializer(c)
		if err != nil {
			t.Fatal(err)
		}
		packet, err := c.Append(nil, map[string]any{"ver": "5", "sender": "js", "id": "1", "success": false, "meta": map[string]any{"n": math.NaN()},
			"error": map[string]any{"message": "m", "data": []any{math.Inf(1), 1.5}}})
		if err != nil {
			t.Fatal(err)
		}
		var answer response
		if err := s.decode(packet, &answer); err != nil {
			t.Fatalf("%s: %v", c.Name(), err)
		}
		if meta, data := string(answer.Meta), fmt.Sprint(answer.Error.Data); meta != `{"n":null}` || data != "[<nil> 1.5]" {
			t.Errorf("%s: meta is %s, and the data of the error %s", c.Name(), meta, data)
		}
	}
}

// The call of a packet that cannot be read ends only if the packet says whose it is.
func TestAPacketThatNestsTooDeepStillSaysWhoseItIs(t *testing.T) {
	for _, c := range []struct {
		codec    codec.Codec
		nest, in string
	}{{json.Codec, "[", "]"}, {msgpack.Codec, "\x91", "\xc0"}, {cbor.Codec, "\x81", "\xf6"}, {cbor.Codec, "\xa1\x61a", "\xf6"},
		{cbor.Codec, "\x81", "\xc2\x49\x40\x00\x00\x00\x00\x00\x00\x00\x00"}, {cbor.Codec, "\x81", "\xc0\x61x"}, {cbor.Codec, "\x81", "\x63\xed\xa0\xbd"}} {
		s, err := newSerializer(c.codec)
		if err != nil {
			t.Fatal(err)
		}
		deep := []byte(strings.Repeat(c.nest, 200) + c.in)
		if !s.binary {
			deep = []byte(strings.Repeat(c.nest, 200) + strings.Repeat(c.in, 200))
		}
		packet := &writing{as: s, out: []byte(`{"ver":"5","sender":"js","id":"1","action":"a.b","headers":{"a":1}`)}
		err = packet.payload("params", func(dst []byte) ([]byte, error) { return append(dst, deep...), nil })
		if err != nil {
			t.Fatal(err)
		}
		data, err := packet.packet()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.decode(data, new(request)); err == nil {
			t.Errorf("%s: it was read", c.codec.Name())
		}
		if r := s.signed(data); r.Version != "5" || r.Sender != "js" || string(r.ID) != `"1"` || r.Action != "a.b" {
			t.Errorf("%s: it says %+v", c.codec.Name(), r)
		}
	}
}

func TestTheLogSaysOfNodesWithAnotherSerializerWhatTheBridgeNeeds(t *testing.T) {
	const advice = "needs the Serializer, Compression and Encryption that Moleculer's nodes have"
	var written [][]byte
	codecs := []codec.Codec{json.Codec, msgpack.Codec, cbor.Codec}
	for _, c := range codecs {
		s, err := newSerializer(c)
		if err != nil {
			t.Fatal(err)
		}
		data, err := (&writing{as: s, out: []byte(`{"ver":"5","sender":"js","services":7`)}).packet() // which is no INFO in its own format either
		if err != nil {
			t.Fatal(err)
		}
		written = append(written, data)
	}
	for reading, c := range codecs {
		wire, err := newSerializer(c)
		if err != nil {
			t.Fatal(err)
		}
		for writing, data := range written {
			for topic, take := range map[string]func(b *bridge){"INFO": func(b *bridge) { b.takeInfo(data) }, "DISCOVER": func(b *bridge) { b.read("DISCOVER", data, new(infoPacket)) }} {
				var log bytes.Buffer
				node := sabir.NewNode(sabir.Logger(slog.New(slog.NewTextHandler(&log, nil))))
				take(&bridge{ctx: t.Context(), id: "go", node: node, config: config{wire: wire, versions: []string{"5"}}})
				if got := log.String(); !strings.Contains(got, "a packet was refused") || strings.Contains(got, advice) != (reading != writing) {
					t.Errorf("%s in %s read as %s: the log has %q", topic, codecs[writing].Name(), c.Name(), got)
				}
			}
		}
	}
}

// What cbor-x writes of a text that was cut within an emoji, and of a Date that is none. A packet with one was dropped.
func TestWhatJavaScriptWritesInCBORIsRead(t *testing.T) {
	s, err := newSerializer(cbor.Codec)
	if err != nil {
		t.Fatal(err)
	}
	for params, want := range map[string]string{
		"\x64a\xed\xa0\xbd":                                                  "a\ufffd",
		"\x68abc\xed\xa0\xbd\xc3\xa9":                                        "abc\ufffdé",
		"\xc1\xfb\x7f\xf8\x00\x00\x00\x00\x00\x00":                           "<nil>",
		"\x82\xc1\xf9\x7e\x00\xc1\x00":                                       "[<nil> 1970-01-01 00:00:00 +0000 UTC]",
		"\xc1\xfa\x7f\xc0\x00\x00":                                           "<nil>",
		"\xa2\x61a\x44\xed\xa0\xbd\x01\x61b\x63\xed\xb0\x80":                 "map[a:[237 160 189 1] b:\ufffd]",
		"\x9f\x63\xed\xb0\x80\xbf\x63\xed\xb0\x80\x5f\x41a\x41b\xff\xff\xff": "[\ufffd map[\ufffd:[97 98]]]",
	} {
		packet, err := s.fromJSON([]byte(`{"ver":"5","sender":"js","id":"1","action":"a.b"}`), "params", []byte(params))
		if err != nil {
			t.Fatal(err)
		}
		var r request
		if err := s.decode(packet, &r); err != nil {
			t.Errorf("%x: %v", params, err)
			continue
		}
		var got any
		if err := s.values.Decode(r.Params, &got); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%x is %v (%v), want %s", params, got, err, want)
		}
	}
}

func TestTheFrameworkOfANodeThatHidesItsVersionHasNoSpaceBehindIt(t *testing.T) {
	p := &peer{id: "x"}
	if got := p.offered().Node; got.Framework != "moleculer" || got.Go != "" {
		t.Errorf("the framework is %q and the language %q", got.Framework, got.Go)
	}
}

func TestTheCodeOfAnErrorOfNodeGoesOnToMoleculer(t *testing.T) {
	var came wireError
	if err := json.Codec.Decode([]byte(`{"name":"Error","message":"connect ECONNREFUSED","code":"ECONNREFUSED"}`), &came); err != nil {
		t.Fatal(err)
	}
	passedOn := fmt.Errorf("the handler: %w", errorFrom(&came, "js"))
	if w := errorTo(passedOn, "orders.relay", "go"); w.Code != "ECONNREFUSED" || w.Name != "Error" {
		t.Errorf("the error is passed on as %+v", w)
	}
}
