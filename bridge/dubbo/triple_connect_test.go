package dubbo_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/dubbo"
	"github.com/sabir-go/sabir/internal/brokers"
)

type pair struct{ A, B int64 }

type total struct{ Sum int64 }

// adding starts a node that offers com.shop.Adder, whose values are messages of Protocol Buffers. Its method wait ends with the time limit of its
// caller, and then sends that to limits.
func adding(t *testing.T, options dubbo.Config) (address string, limits chan bool) {
	t.Helper()
	limits = make(chan bool, len(formsOfJavaScript))
	s := sabir.NewService("adder")
	sabir.Handle(s, "add", func(ctx context.Context, in pair) (total, error) {
		if in.A == 0 {
			return total{}, sabir.NewError(sabir.CodeInvalidArgument, "NoA", "a is 0")
		}
		sabir.Answer(ctx).SetHeader("seen", "go to "+sabir.InfoFromContext(ctx).Metadata["user"])
		return total{in.A + in.B}, nil
	})
	sabir.HandleStream(s, "count", func(_ context.Context, to *sabir.Stream[pair, total]) error {
		in, err := to.Recv()
		if err != nil {
			return err
		}
		for i := range in.A {
			if err := to.Send(total{i + 1}); err != nil {
				return err
			}
		}
		if in.A < 0 {
			return sabir.NewError(sabir.CodeOutOfRange, "Below", "a is below 0")
		}
		return nil
	}, sabir.ServerStream())
	sabir.HandleStream(s, "totals", func(_ context.Context, to *sabir.Stream[pair, total]) error {
		for {
			in, err := to.Recv()
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			if err := to.Send(total{in.A + in.B}); err != nil {
				return err
			}
		}
	})
	sabir.Handle(s, "wait", func(ctx context.Context, _ pair) (total, error) {
		_, limited := ctx.Deadline()
		<-ctx.Done()
		limits <- limited
		return total{}, ctx.Err()
	})
	sabir.Handle(s, "plain", func(context.Context, sabir.Empty) (string, error) { return "", nil })
	address = freeAddress(t)
	start(t, sabir.Serve(s), dubbo.Bridge(serveAt(options, map[string][]dubbo.Interface{"tri://" + address: {{Name: "com.shop.Adder", Service: "adder", Version: "1.0.0", Protobuf: true}, dubbo.Interface{Name: "com.shop.Plain", Service: "adder", Version: "1.0.0"}}})))
	return address, limits
}

// formsOfJavaScript are those of client.mjs, with whether their client sends several values in a stream.
var formsOfJavaScript = map[string]bool{"node 2": true, "node 1.1": false, "node 2 JSON": true, "node 1.1 JSON": false, "node gzip JSON": true, "node GET": false,
	"gRPC": true, "gRPC JSON": true, "web": false, "web JSON": false, "web GET JSON": false}

func TestDubbosClientForJavaScriptCallsANode(t *testing.T) {
	brokers.Long(t)
	address, limits := adding(t, dubbo.Config{})
	got := runCommand(t, "client.mjs", nodejs(t, "client.mjs", "http://"+address)).until("end")
	for form, several := range formsOfJavaScript {
		want := map[string]string{"add": "42", "seen": "go to Ada", "fail": "DubboError 3 a is 0", "late": "DubboError 4", "count": "1 2 3", "fail later": "DubboError 11 a is below 0"}
		if several {
			want["totals"] = "3 7"
		}
		for name, want := range want {
			if got := got[name+" "+form]; got != want {
				t.Errorf("%s by %s: JavaScript has %q, want %q", name, form, got, want)
			}
		}
		if limited := <-limits; !limited {
			t.Error("a call with a time limit has none at the handler")
		}
	}
}

func TestANodeCallsAServerOfDubboForJavaScript(t *testing.T) {
	brokers.Long(t)
	address := freeAddress(t)
	_, port, _ := net.SplitHostPort(address)
	server := runCommand(t, "server.mjs", nodejs(t, "server.mjs", port))
	server.until("ready")
	node := start(t, dubbo.Bridge(dubbo.Config{References: map[string][]dubbo.Interface{"tri://" + address: {{Name: "com.shop.Adder", Service: "adder", Version: "1.0.0", Protobuf: true,
		Methods: []dubbo.Method{{Name: "Add", Action: "add"}, {Name: "Wait", Action: "wait"}, {Name: "Count", Action: "count", ServerStream: true}, {Name: "Totals", Action: "totals", Stream: true}}}}}}))
	add := sabir.Bind[pair, total](node, "adder.add")
	ctx, back := dubbo.CollectAttachments(sabir.WithMetadata(t.Context(), "user", "Ada"))
	if got, err := add(ctx, pair{2, 40}); got.Sum != 42 || err != nil || back()["seen"] != "node to Ada" || back()["behind"] != "it" {
		t.Errorf("add: got %+v, %v, %v", got, err, back())
	}
	if _, err := add(t.Context(), pair{}); sabir.AsError(err).Code != sabir.CodeInvalidArgument || sabir.AsError(err).Message != "a is 0" {
		t.Errorf("add of 0: %v", err)
	}
	numbers := func(a int64) (list []int64, err error) {
		count, err := sabir.OpenStream[pair, total](t.Context(), node, "adder.count")
		if err != nil {
			return nil, err
		}
		defer count.Close()
		if err := count.Send(pair{A: a}); err != nil {
			return nil, err
		}
		for one, err := range count.All() {
			if err != nil {
				return list, err
			}
			list = append(list, one.Sum)
		}
		return list, nil
	}
	if got, err := numbers(3); !slices.Equal(got, []int64{1, 2, 3}) || err != nil {
		t.Errorf("count: got %v, %v", got, err)
	}
	if got, err := numbers(-1); len(got) > 0 || sabir.AsError(err).Code != sabir.CodeOutOfRange || sabir.AsError(err).Message != "a is below 0" {
		t.Errorf("count below 0: got %v, %v", got, err)
	}
	totals, err := sabir.OpenStream[pair, total](t.Context(), node, "adder.totals")
	if err != nil {
		t.Fatal(err)
	}
	defer totals.Close()
	for a := range int64(2) {
		if err := totals.Send(pair{a, 1}); err != nil {
			t.Fatal(err)
		}
		if got, err := totals.Recv(); got.Sum != a+1 || err != nil {
			t.Errorf("totals: got %+v, %v", got, err)
		}
	}
	totals.CloseSend()
	if _, err := totals.Recv(); err != io.EOF {
		t.Errorf("the end of totals is %v", err)
	}
	late, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := sabir.Bind[pair, total](node, "adder.wait")(late, pair{}); !errors.Is(err, sabir.ErrDeadlineExceeded) {
		t.Errorf("a call beyond its deadline: %v", err)
	}
	server.until("left")
}

func TestConnectsProtocolIsAnswered(t *testing.T) {
	address, _ := adding(t, dubbo.Config{})
	end := func(text string) string {
		return string(binary.BigEndian.AppendUint32([]byte{2}, uint32(len(text)))) + text
	}
	for version, client := range map[string]*http.Client{"HTTP/1.1": {Transport: &http.Transport{DisableKeepAlives: true}}, "HTTP/2.0": http2Client(t)} {
		for _, c := range []struct {
			path, kind, encoding, body string
			status                     int
			want                       string
		}{
			{"Adder/Add", "application/proto", "", "\x08\x01\x10\x02", 200, "\x08\x03"},
			{"Adder/Add", "application/proto", "gzip", zipped(t, 0)[5:], 400, `{"status":3,"message":"a is 0"}`},
			{"Adder/Add", "application/proto", "br", "\x08\x01", 501, `{"status":12`},
			{"Adder/Add", "application/proto", "", "", 400, `{"status":3,"message":"a is 0"}`},
			{"Adder/Add", "application/proto", "", "\x08", 400, `{"status":3`},
			{"Adder/Add", "application/proto", "", strings.Repeat("x", 9<<20), 413, `{"status":8`},
			{"Adder/None", "application/proto", "", "", 404, `{"status":12`},
			{"Other/Add", "application/proto", "", "", 501, `{"status":12`},
			{"Adder/Count", "application/proto", "", "", 0, `{"status":12`},
			{"Plain/Plain", "application/proto", "", "", 0, `{"status":12`},
			{"Adder/Count", "application/connect+proto", "", message("\x08\x02"), 200, message("\x08\x01") + message("\x08\x02") + end("{}")},
			{"Adder/Totals", "application/connect+proto", "", message("\x08\x02") + message("\x10\x03"), 200, message("\x08\x02") + message("\x08\x03") + end("{}")},
			{"Adder/Count", "application/connect+proto", "", message("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 200, end(`{"error":{"status":11,"message":"a is below 0"}}`)},
			{"Adder/Add", "application/connect+proto", "", message(""), 200, "\x02"},
			{"Adder/None", "application/connect+proto", "", message(""), 200, "\x02"},
			{"Adder/Totals", "application/connect+proto", "", "\x00\xff\xff\xff\xff", 200, "\x02"},
			{"Adder/Totals", "application/connect+proto", "", "\x02\x00\x00\x00\x02{}", 200, "\x02"},
			{"Adder/Add", "application/json", "", `{"a":"9007199254740993","b":1}`, 200, `{"sum":"9007199254740994"}`},
			{"Adder/Add", "application/json; charset=utf-8", "", `{"a":"1","other":[]}`, 200, `{"sum":"1"}`},
			{"Adder/Add", "application/json", "", "{}", 400, `{"status":3,"message":"a is 0"}`},
			{"Adder/Add", "application/json", "", `[1, 2]`, 400, `{"status":3`},
			{"Adder/Add", "application/json", "", `{"a":`, 400, `{"status":3`},
			{"Adder/Add", "application/json", "", `{"a":` + strings.Repeat("[", 100_000), 400, `{"status":3`},
			{"Adder/None", "application/json", "", "{}", 404, `{"status":12`},
			{"Adder/Count", "application/json", "", "{}", 501, `{"status":12`},
			{"Plain/Plain", "application/json", "", "{}", 501, `{"status":12,"message":"the values of plain are no messages`},
			{"Adder/Count", "application/connect+json", "", message(`{"a":"2"}`), 200, message(`{"sum":"1"}`) + message(`{"sum":"2"}`) + end("{}")},
			{"Adder/Totals", "application/connect+json", "", message(`[]`), 200, "\x02"},
			{"Adder/Add?triple=v1.0.0&encoding=json&message=%7B%22a%22%3A2%7D", "", "", "", 200, `{"sum":"2"}`},
			{"Adder/Add?triple=v1.0.0&encoding=proto&base64=1&message=CAE", "", "", "", 200, "\x08\x01"},
			{"Adder/Add?triple=v1.0.0&encoding=proto&base64=1&message=%21", "", "", "", 400, `{"status":3`},
			{"Adder/Add?triple=v1.0.0&encoding=json&compression=br&message=x", "", "", "", 501, `{"status":12`},
			{"Adder/Count?triple=v1.0.0&encoding=json&message=%7B%7D", "", "", "", 501, `{"status":12`},
		} {
			method := http.MethodPost
			if c.kind == "" {
				method = http.MethodGet
			}
			request, err := http.NewRequestWithContext(t.Context(), method, "http://"+address+"/com.shop."+c.path, strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			if request.Header.Set("Content-Type", c.kind); strings.HasPrefix(c.kind, "application/json") {
				request.Header.Set("Tri-Protocol-Version", "1.0.0")
			}
			if c.encoding != "" {
				request.Header.Set("Content-Encoding", c.encoding)
			}
			response, err := client.Do(request)
			if err != nil {
				t.Errorf("%s %s %.100q: %v", version, c.path, c.body, err)
				continue
			}
			text, err := io.ReadAll(response.Body)
			response.Body.Close()
			if c.status != 0 && response.StatusCode != c.status || err != nil || !strings.HasPrefix(string(text), c.want) || response.Proto != version {
				t.Errorf("%s %s %.100q: got %d %q %v, want %d %q", version, c.path, c.body, response.StatusCode, text, err, c.status, c.want)
			}
		}
	}
}

func TestPagesOfOtherSitesCannotGetByConnectsProtocol(t *testing.T) {
	address, _ := adding(t, dubbo.Config{})
	got := curl(t, "http://"+address+"/com.shop.Adder/Add?triple=v1.0.0&encoding=json&message=%7B%22a%22%3A2%7D", "", "Origin", "https://elsewhere.example")
	if got.Status != http.StatusForbidden {
		t.Errorf("got %+v", got)
	}
}
