package supply

import (
	"regexp"
	"strings"
	"testing"
)

// served are the files that serve connections by net/http, and where those come from.
var served = map[string]string{
	"admin/admin.go":                "httpstrict.Serve(s.server, ",
	"bridge/dubbo/triple_server.go": "httpstrict.Serve(t.http, ",
	"bridge/dubbo/qos.go":           "httpstrict.Serve(q.http, ",
	"bridge/micro/serve.go":         "", // which bridge.go serves
	"bridge/micro/bridge.go":        "httpstrict.Serve(b.server, ",
	"transport/http/listen.go":      "httpstrict.Serve(&server, ",
	"transport/h2/h2.go":            "httpstrict.Serve(&server, ",
	"internal/http1/server.go":      "s.fallback.Serve(s.handovers)", // to which http1 gives httpstrict's connections
	"web/web.go":                    "o.engine.Serve(o.listener)",    // which has the server as its fallback
}

var (
	ofNetHTTP = regexp.MustCompile(`&?\bhttp\.Server\{`)
	byItself  = regexp.MustCompile(`\bhttp\.(Serve|ServeTLS|ListenAndServe|ListenAndServeTLS)\(|\.ListenAndServe(TLS)?\(|\.ServeTLS\(`)
)

// A server of net/http that got its connections in another way would take requests that can be read in two ways.
func TestEveryServerOfNetHTTPGetsItsConnectionsThroughHTTPStrict(t *testing.T) {
	seen := map[string]bool{}
	for _, path := range files(t, "*.go") {
		path = strings.TrimPrefix(path, "../../")
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "lab/") || strings.Contains(path, "/testdata/") {
			continue
		}
		text := read(t, "../../"+path)
		if found := byItself.FindString(text); found != "" && !strings.HasPrefix(path, "examples/") {
			t.Errorf("%s calls %s: serve by httpstrict.Serve", path, found)
		}
		if how, known := served[path]; known {
			seen[path] = true
			if !strings.Contains(text, how) {
				t.Errorf("%s does not serve by %s", path, how)
			}
		} else if ofNetHTTP.MatchString(strings.ReplaceAll(text, "nethttp.", "http.")) && !strings.HasPrefix(path, "examples/") {
			t.Errorf("%s has a server of net/http: serve it by httpstrict.Serve, and add the file to this test", path)
		}
	}
	for path := range served {
		if !seen[path] {
			t.Errorf("%s is not there", path)
		}
	}
}
