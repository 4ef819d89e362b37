package main

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestTheShopAnswersOverHTTP(t *testing.T) {
	node := newNode(":0")
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer node.Stop(context.Background())
	for _, c := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"POST", "/orders", `{"userId":"u-1","item":"lamp","count":2}`, 200, `"id":"o-1"`},
		{"GET", "/orders/o-1", "", 200, `"item":"lamp"`},
		{"POST", "/users/get", `{"id":"u-1"}`, 200, `"name":"Ada"`},
		{"POST", "/orders", `{"userId":"u-1","item":"compass","count":6}`, 409, `"left":5`},
		{"POST", "/orders", `{"userId":"u-1","item":"lamp"}`, 422, `"count"`},
		{"GET", "/orders/o-9", "", 404, "NoSuchOrder"},
		{"GET", "/docs", "", 200, "html"},
	} {
		request, err := http.NewRequestWithContext(t.Context(), c.method, "http://"+node.HTTPAddr()+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		if c.body != "" {
			request.Header.Set("Content-Type", "application/json")
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != c.status || !strings.Contains(string(body), c.says) {
			t.Errorf("%s %s: %d %s, %v; want %d with %s", c.method, c.path, answer.StatusCode, body, err, c.status, c.says)
		}
	}
}
