package bind_test

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sabir-go/sabir/internal/bind"
	"github.com/sabir-go/sabir/internal/route"
)

// routes are "METHOD pattern"; what belongs to each is its own text.
func router(tb testing.TB, routes ...string) *bind.Router[string] {
	tb.Helper()
	r := new(bind.Router[string])
	for _, text := range routes {
		method, pattern, _ := strings.Cut(text, " ")
		if err := r.Add(method, pattern, text); err != nil {
			tb.Fatal(err)
		}
	}
	return r
}

var shop = []string{
	"GET /", "GET /users", "POST /users", "GET /users/me", "GET /users/{id}", "PUT /users/{id}", "DELETE /users/{id}",
	"GET /users/{id}/orders/{order}", "GET /users/me/orders", "GET /users/{id}/orders", "GET /users/{id}/{what}",
	"GET /files/{path...}", "GET /files/{name}", "GET /files/special", "POST /files/{folder}/{path...}",
	"GET /{tenant}/status", "HEAD /health", "GET /health", "POST /$node/info",
}

func TestWhatARequestFinds(t *testing.T) {
	r := router(t, shop...)
	for _, c := range []struct{ request, want string }{ // "" for nothing
		{"GET /", "GET /"},
		{"GET /users", "GET /users"},
		{"POST /users", "POST /users"},
		{"POST /$node/info", "POST /$node/info"},
		{"GET /users/7", "GET /users/{id} 7"},
		{"PUT /users/me", "PUT /users/{id} me"},                           // the text is another method's
		{"GET /users/me", "GET /users/me"},                                // text goes before a parameter
		{"GET /users/me/orders", "GET /users/me/orders"},                  //
		{"GET /users/me/orders/9", "GET /users/{id}/orders/{order} me 9"}, // where the text leads nowhere the parameter does
		{"GET /users/7/orders", "GET /users/{id}/orders 7"},
		{"GET /users/7/invoices", "GET /users/{id}/{what} 7 invoices"},
		{"GET /files/special", "GET /files/special"},
		{"GET /files/a", "GET /files/{name} a"}, // one segment goes before the rest
		{"GET /files/a/b/c", "GET /files/{path...} a/b/c"},
		{"POST /files/a/b/c", "POST /files/{folder}/{path...} a b/c"},
		{"GET /north/status", "GET /{tenant}/status north"},
		{"GET /users/status", "GET /users/{id} status"}, // the first segment that differs decides
		{"HEAD /users/7", "GET /users/{id} 7"},
		{"HEAD /health", "HEAD /health"},
		{"PATCH /users/7", ""},
		{"get /users/7", ""},
		{"GET /Users/7", ""},
		{"GET /nothing", ""},
		{"GET /users/7/orders/9/x", ""},
		{"POST /files/a", ""},
		{"GET ", ""},
		{"GET users", ""},
		{"GET *", ""},
		// escapes
		{"GET /users/a%20b", "GET /users/{id} a b"},
		{"GET /users/%E2%82%AC", "GET /users/{id} €"},
		{"GET /users/%e2%82%ac", "GET /users/{id} €"},
		{"GET /users/a+b", "GET /users/{id} a+b"}, // a plus is a plus in a path
		{"GET /users/100%25", "GET /users/{id} 100%"},
		{"GET /users/%2541", "GET /users/{id} %41"}, // decoded once
		{"GET /users/%6de", "GET /users/{id} me"},   // an escape is never text
		{"GET /%75sers", ""},
		{"GET /users/%", ""},
		{"GET /users/%2", ""},
		{"GET /users/%zz", ""},
		{"GET /users/%2g", ""},
		{"GET /users/a%00b", ""},
		{"GET /users/a\x00b", ""},
		// an escaped slash separates nothing
		{"GET /users/a%2Fb", "GET /users/{id} a/b"},
		{"GET /users/a%2fb/orders", "GET /users/{id}/orders a/b"},
		{"GET /users%2F7", ""},
		{"GET /users/https:%2F%2Fx", "GET /users/{id} https://x"},
		{"GET /files/x/a%2Fb", "GET /files/{path...} x/a/b"},
	} {
		method, path, _ := strings.Cut(c.request, " ")
		if got := find(r, method, path); got != c.want {
			t.Errorf("%q: found %q, want %q", c.request, got, c.want)
		}
	}
}

func find(r *bind.Router[string], method, path string) string {
	value, params, ok := r.Find(method, path, nil)
	if !ok {
		return ""
	}
	return strings.Join(append([]string{value}, params...), " ")
}

func TestNoPathLeadsOutOfAFolder(t *testing.T) {
	r := router(t, "GET /files/{path...}", "GET /users/{id}", "GET /users/{id}/x", "GET /deep/{a}/{path...}")
	for _, path := range []string{
		"/files", "/files/", "/files//", "/files//a", "/files/a//b", "/files/a/", "/files/a/b/",
		"/files/.", "/files/..", "/files/../a", "/files/a/..", "/files/a/../b", "/files/a/./b", "/../files/a",
		"/files/%2e%2e/a", "/files/%2E%2e", "/files/.%2e/a", "/files/%2e", "/files/a/%2e%2e/b",
		"/files/..%2f..%2fetc%2fpasswd", "/files/a%2f..%2fb", "/files/%2e%2e%2fa", "/files/%2fetc%2fpasswd", "/files/a/%2fetc",
		"/files/a%2f%2fb", "/files/a%2f", "/files/..\\a", "/files/..%5ca", "/files/a%5c..%5cb", "/files/%5c%5cserver", "/files/a\\..\\b",
		"/files/a%00", "/files/%00/a", "/files/a\x00/b", "/files/%c0%ae%c0%ae%2f%2e%2e",
		"/users/..", "/users/.", "/users/%2e%2e", "/users/..%2fadmin", "/users/%2e%2e%5cadmin", "/users/../x", "/users//x", "/users/",
		"//users/7", "/users/7/", "/deep//a", "/deep/../a", "/deep/a/..", "/deep/a/",
	} {
		if got := find(r, "GET", path); got != "" {
			t.Errorf("%q found %q", path, got)
		}
		if allowed := r.Allowed(path); len(allowed) > 0 {
			t.Errorf("%q allows %v", path, allowed)
		}
	}
	for path, want := range map[string]string{ // dots that mean nothing
		"/files/...": "...", "/files/.git/x": ".git/x", "/files/a..b": "a..b", "/files/..a/b..": "..a/b..", "/files/a.txt": "a.txt",
	} {
		if got := find(r, "GET", path); got != "GET /files/{path...} "+want {
			t.Errorf("%q found %q", path, got)
		}
	}
}

func TestTwoRoutesForTheSamePathsAreAnErrorThatNamesBoth(t *testing.T) {
	for _, c := range []struct{ first, second string }{ // of one method
		{"/users", "/users"},
		{"/", "/"},
		{"/users/{id}", "/users/{id}"},
		{"/users/{id}", "/users/{name}"},
		{"/{a}/x/{b}", "/{b}/x/{a}"},
		{"/files/{path...}", "/files/{rest...}"},
	} {
		r := router(t, "GET "+c.first)
		err := r.Add("GET", c.second, "again")
		if err == nil || !strings.Contains(err.Error(), "GET "+c.first) || !strings.Contains(err.Error(), "GET "+c.second) {
			t.Errorf("%s and %s: %v", c.first, c.second, err)
		}
		if err := r.Add("PUT", c.second, "again"); err != nil {
			t.Errorf("another method: %v", err)
		}
	}
}

func TestABadPatternIsNotAdded(t *testing.T) {
	r := new(bind.Router[string])
	if err := r.Add("GET", "/users/{id", ""); err == nil || !strings.Contains(err.Error(), "/users/{id") {
		t.Errorf("got %v", err)
	}
	if _, _, ok := r.Find("GET", "/users/{id", nil); ok {
		t.Error("it is found")
	}
}

func TestAllowedListsTheMethodsOfAPath(t *testing.T) {
	r := router(t, shop...)
	for path, want := range map[string]string{
		"/users":        "GET HEAD POST",
		"/users/7":      "DELETE GET HEAD PUT",
		"/users/me":     "DELETE GET HEAD PUT",
		"/health":       "GET HEAD",
		"/files/a/b":    "GET HEAD POST",
		"/$node/info":   "POST",
		"/nothing":      "",
		"/users/%2e%2e": "",
	} {
		if got := strings.Join(r.Allowed(path), " "); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}

func TestFindAppendsToWhatItIsGiven(t *testing.T) {
	r := router(t, shop...)
	given := []string{"kept"}
	if _, params, ok := r.Find("GET", "/users/7/orders/9", given); !ok || !slices.Equal(params, []string{"kept", "7", "9"}) {
		t.Errorf("got %q", params)
	}
	if _, params, ok := r.Find("GET", "/users/7/orders/9/10", given); ok || !slices.Equal(params, given) {
		t.Errorf("without a match: got %q", params)
	}
	if _, params, ok := r.Find("GET", "/users/7/orders/%", given); ok || !slices.Equal(params, given) {
		t.Errorf("with a bad escape: got %q", params)
	}
}

func TestManySimilarPatternsAreDistinguished(t *testing.T) {
	r := new(bind.Router[string])
	var names []string
	for i := range 40 {
		names = append(names, string(rune('a'+i%26))+strings.Repeat("x", i))
		if err := r.Add("GET", "/"+names[i]+"/{id}", names[i]); err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if got := find(r, "GET", "/"+name+"/7"); got != name+" 7" {
				t.Fatalf("after %d: %s found %q", i+1, name, got)
			}
		}
	}
	long := "/" + strings.Repeat("y", 900)
	if err := r.Add("GET", long, "long"); err != nil {
		t.Fatal(err)
	}
	if got := find(r, "GET", long); got != "long" {
		t.Errorf("a long static path found %q", got)
	}
	if got := find(r, "GET", long+"y"); got != "" {
		t.Errorf("a longer one found %q", got)
	}
}

func TestManyGoroutinesMayFindAtOnce(t *testing.T) {
	r := router(t, shop...)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			var room [16]string
			for range 200 {
				if value, params, ok := r.Find("GET", "/users/7/orders/a%20b", room[:0]); !ok || value != shop[7] || params[1] != "a b" {
					t.Errorf("got %q %q", value, params)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestFindingAllocatesNothingWhereNothingIsEscaped(t *testing.T) {
	r := router(t, shop...)
	room := make([]string, 0, 16)
	for _, path := range []string{"/users", "/users/7", "/users/7/orders/9", "/files/a/b/c.txt", "/nothing", "/users/7/"} {
		if n := testing.AllocsPerRun(100, func() { r.Find("GET", path, room) }); n != 0 {
			t.Errorf("%s: %v allocations", path, n)
		}
	}
}

// slowFind is a slow implementation of Router: of all patterns that fit, the best by the first segment that differs.
func slowFind(routes []string, method, path string) string {
	inside, ok := strings.CutPrefix(path, "/")
	if !ok {
		return ""
	}
	parts := strings.Split(inside, "/")
	if inside == "" {
		parts = nil
	}
	type match struct {
		route string
		rank  string // "a" text, "b" parameter, "c" rest, for each segment
		raw   []string
		rest  bool
	}
	var found []match
	for _, text := range routes {
		m, pattern, _ := strings.Cut(text, " ")
		segments, err := route.Segments(pattern)
		if m != method || err != nil {
			continue
		}
		one := match{route: text}
		fits := len(parts) == len(segments)
		for i, s := range segments {
			switch {
			case i >= len(parts) || parts[i] == "":
				fits = false
			case s.Rest:
				one.rank, one.raw, one.rest = one.rank+"c", append(one.raw, strings.Join(parts[i:], "/")), true
				fits = true
			case s.Param:
				one.rank, one.raw = one.rank+"b", append(one.raw, parts[i])
			case s.Text == parts[i]:
				one.rank += "a"
			default:
				fits = false
			}
			if i >= len(parts) || parts[i] == "" || !s.Param && s.Text != parts[i] {
				fits = false
				break
			}
		}
		if fits {
			found = append(found, one)
		}
	}
	if len(found) == 0 {
		if method == "HEAD" {
			return slowFind(routes, "GET", path)
		}
		return ""
	}
	best := slices.MinFunc(found, func(a, b match) int { return cmp.Compare(a.rank, b.rank) })
	result := best.route
	for i, raw := range best.raw {
		value, err := url.PathUnescape(raw)
		if err != nil || strings.Contains(value, "\x00") {
			return ""
		}
		for _, part := range strings.FieldsFunc(value, func(r rune) bool { return r == '/' || r == '\\' }) {
			if part == "." || part == ".." {
				return ""
			}
		}
		slashes := "/" + strings.ReplaceAll(value, "\\", "/") + "/"
		if best.rest && i == len(best.raw)-1 && strings.Contains(slashes, "//") {
			return ""
		}
		result += " " + value
	}
	return result
}

func FuzzRouter(f *testing.F) {
	for _, seed := range []string{"/", "/users/me/orders/9", "/files/a/b%2F..", "/users/%zz", "/users//x", "/a/b/c", "/x/status"} {
		f.Add("GET", seed, "/a/{b}/c")
		f.Add("POST", seed, "/{x...}")
		f.Add("HEAD", seed, "/files/a/{b}")
	}
	f.Fuzz(func(t *testing.T, method, path, pattern string) {
		routes := shop
		r := router(t, routes...)
		if r.Add("GET", pattern, "GET "+pattern) == nil {
			routes = append(slices.Clone(shop), "GET "+pattern)
		}
		got, want := find(r, method, path), slowFind(routes, method, path)
		if got != want {
			t.Fatalf("%s %q with GET %s: found %q, slowly %q", method, path, pattern, got, want)
		}
	})
}

// Whatever a client puts into one segment as encodeURIComponent writes it arrives as it was.
func FuzzParameterRoundTrip(f *testing.F) {
	f.Add("a b/c%+é\\")
	f.Add("7")
	f.Fuzz(func(t *testing.T, value string) {
		r := router(t, "GET /users/{id}/x")
		_, params, ok := r.Find("GET", "/users/"+url.PathEscape(value)+"/x", nil)
		refused := value == "" || strings.Contains(value, "\x00")
		for part := range strings.SplitSeq(strings.ReplaceAll(value, "\\", "/"), "/") {
			refused = refused || part == "." || part == ".."
		}
		if ok == refused || ok && params[0] != value {
			t.Fatalf("%q: %v %q", value, ok, params)
		}
	})
}
