package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
)

// FuzzPath sends any path to a node, and holds that only public actions run, each at the one address that names it.
func FuzzPath(f *testing.F) {
	ran := ""
	s := sabir.NewService("shop")
	for name, options := range map[string][]sabir.ActionOption{"hello": nil, "secret": {sabir.NodeOnly()}, "internal": {sabir.ClusterOnly()}} {
		sabir.Handle(s, name, func(context.Context, any) (nothing, error) {
			ran = name
			return nothing{}, nil
		}, append(options, sabir.Inline())...)
	}
	node := start(f, sabir.Serve(s))
	h, err := Handler(node)
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range []string{"/shop/hello", "/shop/secret", "/shop.secret", "/shop//secret", "/shop/%73ecret", "/shop%2Fsecret", "/shop/./secret", "/x/../shop/secret",
		"/%24node/info", "/shop/hello/", "//shop/hello", "/shop/hello?x=/shop/secret", "*", "", "/", "/shop\\secret", "/shop/secret\x00", "/%zz"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		u, err := url.ParseRequestURI(path)
		if err != nil {
			return // net/http refuses it
		}
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("{}"))
		r.URL = u
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		ran = ""
		h.ServeHTTP(w, r)
		switch {
		case ran == "secret" || ran == "internal":
			t.Fatalf("%q ran shop.%s", path, ran)
		case ran == "hello" && (u.Path != "/shop/hello" || u.RawPath != "" && u.RawPath != "/shop/hello"):
			t.Fatalf("%q ran shop.hello", path)
		case w.Code == http.StatusInternalServerError:
			t.Fatalf("%q: %s", path, w.Body)
		}
	})
}

// FuzzReadError gives the client any answer, and holds that it makes an error of it that callers can use.
func FuzzReadError(f *testing.F) {
	f.Add(404, "application/problem+json", `{"type":"urn:sabir:error:ActionNotFound","status":404,"code":"NotFound","name":"ActionNotFound","message":"no","data":{"nearest":["a.b"]},"node":"n1"}`)
	f.Add(200, "application/problem+json; charset=utf-8", `{"code":"OK"}`)
	f.Add(500, "text/html", `<html>`)
	f.Add(599, "application/problem+json", `{"code":7,"data":[[[[`)
	f.Add(-1, "", ``)
	f.Fuzz(func(t *testing.T, status int, contentType, body string) {
		e := errorFromResponse("http://node", status, contentType, []byte(body))
		if e == nil || e.Code == sabir.CodeOK || e.Code > sabir.CodeUnauthenticated {
			t.Fatalf("%d %s %q gives %+v", status, contentType, body, e)
		}
		if e.HTTPStatus() < 400 || e.Message == "" {
			t.Fatalf("%+v has the status %d and says %q", e, e.HTTPStatus(), e.Error())
		}
		if !strings.HasPrefix(strings.ToLower(strings.TrimSpace(contentType)), "application/problem+json") && strings.Contains(body, e.Name) && e.Name != "NotANode" {
			t.Fatalf("%+v is read from a body that is no problem document", e)
		}
	})
}
