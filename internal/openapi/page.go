package openapi

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/schema"
)

//go:embed page
var embedded embed.FS

// static is the files of the page. They are the same for every API and contain nothing of it.
var static, _ = fs.Sub(embedded, "page")

// page is the handler of Page and At.
type page struct {
	prefix string
	get    func() api.API
	open   bool                     // anyone may read the page's files
	allow  func(*http.Request) bool // nil: everyone may read what describes the API

	mu     sync.Mutex
	made   time.Time
	kept   map[string]answerBody // what was made since, by name
	keptAt string                // the prefix that it was made for
}

type answerBody struct {
	body []byte
	etag string
}

// keepFor is the time that documents serve further requests before they are made anew, so that requests in numbers cost little.
const keepFor = time.Second

// Page is a handler that answers below prefix, such as "/docs", with
//
//	/docs                       a page to read about the actions and to call them
//	/docs/openapi.json          the OpenAPI document
//	/docs/asyncapi.json         the AsyncAPI document of the events that callers may listen to, where there are any
//	/docs/api.json              what the page is made of, an api.API
//	/docs/schemas/{Type}.json   the JSON Schema of a named type
//
// get returns what is offered now. It is asked at most once a second for each of them, and must be safe for concurrent use.
// The page loads nothing from elsewhere and runs under a strict Content-Security-Policy; it sends requests only to where it
// came from and to the servers that the API names. Any client that reaches the handler may read all of it; see At.
func Page(prefix string, get func() api.API) http.Handler { return newPage(prefix, get) }

func newPage(prefix string, get func() api.API) *page {
	return &page{prefix: strings.TrimSuffix(prefix, "/"), get: get}
}

// Public reports that the gateway need not authenticate callers: the page is for anyone, or checks by itself.
func (p *page) Public() bool { return p.open }

// ServeHTTP answers GET and HEAD below the prefix.
func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, ok := strings.CutPrefix(r.URL.Path, p.prefix)
	if !ok || name != "" && name[0] != '/' {
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "the documentation takes GET", http.StatusMethodNotAllowed)
		return
	}
	switch {
	case name == "" || name == "/":
		p.index(w, r)
	case name == "/openapi.json" || name == "/asyncapi.json" || name == "/api.json" || strings.HasPrefix(name, "/schemas/"):
		p.describe(w, r, name[1:])
	default:
		p.file(w, r, name[1:])
	}
}

// index is the page itself. It may be asked for with and without a slash at the end, and a proxy may have given it another
// prefix, so that its addresses depend on how it was asked for.
func (p *page) index(w http.ResponseWriter, r *http.Request) {
	file, err := fs.ReadFile(static, "index.html")
	if err != nil {
		panic(err) // it is embedded
	}
	base := ""
	if !strings.HasSuffix(r.URL.Path, "/") {
		base = (&url.URL{Path: path.Base(p.prefix)}).EscapedPath() + "/"
	}
	h := w.Header()
	h.Set("Content-Security-Policy", p.contentPolicy())
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	send(w, r, "index.html", bytes.ReplaceAll(file, []byte("{{base}}"), []byte(base)))
}

// contentPolicy lets the page run its own files only, and send requests to the servers of the API.
func (p *page) contentPolicy() string {
	connect := []string{"'self'"}
	if p.allow == nil { // else the names of servers are for those with the key
		for _, server := range p.get().Servers {
			u, err := url.Parse(server)
			if err == nil && (u.Scheme == "http" || u.Scheme == "https") && !strings.ContainsAny(u.Host, " ;,'\"") {
				connect = append(connect, u.Scheme+"://"+u.Host)
			}
		}
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src " +
		strings.Join(slices.Compact(connect), " ") + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

func (p *page) file(w http.ResponseWriter, r *http.Request, name string) {
	file, err := fs.ReadFile(static, name)
	if err != nil || name == "index.html" {
		http.NotFound(w, r)
		return
	}
	send(w, r, name, file)
}

// describe answers with what describes the API.
func (p *page) describe(w http.ResponseWriter, r *http.Request, name string) {
	if p.allow != nil && !p.allow(r) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="sabir"`)
		w.Header().Set("Cache-Control", "no-store")
		http.Error(w, "the description of this API is for those who have its key", http.StatusUnauthorized)
		return
	}
	a, err := p.document(name, mountedAt(r))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		http.NotFound(w, r)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		if p.allow != nil {
			w.Header().Set("Vary", "Authorization")
		}
		w.Header().Set("ETag", a.etag)
		send(w, r, name, a.body)
	}
}

// mountedAt returns what a handler around this one, such as http.StripPrefix, has taken from the front of the path: "/api" or "".
func mountedAt(r *http.Request) string {
	asked, err := url.ParseRequestURI(r.RequestURI)
	if err != nil {
		return ""
	}
	prefix, ok := strings.CutSuffix(asked.EscapedPath(), r.URL.EscapedPath())
	if !ok || strings.HasPrefix(prefix, "//") { // which would be another host
		return ""
	}
	return prefix
}

// document makes a document, or takes the one that was made a moment ago. There are no more of them than types and three, all for one prefix.
func (p *page) document(name, prefix string) (answerBody, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); p.kept == nil || now.Sub(p.made) >= keepFor || p.keptAt != prefix {
		p.made, p.kept, p.keptAt = now, map[string]answerBody{}, prefix
	}
	if a, ok := p.kept[name]; ok {
		return a, nil
	}
	body, err := p.build(name, prefix)
	if err != nil {
		return answerBody{}, err
	}
	a := answerBody{body: body, etag: etag(body)}
	p.kept[name] = a
	return a, nil
}

func (p *page) build(name, prefix string) ([]byte, error) {
	a := p.get()
	switch name {
	case "openapi.json":
		if len(a.Servers) == 0 && prefix != "" {
			a.Servers = []string{prefix}
		}
		return Document(a)
	case "asyncapi.json":
		if a.Events == nil {
			return nil, fs.ErrNotExist
		}
		return AsyncAPI(a)
	case "api.json":
		return describeAPI(a)
	}
	typ, ok := strings.CutSuffix(strings.TrimPrefix(name, "schemas/"), ".json")
	if !ok || a.Types[typ] == nil {
		return nil, fs.ErrNotExist
	}
	return Type(a, typ)
}

// describeAPI is the API as JSON, without the Go names of types.
func describeAPI(a api.API) ([]byte, error) {
	keep := func(name string) string { return defs + url.PathEscape(pointer(name)) }
	actions := slices.Clone(a.Actions)
	for i := range actions {
		actions[i].In, actions[i].Out = copied(actions[i].In, keep), copied(actions[i].Out, keep)
		actions[i].Errors = slices.Clone(actions[i].Errors)
		for j := range actions[i].Errors {
			actions[i].Errors[j].Data = copied(actions[i].Errors[j].Data, keep)
		}
	}
	types := make(map[string]*schema.Schema, len(a.Types))
	for name, s := range a.Types {
		types[name] = copied(s, keep)
	}
	a.Actions, a.Types = actions, types
	return text(a)
}

func etag(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}

// mediaTypes has the media types of the page's files, so that they do not depend on the machine.
var mediaTypes = map[string]string{".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".json": "application/json"}

// send answers with a body, or with 304 where the caller has it. It is to be asked for again each time.
func send(w http.ResponseWriter, r *http.Request, name string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", mediaTypes[path.Ext(name)])
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-cache")
	if h.Get("ETag") == "" {
		h.Set("ETag", etag(body))
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(body))
}
