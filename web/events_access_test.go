package web

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web/auth"
)

// listenTo opens the events of a server and returns the names of those that come, in their order.
func listenTo(t *testing.T, url string, headers ...string) (status int, names <-chan string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	came := make(chan string, 100)
	go func() {
		defer close(came)
		for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
			if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				came <- name
			}
		}
	}()
	return answer.StatusCode, came
}

// A caller gets the events that its roles let it have, whatever it asks for: other listeners may have more.
func TestCallersListenToTheEventsOfTheirRoles(t *testing.T) {
	keys := &auth.Key{Keys: map[string]auth.Principal{
		"key-of-ada-0123456789": {Subject: "ada"},
		"key-of-bob-0123456789": {Subject: "bob", Roles: []string{"clerk"}}}}
	node := start(t, sabir.HTTP(":0", With(Config{Auth: []auth.Authenticator{keys}, AllowAnonymous: true, Events: []string{"news.*", "**.last"}, EventsFor: map[string][]string{"clerk": {"orders.*"}}})))
	url := "http://" + node.HTTPAddr() + "/events"
	_, clerk := listenTo(t, url, "X-Api-Key: key-of-bob-0123456789")
	_, everything := listenTo(t, url+"?topic=**", "X-Api-Key: key-of-ada-0123456789")
	_, anonymous := listenTo(t, url)
	for _, event := range []string{"orders.placed", "news.morning", "$node.last", "the.last"} {
		if err := sabir.Emit(context.Background(), node, event, 1); err != nil {
			t.Fatal(err)
		}
	}
	for who, test := range map[string]struct {
		came <-chan string
		want string
	}{"clerk": {clerk, "orders.placed news.morning the.last"}, "signed in": {everything, "news.morning the.last"}, "anonymous": {anonymous, "news.morning the.last"}} {
		var got []string
		for len(got) == 0 || got[len(got)-1] != "the.last" {
			got = append(got, <-test.came)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: %v, want %s", who, got, test.want)
		}
	}
	for header, want := range map[string]int{"X-Api-Key: key-of-ada-0123456789": 403, "X-Api-Key: key-of-bob-0123456789": 200} {
		if status, _ := listenTo(t, url+"?topic=orders.placed", header); status != want {
			t.Errorf("orders with %s: %d, want %d", header, status, want)
		}
	}
	if got := ask(t, "GET", "http://"+node.HTTPAddr()+"/$api", "", "X-Api-Key: key-of-bob-0123456789"); strings.Contains(got.body, "orders.*") {
		t.Errorf("the description, which is the same for all callers, has events of one role: %s", got.body)
	}
}

func TestEventsOfRolesAreNotThereForOthers(t *testing.T) {
	keys := &auth.Key{Keys: map[string]auth.Principal{"key-of-ada-0123456789": {Subject: "ada"}}}
	node := start(t, sabir.HTTP(":0", With(Config{Auth: []auth.Authenticator{keys}, EventsFor: map[string][]string{"clerk": {"orders.*"}}})))
	other := start(t, sabir.HTTP(":0", With(Config{Auth: []auth.Authenticator{keys}})))
	for path, base := range map[string]string{"/events": node.HTTPAddr(), "/events?topic=orders.*": other.HTTPAddr()} {
		if status, _ := listenTo(t, "http://"+base+path, "X-Api-Key: key-of-ada-0123456789"); status != 404 {
			t.Errorf("%s: %d", path, status)
		}
	}
}
