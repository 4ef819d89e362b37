package gossip

import (
	"strings"
	"testing"

	"github.com/hashicorp/memberlist"

	"github.com/sabir-go/sabir/internal/membership"
)

func TestAMemberSurvivesGossip(t *testing.T) {
	for _, want := range []membership.Member{
		{ID: "a", Instance: 1},
		{ID: "a", Addr: "unix:///run/a.sock", ClientOnly: true, Instance: 1<<64 - 1},
	} {
		data, err := encodeMeta(want)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := decodeMeta("a", data); err != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
}

func TestWhatAPeerTellsOfItselfIsChecked(t *testing.T) {
	for name, data := range map[string]string{
		"nothing":    ``,
		"cut off":    `{"a":"mem://a`,
		"no URL":     `{"a":"mem"}`,
		"wrong type": `{"g":[]}`,
		"too long":   `{"a":"mem://` + strings.Repeat("x", memberlist.MetaMaxSize) + `"}`,
	} {
		if m, err := decodeMeta("a", []byte(data)); err == nil {
			t.Errorf("%s: taken as %+v", name, m)
		}
	}
}

func FuzzDecodeMeta(f *testing.F) {
	f.Add([]byte(`{"a":"tcp://10.0.0.1:7700","g":true,"i":7}`))
	f.Add([]byte(`{"a":"%zz://x"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := decodeMeta("a", data)
		if err != nil {
			return
		}
		again, err := encodeMeta(m)
		if err != nil {
			return // text that JSON writes longer than it was
		}
		if back, err := decodeMeta("a", again); err != nil || back != m {
			t.Fatalf("%+v became %+v, %v", m, back, err)
		}
	})
}

func FuzzDecodeGoodbye(f *testing.F) {
	f.Add([]byte(`{"goodbye":"a","i":7}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		id, instance, err := decodeGoodbye(data)
		if err != nil {
			return
		}
		backID, backInstance, err := decodeGoodbye(encodeGoodbye(membership.Member{ID: id, Instance: instance}))
		if err != nil || backID != id || backInstance != instance {
			t.Fatalf("%q %d became %q %d, %v", id, instance, backID, backInstance, err)
		}
	})
}
