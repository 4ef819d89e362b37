package dubbo_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/dubbo"
	"github.com/sabir-go/sabir/internal/brokers"
)

type pair struct{ A, B int64 }

type total struct{ Sum int64 }

// adding starts a node that offers com.shop.Adder, whose values are messages of Protocol Buffers. Its method wait ends with the time limit of its
// caller, and then sends that to limits.
func adding(t *testing.T) (address string, limits chan bool) {
	t.Helper()
	limits = make(chan bool, 2)
	s := sabir.NewService("adder")
	sabir.Handle(s, "add", func(ctx context.Context, in pair) (total, error) {
		if in.A == 0 {
			return total{}, sabir.NewError(sabir.CodeInvalidArgument, "NoA", "a is 0")
		}
		sabir.SetHeader(ctx, "seen", "go")
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
	start(t, sabir.Serve(s), dubbo.Bridge(dubbo.Serve("tri://"+address, dubbo.Interface("com.shop.Adder", "adder", dubbo.Version("1.0.0"), dubbo.Protobuf()),
		dubbo.Interface("com.shop.Plain", "adder", dubbo.Version("1.0.0")))))
	return address, limits
}

func TestDubbosClientForJavaScriptCallsANode(t *testing.T) {
	brokers.Long(t)
	dir := filepath.Join(t.TempDir(), "nodejs")
	brokers.NodeModules(t, "testdata/nodejs", dir)
	address, limits := adding(t)
	command := exec.CommandContext(t.Context(), brokers.Program(t, "node", "nodejs"), "client.mjs", "http://"+address)
	command.Dir, command.Stderr = dir, t.Output()
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	for lines := bufio.NewScanner(strings.NewReader(string(out))); lines.Scan(); {
		name, result, _ := strings.Cut(lines.Text(), " = ")
		got[name] = result
	}
	for name, want := range map[string]string{
		"add 2": "42", "add 1.1": "42", "count 2": "1 2 3", "count 1.1": "1 2 3", "totals 2": "3 7",
		"late 2": "DubboError 4", "late 1.1": "DubboError 4",
		"fail 2": "DubboError 3 a is 0", "fail 1.1": "DubboError 3 a is 0", "fail later 2": "DubboError 11 a is below 0", "fail later 1.1": "DubboError 11 a is below 0",
	} {
		if got[name] != want {
			t.Errorf("%s: JavaScript has %q, want %q", name, got[name], want)
		}
	}
	for range 2 {
		if limited := <-limits; !limited {
			t.Error("a call with a time limit has none at the handler")
		}
	}
}

func TestConnectsProtocolIsAnswered(t *testing.T) {
	address, _ := adding(t)
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
		} {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/com.shop."+c.path, strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Content-Type", c.kind)
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
