package dubbo_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/dubbo"
)

// http2Client is a client of HTTP/2 without TLS.
func http2Client(t *testing.T) *http.Client {
	t.Helper()
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: protocols}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: waitLimit}
}

// tripled is the answer to a request of gRPC.
type tripled struct {
	header, trailer http.Header
	messages        [][]byte
	only            bool // the status is in the only block of headers
}

// grpc sends a request of gRPC with a body, and reads the answer.
func grpc(t *testing.T, client *http.Client, address, path string, header map[string]string, body io.Reader) *tripled {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+path, body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/grpc+proto")
	request.Header.Set("Te", "trailers")
	for name, value := range header {
		request.Header.Set(name, value)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	answer := &tripled{header: response.Header, trailer: response.Trailer}
	if answer.only = response.Header.Get("Grpc-Status") != ""; answer.only && len(response.Trailer) == 0 {
		answer.trailer = response.Header
	}
	for len(data) >= 5 {
		size := binary.BigEndian.Uint32(data[1:])
		answer.messages = append(answer.messages, data[5:5+size])
		data = data[5+size:]
	}
	return answer
}

// message is a message as gRPC has it.
func message(data string) string {
	return string(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(data)))) + data
}

// wrap is a TripleRequestWrapper with short values.
func wrap(t *testing.T, types []string, values ...any) string {
	t.Helper()
	out := "\x0a\x08hessian4"
	for _, v := range values {
		data := encode(t, v)
		out += "\x12" + string(binary.AppendUvarint(nil, uint64(len(data)))) + string(data)
	}
	for _, name := range types {
		out += "\x1a" + string(binary.AppendUvarint(nil, uint64(len(name)))) + name
	}
	return out
}

// tripling is a node that serves orders over tri://, and its address.
func tripling(t *testing.T, options dubbo.Config) (*sabir.Node, string) {
	t.Helper()
	address := freeAddress(t)
	node := start(t, sabir.Serve(orders(make(noted, 100))), dubbo.Bridge(serveAt(options, map[string][]dubbo.Interface{"tri://" + address: {mapping()}})))
	return node, address
}

func TestACapturedCallOfTripleIsAnsweredAsJavaDoes(t *testing.T) {
	_, address := tripling(t, dubbo.Config{})
	answer := grpc(t, http2Client(t), address, "/com.shop.OrderService/add", map[string]string{"tri-service-version": "1.0.0", "tri-consumer-appname": "lab", "grpc-timeout": "3000000u",
		"timeout": "3000", "grpc-accept-encoding": "gzip,snappy"}, strings.NewReader(message("\x0a\x08hessian4\x12\x01\x91\x12\x01\x92\x1a\x11java.lang.Integer\x1a\x11java.lang.Integer")))
	if len(answer.messages) != 1 || string(answer.messages[0]) != "\x0a\x08hessian4\x12\x01\xe3\x1a\x0ejava.lang.Long" || answer.trailer.Get("Grpc-Status") != "0" {
		t.Errorf("got %q, %v", answer.messages, answer.trailer)
	}
	answer = grpc(t, http2Client(t), address, "/com.shop.OrderService/ping", nil, strings.NewReader(message("\x0a\x08hessian4")))
	if len(answer.messages) != 1 || string(answer.messages[0]) != "\x0a\x08hessian4\x12\x05\x04pong\x1a\x10java.lang.String" {
		t.Errorf("got %q, %v", answer.messages, answer.trailer)
	}
}

// Dubbo for Go has the format of the wrapper's values in the content type, which it wants back.
func TestAWrapperOfDubboForGoIsAnswered(t *testing.T) {
	_, address := tripling(t, dubbo.Config{})
	const kind = "application/grpc+hessian2"
	answer := grpc(t, http2Client(t), address, "/com.shop.OrderService/ping", map[string]string{"content-type": kind}, strings.NewReader(message("\x0a\x08hessian2")))
	if len(answer.messages) != 1 || !strings.Contains(string(answer.messages[0]), "\x12\x05\x04pong") || answer.header.Get("Content-Type") != kind || answer.trailer.Get("Grpc-Status") != "0" {
		t.Errorf("got %v, %q, %v", answer.header, answer.messages, answer.trailer)
	}
}

// Its client takes an exception for the answer of the method, and panics.
func TestAnErrorForDubboForGoIsAStatus(t *testing.T) {
	_, address := tripling(t, dubbo.Config{})
	answer := grpc(t, http2Client(t), address, "/com.shop.OrderService/fail", map[string]string{"content-type": "application/grpc+hessian2"}, strings.NewReader(message(wrap(t, []string{"java.lang.String"}, "state"))))
	if len(answer.messages) != 0 || answer.header.Get("Tri-Exception-Code") != "" || answer.trailer.Get("Grpc-Status") != "9" || answer.trailer.Get("Grpc-Message") == "" {
		t.Errorf("got %v, %q, %v", answer.header, answer.messages, answer.trailer)
	}
}

// Clients of gRPC that try again by a policy of their own do so only where the error is in the only block of headers.
func TestAnErrorOfTripleBeforeTheFirstMessageIsInTheOnlyHeaders(t *testing.T) {
	_, address := tripling(t, dubbo.Config{})
	client := http2Client(t)
	for path, body := range map[string]string{"/com.shop.Elsewhere/ping": message(""), "/com.shop.OrderService/none": message(wrap(t, nil)), "/com.shop.OrderService/ping": "x"} {
		if a := grpc(t, client, address, path, nil, strings.NewReader(body)); !a.only || a.trailer.Get("Grpc-Message") == "" || len(a.messages) != 0 {
			t.Errorf("%s: headers %v, trailers %v", path, a.header, a.trailer)
		}
	}
	if a := grpc(t, client, address, "/com.shop.OrderService/ping", nil, strings.NewReader(message(wrap(t, nil)))); a.only || a.trailer.Get("Grpc-Status") != "0" || len(a.messages) != 1 {
		t.Errorf("an answer: headers %v, trailers %v", a.header, a.trailer)
	}
}

func TestAnExceptionOfTripleIsInTheWrapper(t *testing.T) {
	_, address := tripling(t, dubbo.Config{})
	answer := grpc(t, http2Client(t), address, "/com.shop.OrderService/fail", nil, strings.NewReader(message(wrap(t, []string{"java.lang.String"}, "state"))))
	if answer.header.Get("Tri-Exception-Code") != "3" || answer.trailer.Get("Grpc-Status") != "0" || len(answer.messages) != 1 ||
		!strings.Contains(string(answer.messages[0]), "java.lang.IllegalStateException") {
		t.Errorf("got %v, %q, %v", answer.header, answer.messages, answer.trailer)
	}
}

func TestAttachmentsOfTripleAreHeaders(t *testing.T) {
	address, seen := freeAddress(t), make(chan map[string]string, 1)
	s := sabir.NewService("orders")
	sabir.Handle(s, "ping", func(ctx context.Context, _ sabir.Empty) (string, error) {
		seen <- sabir.InfoFromContext(ctx).Metadata
		sabir.Answer(ctx).SetHeader("seenBy", "go")
		sabir.Answer(ctx).SetTrailer("last", "one")
		return "", nil
	})
	start(t, sabir.Serve(s), dubbo.Bridge(dubbo.Config{Serve: map[string][]dubbo.Interface{"tri://" + address: {{Name: "com.shop.OrderService", Service: "orders", Version: "1.0.0"}}}}))
	answer := grpc(t, http2Client(t), address, "/com.shop.OrderService/ping", map[string]string{"user": "Ada", "raw-bin": "AQI", "tri-consumer-appname": "lab", "timeout": "3000",
		"sabir.principal": "root", "username": "x", "tri-header-convert": "%7B%22username%22:%22userName%22%7D", "authorization": "secret", "interface": "y"},
		strings.NewReader(message("\x0a\x08hessian4")))
	want := map[string]string{"user": "Ada", "raw-bin": "AQI", "userName": "x", "remote.application": "lab"}
	if got := <-seen; !maps.Equal(got, want) {
		t.Errorf("the handler sees %v, want %v", got, want)
	}
	if got := answer.trailer; got.Get("seenby") != "go" || got.Get("last") != "one" || got.Get("Tri-Header-Convert") != `{"seenby":"seenBy"}` {
		t.Errorf("what came back is %v", got)
	}
}

// Programs of Java go on with the tag of a call in the calls that they make for it, and know who calls by the name of its application.
func TestCallsBringTagAndApplicationOverBothProtocols(t *testing.T) {
	for _, scheme := range []string{"dubbo", "tri"} {
		address, seen := freeAddress(t), make(chan map[string]string, 1)
		s := sabir.NewService("orders")
		sabir.Handle(s, "ping", func(ctx context.Context, _ sabir.Empty) (string, error) {
			seen <- sabir.InfoFromContext(ctx).Metadata
			return "pong", nil
		})
		table := dubbo.Interface{Name: "com.shop.OrderService", Service: "orders"}
		start(t, sabir.Serve(s), dubbo.Bridge(dubbo.Config{Serve: map[string][]dubbo.Interface{scheme + "://" + address: {table}}}))
		n := start(t, dubbo.Bridge(dubbo.Config{Tag: "gray", Application: "shop", References: map[string][]dubbo.Interface{scheme + "://" + address: {{Name: "com.shop.OrderService", Service: "remote", Methods: []dubbo.Method{{Name: "ping", Parameters: []string{}}}}}}}))
		if _, err := sabir.Call[string](t.Context(), n, "remote.ping", sabir.Empty{}); err != nil {
			t.Fatal(err)
		}
		if got := <-seen; got["dubbo.tag"] != "gray" || got["remote.application"] != "shop" {
			t.Errorf("over %s the attachments are %v", scheme, got)
		}
	}
}

func TestVersionsAndGroupsOfTripleAreHeaders(t *testing.T) {
	address := freeAddress(t)
	var services []dubbo.Interface
	options := []sabir.NodeOption{}
	for _, name := range []string{"one", "two", "eu"} {
		s := sabir.NewService(name)
		sabir.Handle(s, "ping", func(context.Context, sabir.Empty) (string, error) { return name, nil })
		options = append(options, sabir.Serve(s))
	}
	services = append(services, dubbo.Interface{Name: "com.shop.A", Service: "one", Version: "1.0.0"}, dubbo.Interface{Name: "com.shop.A", Service: "two", Version: "2.0.0"},
		dubbo.Interface{Name: "com.shop.A", Service: "eu", Version: "1.0.0", Group: "eu"}, dubbo.Interface{Name: "com.shop.B", Service: "two", Version: "3.0.0"})
	start(t, append(options, dubbo.Bridge(dubbo.Config{Serve: map[string][]dubbo.Interface{"tri://" + address: services}}))...)
	client := http2Client(t)
	for _, c := range []struct{ name, version, group, want string }{
		{"com.shop.A", "1.0.0", "", "one"},
		{"com.shop.A", "2.0.0", "", "two"},
		{"com.shop.A", "", "", "one"},
		{"com.shop.A", "", "eu", "eu"},
		{"com.shop.A", "1.0.0", "eu", "eu"},
		{"com.shop.B", "", "", "two"},
		{"com.shop.A", "2.0.0", "*", "two"}, // what a consumer with group = "*" says to a provider without one
		{"com.shop.A", "*", "*", "one"},
		{"com.shop.A", "2.0.0", "eu", ""},
		{"com.shop.A", "4.0.0", "", ""},
		{"com.shop.A", "", "us", ""},
		{"com.shop.C", "", "", ""},
	} {
		header := map[string]string{}
		if c.version != "" {
			header["tri-service-version"] = c.version
		}
		if c.group != "" {
			header["tri-service-group"] = c.group
		}
		answer := grpc(t, client, address, "/"+c.name+"/ping", header, strings.NewReader(message("\x0a\x08hessian4")))
		switch status := answer.trailer.Get("Grpc-Status"); {
		case c.want == "" && status != "12":
			t.Errorf("%+v: the status is %s, want 12", c, status)
		case c.want != "" && (status != "0" || !strings.Contains(string(answer.messages[0]), c.want)):
			t.Errorf("%+v: the status is %s, and the answer %q", c, status, answer.messages)
		}
	}
}

func TestMalformedMessagesOfTripleAreRefused(t *testing.T) {
	_, address := tripling(t, dubbo.Config{})
	client := http2Client(t)
	deep := "\x0a\x08hessian4\x12\x80\x80\x40" + strings.Repeat("\x79", 1<<20)
	for name, c := range map[string]struct {
		path, body string
		header     map[string]string
		status     string
	}{
		"no message":                        {"place", "", nil, "3"},
		"half a head":                       {"place", "\x00\x00", nil, "3"},
		"a message that ends early":         {"place", "\x00\x00\x00\x00\x09x", nil, "3"},
		"a message of a gigabyte":           {"place", "\x00\x40\x00\x00\x00", nil, "8"},
		"flags that are none":               {"place", "\x07\x00\x00\x00\x00", nil, "3"},
		"a compression that is unknown":     {"place", "\x01\x00\x00\x00\x01x", map[string]string{"grpc-encoding": "snappy"}, "12"},
		"gzip that is none":                 {"place", "\x01\x00\x00\x00\x01x", map[string]string{"grpc-encoding": "gzip"}, "3"},
		"a bomb":                            {"place", zipped(t, 9<<20), map[string]string{"grpc-encoding": "gzip"}, "8"},
		"no wrapper":                        {"place", message("\x08\x01"), nil, "3"},
		"a field that is unknown":           {"place", message("\x22\x01x"), nil, "3"},
		"a length of a gigabyte":            {"place", message("\x0a\x08hessian4\x12\xff\xff\xff\xff\x07"), nil, "3"},
		"another serialization":             {"place", message("\x0a\x09fastjson2\x12\x02{}"), nil, "12"},
		"values without all types":          {"add", message("\x0a\x08hessian4\x12\x01\x91\x12\x01\x91\x1a\x03int"), nil, "3"},
		"more arguments than Java has":      {"add", message("\x0a\x08hessian4" + strings.Repeat("\x12\x01N", 300)), nil, "3"},
		"more fields than there can be":     {"add", message(strings.Repeat("\x0a\x08hessian4", 1000)), nil, "3"},
		"nesting":                           {"place", message(deep), nil, "0"}, // an IllegalArgumentException
		"an unknown method":                 {"none", message("\x0a\x08hessian4"), nil, "12"},
		"a method for the cluster only":     {"hidden", message("\x0a\x08hessian4"), nil, "12"},
		"no method":                         {"", message("\x0a\x08hessian4"), nil, "12"},
		"a call beyond its time":            {"slow", message("\x0a\x08hessian4\x12\x05I\x00\x09\x27\xc0\x1a\x03int"), map[string]string{"grpc-timeout": "1m"}, "4"},
		"a call beyond the provider's time": {"slow", message("\x0a\x08hessian4\x12\x05I\x00\x09\x27\xc0\x1a\x03int"), map[string]string{"tri-service-timeout": "1"}, "4"},
		"a time that is none":               {"ping", message("\x0a\x08hessian4"), map[string]string{"grpc-timeout": "99999999999H"}, "0"},
	} {
		answer := grpc(t, client, address, "/com.shop.OrderService/"+c.path, c.header, strings.NewReader(c.body))
		if got := answer.trailer.Get("Grpc-Status"); got != c.status {
			t.Errorf("%s: the status is %s with %q, want %s", name, got, answer.trailer.Get("Grpc-Message"), c.status)
		}
	}
	answer := grpc(t, client, address, "/com.shop.OrderService/ping", nil, strings.NewReader(message("\x0a\x08hessian4")))
	if answer.trailer.Get("Grpc-Status") != "0" {
		t.Errorf("a call after them: %v", answer.trailer)
	}
}

// zipped is a compressed message of so many bytes.
func zipped(t *testing.T, size int) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(make([]byte, size)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return string(binary.BigEndian.AppendUint32([]byte{1}, uint32(b.Len()))) + b.String()
}

func TestACompressedMessageIsRead(t *testing.T) {
	_, address := tripling(t, dubbo.Config{})
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(wrap(t, []string{"java.lang.String"}, "soon"))); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	body := string(binary.BigEndian.AppendUint32([]byte{1}, uint32(b.Len()))) + b.String()
	answer := grpc(t, http2Client(t), address, "/com.shop.OrderService/later", map[string]string{"grpc-encoding": "gzip"}, strings.NewReader(body))
	if len(answer.messages) != 1 || !strings.Contains(string(answer.messages[0]), "sooner") {
		t.Errorf("got %q, %v", answer.messages, answer.trailer)
	}
}

func TestJSONIsAnsweredOverHTTP(t *testing.T) {
	_, address := tripling(t, dubbo.Config{})
	for version, client := range map[string]*http.Client{"HTTP/1.1": {Transport: &http.Transport{DisableKeepAlives: true}}, "HTTP/2.0": http2Client(t)} {
		for _, c := range []struct {
			path, body string
			status     int
			want       string
		}{
			{"ping", "", 200, `"pong"`},
			{"ping", "[]", 200, `"pong"`},
			{"add", "[2, 40]", 200, "42"},
			{"later", `["soon"]`, 200, `"sooner"`},
			{"later", `"soon"`, 200, `"sooner"`},
			{"amount", `{"id":"a","amount":2}`, 200, "2"},
			{"amount", `[{"id":"a","amount":2}]`, 200, "2"},
			{"place", `[{"id":"a"}]`, 500, `{"message":`}, // a circle, which JSON has no form for
			{"find", `["b", 7]`, 200, `{"id":"b","amount":7,`},
			{"count", `[{"a":1}, true]`, 200, `{"a":1,"all":1}`},
			{"fail", `["state"]`, 500, `{"message":"the shop is closed","status":"500"}`},
			{"note", `["a note"]`, 200, `null`},
			{"bytes", `["AQID"]`, 200, `"AQID/w=="`},
			{"bytes", `[1, 2, 3]`, 200, `"AQID/w=="`},
			{"add", `["x", 1]`, 400, `{"message":`},
			{"add", "[1, 2, 3]", 400, `{"message":`},
			{"add", "[1]", 400, `{"message":"the input of orders.add cannot be read: 1 arguments for an action that takes 2"`},
			{"later", "[]", 400, `{"message":`},
			{"add", `[1, 2`, 400, `{"message":`},
			{"place", strings.Repeat("[", 1<<20), 400, `{"message":`},
			{"place", `"` + strings.Repeat("x", 9<<20) + `"`, 413, `{"message":`},
			{"none", "[]", 404, `{"message":`},
			{"hidden", "[]", 404, `{"message":`},
			{"get", "[7, 8]", 404, `{"message":`},
		} {
			response, err := client.Post("http://"+address+"/com.shop.OrderService/"+c.path, "application/json", strings.NewReader(c.body))
			if err != nil {
				t.Errorf("%s %s %.100s: %v", version, c.path, c.body, err)
				continue
			}
			text, err := io.ReadAll(response.Body)
			response.Body.Close()
			if response.Proto != version || response.StatusCode != c.status || err != nil || !strings.HasPrefix(string(text), c.want) || response.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s %s %.100s: got %s %d %s %v, want %d %s", version, c.path, c.body, response.Proto, response.StatusCode, text, err, c.status, c.want)
			}
		}
	}
}

func TestOtherRequestsOfHTTPAreRefused(t *testing.T) {
	_, address := tripling(t, dubbo.Config{})
	for _, c := range []struct {
		method, path, kind string
		status             int
	}{
		{"OPTIONS", "/com.shop.OrderService/ping", "", 405},
		{"POST", "/com.shop.OrderService/ping", "text/xml", 415},
		{"POST", "/com.shop.OrderService/ping", "application/grpc+json", 505},
		{"POST", "/com.shop.OrderService/ping", "application/grpc-web+thrift", 415},
		{"POST", "/", "application/json", 404},
		{"POST", "/com.shop.Other/ping", "application/json", 404},
		{"POST", "/com.shop.OrderService/ping", "application/grpc", 505},
	} {
		request, err := http.NewRequestWithContext(t.Context(), c.method, "http://"+address+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", c.kind)
		response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != c.status {
			t.Errorf("%+v: the status is %d", c, response.StatusCode)
		}
	}
}

// A proxy and the node could each take another of two values: over HTTP/1.1, over HTTP/2, and at the port of operators.
func TestARequestInWhichAHeaderWithOneValueComesTwiceIsRefused(t *testing.T) {
	_, address := tripling(t, dubbo.Config{})
	overHTTP2 := &http.Transport{Protocols: new(http.Protocols)}
	overHTTP2.Protocols.SetUnencryptedHTTP2(true)
	for url, transport := range map[string]*http.Transport{
		"http://" + address + "/com.shop.OrderService/ping": {}, "http://" + address + "/com.shop.OrderService/ping?": overHTTP2, "http://" + operated(t) + "/ls": {},
	} {
		defer transport.CloseIdleConnections()
		for name, value := range map[string]string{"Content-Type": "application/json", "Grpc-Timeout": "1S", "Authorization": "Bearer a"} {
			request, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader("[]"))
			if err != nil {
				t.Fatal(err)
			}
			request.Header[name] = []string{value, value}
			response, err := transport.RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(response.Body)
			response.Body.Close()
			if err != nil || response.StatusCode != 400 || string(text) != "the header "+name+" comes more than once: want one\n" {
				t.Errorf("%s: %s: %d %q %v", url, name, response.StatusCode, text, err)
			}
		}
	}
}

func TestOnePortSpeaksBothProtocols(t *testing.T) {
	address := freeAddress(t)
	start(t, sabir.Serve(orders(nil)), dubbo.Bridge(dubbo.Config{Serve: map[string][]dubbo.Interface{"dubbo://" + address: {mapping()}, "tri://" + address: {mapping()}}}))
	p := dial(t, address)
	p.write(frame(0xc2, 0, 7, call(t, "ping", "", nil)))
	if _, status, id, _ := p.next(); status != 20 || id != 7 {
		t.Errorf("dubbo://: the status of %d is %d", id, status)
	}
	answer := grpc(t, http2Client(t), address, "/com.shop.OrderService/ping", nil, strings.NewReader(message("\x0a\x08hessian4")))
	if answer.trailer.Get("Grpc-Status") != "0" {
		t.Errorf("tri://: %v", answer.trailer)
	}
	silent := dial(t, address) // neither
	silent.write([]byte("\xda"))
	silent.Close()
}

// waiting is a node whose action says on entered that it runs and on left that its context has ended.
func waiting(t *testing.T) (address string, entered, left chan string) {
	t.Helper()
	address, entered, left = freeAddress(t), make(chan string, 10_000), make(chan string, 10_000)
	s := sabir.NewService("orders")
	sabir.Handle(s, "wait", func(ctx context.Context, _ sabir.Empty) (string, error) {
		entered <- ""
		<-ctx.Done()
		left <- ""
		return "", ctx.Err()
	})
	sabir.Handle(s, "ping", func(context.Context, sabir.Empty) (string, error) { return "pong", nil })
	sabir.HandleStream(s, "count", func(ctx context.Context, to *sabir.Stream[string, []byte]) error {
		entered <- ""
		for {
			if err := to.Send(make([]byte, 64<<10)); err != nil {
				left <- ""
				return err
			}
		}
	})
	start(t, sabir.Serve(s), dubbo.Bridge(dubbo.Config{Serve: map[string][]dubbo.Interface{"tri://" + address: {{Name: "com.shop.OrderService", Service: "orders"}}}}))
	return address, entered, left
}

func pings(t *testing.T, address string) {
	t.Helper()
	answer := grpc(t, http2Client(t), address, "/com.shop.OrderService/ping", nil, strings.NewReader(message("\x0a\x08hessian4")))
	if len(answer.messages) != 1 || answer.trailer.Get("Grpc-Status") != "0" {
		t.Errorf("a call of another consumer: %q, %v", answer.messages, answer.trailer)
	}
}

func TestCallsEndWithTheirConsumerOfTriple(t *testing.T) {
	address, entered, left := waiting(t)
	for _, path := range []string{"wait", "count"} {
		client := http2Client(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+"/com.shop.OrderService/"+path, strings.NewReader(message("\x0a\x08hessian4")))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/grpc")
		over := make(chan struct{})
		go func() {
			defer close(over)
			if response, err := client.Do(request); err == nil {
				<-ctx.Done() // nothing is read of what the stream has
				response.Body.Close()
			}
		}()
		<-entered
		pings(t, address) // which a consumer that does not read holds up for nobody
		cancel()
		<-left
		<-over
	}
}

func TestAFloodOfCallsThatAreResetTakesNothingFromOthers(t *testing.T) {
	address, entered, left := waiting(t)
	client := http2Client(t)
	var calls sync.WaitGroup
	for range 50 {
		calls.Go(func() {
			for range 40 {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Millisecond)
				request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+"/com.shop.OrderService/wait", strings.NewReader(message("\x0a\x08hessian4")))
				if err != nil {
					t.Error(err)
				}
				request.Header.Set("Content-Type", "application/grpc")
				if response, err := client.Do(request); err == nil {
					response.Body.Close()
				}
				cancel()
			}
		})
	}
	calls.Wait()
	pings(t, address)
	for range len(entered) {
		<-left
	}
}

func TestBytesThatAreNoHTTPEndTheirConnectionOnly(t *testing.T) {
	_, address := tripling(t, dubbo.Config{})
	for name, data := range map[string]string{
		"no protocol at all":                  "\x00\x01\x02\x03\r\n\r\n",
		"a frame of dubbo":                    "\xda\xbb\xc2\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00",
		"a preface and a frame of 16 MiB":     "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\x00\x00\x00\x00\x00\x01",
		"a preface and headers that are none": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x04\x01\x05\x00\x00\x00\x01\xff\xff\xff\xff",
		"a preface and data of no stream":     "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00\x00\x09abcd",
		"two lengths":                         "POST /com.shop.OrderService/ping HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n[]",
		"a head that does not end":            "POST /com.shop.OrderService/ping HTTP/1.1\r\nX: " + strings.Repeat("x", 1<<20),
	} {
		p := dial(t, address)
		p.Write([]byte(data)) // fails where the node has closed already
		p.Conn.(*net.TCPConn).CloseWrite()
		if _, err := io.Copy(io.Discard, p.reader); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%s: the connection does not end: %v", name, err)
		}
	}
	answer := grpc(t, http2Client(t), address, "/com.shop.OrderService/ping", nil, strings.NewReader(message("\x0a\x08hessian4")))
	if answer.trailer.Get("Grpc-Status") != "0" {
		t.Errorf("a call after them: %v", answer.trailer)
	}
}

func TestASilentConnectionOfHTTPIsLeft(t *testing.T) {
	_, address := tripling(t, dubbo.Config{Heartbeat: 200 * time.Millisecond})
	p := dial(t, address)
	p.write([]byte("POST /com.shop.OrderService/ping HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n[]"))
	text, err := io.ReadAll(p.reader)
	if err != nil && !strings.Contains(err.Error(), "reset") || !strings.Contains(string(text), `"pong"`) {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestAProviderOfTripleThatStopsGetsNoNewCalls(t *testing.T) {
	address, entered := freeAddress(t), make(chan string, 1)
	s := sabir.NewService("orders")
	finish := make(chan struct{})
	sabir.Handle(s, "wait", func(context.Context, sabir.Empty) (string, error) {
		entered <- ""
		<-finish
		return "done", nil
	})
	provider := start(t, sabir.Serve(s), dubbo.Bridge(dubbo.Config{Serve: map[string][]dubbo.Interface{"tri://" + address: {{Name: "com.shop.OrderService", Service: "orders"}}}}))
	consumer := start(t, dubbo.Bridge(dubbo.Config{References: map[string][]dubbo.Interface{"tri://" + address: {{Name: "com.shop.OrderService", Service: "waits", Methods: []dubbo.Method{{Name: "wait", Parameters: []string{}}}}}}}))
	wait := sabir.Bind[sabir.Empty, string](consumer, "waits.wait")
	answered := make(chan error, 1)
	go func() {
		got, err := wait(t.Context(), sabir.Empty{})
		if err == nil && got != "done" {
			err = errors.New(got)
		}
		answered <- err
	}()
	<-entered
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		stop(t, provider)
	}()
	for {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		_, err := wait(ctx, sabir.Empty{})
		cancel()
		if errors.Is(err, sabir.ErrServiceUnavailable) {
			break
		}
		if len(entered) > 0 { // one that came before the stop
			<-entered
		}
	}
	close(finish)
	if err := <-answered; err != nil {
		t.Errorf("the call that was in flight: %v", err)
	}
	<-stopped
}

// A stream that is open when its provider stops ends, and the node connects again to the one that comes in its place.
func TestStreamsAndConnectionsComeBackAfterAProviderOfTriple(t *testing.T) {
	address := freeAddress(t)
	table := dubbo.Interface{Name: "com.shop.TradeService", Service: "trades"}
	provider := start(t, sabir.Serve(trades(make(chan string, 9))), dubbo.Bridge(dubbo.Config{Serve: map[string][]dubbo.Interface{"tri://" + address: {table}}}))
	consumer := start(t, dubbo.Bridge(dubbo.Config{References: map[string][]dubbo.Interface{"tri://" + address: {tradesOfJava()}}}))
	open, err := sabir.OpenStream[string, order](t.Context(), consumer, "trades.trade")
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if err := open.Send("last"); err != nil {
		t.Fatal(err)
	}
	if got, err := open.Recv(); err != nil || got.ID != "last" {
		t.Fatalf("got %v, %v", got, err)
	}
	stop(t, provider)
	if _, err := open.Recv(); !errors.Is(err, sabir.ErrServiceUnavailable) {
		t.Errorf("the open stream ends with %v", err)
	}
	start(t, sabir.Serve(trades(nil)), dubbo.Bridge(dubbo.Config{Serve: map[string][]dubbo.Interface{"tri://" + address: {table}}}))
	for {
		got, err := watched(t, consumer, "a")
		if err == nil {
			if len(got) != 3 {
				t.Errorf("got %v", got)
			}
			return
		}
	}
}

// Dubbo for Go answers a method that it has not with 404 and a text, which was read as a message: the error was LinkLost, as if the provider had gone in the middle.
func TestAnAnswerThatIsNotOfGRPCIsTheErrorOfItsStatus(t *testing.T) {
	var status atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "404 page not found", int(status.Load())) }))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	defer server.Close()
	n := start(t, dubbo.Bridge(dubbo.Config{References: map[string][]dubbo.Interface{"tri://" + server.Listener.Addr().String(): {dubbo.Interface{Name: "com.shop.OrderService", Service: "orders",
		Methods: []dubbo.Method{{Name: "ping", Parameters: []string{}}, {Name: "watch", ServerStream: true, Parameters: []string{"java.lang.String"}}}}}}}))
	if err := n.WaitFor(t.Context(), "orders"); err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct {
		status int
		code   sabir.Code
		text   string
	}{
		{404, sabir.ErrActionNotFound.Code, "404 Not Found"},
		{403, sabir.CodePermissionDenied, "403 Forbidden"},
		{503, sabir.CodeUnavailable, "503 Service Unavailable"},
		{418, sabir.CodeUnknown, "418 I'm a teapot"},
	} {
		status.Store(int64(of.status))
		_, err := sabir.Call[string](t.Context(), n, "orders.ping", sabir.Empty{})
		if e := sabir.AsError(err); e == nil || e.Code != of.code || !strings.Contains(e.Message, of.text) {
			t.Errorf("a call that is answered with %d: %v", of.status, err)
		}
		for _, err := range sabir.CallStream[string](t.Context(), n, "orders.watch", "x") {
			if e := sabir.AsError(err); e == nil || e.Code != of.code || !strings.Contains(e.Message, of.text) {
				t.Errorf("a stream that is answered with %d: %v", of.status, err)
			}
		}
	}
}
