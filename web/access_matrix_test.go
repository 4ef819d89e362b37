package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/web/auth"
)

// The callers of the table, and the keys that they send; "" for none.
var matrixCallers = []struct{ name, key string }{
	{"anonymous", ""},
	{"signed in", "key-of-ada-0123456789"},
	{"clerk", "key-of-bob-0123456789"},
	{"operator", "key-of-eve-0123456789"},
}

type matrixItem struct {
	ID int `json:"id"`
}

// matrixService has an action and a stream for everybody, for clerks, and for the cluster only.
func matrixService(name string) *sabir.Service {
	s := sabir.NewService(name)
	call := func(context.Context, matrixItem) (matrixItem, error) { return matrixItem{ID: 7}, nil }
	sabir.Handle(s, "open", call, sabir.Route("GET", "/"+name+"/by-id/{id}"))
	sabir.Handle(s, "guarded", call, sabir.Use(auth.Require("clerk")), sabir.Route("GET", "/"+name+"/guarded-by-id/{id}"))
	sabir.Handle(s, "inner", call, sabir.ClusterOnly(), sabir.Route("GET", "/"+name+"/inner-by-id/{id}"))
	stream := func(_ context.Context, s *sabir.Stream[matrixItem, int]) error { return s.Send(7) }
	sabir.HandleStream(s, "flow", stream)
	sabir.HandleStream(s, "guardedflow", stream, sabir.Use(auth.Require("clerk")))
	sabir.HandleStream(s, "innerflow", stream, sabir.ClusterOnly())
	upload := func(_ context.Context, s *sabir.Stream[[]byte, int]) error {
		for _, err := range s.All() {
			if err != nil {
				return err
			}
		}
		return s.Send(7)
	}
	sabir.HandleStream(s, "put", upload)
	sabir.HandleStream(s, "guardedput", upload, sabir.Use(auth.Require("clerk")))
	sabir.HandleStream(s, "innerput", upload, sabir.ClusterOnly())
	return s
}

// startMatrix runs a gateway with a service of its own, in a cluster with a node that has two: one that the gateway forwards.
func startMatrix(t *testing.T) (base string) {
	t.Helper()
	keys := &auth.Key{Keys: map[string]auth.Principal{
		"key-of-ada-0123456789": {Subject: "ada"},
		"key-of-bob-0123456789": {Subject: "bob", Roles: []string{"clerk"}},
		"key-of-eve-0123456789": {Subject: "eve", Roles: []string{"ops"}}}}
	startAs(t, "backend", sabir.Join("mem://"+t.Name()), sabir.Serve(matrixService("passed"), matrixService("hidden")))
	gateway := startAs(t, "gateway", sabir.Join("mem://"+t.Name()), sabir.Serve(matrixService("own")),
		sabir.HTTP("127.0.0.1:0", With(Config{Auth: []auth.Authenticator{keys}, AllowAnonymous: true, Forward: []string{"passed.*"}, Operators: []string{"ops"}, Events: []string{"news.*"}, EventsFor: map[string][]string{"clerk": {"orders.*"}}})))
	if err := gateway.WaitFor(t.Context(), "passed", "hidden"); err != nil {
		t.Fatal(err)
	}
	return "http://" + gateway.HTTPAddr()
}

// Each way in is a request for a target of a service. It returns the status.
var matrixWays = []struct {
	name string
	call func(t *testing.T, base, key, service, suffix string) int // suffix is "", "guarded" or "inner"
}{
	{"call", func(t *testing.T, base, key, service, suffix string) int {
		return post(t, base+"/"+service+"/"+orElse(suffix, "open"), `{}`, keyHeader(key)...).status
	}},
	{"REST form", func(t *testing.T, base, key, service, suffix string) int {
		path := map[string]string{"": "/by-id/7", "guarded": "/guarded-by-id/7", "inner": "/inner-by-id/7"}[suffix]
		return ask(t, "GET", base+"/"+service+path, "", keyHeader(key)...).status
	}},
	{"batch", func(t *testing.T, base, key, service, suffix string) int {
		got := post(t, base+"/batch", `[{"action":"`+service+"."+orElse(suffix, "open")+`","input":{}}]`, keyHeader(key)...)
		var status int
		if _, err := fmt.Sscanf(got.body, `[{"status":%d`, &status); err != nil {
			t.Fatalf("%d %s", got.status, got.body)
		}
		return status
	}},
	{"stream", func(t *testing.T, base, key, service, suffix string) int {
		return post(t, base+"/"+service+"/"+suffix+"flow", `{}`, keyHeader(key)...).status
	}},
	{"server-sent events", func(t *testing.T, base, key, service, suffix string) int {
		return post(t, base+"/"+service+"/"+suffix+"flow", `{}`, append(keyHeader(key), "Accept: text/event-stream")...).status
	}},
	{"WebSocket", func(t *testing.T, base, key, service, suffix string) int {
		r, err := http.NewRequestWithContext(t.Context(), "GET", base+"/"+service+"/"+suffix+"flow", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range append(keyHeader(key), "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
			"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol: sabir.v1") {
			name, value, _ := strings.Cut(h, ": ")
			r.Header.Set(name, value)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode
	}},
	{"upload", func(t *testing.T, base, key, service, suffix string) int {
		return post(t, base+"/"+service+"/"+suffix+"put", `bytes`, append(keyHeader(key), "Content-Type: application/octet-stream", "Accept: application/json")...).status
	}},
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

func keyHeader(key string) []string {
	if key == "" {
		return nil
	}
	return []string{"X-Api-Key: " + key}
}

// What a caller reaches is what was named, whichever way in it takes.
func TestEveryWayInReachesWhatWasNamedAndNothingElse(t *testing.T) {
	base := startMatrix(t)
	for _, way := range matrixWays {
		for _, caller := range matrixCallers {
			for _, service := range []string{"own", "passed", "hidden"} {
				for _, target := range []string{"", "guarded", "inner"} {
					want := http.StatusOK
					switch {
					case service == "hidden" || target == "inner":
						want = http.StatusNotFound
					case target == "guarded" && caller.key == "":
						want = http.StatusUnauthorized
					case target == "guarded" && caller.name != "clerk":
						want = http.StatusForbidden
					}
					got := way.call(t, base, caller.key, service, target)
					if way.name == "WebSocket" && want != http.StatusNotFound {
						want = http.StatusSwitchingProtocols // the action's refusal comes as a message
					}
					if got != want {
						t.Errorf("%s, %s, %s of %s: %d, want %d", way.name, caller.name, orElse(target, "open"), service, got, want)
					}
				}
			}
		}
	}
}

// What is for operators answers others as what is not there does.
func TestTheRuntimesOwnActionsExistForOperatorsOnly(t *testing.T) {
	base := startMatrix(t)
	like := func(text string) string { // without what differs by the address and the request
		text, _, _ = strings.Cut(text, `"requestId"`)
		return strings.NewReplacer("%24node/info", "*", "%24node/none", "*", "$node/info", "*", "$node/none", "*", "$node.info", "*", "$node.none", "*").Replace(text)
	}
	for _, caller := range matrixCallers {
		for name, send := range map[string]func(path string) answer{
			"call": func(path string) answer { return post(t, base+path, `{}`, keyHeader(caller.key)...) },
			"encoded": func(path string) answer {
				return post(t, base+strings.Replace(path, "$", "%24", 1), `{}`, keyHeader(caller.key)...)
			},
			"batch": func(path string) answer {
				action := strings.ReplaceAll(strings.TrimPrefix(path, "/"), "/", ".")
				return post(t, base+"/batch", `[{"action":"`+action+`","input":{}}]`, keyHeader(caller.key)...)
			},
			"GET":     func(path string) answer { return ask(t, "GET", base+path, "", keyHeader(caller.key)...) },
			"OPTIONS": func(path string) answer { return ask(t, "OPTIONS", base+path, "", keyHeader(caller.key)...) },
		} {
			there, absent := send("/$node/info"), send("/$node/none")
			same := there.status == absent.status && like(there.body) == like(absent.body)
			if same == (caller.name == "operator") {
				t.Errorf("%s, %s: %d %.300s\nfor one that is not there: %d %.300s", caller.name, name, there.status, there.body, absent.status, absent.body)
			}
		}
		if got := post(t, base+"/$node/emit", `{"event":"news.x","payload":1}`, keyHeader(caller.key)...); got.status != 404 {
			t.Errorf("%s emits: %d", caller.name, got.status)
		}
		if got := ask(t, "GET", base+"/", "", keyHeader(caller.key)...); strings.Contains(got.body, "$node") != (caller.name == "operator") || strings.Contains(got.body, "hidden") || strings.Contains(got.body, "inner") {
			t.Errorf("%s, the index: %s", caller.name, got.body)
		}
		if got := ask(t, "GET", base+"/$api", "", keyHeader(caller.key)...); strings.Contains(got.body, "$node") || strings.Contains(got.body, "hidden") || strings.Contains(got.body, "inner") || !strings.Contains(got.body, "passed.open") {
			t.Errorf("%s, the description: %.400s", caller.name, got.body)
		}
	}
}

func TestOperatorsAreWhomTheServerNames(t *testing.T) {
	const key = "key-of-the-server-0123"
	ada := &auth.Key{Keys: map[string]auth.Principal{"key-of-ada-0123456789": {Subject: "ada", Roles: []string{KeyHolder, ThisMachine}}}}
	for about, test := range map[string]struct {
		option  sabir.NodeOption
		headers []string
		want    int
	}{
		"nobody was named":                      {sabir.HTTP(":0"), nil, 404},
		"nobody was named, with the key":        {sabir.HTTP(":0", gateway.Key(key)), []string{"Authorization: Bearer " + key}, 404},
		"this machine":                          {sabir.HTTP(":0", With(Config{Operators: []string{ThisMachine}})), nil, 200},
		"this machine, through a proxy":         {sabir.HTTP(":0", With(Config{Operators: []string{ThisMachine}})), []string{"X-Forwarded-For: 192.0.2.1"}, 404},
		"this machine, but it asks for a key":   {sabir.HTTP(":0", With(Config{Operators: []string{ThisMachine}}), gateway.Key(key)), []string{"Authorization: Bearer " + key}, 404},
		"the key":                               {sabir.HTTP(":0", With(Config{Operators: []string{KeyHolder}}), gateway.Key(key)), []string{"Authorization: Bearer " + key}, 200},
		"the key, where anonymous callers are":  {sabir.HTTP(":0", With(Config{Operators: []string{KeyHolder}, AllowAnonymous: true}), gateway.Key(key)), []string{"Authorization: Bearer " + key}, 200},
		"no key, where anonymous callers are":   {sabir.HTTP(":0", With(Config{Operators: []string{KeyHolder}, AllowAnonymous: true}), gateway.Key(key)), nil, 404},
		"a principal with roles of those names": {sabir.HTTP(":0", With(Config{Operators: []string{KeyHolder, ThisMachine, "ops"}, Auth: []auth.Authenticator{ada}})), []string{"X-Api-Key: key-of-ada-0123456789"}, 404},
		"a server for everybody":                {sabir.HTTP("127.0.0.1:0", With(Config{AllowUnauthenticated: true, Operators: []string{"ops"}})), nil, 404},
	} {
		node := start(t, test.option)
		if got := post(t, "http://"+node.HTTPAddr()+"/$node/info", `{}`, test.headers...); got.status != test.want {
			t.Errorf("%s: %d, want %d", about, got.status, test.want)
		}
	}
}

func TestAServiceThatIsAwaitedAndNotForwardedIsNotThere(t *testing.T) {
	bound := sabir.NewService("front")
	node := start(t, sabir.Join("mem://"+t.Name()), sabir.Serve(bound), sabir.HTTP(":0", With(Config{Forward: []string{"passed.*"}})))
	sabir.Bind[matrixItem, matrixItem](node, "passed.open")
	sabir.Bind[matrixItem, matrixItem](node, "hidden.open")
	for path, want := range map[string]int{"/passed/open": 503, "/hidden/open": 404} {
		if got := post(t, "http://"+node.HTTPAddr()+path, `{}`); got.status != want {
			t.Errorf("%s: %d, want %d", path, got.status, want)
		}
	}
}

func TestVersionsOfAForwardedServiceAreForwarded(t *testing.T) {
	s := settings{forward: []string{"users.*", "v3.stock.get"}}
	for name, want := range map[string]bool{"users.get": true, "v2.users.get": true, "v12.users.get": true, "vx.users.get": false,
		"users": false, "user.get": false, "stock.get": false, "v3.stock.get": true, "v2.stock.get": false} {
		if got := s.forwards(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestWhoeverCallsAGuardedActionWithoutCredentialsReadsWhatToSend(t *testing.T) {
	base := startMatrix(t)
	const want = "this needs credentials, and none came with the call: send the header X-Api-Key"
	for _, service := range []string{"own", "passed"} { // of this node, and of another one, which knows nothing of keys
		for name, got := range map[string]answer{
			"call":   post(t, base+"/"+service+"/guarded", `{}`),
			"REST":   ask(t, "GET", base+"/"+service+"/guarded-by-id/7", ""),
			"batch":  post(t, base+"/batch", `[{"action":"`+service+`.guarded","input":{}}]`),
			"stream": post(t, base+"/"+service+"/guardedflow", `{}`),
			"events": post(t, base+"/"+service+"/guardedflow", `{}`, "Accept: text/event-stream"),
		} {
			if !strings.Contains(got.body, want+`"`) || !strings.Contains(got.body, `"name":"NotSignedIn"`) {
				t.Errorf("%s %s: %d %s", service, name, got.status, got.body)
			}
		}
	}
}
