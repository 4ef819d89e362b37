package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	options "github.com/sabir-go/sabir/internal/option"

	"github.com/sabir-go/sabir"
)

// rawGet asks for a target as it is written, over the engine that the connection header picks.
func rawGet(t *testing.T, w *world, method, target string, headers ...string) answer {
	t.Helper()
	c := wireTo(t, w.HTTPAddr())
	defer c.Close()
	io.WriteString(c, method+" "+target+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"+strings.Join(headers, "")+"\r\n")
	got, err := c.next(method)
	if err != nil {
		t.Errorf("%s %q is not answered: %v", method, target, err)
	}
	return got
}

// traversals is ways to write a path that leads out of a folder.
var traversals = []string{
	"../outside.txt", "..%2foutside.txt", "%2e%2e/outside.txt", "%2e%2e%2foutside.txt", "%252e%252e%252foutside.txt", "..%252foutside.txt", "..\\outside.txt", "..%5coutside.txt",
	"%2e%2e%5coutside.txt", "....//outside.txt", "..;/outside.txt", "..%00/outside.txt", "..%c0%afoutside.txt", "..%ef%bc%8foutside.txt", "%uff0e%uff0e/outside.txt", ".%2e/outside.txt",
	"./../outside.txt", "sub/../../outside.txt", "sub/..%2f..%2foutside.txt", "/../outside.txt", "//outside.txt", "%2f%2foutside.txt", "/etc/passwd", "%2fetc%2fpasswd", "a.txt/../../outside.txt",
	"a.txt%00.html", "a.txt%00", "a.txt/", "a.txt%20", "a.txt.", "a.txt::$DATA", ".git/config", "%2egit/config", ".git%2fconfig", "./.git/config", "sub/../.git/config", ".env", "%2eenv", "x/../.env",
	".git", ".git/", "file:///etc/passwd", "~/outside.txt", "?../outside.txt", "#/../outside.txt",
}

func TestNoPathLeadsOutOfAFolderOfFiles(t *testing.T) {
	t.Parallel()
	outer := t.TempDir()
	inner := filepath.Join(outer, "public")
	for name, text := range map[string]string{"outside.txt": "hunter2", "public/a.txt": "file a", "public/sub/index.html": "sub", "public/.env": "hunter2", "public/.git/config": "hunter2"} {
		path := filepath.Join(outer, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := worldOf(t, func(f *server) {
		for _, prefix := range []string{"/disk", "/"} {
			f.settings.take(option{config: Config{Mount: map[string]http.Handler{prefix: Static(os.DirFS(inner))}}}, new(options.Given))
		}
	})
	if got := rawGet(t, w, "GET", "/disk/a.txt"); got.status != 200 || got.body != "file a" {
		t.Fatalf("a file: %d %q", got.status, got.body)
	}
	for _, prefix := range []string{"/disk/", "/", "/disk", "/files/", "/disk/sub/"} {
		for _, path := range traversals {
			got := rawGet(t, w, "GET", prefix+path)
			if strings.Contains(got.body, "hunter2") || strings.Contains(got.body, "root:") || got.status >= 500 {
				t.Errorf("%s%s: %d %q", prefix, path, got.status, got.body)
			}
			checkRedirect(t, prefix+path, got)
		}
	}
}

// checkRedirect holds that an answer redirects no caller to another site.
func checkRedirect(t *testing.T, about string, got answer) {
	t.Helper()
	to := got.header.Get("Location")
	if strings.HasPrefix(to, "//") || strings.HasPrefix(to, "/\\") || strings.Contains(to, "://") || strings.HasPrefix(to, "\\") {
		t.Errorf("%s: sends to %q", about, to)
	}
}

func TestFilesBehindAnotherHandlerAreBelowTheRoot(t *testing.T) {
	t.Parallel()
	files := Static(fstest.MapFS{"index.html": {Data: []byte("home")}, "a.txt": {Data: []byte("file a")}})
	node := start(t, sabir.HTTP(":0", With(Config{Mount: map[string]http.Handler{"/app": http.StripPrefix("/app", files)}})))
	for path, body := range map[string]string{"/app": "home", "/app/": "home", "/app/a.txt": "file a"} {
		if got := ask(t, "GET", "http://"+node.HTTPAddr()+path, ""); got.status != 200 || got.body != body {
			t.Errorf("%s: %d %q, %s", path, got.status, got.body, got.header.Get("Location"))
		}
	}
}

func TestFilesAreReadByGETAndHEADOnly(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"a.txt": {Data: []byte("file a")}, "sub/index.html": {Data: []byte("sub")}, ".env": {Data: []byte("hunter2")}}
	node := start(t, sabir.HTTP(":0", With(Config{Mount: map[string]http.Handler{"/files": Static(files)}})))
	for path, status := range map[string]int{"/files/a.txt": 405, "/files/sub/": 405, "/files/sub": 405, "/files/b.txt": 404, "/files/.env": 404, "/files/": 404, "/files": 404} {
		for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "ANY"} {
			if got := ask(t, method, "http://"+node.HTTPAddr()+path, ""); got.status != status || status == 405 && got.header.Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: %d, Allow: %s", method, path, got.status, got.header.Get("Allow"))
			}
		}
	}
}

func TestNoFolderSendsToAnotherSite(t *testing.T) {
	w := worldOf(t, nil)
	for _, path := range []string{"//evil.example", "//evil.example/%2f..", "/files//evil.example/..", "/files//evil.example/sub", "/files/%2fevil.example/%2e%2e", "/files/\\evil.example/..",
		"/files/sub", "/files/sub//", "/files//sub", "/files/index.html", "/files//evil.example/index.html", "/files/sub/index.html", "//evil.example/files/sub", "/files/sub?x=//evil.example",
		"/files/..//evil.example/%2e%2e", "/files/https://evil.example/index.html", "/files", "/files?//evil.example"} {
		got := rawGet(t, w, "GET", path)
		checkRedirect(t, path, got)
		if got.status >= 500 {
			t.Errorf("%s: %d", path, got.status)
		}
	}
	if got := rawGet(t, w, "GET", "/files/sub"); got.status/100 != 3 || got.header.Get("Location") != "sub/" {
		t.Errorf("a folder without its slash: %d to %q", got.status, got.header.Get("Location"))
	}
}

func TestHiddenFilesAreNotServedButWellKnownOnesAre(t *testing.T) {
	w := worldOf(t, nil)
	for path, want := range map[string]int{"/files/.git/config": 404, "/files/.env": 404, "/files/.git": 404, "/files/.well-known/security.txt": 200, "/files/a.txt": 200, "/files/": 200} {
		if got := rawGet(t, w, "GET", path); got.status != want || strings.Contains(got.body, "hunter2") {
			t.Errorf("%s: %d %q, want %d", path, got.status, got.body, want)
		}
	}
}

// A rest parameter has the path as it came, decoded once, and a handler that opens files by it sees every "..".
func TestARestParameterIsDecodedOnce(t *testing.T) {
	w := worldOf(t, nil)
	for path, want := range map[string]string{"a/b": `"a/b"`, "a%2fb": `"a/b"`, "%252e%252e/x": `"%2e%2e/x"`, "a%20b+c": `"a b+c"`, "a%5cb": `"a\\b"`} {
		for _, connection := range []string{"", "Connection: close\r\n"} {
			c := wireTo(t, w.HTTPAddr())
			io.WriteString(c, "GET /rest/"+path+" HTTP/1.1\r\nHost: localhost\r\n"+connection+"\r\n")
			if got, err := c.next("GET"); err != nil || got.status != 200 || got.body != want {
				t.Errorf("%s: %d %s, %v, want %s", path, got.status, got.body, err, want)
			}
		}
	}
	for _, path := range traversals {
		if got := rawGet(t, w, "GET", "/rest/"+path); got.status >= 500 {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}

// The one address of an action is its own: no other spelling of the path leads to an action, and none past the group of a group.
func TestNoSpellingOfAPathLeadsPastADoor(t *testing.T) {
	t.Parallel()
	w := worldOf(t, nil)
	for _, path := range []string{"/locked/open", "/locked-away/locked/open", "/locked-away/../locked/open", "/locked-away//locked/open", "/%6cocked-away/locked/open", "/locked-away%2flocked/open",
		"/Locked-away/locked/open", "/files/../h/secret", "/doors/1", "/locked-away/doors/1", "/locked-away/doors", "/locked-away/%64oors/1", "/doors", "//doors/1",
		"/locked-away/doors/..", "/locked-away/doors/%2e%2e", "/h/./secret", "/h/%73ecret", "/h/secret?", "/h/secret/", "/h/say/../secret", "/v1/h/secret", "/h.secret", "/H/SECRET", "/h/secret%20", "/h/secret%00", "/h;x/secret"} {
		for _, method := range []string{"GET", "POST", "PUT", "HEAD", "DELETE", "PATCH", "TRACE", "CONNECT", "post", "PROPFIND"} {
			got := rawGet(t, w, method, path, "Content-Length: 2\r\n", "Content-Type: application/json\r\n\r\n{}")
			if got.status < 400 || got.status == 500 {
				t.Errorf("%s %s: %d %s", method, path, got.status, got.body)
			}
		}
	}
}

// lineEnds are ways to write the end of a line that a decoder might turn into one.
var lineEnds = []string{"%0d%0aX-Evil:%20yes", "%0aX-Evil:%20yes", "%0d%0a%0d%0aX-Evil:%20yes", "%E5%98%8A%E5%98%8DX-Evil:%20yes", "\\r\\nX-Evil: yes", "%250d%250aX-Evil:%20yes", "\u560a\u560dX-Evil:%20yes"}

func TestNothingThatIsEchoedBecomesAHeader(t *testing.T) {
	t.Parallel()
	w := worldOf(t, nil)
	check := func(about string, got answer) {
		t.Helper()
		if got.header.Get("X-Evil") != "" || strings.HasPrefix(got.body, "X-Evil") || got.status == 500 {
			t.Errorf("%s: %d %v %.100s", about, got.status, got.header, got.body)
		}
		if origin := got.header.Get("Access-Control-Allow-Origin"); origin != "" && origin != "https://app.example" {
			t.Errorf("%s: allows the origin %q", about, origin)
		}
	}
	for _, odd := range lineEnds {
		check("a path", rawGet(t, w, "GET", "/h/"+strings.ReplaceAll(odd, " ", "%20")))
		check("a folder", rawGet(t, w, "GET", "/files/sub%2f"+strings.ReplaceAll(odd, " ", "%20")))
		check("a query", rawGet(t, w, "GET", "/find/x?tag="+strings.ReplaceAll(odd, " ", "%20")))
		for _, name := range []string{"X-Request-Id", "Origin", "X-Meta-A", "Cookie", "X-Agent", "Accept", "Accept-Encoding", "If-None-Match", "Range", "Last-Event-Id", "Authorization",
			"Access-Control-Request-Method", "Access-Control-Request-Headers", "Content-Disposition", "Content-Type", "Expect"} {
			for _, value := range []string{odd, "https://app.example\rX-Evil: yes", "https://app.example" + odd, "a\x00b", "\xff\xfe"} {
				for _, request := range []string{"GET /find/1", "OPTIONS /h/any", "GET /files/a.txt", "GET /nothing"} {
					method, target, _ := strings.Cut(request, " ")
					got := rawGet(t, w, method, target, name+": "+value+"\r\n")
					check(name+" "+value+" for "+request, got)
				}
			}
		}
	}
}

func TestOnlyTheOriginsOfThePolicyAreAllowed(t *testing.T) {
	w := worldOf(t, nil)
	for _, origin := range []string{"https://evil.example", "https://app.example.evil.example", "https://evilapp.example", "http://app.example", "https://app.example:444", "null", "https://app.example/", "https://APP.example.",
		"https://app.example@evil.example", "https://app.example, https://evil.example", "file://", "https://app.example%60.evil.example", "https://app.example\\.evil.example"} {
		for _, got := range []answer{
			ask(t, "OPTIONS", w.base+"/h/any", "", "Origin: "+origin, "Access-Control-Request-Method: POST"), post(t, w.base+"/h/say", `{"word":"crossed"}`, "Origin: "+origin), ask(t, "GET", w.base+"/find/1", "", "Origin: "+origin),
		} {
			if got.header.Get("Access-Control-Allow-Origin") != "" || got.header.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%s: %v", origin, got.header)
			}
		}
	}
	if said := w.said(); len(said) != 0 {
		t.Errorf("%q ran for pages of other sites", said)
	}
	if got := post(t, w.base+"/h/any", `1`, "Origin: https://app.example"); got.status != 200 || got.header.Get("Access-Control-Allow-Origin") != "https://app.example" {
		t.Errorf("the origin of the policy: %d %v", got.status, got.header)
	}
}

// The name of a file that is uploaded is a name, never a path, whatever was sent.
func TestTheNameOfAnUploadIsNoPath(t *testing.T) {
	t.Parallel()
	names := make(chan string, 1)
	s := sabir.NewService("up")
	sabir.HandleStream(s, "load", func(ctx context.Context, s *sabir.Stream[[]byte, int]) error {
		names <- sabir.InfoFromContext(ctx).Metadata["file-name"]
		n := 0
		for chunk, err := range s.All() {
			if err != nil {
				return err
			}
			n += len(chunk)
		}
		return s.Send(n)
	})
	w := worldOf(t, nil, s)
	for _, name := range []string{"../../etc/passwd", "..\\..\\boot.ini", "/etc/passwd", "C:\\x", "a/b.txt", "..", ".", "x\x00y", "a%2fb", "\u202etxt.exe", strings.Repeat("n", 5000), "\xff\xfe", "a\nb", "con", "~root"} {
		quoted := `"` + strings.NewReplacer("\\", "\\\\", `"`, `\"`).Replace(name) + `"`
		var form bytes.Buffer
		fmt.Fprintf(&form, "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=%s\r\nContent-Type: text/plain\r\n\r\nhello\r\n--b--\r\n", quoted)
		r, err := http.NewRequest("POST", w.base+"/up/load", &form)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
		r.Header.Set("Accept", "application/json")
		response, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode == 200 {
			got := <-names
			if strings.ContainsAny(got, "/\\\x00\n") || got == ".." || got == "." || len(got) > 255 {
				t.Errorf("%q is shown as %q", name, got)
			}
			if _, err := json.Marshal(got); err != nil || string(body) != "5" {
				t.Errorf("%q: %s, %v", name, body, err)
			}
		} else if response.StatusCode != 400 && response.StatusCode != 415 {
			t.Errorf("%q: %d %s", name, response.StatusCode, body)
		}
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

// What is stated twice, in two places, or among much else, is refused or means the first, never something else.
func TestParametersCannotBePolluted(t *testing.T) {
	w := worldOf(t, nil)
	for about, test := range map[string]struct {
		target, header string
		status         int
		body           string
	}{
		"an id in the query beside the path": {"/find/1?id=2", "", 200, `"id":1`},
		"a tag twice":                        {"/find/1?tag=a&tag=b", "", 200, `"tags":["a","b"]`},
		"a path twice":                       {"/find/1?path=a&path=b", "", 400, "path"},
		"a semicolon":                        {"/find/1?path=a;path=b", "", 200, `"path":"a;path=b"`},
		"a header twice":                     {"/find/1", "X-Agent: a\r\nX-Agent: b\r\n", 400, "X-Agent"},
		"a header field from the query":      {"/find/1?agent=evil&X-Agent=evil", "", 200, `"agent":""`},
		"a cookie field from the query":      {"/find/1?seat=evil", "", 200, `"seat":""`},
		"many parameters":                    {"/find/1?" + strings.Repeat("x=1&", 3000), "", 400, "query"},
		"many cookies":                       {"/find/1", "Cookie: " + strings.Repeat("a=b; ", 3000) + "seat=7\r\n", 0, ""},
	} {
		for _, connection := range []string{"", "Connection: close\r\n"} {
			c := wireTo(t, w.HTTPAddr())
			io.WriteString(c, "GET "+test.target+" HTTP/1.1\r\nHost: localhost\r\n"+connection+test.header+"\r\n")
			got, err := c.next("GET")
			if err != nil || test.status != 0 && got.status != test.status || got.status >= 500 || !strings.Contains(got.body, test.body) {
				t.Errorf("%s: %d %.300s, %v, want %d with %s", about, got.status, got.body, err, test.status, test.body)
			}
		}
	}
}
