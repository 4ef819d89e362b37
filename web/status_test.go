package web

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/httpaccess"
)

// placing is a service whose actions answer with statuses and headers of their own.
func placing() *sabir.Service {
	s := sabir.NewService("orders")
	type order struct {
		ID    string `json:"id"`
		Known bool   `json:"known"`
	}
	sabir.Handle(s, "place", func(ctx context.Context, in order) (order, error) {
		if in.ID == "" {
			sabir.Answer(ctx).SetStatus(200)
			sabir.Answer(ctx).SetHeader("X-Tried", "yes")
			return in, sabir.NewError(sabir.CodeNotFound, "NoOrder", "there is no such order")
		}
		if in.Known {
			return in, sabir.Answer(ctx).SetStatus(200)
		}
		if err := sabir.Answer(ctx).SetHeader("Location", "/orders/"+in.ID); err != nil {
			return in, err
		}
		sabir.Answer(ctx).SetHeader("Content-Length", "1") // which is the server's
		sabir.Answer(ctx).SetTrailer("X-Behind", "yes")
		return in, nil
	}, sabir.Route("PUT", "/orders/{id}"), sabir.Status(201, "Location"), sabir.Status(200))
	sabir.Handle(s, "drop", func(context.Context, order) (order, error) { return order{ID: "gone"}, nil },
		sabir.Route("DELETE", "/orders/{id}"), sabir.Status(204))
	sabir.Handle(s, "teapot", func(ctx context.Context, _ order) (order, error) { return order{}, sabir.Answer(ctx).SetStatus(202) })
	sabir.Handle(s, "nested", func(ctx context.Context, in order) (order, error) {
		return sabir.Call[order](ctx, sabir.NodeFromContext(ctx), "orders.place", in)
	})
	return s
}

func TestTheStatusAndTheHeadersOfAnAnswerAreItsHandlersOnAnyNode(t *testing.T) {
	alone := start(t, sabir.Serve(placing()), sabir.HTTP(":0"))
	startAs(t, "worker", sabir.Join("mem://"+t.Name()), sabir.Serve(placing()))
	forwarding := startAs(t, "gateway", sabir.Join("mem://"+t.Name()), sabir.HTTP(":0", With(Config{Forward: []string{"orders.**"}})))
	grouped := startAs(t, "grouped", sabir.Join("mem://"+t.Name()), sabir.HTTP(":0", With(Config{Forward: []string{"orders.**"}, Groups: map[string]Config{"/g": {Services: []string{"orders"}, Use: []sabir.Wrapper{sabir.RequestIDs()}}}})))
	for _, n := range []*sabir.Node{forwarding, grouped} {
		if err := n.WaitFor(t.Context(), "orders"); err != nil {
			t.Fatal(err)
		}
	}
	for where, base := range map[string]string{"here": "http://" + alone.HTTPAddr(), "behind a gateway": "http://" + forwarding.HTTPAddr(),
		"behind a gateway with middlewares": "http://" + grouped.HTTPAddr() + "/g"} {
		for about, test := range map[string]struct {
			method, path, body string
			status             int
			out                string
			headers            map[string]string
		}{
			"the usual status, and headers": {"PUT", "/orders/7", `{"known":false}`, 201, `{"id":"7","known":false}`,
				map[string]string{"Location": "/orders/7", "X-Behind": "yes", "Content-Length": "24"}},
			"a status that the handler chose": {"POST", "/orders/place", `{"id":"7","known":true}`, 200, `{"id":"7","known":true}`, map[string]string{"Location": ""}},
			"no content":                      {"DELETE", "/orders/7", "", 204, "", map[string]string{"Content-Type": ""}},
			"an error has the status of its code, and its headers": {"POST", "/orders/place", `{}`, 404, `"name":"NoOrder"`,
				map[string]string{"X-Tried": "yes"}},
			"a status that is not declared": {"POST", "/orders/teapot", `{}`, 500, `"name":"BadOutput"`, nil},
			"what a nested call says is not the answer's": {"POST", "/orders/nested", `{"id":"7"}`, 200, `{"id":"7","known":false}`,
				map[string]string{"Location": ""}},
		} {
			got := ask(t, test.method, base+test.path, test.body)
			if got.status != test.status || !strings.Contains(got.body, test.out) {
				t.Errorf("%s, %s: %d %s", where, about, got.status, got.body)
			}
			for name, want := range test.headers {
				if got.header.Get(name) != want {
					t.Errorf("%s, %s: %s is %q, want %q", where, about, name, got.header.Get(name), want)
				}
			}
		}
	}
	batch := ask(t, "POST", "http://"+forwarding.HTTPAddr()+"/batch", `[{"action":"orders.place","input":{"id":"7"}},{"action":"orders.drop"}]`)
	if want := `[{"status":201,"output":{"id":"7","known":false},"headers":{"Location":["/orders/7"],"X-Behind":["yes"]}},{"status":204}]`; batch.body != want {
		t.Errorf("a batch: %s", batch.body)
	}
	client, err := Dial("http://"+alone.HTTPAddr(), ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	through := start(t, sabir.WithUpstream(client))
	for action, want := range map[string]string{"orders.place": `{"id":"7","known":false}`, "orders.drop": `null`} {
		if got, err := sabir.CallJSON(t.Context(), through, action, []byte(`{"id":"7"}`)); err != nil || string(got) != want {
			t.Errorf("%s through a client: %s, %v", action, got, err)
		}
	}
}

func TestHeadersAreBoundedAndCannotBeInjected(t *testing.T) {
	s := sabir.NewService("headers")
	sabir.Handle(s, "set", func(ctx context.Context, in [2]string) (int, error) {
		set := 0
		for i := range 100 {
			if sabir.Answer(ctx).SetHeader(strings.ReplaceAll(in[0], "#", string(rune('a'+i%26))+string(rune('a'+i/26))), in[1]) == nil {
				set++
			}
		}
		return set, nil
	})
	node := start(t, sabir.Serve(s), sabir.HTTP(":0"))
	for in, want := range map[string]string{
		`["X-#","v"]`:   "64",
		`["X-One","v"]`: "100",
		`["X-#","` + strings.Repeat("v", 3000) + `"]`: "4",
		`["X-Two","a\r\nSet-Cookie: b=c"]`:            "0",
		`["Bad Name","v"]`:                            "0",
	} {
		if got := ask(t, "POST", "http://"+node.HTTPAddr()+"/headers/set", in); got.body != want || got.header.Get("Set-Cookie") != "" {
			t.Errorf("%.30s: %s", in, got.body)
		}
	}
}

func TestAStatusThatCannotBeIsRefusedWhenTheServiceStarts(t *testing.T) {
	for want, option := range map[string]sabir.ActionOption{
		"Status(404)": sabir.Status(404),
		"Status(100)": sabir.Status(100),
		"no name of":  sabir.Status(201, "Bad Name"),
	} {
		s := sabir.NewService("orders")
		sabir.Handle(s, "place", func(context.Context, sabir.Empty) (sabir.Empty, error) { return sabir.Empty{}, nil }, option)
		if err := sabir.NewNode(sabir.Serve(s)).Start(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// A gateway on net/http, as with TLS or another server's Handler, answers the same.
func TestNoContentOverNetHTTPHasNoBody(t *testing.T) {
	node := start(t, sabir.Serve(placing()), sabir.HTTP(":0", func(*httpaccess.Config) {}))
	request, _ := http.NewRequest("DELETE", "http://"+node.HTTPAddr()+"/orders/7", strings.NewReader(""))
	request.Header.Set("Expect", "100-continue") // which goes to net/http
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, _ := io.ReadAll(response.Body); response.StatusCode != 204 || len(body) > 0 || response.Header.Get("Content-Type") != "" {
		t.Errorf("%d %q %v", response.StatusCode, body, response.Header)
	}
}

func TestAnErrorWhoseMessageIsNoUTF8HasItsStatus(t *testing.T) {
	s := sabir.NewService("files")
	sabir.Handle(s, "read", func(context.Context, sabir.Empty) (sabir.Empty, error) {
		return sabir.Empty{}, sabir.NewError(sabir.CodeNotFound, "NoFile", "there is no file caf\xe9")
	}, sabir.Route("GET", "/files"))
	node := start(t, sabir.Serve(s), sabir.HTTP(":0"))
	answered := ask(t, "GET", "http://"+node.HTTPAddr()+"/files", "")
	if p := answered.problem(t); p.Status != 404 || p.Message != "there is no file caf\ufffd" {
		t.Errorf("%+v", p)
	}
}
