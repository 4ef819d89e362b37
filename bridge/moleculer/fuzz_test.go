package moleculer

import (
	"context"
	"encoding/json"
	"testing"

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
		for _, packet := range []interface{ sentBy() *head }{&r, &e, &heartbeat{}} {
			if decode(data, packet) == nil && badTopic(packet.sentBy().Sender) {
				t.Error("a sender that cannot be answered was taken")
			}
		}
		b := &bridge{ctx: context.Background()}
		for _, o := range []*origin{&r.origin, &e.origin} {
			if in, err := b.inbound("x", o, nil); err == nil {
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
