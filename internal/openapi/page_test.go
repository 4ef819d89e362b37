package openapi_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/httpaccess"
	"github.com/sabir-go/sabir/internal/openapi"
	"github.com/sabir-go/sabir/web"
)

func page(t testing.TB) http.Handler {
	a := shop(t)
	return openapi.Page("/docs", func() api.API { return a })
}

func ask(h http.Handler, method, url string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, url, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestWhatThePageServes(t *testing.T) {
	h := page(t)
	for _, c := range []struct {
		method, url, typ string
		status           int
	}{
		{"GET", "/docs", "text/html; charset=utf-8", 200},
		{"GET", "/docs/", "text/html; charset=utf-8", 200},
		{"HEAD", "/docs/", "text/html; charset=utf-8", 200},
		{"GET", "/docs/page.js", "text/javascript; charset=utf-8", 200},
		{"GET", "/docs/page.css", "text/css; charset=utf-8", 200},
		{"GET", "/docs/openapi.json", "application/json", 200},
		{"GET", "/docs/api.json", "application/json", 200},
		{"GET", "/docs/schemas/User.json", "application/json", 200},
		{"GET", "/docs/schemas/Page%5BUser%5D.json", "application/json", 200},
		{"GET", "/docs/schemas/Nobody.json", "text/plain; charset=utf-8", 404},
		{"GET", "/docs/schemas/User", "text/plain; charset=utf-8", 404},
		{"GET", "/docs/index.html", "text/plain; charset=utf-8", 404},
		{"GET", "/docs/../page.go", "text/plain; charset=utf-8", 404},
		{"GET", "/docs/%2e%2e/doc.go", "text/plain; charset=utf-8", 404},
		{"GET", "/docsandmore", "text/plain; charset=utf-8", 404},
		{"GET", "/", "text/plain; charset=utf-8", 404},
		{"POST", "/docs", "text/plain; charset=utf-8", 405},
	} {
		w := ask(h, c.method, c.url)
		if w.Code != c.status || w.Header().Get("Content-Type") != c.typ {
			t.Errorf("%s %s answers %d %s, want %d %s", c.method, c.url, w.Code, w.Header().Get("Content-Type"), c.status, c.typ)
		}
	}
}

func TestServedDocumentIsTheDocument(t *testing.T) {
	if got := ask(page(t), "GET", "/docs/openapi.json").Body.Bytes(); !bytes.Equal(got, document(t, shop(t))) {
		t.Error("/docs/openapi.json is another document")
	}
}

func TestTheDocumentOfAMountedPageNamesTheServerWhereItIsMounted(t *testing.T) {
	a := shop(t)
	a.Servers = nil
	h := openapi.Page("/docs", func() api.API { return a })
	below := http.NewServeMux()
	below.Handle("/docs/", h)
	below.Handle("/api/v1/", http.StripPrefix("/api/v1", h))
	for address, want := range map[string]string{"/docs/openapi.json": "/", "/api/v1/docs/openapi.json": "/api/v1", "http://shop.test/api/v1/docs/openapi.json": "/api/v1"} {
		var doc struct{ Servers []struct{ URL string } }
		if err := json.Unmarshal(ask(below, "GET", address).Body.Bytes(), &doc); err != nil || len(doc.Servers) != 1 || doc.Servers[0].URL != want {
			t.Errorf("%s: %v, %v", address, doc.Servers, err)
		}
	}
}

func TestServedAPICanBeReadBack(t *testing.T) {
	var a api.API
	if err := json.Unmarshal(ask(page(t), "GET", "/docs/api.json").Body.Bytes(), &a); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(document(t, a), document(t, shop(t))) {
		t.Error("the API that was read back has another document")
	}
}

func TestNothingIsSentTwice(t *testing.T) {
	h := page(t)
	for _, url := range []string{"/docs", "/docs/page.js", "/docs/openapi.json"} {
		etag := ask(h, "GET", url).Header().Get("ETag")
		if w := ask(h, "GET", url, "If-None-Match", etag); w.Code != http.StatusNotModified || w.Body.Len() > 0 {
			t.Errorf("%s with its ETag answers %d", url, w.Code)
		}
	}
}

func TestAddressesOfThePageWorkWithAndWithoutASlash(t *testing.T) {
	h := page(t)
	for url, want := range map[string]string{"/docs": `src="docs/page.js"`, "/docs/": `src="page.js"`} {
		if got := ask(h, "GET", url).Body.String(); !strings.Contains(got, want) {
			t.Errorf("%s has no %s", url, want)
		}
	}
}

func TestPageRunsItsOwnFilesOnly(t *testing.T) {
	policy := ask(page(t), "GET", "/docs").Header().Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "script-src 'self';", "style-src 'self';", "connect-src 'self' https://shop.example.org;", "frame-ancestors 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy is %q, want %s in it", policy, want)
		}
	}
	if strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %q", policy)
	}
}

func TestServersCannotWriteIntoThePolicy(t *testing.T) {
	a := shop(t)
	a.Servers = []string{"https://evil.example; script-src *", "javascript:alert(1)", "https://a.example;script-src"}
	h := openapi.Page("/docs", func() api.API { return a })
	if policy := ask(h, "GET", "/docs").Header().Get("Content-Security-Policy"); strings.Count(policy, "script-src") != 1 || strings.Contains(policy, "javascript") {
		t.Errorf("the policy is %q", policy)
	}
}

var elsewhere = regexp.MustCompile(`(?i)(src|href|url|import|from)\s*[=(]?\s*["']?(https?:)?//`)

func TestFilesOfThePageAreSmallAndLoadNothingFromElsewhere(t *testing.T) {
	size := 0
	err := filepath.WalkDir("page", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		file, err := os.ReadFile(name)
		size += len(file)
		if found := elsewhere.Find(file); found != nil {
			t.Errorf("%s has %s", name, found)
		}
		for _, word := range []string{"eval(", "innerHTML", "new Function", "localStorage", "sessionStorage", "style=", "onclick="} {
			if bytes.Contains(file, []byte(word)) {
				t.Errorf("%s has %s", name, word)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if size > 60_000 || size == 0 {
		t.Errorf("the page has %d bytes, want at most 60 000", size)
	}
	t.Logf("%d bytes", size)
}

func TestWhichCallersMayReadThePage(t *testing.T) {
	a := shop(t)
	get := func() api.API { return a }
	const key = "correct-horse-battery"
	for _, c := range []struct {
		name         string
		site         web.Site
		anyone       bool
		bearer       string
		public       bool // runs before the authentication of the gateway
		index, paper int  // status of the page and of the document
	}{
		{"a gateway without a key", web.Site{API: get}, false, "", false, 200, 200},
		{"a gateway that is open", web.Site{API: get, Open: true}, false, "", true, 200, 200},
		{"a gateway with a key, without it", web.Site{API: get, Keys: httpaccess.NewKeys(key)}, false, "", true, 200, 401},
		{"a gateway with a key, with another", web.Site{API: get, Keys: httpaccess.NewKeys(key)}, false, "Bearer wrong", true, 200, 401},
		{"a gateway with a key, with it", web.Site{API: get, Keys: httpaccess.NewKeys(key)}, false, "Bearer " + key, true, 200, 200},
		{"a gateway with a key, documentation for anyone", web.Site{API: get, Keys: httpaccess.NewKeys(key)}, true, "", true, 200, 200},
	} {
		h, err := openapi.Mounted("/docs", c.anyone, c.site)
		if err != nil {
			t.Fatal(err)
		}
		if p := h.(interface{ Public() bool }).Public(); p != c.public {
			t.Errorf("%s: public is %v", c.name, p)
		}
		for url, want := range map[string]int{"/docs": c.index, "/docs/page.js": c.index, "/docs/openapi.json": c.paper, "/docs/api.json": c.paper, "/docs/schemas/User.json": c.paper} {
			if w := ask(h, "GET", url, "Authorization", c.bearer); w.Code != want {
				t.Errorf("%s: %s answers %d, want %d", c.name, url, w.Code, want)
			}
		}
	}
}

func TestWithoutTheKeyThePolicyDoesNotNameServers(t *testing.T) {
	a := shop(t)
	h, err := openapi.Mounted("/docs", false, web.Site{API: func() api.API { return a }, Keys: httpaccess.NewKeys("correct-horse-battery")})
	if err != nil {
		t.Fatal(err)
	}
	if policy := ask(h, "GET", "/docs").Header().Get("Content-Security-Policy"); strings.Contains(policy, "shop.example.org") {
		t.Errorf("the policy is %q", policy)
	}
}
