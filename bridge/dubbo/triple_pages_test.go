package dubbo_test

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/dubbo"
	"github.com/sabir-go/sabir/web/filter"
)

func TestPagesOfOtherSitesCallWithinThePolicyOnly(t *testing.T) {
	const app, elsewhere = "https://app.example.com", "https://elsewhere.example"
	with, _ := adding(t, dubbo.Config{CORS: &filter.CORS{Origins: []string{app}}})
	without, _ := adding(t, dubbo.Config{})
	for _, c := range []struct {
		address, method, path, origin, kind string
		headers                             string // that the browser asks for
		status                              int
		allowed                             string
	}{
		{with, "OPTIONS", "Adder/Add", app, "", "content-type,tri-protocol-version,tri-service-version,tri-service-group,tri-service-timeout", 204, app},
		{with, "OPTIONS", "Adder/Add", app, "", "content-type,grpc-timeout,x-grpc-web,x-user-agent", 204, app},
		{with, "OPTIONS", "Adder/Add", app, "", "content-type,other", 403, ""},
		{with, "OPTIONS", "Adder/Add", elsewhere, "", "content-type", 403, ""},
		{with, "OPTIONS", "Adder/Add", "null", "", "content-type", 403, ""},
		{without, "OPTIONS", "Adder/Add", app, "", "content-type", 405, ""},
		{with, "GET", "Adder/Add?triple=v1.0.0&encoding=json&message=%7B%22a%22%3A2%7D", app, "", "", 200, app},
		{with, "GET", "Adder/Add?triple=v1.0.0&encoding=json&message=%7B%22a%22%3A2%7D", elsewhere, "", "", 403, ""},
		{without, "GET", "Adder/Add?triple=v1.0.0&encoding=json&message=%7B%22a%22%3A2%7D", app, "", "", 403, ""},
		{with, "GET", "Plain/Plain", app, "", "", 200, app},
		{with, "GET", "Plain/Plain", elsewhere, "", "", 403, ""},
		{without, "GET", "Plain/Plain", app, "", "", 403, ""},
		{with, "POST", "Plain/Plain", app, "application/json", "", 200, app},
		{with, "POST", "Adder/None", app, "application/json", "", 404, app},
	} {
		request, err := http.NewRequestWithContext(t.Context(), c.method, "http://"+c.address+"/com.shop."+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Origin", c.origin)
		if c.kind != "" {
			request.Header.Set("Content-Type", c.kind)
		}
		if c.headers != "" {
			request.Header.Set("Access-Control-Request-Method", "POST")
			request.Header.Set("Access-Control-Request-Headers", c.headers)
		}
		response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if got := response.Header.Get("Access-Control-Allow-Origin"); response.StatusCode != c.status || got != c.allowed {
			t.Errorf("%s %s for %s, policy %t: got %d, allowed %q, want %d %q", c.method, c.path, c.origin, c.address == with, response.StatusCode, got, c.status, c.allowed)
		}
	}
}

func TestAPolicyForPagesOfOtherSitesIsChecked(t *testing.T) {
	node := sabir.NewNode(dubbo.Bridge(dubbo.Config{CORS: &filter.CORS{Origins: []string{"app.example.com"}}}))
	if err := node.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "dubbo.Config: CORS") {
		t.Errorf("started: %v", err)
	}
}

// What browsers and gRPC-Web add to each request says nothing about the call.
func TestHeadersOfBrowsersAreNoAttachments(t *testing.T) {
	seen := make(chan map[string]string, 1)
	s := sabir.NewService("seer")
	sabir.Handle(s, "look", func(ctx context.Context, _ sabir.Empty) (bool, error) {
		seen <- sabir.InfoFromContext(ctx).Metadata
		return true, nil
	})
	address := freeAddress(t)
	start(t, sabir.Serve(s), dubbo.Bridge(dubbo.Config{Serve: map[string][]dubbo.Interface{"tri://" + address: {{Name: "com.shop.Seer", Service: "seer"}}}}))
	got := curl(t, "http://"+address+"/com.shop.Seer/look", "[]", "User", "Ada", "Sec-Fetch-Mode", "cors", "Sec-Ch-Ua", "x", "Accept-Language", "en", "Cache-Control", "no-cache",
		"Pragma", "no-cache", "Dnt", "1", "Priority", "u=1", "X-Grpc-Web", "1", "X-User-Agent", "grpc-web", "Connect-Accept-Encoding", "gzip", "If-None-Match", "1")
	if all := <-seen; got.Status != 200 || len(all) != 1 || all["user"] != "Ada" {
		t.Errorf("got %+v, metadata %v", got, all)
	}
}

func TestGRPCWebIsAnswered(t *testing.T) {
	address, _ := adding(t, dubbo.Config{})
	trailers := func(text string) string {
		return string(binary.BigEndian.AppendUint32([]byte{0x80}, uint32(len(text)))) + text
	}
	done := trailers("grpc-status: 0\r\n")
	const noBase64 = "####"
	for version, client := range map[string]*http.Client{"HTTP/1.1": {Transport: &http.Transport{DisableKeepAlives: true}}, "HTTP/2.0": http2Client(t)} {
		for _, c := range []struct{ path, kind, body, want string }{
			{"Adder/Add", "application/grpc-web", message("\x08\x01\x10\x02"), message("\x08\x03") + trailers("grpc-status: 0\r\nseen: go to Ada\r\n")},
			{"Adder/Add", "application/grpc-web+proto", message("\x10\x02"), trailers("grpc-message: a is 0\r\ngrpc-status: 3\r\n")},
			{"Adder/Add", "application/grpc-web+json", message(`{"a":"2"}`), message(`{"sum":"2"}`) + trailers("grpc-status: 0\r\nseen: go to Ada\r\n")},
			{"Adder/Count", "application/grpc-web+proto", message("\x08\x02"), message("\x08\x01") + message("\x08\x02") + done},
			{"Adder/Count", "application/grpc-web-text+proto", message("\x08\x02"), message("\x08\x01") + message("\x08\x02") + done},
			{"Adder/Add", "application/grpc-web-text", message("\x10\x02"), trailers("grpc-message: a is 0\r\ngrpc-status: 3\r\n")},
			{"Adder/None", "application/grpc-web", message(""), "\x80"},
			{"Other/Add", "application/grpc-web-text", message(""), "\x80"},
			{"Adder/Add", "application/grpc-web", "\x00\xff\xff\xff\xff", "\x80"},
			{"Adder/Totals", "application/grpc-web", "\x80\x00\x00\x00\x00", "\x80"},
			{"Adder/Add", "application/grpc-web", "", "\x80"},
			{"Adder/Add", "application/grpc-web-text", noBase64, "\x80"},
		} {
			text := strings.HasPrefix(c.kind, "application/grpc-web-text")
			body := c.body
			if text && c.body != noBase64 {
				body = base64.StdEncoding.EncodeToString([]byte(body))
			}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/com.shop."+c.path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Content-Type", c.kind)
			request.Header.Set("User", "Ada")
			response, err := client.Do(request)
			if err != nil {
				t.Errorf("%s %s %q: %v", version, c.path, c.body, err)
				continue
			}
			answer, err := io.ReadAll(response.Body)
			response.Body.Close()
			if text {
				answer = decodeParts(t, answer)
			}
			if response.StatusCode != 200 || err != nil || !strings.HasPrefix(string(answer), c.want) || response.Proto != version || response.Header.Get("Content-Type") != c.kind {
				t.Errorf("%s %s %q: got %d %q %q %v, want %q", version, c.path, c.body, response.StatusCode, response.Header.Get("Content-Type"), answer, err, c.want)
			}
		}
	}
}

// decodeParts decodes base64 whose parts have padding of their own.
func decodeParts(t *testing.T, text []byte) (decoded []byte) {
	t.Helper()
	for i := 0; i < len(text); i += 4 {
		part, err := base64.StdEncoding.DecodeString(string(text[i:min(i+4, len(text))]))
		if err != nil {
			t.Fatalf("%q at %d: %v", text, i, err)
		}
		decoded = append(decoded, part...)
	}
	return decoded
}
