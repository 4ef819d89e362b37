package micro

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/gomicro"
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
			callable(d.Endpoints)
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
		pairs, _ := metadataOf(h)
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

// FuzzEnvelopes reads bytes as the body of a request in each format of the HTTP transport, and sends on what it read.
func FuzzEnvelopes(f *testing.F) {
	f.Add([]byte(`{"id":"1","method":"Lab.Add","params":[{"a":1}]}`), "Lab.Add", "no")
	f.Add([]byte("\x00\x00\x00\x02\x0a\x00\x00\x00\x00\x03\x0a\x01x"), "", "")
	f.Add([]byte("\xff\xff\xff\xff"), "\xff", "a\xffb")
	f.Fuzz(func(t *testing.T, body []byte, method, failed string) {
		h := http.Header{headerMethod: {method}, headerID: {"7"}}
		for _, contentType := range []string{"application/json-rpc", "application/proto-rpc", "application/grpc+json", "application/grpc"} {
			form, ok := httpFormatOf(contentType)
			if !ok || form.contentType != contentType {
				t.Fatal(contentType)
			}
			if value, err := form.open(body); err == nil && len(value) > max(len(body), len(form.empty)) {
				t.Errorf("%s has %d bytes of %d", contentType, len(value), len(body))
			}
			sealed := form.seal(h, []byte("7"), failed)
			switch contentType {
			case "application/json-rpc":
				if !json.Valid(sealed) {
					t.Errorf("an answer is %q", sealed)
				}
			case "application/proto-rpc":
				if value, err := form.open(sealed); err != nil || string(value) != "7" {
					t.Errorf("an answer has %q, %v", value, err)
				}
			}
		}
	})
}

// FuzzEvents reads bytes as an event of a broker, and the record of its subscription.
func FuzzEvents(f *testing.F) {
	f.Add([]byte(`{"Header":{"Content-Type":"application/json","Micro-Topic":"order.placed","Micro-ID":"1","User":"Ada"},"Body":"eyJhIjoxfQ=="}`))
	f.Add([]byte(`{"Header":{"sabir-event":"1","Micro-Id":"1"},"Body":null}`))
	f.Add([]byte(`{"name":"micro.http.broker","version":"ff.http.broadcast","nodes":[{"id":"x","address":"127.0.0.1:80","metadata":{"broker":"http","topic":"order.placed"}}]}`))
	f.Fuzz(func(t *testing.T, packet []byte) {
		if h, _, err := readMessage(packet); err == nil {
			eventFormatOf(h.Get("Content-Type"))
			if pairs, _ := metadataOf(h); len(pairs) > inbound.MaxMetadata {
				t.Errorf("%d members", len(pairs))
			}
		}
		s, err := gomicro.DecodeService(packet)
		if err != nil {
			return
		}
		for _, r := range recordsOf(&s) {
			if _, _, err := net.SplitHostPort(r.address); err != nil || r.id == "" {
				t.Errorf("the node %q at %q", r.id, r.address)
			}
			subscriptionOf(r)
		}
	})
}

// FuzzStreams reads bytes as messages of a stream over HTTP, as a server and as a client.
func FuzzStreams(f *testing.F) {
	f.Add([]byte("POST / HTTP/1.1\r\nHost: x\r\nMicro-Stream: 0\r\nContent-Length: 2\r\n\r\n{}"))
	f.Add([]byte("HTTP/1.1 200 OK\r\nMicro-Error: EOS\r\nContent-Length: 0\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var all atomic.Int64
		for m := newMessages(bytes.NewReader(data), &all); ; {
			if _, body, err := m.request(); err != nil {
				break
			} else if len(body) > len(data) {
				t.Errorf("%d bytes of %d", len(body), len(data))
			}
		}
		for m := newMessages(bytes.NewReader(data), &all); ; {
			if _, _, _, err := m.response(); err != nil {
				break
			}
		}
		if all.Load() != 0 {
			t.Errorf("%d bytes are counted still", all.Load())
		}
	})
}
