package meta_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/meta"
	"github.com/sabir-go/sabir/actor/pool"
)

type site struct{ entered, left chan struct{} }

type siteArgs struct{ entered, left chan struct{} }

func (s *site) Init(_ *actor.Process, a siteArgs) error { *s = site(a); return nil }
func (s *site) Get(p *actor.Process, r meta.Request) (meta.Response, error) {
	switch r.URL {
	case "/missing":
		return meta.Response{}, sabir.NewError(sabir.CodeNotFound, "NoPage", "there is no such page")
	case "/secret":
		return meta.Response{}, errors.New("password is 1234")
	case "/strange":
		return meta.Response{Status: 7}, nil
	case "/slow":
		s.entered <- struct{}{}
		<-p.Context().Done()
		s.left <- struct{}{}
		return meta.Response{}, nil
	}
	return meta.Response{Status: 201, Header: http.Header{"X-Method": {r.Method}}, Body: append([]byte(r.URL+" "), r.Body...)}, nil
}

var siteB = actor.Define("site", (*site).Init, actor.OnCall((*site).Get))

func TestAWebRequestIsACall(t *testing.T) {
	s := newSystem(t)
	sites, err := pool.Spec(siteB.Spec(siteArgs{}), pool.Config{Size: 2}).Start(s)
	if err != nil {
		t.Fatal(err)
	}
	gone, _ := actor.Spawn(s, siteB, siteArgs{})
	s.Kill(gone.PID())
	for name, c := range map[string]struct {
		to           actor.PID
		method, path string
		body         string
		status       int
		want         string
	}{
		"answer":                {sites, "POST", "/a?b=c", "text", 201, "/a?b=c text"},
		"error of the process":  {sites, "GET", "/missing", "", 404, "NoPage"},
		"other error":           {sites, "GET", "/secret", "", 500, "nternal"},
		"no valid status":       {sites, "GET", "/strange", "", 500, "BadStatus"},
		"body beyond the bound": {sites, "POST", "/", strings.Repeat("x", 101), 413, "BodyTooLarge"},
		"no process":            {gone.PID(), "GET", "/", "", 404, "NoProcess"},
	} {
		t.Run(name, func(t *testing.T) {
			w := httptest.NewRecorder()
			meta.Handler(s, c.to, meta.WebConfig{MaxBody: 100}).ServeHTTP(w, httptest.NewRequest(c.method, c.path, strings.NewReader(c.body)))
			body, _ := io.ReadAll(w.Body)
			if w.Code != c.status || !strings.Contains(string(body), c.want) || strings.Contains(string(body), "1234") {
				t.Errorf("%d %s", w.Code, body)
			}
			if c.status == 201 && w.Header().Get("X-Method") != c.method {
				t.Error("no header")
			}
		})
	}
}

func TestTheCallEndsWithTheRequestAndTooManyAreRefused(t *testing.T) {
	s := newSystem(t)
	a := siteArgs{make(chan struct{}, 1), make(chan struct{}, 1)}
	pid, err := actor.Spawn(s, siteB, a)
	if err != nil {
		t.Fatal(err)
	}
	h := meta.Handler(s, pid, meta.WebConfig{Requests: 1})
	ctx, leave := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/slow", nil).WithContext(ctx))
		close(done)
	}()
	next(t, a.entered)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	if w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("one too many: %d", w.Code)
	}
	leave()
	next(t, done)
	next(t, a.left)
}
