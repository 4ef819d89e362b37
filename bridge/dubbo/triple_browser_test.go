//go:build !race

// A browser takes long to build and to run, and nothing of it runs in this process.

package dubbo_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/sabir-go/sabir/bridge/dubbo"
	"github.com/sabir-go/sabir/internal/browsertest"
	"github.com/sabir-go/sabir/web/filter"
)

// shop serves a page that calls by Dubbo's client for web pages, at an origin of its own.
func shop(t *testing.T) (origin string) {
	t.Helper()
	folder := nodejs(t, "").Dir
	mux := http.NewServeMux()
	mux.Handle("/modules/", http.StripPrefix("/modules/", http.FileServer(http.Dir(folder))))
	mux.HandleFunc("/favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<!doctype html><title>begin</title><script type="importmap">{"imports": {
			"@apachedubbo/dubbo": "/modules/node_modules/@apachedubbo/dubbo/dist/esm/index.js",
			"@apachedubbo/dubbo/protocol": "/modules/node_modules/@apachedubbo/dubbo/dist/esm/protocol/index.js",
			"@apachedubbo/dubbo/protocol-triple": "/modules/node_modules/@apachedubbo/dubbo/dist/esm/protocol-triple/index.js",
			"@apachedubbo/dubbo/protocol-grpc-web": "/modules/node_modules/@apachedubbo/dubbo/dist/esm/protocol-grpc-web/index.js",
			"@apachedubbo/dubbo/protocol-grpc": "/modules/node_modules/@apachedubbo/dubbo/dist/esm/protocol-grpc/index.js",
			"@apachedubbo/dubbo-web": "/modules/node_modules/@apachedubbo/dubbo-web/dist/esm/index.js",
			"headers-polyfill": "/modules/node_modules/headers-polyfill/lib/index.mjs",
			"@bufbuild/protobuf": "/modules/node_modules/@bufbuild/protobuf/dist/esm/index.js"
		}}</script><script type="module" src="/modules/page.mjs"></script>`)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func TestPagesOfOtherSitesCallByDubbosClientForTheWeb(t *testing.T) {
	page := browsertest.Open(t)
	origin := shop(t)
	address, limits := adding(t, dubbo.Config{CORS: &filter.CORS{Origins: []string{origin}, Headers: []string{"user"}, Expose: []string{"seen"}}})
	page.Forgive("the server responded with a status of 400") // of a call that fails
	page.Run(chromedp.Navigate(origin + "/?node=" + url.QueryEscape("http://"+address)))
	page.Until(`document.title === "end"`)
	got := browsertest.Evaluate[map[string]string](page, "window.results")
	for _, form := range []string{"binary", "JSON", "GET", "gRPC-Web", "gRPC-Web JSON"} {
		for name, want := range map[string]string{"add": "42", "seen": "go to Ada", "fail": "DubboError 3 a is 0", "late": "DubboError 4", "count": "1 2 3", "fail later": "DubboError 11 a is below 0"} {
			if got := got[name+" "+form]; got != want {
				t.Errorf("%s by %s: the page has %q, want %q", name, form, got, want)
			}
		}
		if limited := <-limits; !limited {
			t.Error("a call with a time limit has none at the handler")
		}
	}
}
