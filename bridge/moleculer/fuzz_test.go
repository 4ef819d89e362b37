package moleculer

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/cbor"
	codecjson "github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/codec/msgpack"
	"github.com/sabir-go/sabir/internal/names"
)

// captures are packets as nodes of Moleculer 0.15.2 and 0.14.36 sent them.
var captures = []string{
	`{"ver":"5","sender":"judge"}`,
	`{"cpu":100,"ver":"5","sender":"peer"}`,
	`{"id":"5c3e","action":"lab.add","params":{"a":1},"meta":{"user":{"id":7},"name":"Ada"},"headers":{"x":1},"timeout":8000,"level":1,"tracing":null,"parentID":null,"requestID":"5c3e","caller":null,"stream":false,"ver":"5","sender":"judge"}`,
	`{"id":"5c3e","meta":{},"headers":{},"success":true,"data":{"type":"Buffer","data":[1,2,255]},"ver":"5","sender":"peer"}`,
	`{"id":"5c3e","meta":{},"success":false,"data":null,"stream":false,"seq":6,"error":{"name":"ValidationError","message":"m","nodeID":"n","code":422,"type":"VALIDATION_ERROR","retryable":false,"data":[{"type":"number","field":"a","message":"m","actual":"x"}]},"ver":"4","sender":"peer"}`,
	`{"id":"1","event":"user.created","data":null,"groups":["mail"],"broadcast":false,"meta":{},"headers":{},"level":1,"tracing":true,"parentID":"7b1d0f4e-0000-4000-8000-000000000000","requestID":"7b1d0f4e-0000-4000-8000-000000000001","caller":"x","needAck":null,"ver":"5","sender":"judge"}`,
	`{"services":[{"name":"$node","fullName":"$node","settings":{},"metadata":{},"actions":{"$node.list":{"cache":false,"rawName":"list","name":"$node.list"}},"events":{}},` +
		`{"name":"posts","version":2,"fullName":"v2.posts","actions":{"v2.posts.get":{"name":"v2.posts.get","rawName":"get","params":{"id":"number"}}},"events":{"user.*":{"name":"user.*","group":"g"},"u?er.c*":{}}}],` +
		`"ipList":["10.0.0.1"],"hostname":"h","client":{"type":"nodejs","version":"0.15.2","langVersion":"v20.0.0"},"config":{},"instanceID":"i","metadata":{},"seq":2,"ver":"5","sender":"peer"}`,
	`{"time":1,"id":"x","ver":"4","sender":"peer"}`,
}

// FuzzPackets reads bytes as each kind of packet, and goes on with what it read as the bridge does.
func FuzzPackets(f *testing.F) {
	for _, c := range captures {
		f.Add([]byte(c))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var r request
		var e event
		wire, _ := newSerializer(nil)
		decode := wire.decode
		for _, packet := range []carrier{&r, &e, &heartbeat{}} {
			if decode(data, packet) == nil && badTopic(packet.sentBy().Sender) {
				t.Error("a sender that cannot be answered was taken")
			}
		}
		scanned, decoded := request{}, request{}
		if scanned.scan(data) && codecjson.Codec.Decode(data, &decoded) == nil && !reflect.DeepEqual(scanned, decoded) {
			t.Errorf("read quickly it is %+v, and by the codec %+v", scanned, decoded)
		}
		answer, slowly := response{}, response{}
		if answer.scan(data) && codecjson.Codec.Decode(data, &slowly) == nil && !reflect.DeepEqual(answer, slowly) {
			t.Errorf("read quickly it is %+v, and by the codec %+v", answer, slowly)
		}
		b := &bridge{ctx: context.Background(), config: config{wire: wire}}
		for _, o := range []*origin{&r.origin, &e.origin} {
			if in, err := b.inbound(nil, "x", o, nil); err == nil {
				if in.Level < 0 || in.Metadata["sabir.principal"] != "" {
					t.Errorf("%+v", in)
				}
				if meta := appendMeta(nil, in.Metadata); !json.Valid(meta) {
					t.Errorf("meta came out as %s", meta)
				}
			}
		}
		var answered response
		if decode(data, &answered) == nil && answered.Error != nil {
			failed := errorFrom(answered.Error, "x")
			if back := errorTo(failed, "a.b", "x").append(nil); !json.Valid(back) {
				t.Errorf("an error came out as %s", back)
			}
		}
		var info infoPacket
		if decode(data, &info) == nil {
			p := &peer{id: "x", info: info}
			offer := p.offered()
			fullNames(offer.Actions)
			for _, a := range offer.Actions {
				if names.Fault(a.Name) != "" {
					t.Errorf("the action %q is offered", a.Name)
				}
			}
			for _, e := range offer.Events {
				if names.PatternFault(e.Pattern) != "" {
					t.Errorf("the pattern %q is offered", e.Pattern)
				}
			}
		}
		var into struct {
			Data []byte `json:"data"`
		}
		_ = format.Decode(data, &into)
	})
}

// FuzzBinaryPackets reads bytes as packets in the other serializers, and writes what it read again.
func FuzzBinaryPackets(f *testing.F) {
	for _, c := range []codec.Codec{msgpack.Codec, cbor.Codec} {
		for _, text := range captures {
			var value any
			if err := json.Unmarshal([]byte(text), &value); err != nil {
				f.Fatal(err)
			}
			data, err := c.Append(nil, value)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, c := range []codec.Codec{msgpack.Codec, cbor.Codec} {
			wire, err := newSerializer(c)
			if err != nil {
				t.Fatal(err)
			}
			var r request
			for _, packet := range []carrier{&r, &response{}, &event{}, &infoPacket{}, &heartbeat{}} {
				if wire.decode(data, packet) == nil && badTopic(packet.sentBy().Sender) {
					t.Error("a sender that cannot be answered was taken")
				}
			}
			if r.Params == nil || r.Sender == "" || r.check() != nil {
				continue
			}
			w := writing{as: wire, out: appendText([]byte(`{"ver":"5","sender":`), r.Sender)}
			if err := w.payload("params", func(dst []byte) ([]byte, error) { return append(dst, r.Params...), nil }); err != nil {
				t.Fatal(err)
			}
			packet, err := w.packet()
			if err != nil {
				t.Fatal(err)
			}
			var again request
			if err := wire.decode(packet, &again); err != nil || again.Sender != r.Sender {
				t.Errorf("%x came back as %+v, %v", packet, again, err)
			}
			_, _ = wire.pieceOf(r.Params)
			var text raw
			_ = wire.values.Decode(r.Params, &text)
		}
	})
}

// FuzzBuffers finds the Buffers in a text, and compares them with what encoding/json finds.
func FuzzBuffers(f *testing.F) {
	f.Add([]byte(`{"type":"Buffer","data":[1,2,255]}`))
	f.Add([]byte(`{"data":[1,2,255],"type":"Buffer"}`))
	f.Add([]byte(`[ {"type" : "Buffer", "data": [1, 2]}, {"data":[1],"type":"Buffers"}, {"data":[{"data":[],"type":"Buffer"}]}]`))
	f.Add([]byte(`[{"type":"Buffer","data":[]},{"type":"Buffer","data":[1,]},"{\"type\":\"Buffer\",\"data\":["]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		data, size := readBuffer(text)
		if size > 0 {
			var whole struct {
				Data []int `json:"data"`
			}
			if err := json.Unmarshal(text[:size], &whole); err == nil && len(whole.Data) != len(data) {
				t.Errorf("%s has %d bytes", text[:size], len(data))
			}
		}
		if json.Valid(text) && !json.Valid(withBase64(text)) {
			t.Errorf("%s became %s", text, withBase64(text))
		}
	})
}

// FuzzStreams puts packets of a stream in any order: they come out in theirs, and what waits is counted.
func FuzzStreams(f *testing.F) {
	f.Add([]byte{3, 1, 2, 2, 0, 200, 4})
	f.Fuzz(func(t *testing.T, numbers []byte) {
		var waiting atomic.Int64
		c := newChunks(&waiting)
		for _, n := range numbers {
			c.put(int(n), chunk{value: raw{n}})
		}
		done := make(chan struct{})
		close(done)
		for next := 1; len(c.ready) > 0; next++ {
			if one, ok := c.take(done); !ok || int(one.value[0]) != next {
				t.Fatalf("%d came in place of %d", one.value, next)
			}
		}
		c.close()
		if left := waiting.Load(); left != 0 {
			t.Errorf("%d bytes are counted in the end", left)
		}
	})
}

// FuzzLayers reads bytes as what compression and encryption make of packets, and reads again what these make of them.
func FuzzLayers(f *testing.F) {
	sealed, err := newEncryption([]byte("0123456789abcdef"), "aes-128-cbc", []byte("fedcba9876543210"))
	if err != nil {
		f.Fatal(err)
	}
	layers := []layer{compression("deflate"), compression("deflateRaw"), compression("gzip"), sealed, &encryption{sealed.block, sealed.iv, true}}
	for _, text := range append(captures, strings.Repeat("x", 2000)) {
		f.Add([]byte(text))
		for _, l := range layers {
			packet, err := l.seal([]byte(text))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(packet)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, l := range layers {
			_, _ = l.open(data)
			packet, err := l.seal(data)
			if err != nil {
				t.Fatal(err)
			}
			if back, err := l.open(packet); err != nil || string(back) != string(data) {
				t.Errorf("%x came back as %x, %v", data, back, err)
			}
		}
	})
}

// FuzzTCP reads bytes as frames of the transporter TCP, takes what is gossip, and writes frames again.
func FuzzTCP(f *testing.F) {
	for kind, packet := range map[byte]string{
		frameHello:          `{"ver":"5","sender":"js","host":"10.0.0.1","port":4100}`,
		frameGossipRequest:  `{"ver":"5","sender":"js","online":{"js":[3,1,12],"go":[1,0,0]},"offline":{"x":7}}`,
		frameGossipResponse: `{"ver":"5","sender":"js","online":{"js":[{"services":[],"ipList":["10.0.0.1"],"hostname":"h","instanceID":"i","client":{"type":"nodejs","version":"0.14.36"},"port":4100,"seq":4},2,10],"x":[2,50]},"offline":{"go":4}}`,
	} {
		f.Add(appendFrame(nil, kind, []byte(packet)))
	}
	f.Add(appendFrame(nil, frameGossipResponse, []byte(`{"ver":"5","sender":"x","online":{"js":[{"services":[{"name":"a","actions":{"a.b":{}}}],"instanceID":"i","seq":4},2,10]}}`))) // puts js among the peers
	f.Add([]byte("ns|js|4100"))
	node := sabir.NewNode(sabir.Logger(slog.New(slog.DiscardHandler)))
	if err := node.Start(context.Background()); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { node.Stop(context.Background()) })
	f.Fuzz(func(t *testing.T, data []byte) {
		if id, port, ok := readAnnouncement(string(data), "ns"); ok && (badTopic(id) || port <= 0) {
			t.Errorf("%q was announced at %d", id, port)
		}
		wire, _ := newSerializer(nil)
		b := &bridge{ctx: context.Background(), id: "go", node: node, config: config{wire: wire, versions: []string{"5", "4"}}}
		b.peers.known = make(map[string]*peer)
		defer b.dropPeers("the packet was read")
		m := &tcp{bridge: b, ctx: b.ctx, hosts: []string{"127.0.0.1"}, closed: true, nodes: map[string]*tcpNode{"js": {id: "js", linked: true}}}
		b.mesh = m
		r := bufio.NewReader(bytes.NewReader(data))
		for {
			kind, packet, err := readFrame(r)
			if err != nil {
				break
			}
			var g gossipPacket
			if kind >= frameGossipRequest && b.read("gossip", packet, &g) && g.Sender != "js" { // whose INFO would make it a node
				m.takeGossip(kind, &g, net.IPv4(127, 0, 0, 1))
			}
			again, back, err := readFrame(bufio.NewReader(bytes.NewReader(appendFrame(nil, kind, packet))))
			if err != nil || again != kind || !bytes.Equal(back, packet) {
				t.Errorf("%x came back as %x, %v", packet, back, err)
			}
		}
	})
}
