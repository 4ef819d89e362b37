package filter_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/web/exchange"
	"github.com/sabir-go/sabir/web/filter"
)

func TestOrigins(t *testing.T) {
	policy := filter.CORS{Origins: []string{"https://app.example.com", "https://*.example.org", "http://localhost:*", "https://x.example:8443"},
		Allow: func(origin string) bool { return origin == "https://asked.example" }}
	for origin, want := range map[string]bool{
		"https://app.example.com":                              true,
		"https://app.example.com:443":                          false, // browsers leave the usual port out
		"https://app.example.com:8443":                         false,
		"http://app.example.com":                               false,
		"https://APP.example.com":                              false,
		"https://app.example.com.evil.example":                 false,
		"https://evilapp.example.com":                          false,
		"https://app.example.com/":                             false,
		"https://a.example.org":                                true,
		"https://a.b-c_d.example.org":                          true,
		"https://example.org":                                  false,
		"https://.example.org":                                 false,
		"https://evilexample.org":                              false,
		"https://evil.example/.example.org":                    false,
		"https://evil.example#.example.org":                    false,
		"https://evil.example?.example.org":                    false,
		"https://evil.example\\.example.org":                   false,
		"https://user@evil.example.org":                        false,
		"https://a.example.org:8443":                           false,
		"https://evil.example:1.example.org":                   false,
		"http://localhost:5173":                                true,
		"http://localhost:":                                    false,
		"http://localhost":                                     false,
		"http://localhost:80.evil.example":                     false,
		"https://x.example:8443":                               true,
		"https://asked.example":                                true,
		"null":                                                 false,
		"":                                                     false,
		"*":                                                    false,
		"https://" + strings.Repeat("a", 600) + ".example.org": false,
	} {
		if got := policy.Allows(origin); got != want {
			t.Errorf("%q: allowed %v", origin, got)
		}
		x := request("Origin", origin)
		if err := through(policy.Filter(), x); err != nil {
			t.Fatal(err)
		}
		echoed := ""
		if want {
			echoed = origin
		}
		if x.Answer.Get("Access-Control-Allow-Origin") != echoed || x.Answer.Get("Vary") != "Origin" {
			t.Errorf("%q: got %q", origin, x.Answer.Fields())
		}
	}
}

func TestAnAnswerWithoutAnOriginVariesToo(t *testing.T) {
	x := request()
	through(filter.CORS{Origins: []string{"https://app.example.com"}}.Filter(), x)
	if got := headers(x, "Vary", "Access-Control-Allow-Origin"); got != "Vary: Origin" {
		t.Errorf("got %s", got)
	}
}

func TestEveryOrigin(t *testing.T) {
	f := filter.CORS{Origins: []string{"*"}}.Filter()
	x := request("Origin", "https://anything.example")
	through(f, x)
	if got := headers(x, "Access-Control-Allow-Origin", "Access-Control-Allow-Credentials", "Vary"); got != "Access-Control-Allow-Origin: *" {
		t.Errorf("got %s", got)
	}
	x = request()
	if through(f, x); len(x.Answer.Fields()) != 0 {
		t.Errorf("got %q for no origin", x.Answer.Fields())
	}
}

func TestTheZeroPolicyAllowsNoOrigin(t *testing.T) {
	for _, x := range []*exchange.Exchange{request("Origin", "https://app.example.com"), request("Origin", "null")} {
		through(filter.CORS{}.Filter(), x)
		if x.Answer.Has("Access-Control-Allow-Origin") {
			t.Errorf("got %q", x.Answer.Fields())
		}
	}
}

func TestCredentialsAndExposedHeaders(t *testing.T) {
	x := request("Origin", "https://app.example.com")
	through(filter.CORS{Origins: []string{"https://app.example.com"}, Credentials: true, Expose: []string{"X-Total", "Link"}}.Filter(), x)
	want := "Access-Control-Allow-Origin: https://app.example.com\nAccess-Control-Allow-Credentials: true\nAccess-Control-Expose-Headers: X-Request-Id, ETag, Retry-After, RateLimit, RateLimit-Policy, Grpc-Status, Grpc-Message, Grpc-Status-Details-Bin, Mcp-Session-Id, WWW-Authenticate, X-Total, Link"
	if got := headers(x, "Access-Control-Allow-Origin", "Access-Control-Allow-Credentials", "Access-Control-Expose-Headers"); got != want {
		t.Errorf("got %s", got)
	}
}

func TestPreflights(t *testing.T) {
	const origin = "https://app.example.com"
	strict := filter.CORS{Origins: []string{origin}, Credentials: true, MaxAge: time.Hour}
	for _, c := range []struct {
		what    string
		policy  filter.CORS
		origin  string
		method  string
		headers []string
		status  int
		allowed string // headers
	}{
		{"a simple one", strict, origin, "POST", nil, 204, ""},
		{"with headers", strict, origin, "PUT", []string{"authorization,content-type"}, 204, "authorization, content-type"},
		{"spaces, case and lines", strict, origin, "DELETE", []string{" Content-Type , ,x-api-key", "if-none-match"}, 204, "content-type, x-api-key, if-none-match"},
		{"those of a client of MCP", strict, origin, "POST", []string{"authorization,content-type,last-event-id,mcp-method,mcp-name,mcp-protocol-version,mcp-session-id"}, 204,
			"authorization, content-type, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id"},
		{"a condition", strict, origin, "PUT", []string{"if-match"}, 204, "if-match"},
		{"a header that is not allowed", strict, origin, "POST", []string{"content-type,x-other"}, 403, ""},
		{"a method that is not allowed", strict, origin, "TRACE", nil, 403, ""},
		{"a method in another case", strict, origin, "put", nil, 403, ""},
		{"another origin", strict, "https://evil.example", "POST", nil, 403, ""},
		{"the opaque origin", strict, "null", "POST", nil, 403, ""},
		{"too many headers", strict, origin, "POST", []string{strings.Repeat("content-type,", 65)}, 403, ""},
		{"every header", filter.CORS{Origins: []string{"*"}, Headers: []string{"*"}}, origin, "POST", []string{"x-other"}, 204, "x-other"},
		{"every header but authorization", filter.CORS{Origins: []string{"*"}, Headers: []string{"*"}}, origin, "POST", []string{"authorization"}, 403, ""},
		{"authorization too", filter.CORS{Origins: []string{"*"}, Headers: []string{"*", "Authorization"}}, origin, "POST", []string{"authorization"}, 204, "authorization"},
		{"a header beside the usual ones", filter.CORS{Origins: []string{"*"}, Headers: []string{"X-Other"}}, origin, "POST", []string{"x-other, content-type"}, 204, "x-other, content-type"},
		{"no header", filter.CORS{Origins: []string{"*"}, Headers: []string{}}, origin, "POST", []string{"content-type"}, 403, ""},
		{"given methods", filter.CORS{Origins: []string{"*"}, Methods: []string{"QUERY"}}, origin, "QUERY", nil, 204, ""},
		{"other than the given methods", filter.CORS{Origins: []string{"*"}, Methods: []string{"QUERY"}}, origin, "PUT", nil, 403, ""},
		{"no name", filter.CORS{Origins: []string{"*"}, Headers: []string{"*"}}, origin, "POST", []string{"a b"}, 403, ""},
	} {
		x := request("Origin", c.origin, "Access-Control-Request-Method", c.method)
		x.Method = "OPTIONS"
		for _, line := range c.headers {
			x.Header.Add("Access-Control-Request-Headers", line)
		}
		if !c.policy.Filter().Preflight(x) {
			t.Errorf("%s: not answered", c.what)
		}
		if x.Status != c.status || x.Answer.Get("Access-Control-Allow-Headers") != c.allowed {
			t.Errorf("%s: got %d, %q", c.what, x.Status, x.Answer.Fields())
		}
		if got := headers(x, "Vary"); got != "Vary: Origin\nVary: Access-Control-Request-Method\nVary: Access-Control-Request-Headers" {
			t.Errorf("%s: got %s", c.what, got)
		}
		allowed := c.status == 204
		if x.Answer.Has("Access-Control-Allow-Origin") != allowed || x.Answer.Has("Access-Control-Allow-Methods") != allowed || x.Answer.Has("Access-Control-Max-Age") != allowed {
			t.Errorf("%s: got %q", c.what, x.Answer.Fields())
		}
		if allowed && c.policy.Credentials != x.Answer.Has("Access-Control-Allow-Credentials") {
			t.Errorf("%s: got %q", c.what, x.Answer.Fields())
		}
	}
}

func TestWhatIsNoPreflightIsLeftAlone(t *testing.T) {
	f := filter.CORS{Origins: []string{"*"}}.Filter()
	for _, x := range []*exchange.Exchange{
		{Method: "OPTIONS"}, {Method: "POST"},
		request("Origin", "https://a.example", "Access-Control-Request-Method", "POST"), // a GET
	} {
		if f.Preflight(x) || x.Status != 0 || len(x.Answer.Fields()) != 0 {
			t.Errorf("%s: answered with %d", x.Method, x.Status)
		}
	}
	x := request("Origin", "https://a.example")
	if x.Method = "OPTIONS"; f.Preflight(x) {
		t.Error("an OPTIONS without the method is answered")
	}
}

func TestPrivateNetworks(t *testing.T) {
	for _, allow := range []bool{true, false} {
		x := request("Origin", "https://a.example", "Access-Control-Request-Method", "POST", "Access-Control-Request-Private-Network", "true")
		x.Method = "OPTIONS"
		filter.CORS{Origins: []string{"*"}, PrivateNetwork: allow}.Filter().Preflight(x)
		if x.Answer.Has("Access-Control-Allow-Private-Network") != allow {
			t.Errorf("allowed %v: got %q", allow, x.Answer.Fields())
		}
	}
}

func TestPoliciesThatAreNotSound(t *testing.T) {
	for _, origin := range []string{"example.com", "https://example.com/", "https://example.com/x", "https://*", "https://a.*.example.com", "https://*example.com", "https://**.example.com",
		"https://Example.com", "null", "", "https://", "https://example.com?", "https://example.com#", "https://u@example.com", "*.example.com", "https://example.com:*x"} {
		misconfigured(t, filter.CORS{Origins: []string{origin}}.Filter(), "is no origin")
	}
	misconfigured(t, filter.CORS{Origins: []string{"*"}, Credentials: true}.Filter(), "exclude each other")
	misconfigured(t, filter.CORS{Origins: []string{"*", "https://a.example"}}.Filter(), "mean nothing")
	misconfigured(t, filter.CORS{Origins: []string{"https://a.example"}, Headers: []string{"*"}, Credentials: true}.Filter(), "exclude each other")
	misconfigured(t, filter.CORS{Headers: []string{"a b"}}.Filter(), "no name")
	misconfigured(t, filter.CORS{Methods: []string{"*"}}.Filter(), "no name")
	misconfigured(t, filter.CORS{Expose: []string{"a\r\nb"}}.Filter(), "no name")
	misconfigured(t, filter.CORS{MaxAge: -1}.Filter(), "MaxAge")
	if (filter.CORS{Origins: []string{"*"}, Credentials: true}).Allows("https://a.example") {
		t.Error("a policy that is not sound allows")
	}
}

func FuzzPreflight(f *testing.F) {
	f.Add("https://app.example.com", "POST", "content-type")
	f.Add("https://a.example.org", "PUT", ",,a, b")
	f.Fuzz(func(t *testing.T, origin, method, asked string) {
		policy := filter.CORS{Origins: []string{"https://app.example.com", "https://*.example.org"}, Credentials: true}
		x := request("Origin", origin, "Access-Control-Request-Method", method, "Access-Control-Request-Headers", asked)
		x.Method = "OPTIONS"
		policy.Filter().Preflight(x)
		echoed := x.Answer.Get("Access-Control-Allow-Origin")
		if echoed != "" && echoed != "https://app.example.com" && !(strings.HasPrefix(echoed, "https://") && strings.HasSuffix(echoed, ".example.org") && !strings.ContainsAny(echoed[8:], "/?#@:\\ \r\n,")) {
			t.Fatalf("%q is allowed", echoed)
		}
		for _, field := range x.Answer.Fields() {
			if strings.ContainsAny(field.Value, "\r\n\x00") {
				t.Fatalf("%s has %q", field.Name, field.Value)
			}
		}
	})
}

func BenchmarkCORSWithoutOrigin(b *testing.B) {
	bench(b, filter.CORS{Origins: []string{"https://app.example.com"}}.Filter(), roomy("Accept", "*/*"), nil)
}

func BenchmarkCORS(b *testing.B) {
	bench(b, filter.CORS{Origins: []string{"https://app.example.com"}}.Filter(), roomy("Origin", "https://app.example.com"), nil)
}
