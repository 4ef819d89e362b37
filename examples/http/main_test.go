package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

const key = "a-key-for-the-test"

// startOrders runs the node for the length of a test and returns its URL.
func startOrders(t *testing.T) string {
	t.Helper()
	node := newNode(":0", key)
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := node.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return "http://" + node.HTTPAddr()
}

// send sends a request; headers are "Name: value".
func send(t *testing.T, method, url, body string, headers ...string) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	return response
}

func TestOrdersArePlacedFoundListedAndCancelledByClerks(t *testing.T) {
	base := startOrders(t)
	for _, test := range []struct {
		method, path, body, key string
		status                  int
		want                    string
	}{
		{"POST", "/orders", `{"item":"rope","quantity":2}`, "", 200, `"id":1,"item":"rope","quantity":2,"state":"placed"`},
		{"POST", "/orders", `{"item":"","quantity":0}`, "", 422, `"pointer":"/quantity"`},
		{"GET", "/orders/1", "", "", 200, `"item":"rope"`},
		{"GET", "/orders/x", "", "", 400, `"in":"path"`},
		{"GET", "/orders/2", "", "", 404, `"name":"NoSuchOrder"`},
		{"GET", "/orders?state=cancelled", "", "", 200, `[]`},
		{"DELETE", "/orders/1", "", "", 401, `"name":"NotSignedIn"`},
		{"DELETE", "/orders/1", "", "another-key-of-no-one", 401, `"name":"BadCredentials"`},
		{"DELETE", "/orders/1", "", key, 200, `"state":"cancelled"`},
		{"GET", "/orders?state=cancelled", "", "", 200, `"id":1`},
		{"POST", "/orders/get", `{"id":1}`, "", 200, `"id":1`},
		{"GET", "/docs/openapi.json", "", "", 200, `"/orders/{id}"`},
		{"GET", "/docs", "", "", 200, "<html"},
		{"GET", "/page/", "", "", 200, "<h1>Orders"},
		{"GET", "/dashboard", "", "", 200, "<html"},
		{"GET", "/health", "", "", 200, "ok"},
	} {
		var headers []string
		if test.key != "" {
			headers = []string{"X-Api-Key: " + test.key}
		}
		response := send(t, test.method, base+test.path, test.body, headers...)
		body, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != test.status || !strings.Contains(string(body), test.want) {
			t.Errorf("%s %s %s: %d %.300s, want %d with %s (%v)", test.method, test.path, test.body, response.StatusCode, body, test.status, test.want, err)
		}
	}
}

// next is the next line of an event stream that begins with the prefix.
func next(t *testing.T, lines *bufio.Scanner, prefix string) string {
	t.Helper()
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), prefix); ok {
			return text
		}
	}
	t.Fatalf("the stream ended before a line %q: %v", prefix, lines.Err())
	return ""
}

func TestAnOrderIsWatchedUntilItIsCancelled(t *testing.T) {
	base := startOrders(t)
	send(t, "POST", base+"/orders", `{"item":"rope","quantity":2}`)
	watched := bufio.NewScanner(send(t, "GET", base+"/orders/1/watch", "", "Accept: text/event-stream").Body)
	if got := next(t, watched, "data: "); !strings.Contains(got, `"state":"placed"`) {
		t.Errorf("first came %s", got)
	}
	send(t, "DELETE", base+"/orders/1", "", "X-Api-Key: "+key)
	if got := next(t, watched, "data: "); !strings.Contains(got, `"state":"cancelled"`) {
		t.Errorf("then came %s", got)
	}
	next(t, watched, "event: end")
}

func TestListenersGetNewOrders(t *testing.T) {
	base := startOrders(t)
	received := bufio.NewScanner(send(t, "GET", base+"/events?topic=orders.*", "").Body)
	send(t, "POST", base+"/orders", `{"item":"rope","quantity":2}`)
	if name, data := next(t, received, "event: "), next(t, received, "data: "); name != "orders.placed" || !strings.Contains(data, `"item":"rope"`) {
		t.Errorf("%s %s", name, data)
	}
}
