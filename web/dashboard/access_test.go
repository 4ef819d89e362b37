package dashboard

import (
	"cmp"
	"context"
	"crypto/tls"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/httpaccess"
)

const goodKey = "correct-horse-battery"

// openBoard is a dashboard of a node of its own, without a server.
func openBoard(tb testing.TB, c config) *dashboard {
	tb.Helper()
	return boardOf(tb, openNode(tb), c)
}

func openNode(tb testing.TB, options ...sabir.NodeOption) *sabir.Node {
	tb.Helper()
	n := sabir.NewNode(append([]sabir.NodeOption{sabir.NodeID("n1"), quiet, sabir.Serve(ledger(slog.New(slog.DiscardHandler)))}, options...)...)
	must(tb, n.Start(tb.Context()))
	tb.Cleanup(func() {
		if n.State() == "running" {
			ctx, cancel := context.WithTimeout(context.Background(), inTime)
			defer cancel()
			must(tb, n.Stop(ctx))
		}
	})
	return n
}

func boardOf(tb testing.TB, n *sabir.Node, c config) *dashboard {
	tb.Helper()
	if c.client == nil {
		c.client = func(r *http.Request) netip.Addr { return netip.MustParseAddrPort(r.RemoteAddr).Addr() }
	}
	b, err := newDashboard(n, "/dashboard", c)
	must(tb, err)
	return b
}

// ask makes one request; headers are "Name: value".
func (b *dashboard) ask(tb testing.TB, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	tb.Helper()
	r := httptest.NewRequest(method, "http://localhost:3000/dashboard"+path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	b.ServeHTTP(w, r)
	return w
}

// tryKey sends the login page's form.
func (b *dashboard) tryKey(tb testing.TB, key string) *httptest.ResponseRecorder {
	tb.Helper()
	return b.ask(tb, "POST", "/login", url.Values{"key": {key}}.Encode(), "Content-Type: application/x-www-form-urlencoded", "Sec-Fetch-Site: same-origin")
}

// logIn is the header that a browser sends after a login.
func (b *dashboard) logIn(tb testing.TB) string {
	tb.Helper()
	cookies := b.tryKey(tb, goodKey).Result().Cookies()
	if len(cookies) != 1 {
		tb.Fatalf("the login set %d cookies", len(cookies))
	}
	return "Cookie: " + cookies[0].Name + "=" + cookies[0].Value
}

var protected = []string{"/api/stream", "/api/events", "/api/action?name=ledger.book", "/api/latency?action=x", "/api/processes", "/api/traces", "/api/trace?id=" + strings.Repeat("a", 32)}

func TestWithoutASessionNothingIsServed(t *testing.T) {
	b := openBoard(t, config{keys: httpaccess.NewKeys(goodKey)})
	for _, path := range protected {
		if w := b.ask(t, "GET", path, ""); w.Code != http.StatusUnauthorized || strings.Contains(w.Body.String(), "ledger") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	for _, path := range []string{"/api/call", "/logout"} {
		if w := b.ask(t, "POST", path, `{"action":"ledger.lose"}`, callHeader+": 1"); w.Code != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	if w := b.ask(t, "GET", "/", ""); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/dashboard/login" {
		t.Errorf("the page: %d %v", w.Code, w.Header())
	}
}

func TestTheRightKeyStartsASessionAndLogoutEndsIt(t *testing.T) {
	b := openBoard(t, config{keys: httpaccess.NewKeys(goodKey)})
	session := b.logIn(t)
	if w := b.ask(t, "GET", "/", "", session); w.Code != 200 || !strings.Contains(w.Body.String(), "<!doctype html>") {
		t.Errorf("the page: %d", w.Code)
	}
	if w := b.ask(t, "GET", "/api/traces", "", session); w.Code != 200 {
		t.Errorf("traces: %d %s", w.Code, w.Body)
	}
	if w := b.ask(t, "POST", "/logout", "", session, callHeader+": 1"); w.Code != http.StatusNoContent || !strings.Contains(w.Header().Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("logout: %d %v", w.Code, w.Header())
	}
	if w := b.ask(t, "GET", "/api/traces", "", session); w.Code != http.StatusUnauthorized {
		t.Errorf("after the logout, with the same cookie: %d", w.Code)
	}
	if w := b.ask(t, "GET", "/api/traces", "", b.logIn(t)); w.Code != 200 {
		t.Errorf("another login: %d", w.Code)
	}
}

func TestTheCookieIsForThisSiteAndNoScript(t *testing.T) {
	b := openBoard(t, config{keys: httpaccess.NewKeys(goodKey)})
	cookie := b.tryKey(t, goodKey).Result().Cookies()[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/dashboard/" || cookie.Secure || cookie.MaxAge != int(sessionTime.Seconds()) {
		t.Errorf("%+v", cookie)
	}
	r := httptest.NewRequest("POST", "https://localhost/dashboard/login", strings.NewReader("key="+goodKey))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.TLS = &tls.ConnectionState{}
	w := httptest.NewRecorder()
	b.ServeHTTP(w, r)
	if cookie := w.Result().Cookies()[0]; !cookie.Secure {
		t.Errorf("over TLS: %+v", cookie)
	}
}

func TestProgramsMaySendTheKeyItself(t *testing.T) {
	b := openBoard(t, config{keys: httpaccess.NewKeys(goodKey)})
	for range 2 * allAtOnce { // right keys are not counted as attempts
		if w := b.ask(t, "GET", "/api/latency?action=x", "", "Authorization: bearer "+goodKey); w.Code != 200 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	for _, other := range []string{"Bearer wrong", "Basic " + goodKey, goodKey, "Bearer"} {
		if w := b.ask(t, "GET", "/api/latency?action=x", "", "Authorization: "+other); w.Code != http.StatusUnauthorized {
			t.Errorf("%s: %d", other, w.Code)
		}
	}
}

func TestForgedAndOldCookiesAreNoSessions(t *testing.T) {
	now := time.Unix(1e9, 0)
	s, err := newSessions(httpaccess.NewKeys(goodKey), func() time.Time { return now })
	must(t, err)
	good := s.make()
	other, err := newSessions(httpaccess.NewKeys("another-key-entirely"), func() time.Time { return now })
	must(t, err)
	again, err := newSessions(httpaccess.NewKeys(goodKey), func() time.Time { return now })
	must(t, err)
	flipped := []byte(good)
	flipped[3] ^= 1
	for name, test := range map[string]struct {
		s      *sessions
		cookie string
		want   bool
	}{
		"as made":              {s, good, true},
		"after a restart":      {again, good, true},
		"with another key":     {other, good, false},
		"with a changed bit":   {s, string(flipped), false},
		"cut":                  {s, good[:len(good)-1], false},
		"with something added": {s, good + "AA", false},
		"empty":                {s, "", false},
		"long":                 {s, strings.Repeat("A", 1<<16), false},
	} {
		if got := test.s.valid(test.cookie); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	now = now.Add(sessionTime)
	if s.valid(good) {
		t.Error("it is valid after its time")
	}
}

func TestASessionEndsWhenAnotherKeyGoesFirst(t *testing.T) {
	keys := httpaccess.NewKeys(goodKey)
	s, err := newSessions(keys, time.Now)
	must(t, err)
	cookie := s.make()
	keys.Replace(goodKey, "another-key-entirely")
	if !s.valid(cookie) {
		t.Error("one more key ends it")
	}
	keys.Replace("another-key-entirely", goodKey)
	if s.valid(cookie) {
		t.Error("it is valid still")
	}
}

func TestWhereTooManySessionsAreLoggedOutAllEnd(t *testing.T) {
	now := time.Unix(1e9, 0)
	s, err := newSessions(httpaccess.NewKeys(goodKey), func() time.Time { return now })
	must(t, err)
	first, bystander := s.make(), s.make()
	s.revoke(first)
	for range maxRevoked {
		s.revoke(s.make())
	}
	if len(s.revoked) > maxRevoked {
		t.Errorf("%d are remembered", len(s.revoked))
	}
	if s.valid(first) || s.valid(bystander) {
		t.Error("a session that was logged out lives again")
	}
	now = now.Add(time.Second)
	if !s.valid(s.make()) {
		t.Error("nobody can log in any more")
	}
}

func TestWrongKeysAreLimited(t *testing.T) {
	b := openBoard(t, config{keys: httpaccess.NewKeys(goodKey)})
	for range attemptsAtOnce {
		if to := b.tryKey(t, "wrong").Header().Get("Location"); to != "/dashboard/login?wrong" {
			t.Fatalf("sent to %s", to)
		}
	}
	if w := b.tryKey(t, goodKey); w.Header().Get("Location") != "/dashboard/login?wait" || len(w.Result().Cookies()) > 0 {
		t.Errorf("the right key was taken after %d wrong ones: %v", attemptsAtOnce, w.Header())
	}
	if w := b.ask(t, "GET", "/api/traces", "", "Authorization: Bearer "+goodKey); w.Code != http.StatusTooManyRequests {
		t.Errorf("by header: %d", w.Code)
	}
}

func TestAttemptsAreCountedByAddressInBoundedMemory(t *testing.T) {
	now := time.Unix(1e9, 0)
	a := newAttempts(func() time.Time { return now })
	for range attemptsAtOnce {
		a.failed(netip.MustParseAddr("2001:db8::1"))
	}
	if a.allow(netip.MustParseAddr("2001:db8::ffff")) {
		t.Error("another address of the same /64 may try on")
	}
	if !a.allow(netip.MustParseAddr("2001:db8:0:1::1")) || !a.allow(netip.MustParseAddr("192.0.2.1")) {
		t.Error("others have to wait too")
	}
	now = now.Add(attemptEvery)
	if !a.allow(netip.MustParseAddr("2001:db8::1")) {
		t.Error("it may never try again")
	}
	for i := range 4 * maxAddresses {
		a.failed(netip.AddrFrom4([4]byte{byte(1 + i%10), byte(i >> 16), byte(i >> 8), byte(i)}))
	}
	if len(a.from) > maxAddresses {
		t.Errorf("%d addresses are kept", len(a.from))
	}
	if a.allow(netip.MustParseAddr("198.51.100.7")) {
		t.Error("many addresses together may try without end")
	}
}

func TestWhatChangesSomethingDemandsTheHeaderAndTheSameSite(t *testing.T) {
	b := openBoard(t, config{})
	call := `{"action":"ledger.book","input":{"id":1,"kind":"debit","lines":[{"account":"cash"}]}}`
	for name, test := range map[string]struct {
		headers []string
		status  int
	}{
		"the dashboard's page":   {[]string{callHeader + ": 1", "Sec-Fetch-Site: same-origin"}, 200},
		"a program":              {[]string{callHeader + ": 1"}, 200},
		"without the header":     {[]string{"Sec-Fetch-Site: same-origin"}, 403},
		"another site's page":    {[]string{callHeader + ": 1", "Sec-Fetch-Site: cross-site"}, 403},
		"another origin":         {[]string{callHeader + ": 1", "Origin: http://evil.example"}, 403},
		"another port's page":    {[]string{callHeader + ": 1", "Origin: http://localhost:4000"}, 403},
		"a form of another site": {[]string{"Content-Type: text/plain", "Sec-Fetch-Site: same-site"}, 403},
		"a form with the header": {[]string{callHeader + ": 1", "Content-Type: text/plain"}, 400},
	} {
		if w := b.ask(t, "POST", "/api/call", call, test.headers...); w.Code != test.status {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	if w := b.tryKey(t, "x"); w.Code != http.StatusSeeOther {
		t.Errorf("a login where none is needed: %d", w.Code)
	}
	guarded := boardOf(t, b.node, config{keys: httpaccess.NewKeys(goodKey)})
	if w := guarded.ask(t, "POST", "/login", "key="+goodKey, "Content-Type: application/x-www-form-urlencoded", "Sec-Fetch-Site: cross-site"); w.Code != http.StatusForbidden || len(w.Result().Cookies()) > 0 {
		t.Errorf("another site logs in: %d", w.Code)
	}
}

func TestADashboardThatOthersCanReachNeedsALongKey(t *testing.T) {
	n := openNode(t)
	for name, test := range map[string]struct {
		c     config
		wrong string
	}{
		"on loopback without a key":    {config{}, ""},
		"on loopback with a short one": {config{keys: httpaccess.NewKeys("short")}, ""},
		"elsewhere without a key":      {config{guarded: true}, "give it a Key"},
		"elsewhere with a short one":   {config{guarded: true, keys: httpaccess.NewKeys("short")}, "at least 16"},
		"elsewhere with a long one":    {config{guarded: true, keys: httpaccess.NewKeys(goodKey)}, ""},
	} {
		_, err := newDashboard(n, "/dashboard", test.c)
		if (err == nil) != (test.wrong == "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, prefix := range []string{"", "/", "dashboard", "/a//b", "/a?b", "/a b", "/%2f"} {
		if _, err := newDashboard(n, prefix, config{}); err == nil {
			t.Errorf("the path %q is taken", prefix)
		}
	}
}

func TestEveryAnswerHasTheSecurityHeaders(t *testing.T) {
	b := openBoard(t, config{keys: httpaccess.NewKeys(goodKey)})
	for _, path := range []string{"", "/", "/login", "/app.js", "/style.css", "/nothing", "/api/traces", "/api/call"} {
		w := b.ask(t, "GET", path, "")
		csp := w.Header().Get("Content-Security-Policy")
		if !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "script-src 'self';") || strings.Contains(csp, "unsafe") || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", path, w.Header())
		}
	}
}

func TestPagesAreServedByTheirAddressesOnly(t *testing.T) {
	b := openBoard(t, config{})
	for _, test := range []struct {
		method, path string
		status       int
	}{
		{"GET", "", 303}, {"GET", "/", 200}, {"HEAD", "/", 200}, {"GET", "/app.js", 200}, {"GET", "/login", 303},
		{"GET", "/index.html", 404}, {"GET", "/page/app.js", 404}, {"GET", "/../dashboard.go", 404}, {"GET", "/nothing", 404}, {"GET", "x", 404},
		{"POST", "/", 501}, {"PUT", "/api/call", 501}, {"GET", "/api/call", 501}, {"DELETE", "/app.js", 501},
	} {
		w := b.ask(t, test.method, test.path, "")
		if w.Code != test.status && !(test.status == 501 && w.Code == 405) {
			t.Errorf("%s %s: %d, want %d", test.method, test.path, w.Code, test.status)
		}
	}
	first := b.ask(t, "GET", "/app.js", "")
	if again := b.ask(t, "GET", "/app.js", "", "If-None-Match: "+first.Header().Get("ETag")); again.Code != http.StatusNotModified || again.Body.Len() > 0 {
		t.Errorf("a file that the browser has: %d", again.Code)
	}
}

func TestThePageIsSmallAndHasNothingInline(t *testing.T) {
	files, err := readFiles(pages)
	must(t, err)
	size := 0
	for name, f := range files {
		size += len(f.content)
		text := string(f.content)
		if strings.HasSuffix(name, ".html") && (strings.Contains(text, "<style") || strings.Contains(text, " style=") || strings.Contains(text, "onclick") || strings.Contains(text, "<script>")) {
			t.Errorf("%s has scripts or styles in it", name)
		}
		if strings.HasSuffix(name, ".js") && (strings.Contains(text, "innerHTML") || strings.Contains(text, "eval(") || strings.Contains(text, "insertAdjacentHTML")) {
			t.Errorf("%s makes HTML of text", name)
		}
		if strings.Contains(strings.ReplaceAll(text, "http://www.w3.org/", ""), "http://") || strings.Contains(text, "https://") {
			t.Errorf("%s loads something from elsewhere", name)
		}
	}
	if size >= 180<<10 || len(files) < 15 {
		t.Errorf("%d files have %d bytes", len(files), size)
	}
}

func TestWhatThePageTellsToWriteIsThereInGo(t *testing.T) {
	files, err := readFiles(pages)
	must(t, err)
	found := 0
	for name, f := range files {
		for _, m := range regexp.MustCompile(`code\('[^']*?\b(sabir|telemetry|dashboard|channel|grain|policy)\.([A-Z]\w*)`).FindAllStringSubmatch(string(f.content), -1) {
			file := map[string]string{"dashboard": "web-dashboard", "grain": "actor-grain"}[m[1]]
			api, err := os.ReadFile("../../api/" + cmp.Or(file, m[1]) + ".txt")
			must(t, err)
			if !regexp.MustCompile(`(?m)^(func|type|func \(\*?\w+\)) ` + m[2] + `\b`).Match(api) {
				t.Errorf("%s: there is no %s.%s", name, m[1], m[2])
			}
			found++
		}
	}
	if found < 8 {
		t.Errorf("%d names were found", found)
	}
}
