package moleculer_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/moleculer"
	"github.com/sabir-go/sabir/codec/cbor"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/secret"
)

const (
	transmitKey = "0123456789abcdef0123456789abcdef"
	transmitIV  = "fedcba9876543210"
)

func TestPacketsAreCompressedAndEncryptedAsMoleculersMiddlewaresDo(t *testing.T) {
	brokers.Long(t)
	encryption := []any{"Encryption", transmitKey, "aes-256-cbc", transmitIV}
	for _, c := range []struct {
		name        string
		version     string
		middlewares []any
		options     moleculer.Config
	}{
		{"deflate", "5", []any{[]any{"Compression", map[string]string{"method": "deflate"}}}, moleculer.Config{Compression: "deflate"}},
		{"encrypted, protocol 4", "4", []any{encryption}, moleculer.Config{Encryption: &moleculer.Encryption{Password: secret.New(transmitKey), IV: transmitIV}}},
		{"gzip, encrypted and in CBOR", "5", []any{encryption, []any{"Compression", map[string]string{"method": "gzip"}}},
			moleculer.Config{Encryption: &moleculer.Encryption{Password: secret.New(transmitKey), IV: transmitIV, First: true}, Compression: "gzip", Serializer: cbor.Codec}},
		{"deflateRaw and CTR, the other way around", "5", []any{[]any{"Compression", map[string]string{"method": "deflateRaw"}}, []any{"Encryption", transmitKey[:16], "aes-128-ctr", transmitIV}},
			moleculer.Config{Compression: "deflateRaw", Encryption: &moleculer.Encryption{Password: secret.New(transmitKey[:16]), Algorithm: "aes-128-ctr", IV: transmitIV}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := newPlace(t)
			a.options["middlewares"] = c.middlewares
			if strings.Contains(c.name, "CBOR") {
				a.options["serializer"] = "CBOR"
			}
			a.bridge = c.options
			js := a.peer(c.version, "js")
			got := make(chan string, 1)
			n := a.node("go", []sabir.Servable{orders(), streams(), heard("mail", "user.*", got)}, moleculer.Config{Expose: []string{"**"}})
			js.must(nil, "wait", "v3.orders", "mail", "streams")
			if err := n.WaitFor(t.Context(), "v2.js"); err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{"small", strings.Repeat("large ", 10_000)} {
				if out, err := js.call("v3.orders.echo", text); err != nil || !bytes.Contains(out.Result, []byte(text)) {
					t.Errorf("%.100s, %v", out.Result, err)
				}
				if back, err := sabir.Call[string](t.Context(), n, "js.echo", text); err != nil || back != text {
					t.Errorf("%.100s, %v", back, err)
				}
			}
			if _, err := js.call("v3.orders.fail", "Full"); err == nil || err.(*jsError).Type != "Full" {
				t.Errorf("the error is %v", err)
			}
			js.must(nil, "emit", "user.created", "Ada")
			if text := next(t, got); text != "mail user.created Ada " {
				t.Errorf("an event: %q", text)
			}
			var streamed collected
			if err := js.do(&streamed, "stream", "streams.upper", []string{"a", strings.Repeat("b", 5000)}, nil); err != nil || streamed.Bytes != 5001 {
				t.Errorf("a stream: %d bytes, %v", streamed.Bytes, err)
			}
			var alive bool
			if js.must(&alive, "ping", "go"); !alive {
				t.Error("a ping was not answered")
			}
		})
	}
}

func TestCompressionAndEncryptionSayWhatTheyWant(t *testing.T) {
	for want, c := range map[string]moleculer.Config{
		"the methods are deflate":   {Compression: "brotli"},
		"the algorithm is":          {Encryption: &moleculer.Encryption{Password: secret.New(transmitKey), Algorithm: "aes-256-gcm", IV: transmitIV}},
		"aes-256-cbc wants 32":      {Encryption: &moleculer.Encryption{Password: secret.New("short"), Algorithm: "aes-256-cbc", IV: transmitIV}},
		"the iv has 0 bytes":        {Encryption: &moleculer.Encryption{Password: secret.New(transmitKey), Algorithm: "aes-256-cbc", IV: ""}},
		"the iv has 3 bytes: aes-1": {Encryption: &moleculer.Encryption{Password: secret.New(transmitKey[:16]), Algorithm: "aes-128-ctr", IV: "abc"}},
	} {
		n := sabir.NewNode(moleculer.Bridge(c))
		if err := n.Start(t.Context()); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), transmitKey[:16]) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}
