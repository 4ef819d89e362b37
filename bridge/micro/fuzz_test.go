package micro

import (
	"bytes"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/inbound"
	"github.com/sabir-go/sabir/internal/names"
)

// FuzzMDNS reads bytes as a packet from the network, and goes on with what it read as the bridge does.
func FuzzMDNS(f *testing.F) {
	r := &record{id: "lab-1f0c", service: "lab", version: "latest", address: "10.0.0.1:8080", endpoints: []string{"Lab.Add", "Say.Hello"}, metadata: map[string]string{"protocol": "mucp"}}
	for _, make := range []func() ([]byte, error){
		func() ([]byte, error) { return question(servicesName) },
		func() ([]byte, error) { return r.listing(nil) },
		func() ([]byte, error) { return r.announcement(nil, recordTTL) },
		func() ([]byte, error) { return r.announcement(nil, 0) },
	} {
		packet, err := make()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(packet)
	}
	f.Fuzz(func(t *testing.T, packet []byte) {
		isQuestion(packet)
		a, _ := readAnswers(packet)
		for _, n := range a.nodes {
			if _, _, err := net.SplitHostPort(n.address); err != nil {
				t.Errorf("the address %q: %v", n.address, err)
			}
			for _, e := range n.endpoints {
				if name, ok := actionOf(n.service, e); ok && names.Fault(name) != "" {
					t.Errorf("the action %q is offered", name)
				}
			}
		}
	})
}

// FuzzText reads bytes as the description of a node in a TXT record.
func FuzzText(f *testing.F) {
	pieces, err := encodeText(&record{service: "lab", endpoints: []string{strings.Repeat("x", 300) + ".Add"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(strings.Join(pieces, ""))
	f.Add("789c030000000001")
	f.Fuzz(func(t *testing.T, hex string) {
		if d, err := decodeText([]string{hex}); err == nil {
			d.names()
		}
	})
}

// FuzzHeaders reads texts as headers of a message, and sends on what it read.
func FuzzHeaders(f *testing.F) {
	f.Add("User", "Ada", "5000000000", "application/json", `{"id":"lab.fail","code":409,"detail":"no","status":"Conflict"}`)
	f.Add("Sabir.principal", "forged", "18446744073709551615", "", "rpc: can't find method Nope")
	f.Add("X-Micro-Error", "a\r\nb", "-1", "application/json; charset=utf-8", "")
	f.Fuzz(func(t *testing.T, name, value, timeout, contentType, failed string) {
		h := http.Header{name: {value}, headerTimeout: {timeout}, headerDepth: {timeout}}
		if d := timeoutOf(h); d < 0 || d > maxTimeout {
			t.Errorf("the timeout %v", d)
		}
		if depthOf(h) < 0 {
			t.Error("a depth below 0")
		}
		pairs := metadataOf(h)
		if pairs["sabir.principal"] != "" || len(pairs) > inbound.MaxMetadata {
			t.Errorf("%v", pairs)
		}
		out := make(http.Header)
		setMetadata(out, pairs)
		for name, values := range out {
			if !validName(name) || !validValue(values[0]) || header(out, headerError) != "" {
				t.Errorf("%q: %q goes out", name, values)
			}
		}
		formatOf(contentType)
		if text := errorTo(errorFrom(failed, "x")).header(); !validValue(text) || len(text) > 32*maxDetail {
			t.Errorf("an error came out as %q", text)
		}
		for _, f := range formats {
			var to struct {
				A int
				B []string
			}
			_ = codec.Contained(f.codec).Decode(f.input([]byte(failed)), &to)
		}
	})
}

// FuzzFrames reads bytes as a message of gRPC, and as its timeout and path.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x02{}"), "30000m", "/orders.Orders/Place", "0", "%7B%22code%22:409%7D")
	f.Add([]byte("\x00\xff\xff\xff\xff"), "99999999H", "/", "12", "unknown service x%")
	f.Fuzz(func(t *testing.T, data []byte, timeout, path, status, message string) {
		if m, err := readFrame(bytes.NewReader(data)); err == nil {
			again, err := readFrame(bytes.NewReader(closeFrame(append(make([]byte, frameHead), m...))))
			if err != nil || !bytes.Equal(again, m) {
				t.Errorf("%q came back as %q, %v", m, again, err)
			}
		}
		if d := grpcTimeoutOf(timeout); d < 0 || d > maxTimeout {
			t.Errorf("the timeout %v", d)
		}
		(&exposed{}).find(parseGRPCPath(path))
		if err := grpcFailure(http.Header{grpcStatus: {status}, grpcMessage: {message}}, "x"); err == nil && status != "0" && strings.Trim(status, "0") != "" {
			t.Errorf("the status %q is success", status)
		}
		if text := percentEncode(message); !validValue(text) {
			t.Errorf("a message came out as %q", text)
		}
	})
}
