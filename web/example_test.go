package web_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing/fstest"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/exchange"
)

type greeting struct {
	Name string `json:"name" validate:"required"`
}

type reply struct {
	Text string `json:"text"`
}

func greet(_ context.Context, in greeting) (reply, error) { return reply{"Hello, " + in.Name}, nil }

// serve starts a node and returns its URL.
func serve(options ...sabir.NodeOption) (base string, stop func()) {
	node := sabir.NewNode(options...)
	if err := node.Start(context.Background()); err != nil {
		log.Fatal(err)
	}
	return "http://" + node.HTTPAddr(), func() {
		http.DefaultClient.CloseIdleConnections()
		if err := node.Stop(context.Background()); err != nil {
			log.Fatal(err)
		}
	}
}

// send sends a request; headers are "Name: value".
func send(method, url, body string, headers ...string) *http.Response {
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
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
		log.Fatal(err)
	}
	return response
}

// show sends a request and prints the status and the body.
func show(method, url, body string, headers ...string) {
	response := send(method, url, body, headers...)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(response.StatusCode, strings.TrimSpace(string(text)))
}

// status sends a request and prints the status alone.
func status(method, url, body string, headers ...string) {
	response := send(method, url, body, headers...)
	response.Body.Close()
	fmt.Println(response.StatusCode)
}

// A node offers an action over HTTP, and another node calls it as if it were its own.
func ExampleDial() {
	ctx := context.Background()
	greeter := sabir.NewService("greeter")
	sabir.Handle(greeter, "hello", greet)
	server := sabir.NewNode(sabir.Serve(greeter), sabir.HTTP(":0"))
	if err := server.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer server.Stop(ctx)

	client, err := web.Dial("http://"+server.HTTPAddr(), web.ClientConfig{})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	node := sabir.NewNode(sabir.WithUpstream(client))
	if err := node.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer node.Stop(ctx)

	out, err := sabir.Call[reply](ctx, node, "greeter.hello", greeting{Name: "Ada"})
	fmt.Println(out.Text, err)
	_, err = sabir.Call[reply](ctx, node, "greeter.hello", greeting{})
	fmt.Println(sabir.AsError(err).Name)
	// Output:
	// Hello, Ada <nil>
	// ValidationFailed
}

// Fields of the input come from the path, the query, headers and cookies, and from the body.
func Example_restForms() {
	type find struct {
		ID     int      `json:"id" validate:"min=1"`
		Page   int      `json:"page" validate:"min=0"`
		Tags   []string `json:"tags" query:"tag"`
		Tenant string   `json:"tenant" header:"X-Tenant"`
	}
	type rename struct {
		ID   int    `json:"id"`
		Name string `json:"name" validate:"required"`
	}
	items := sabir.NewService("items")
	sabir.Handle(items, "find", func(_ context.Context, in find) (find, error) { return in, nil },
		sabir.Route("GET", "/items/{id}"))
	sabir.Handle(items, "rename", func(_ context.Context, in rename) (rename, error) { return in, nil },
		sabir.Route("PUT", "/items/{id}"))
	base, stop := serve(sabir.Serve(items), sabir.HTTP(":0"))
	defer stop()

	show("GET", base+"/items/7?page=2&tag=a&tag=b", "", "X-Tenant: acme")
	show("PUT", base+"/items/7", `{"name":"lamp"}`)
	show("POST", base+"/items/rename", `{"id":7,"name":"lamp"}`) // the call is there too
	status("GET", base+"/items/x", "")
	status("GET", base+"/items/0", "")
	// Output:
	// 200 {"id":7,"page":2,"tags":["a","b"],"tenant":"acme"}
	// 200 {"id":7,"name":"lamp"}
	// 200 {"id":7,"name":"lamp"}
	// 400
	// 422
}

// A group has its own prefix, callers, limits and hooks.
func ExampleWith_groups() {
	greeter := sabir.NewService("greeter")
	sabir.Handle(greeter, "hello", greet)
	stock := sabir.NewService("stock")
	sabir.Handle(stock, "count", func(context.Context, sabir.Empty) (int, error) { return 3, nil })
	base, stop := serve(sabir.Serve(greeter, stock), sabir.HTTP(":0",
		web.With(web.Config{Groups: map[string]web.Config{"/v1": {Services: []string{"greeter"}, BodyLimit: 16 << 10, RequestTimeout: 5 * time.Second}}})))
	defer stop()

	show("POST", base+"/v1/greeter/hello", `{"name":"Ada"}`)
	status("POST", base+"/greeter/hello", `{"name":"Ada"}`) // through its group only
	show("POST", base+"/stock/count", "")
	// Output:
	// 200 {"text":"Hello, Ada"}
	// 404
	// 200 3
}

// Every caller shows a key, and one action is for admins.
func ExampleWith_auth() {
	users := sabir.NewService("users")
	sabir.Handle(users, "whoami", func(ctx context.Context, _ sabir.Empty) (string, error) {
		who, _ := auth.FromContext(ctx)
		return who.Subject, nil
	})
	sabir.Handle(users, "purge", func(context.Context, sabir.Empty) (string, error) { return "purged", nil },
		sabir.Use(auth.Require("admin")))
	keys := &auth.Key{Keys: map[string]auth.Principal{
		"key-of-ada-0123456789": {Subject: "ada", Roles: []string{"admin"}},
		"key-of-bob-0123456789": {Subject: "bob"},
	}}
	base, stop := serve(sabir.Serve(users), sabir.HTTP(":0", web.With(web.Config{Auth: []auth.Authenticator{keys}})))
	defer stop()

	status("POST", base+"/users/whoami", "")
	show("POST", base+"/users/whoami", "", "X-Api-Key: key-of-bob-0123456789")
	status("POST", base+"/users/purge", "", "X-Api-Key: key-of-bob-0123456789")
	show("POST", base+"/users/purge", "", "X-Api-Key: key-of-ada-0123456789")
	// Output:
	// 401
	// 200 "bob"
	// 403
	// 200 "purged"
}

// An action signs its caller in, and a cookie identifies it from then on.
func Example_sessions() {
	type signIn struct {
		Name     string `json:"name"`
		Password string `json:"password" sabir:"secret"`
	}
	hash, err := auth.HashPassword("correct horse")
	if err != nil {
		log.Fatal(err)
	}
	check := auth.Users(map[string]auth.User{"ada": {Hash: hash}})
	sessions := auth.Session(auth.SessionConfig{Secret: []byte("0123456789abcdef0123456789abcdef")}) // openssl rand 32

	account := sabir.NewService("account")
	sabir.Handle(account, "signIn", func(ctx context.Context, in signIn) (sabir.Empty, error) {
		who, err := check(ctx, in.Name, in.Password)
		if err != nil || who == nil {
			return sabir.Empty{}, auth.ErrBadCredentials
		}
		return sabir.Empty{}, sessions.SignIn(web.ExchangeFromContext(ctx), *who)
	})
	sabir.Handle(account, "me", func(ctx context.Context, _ sabir.Empty) (string, error) {
		who, _ := auth.FromContext(ctx)
		return who.Subject, nil
	}, sabir.Use(auth.Require()))
	base, stop := serve(sabir.Serve(account), sabir.HTTP(":0", web.With(web.Config{Auth: []auth.Authenticator{sessions}, AllowAnonymous: true})))
	defer stop()

	status("POST", base+"/account/me", "")
	status("POST", base+"/account/signIn", `{"name":"ada","password":"wrong"}`)
	response := send("POST", base+"/account/signIn", `{"name":"ada","password":"correct horse"}`)
	response.Body.Close()
	cookie := response.Cookies()[0]
	show("POST", base+"/account/me", "", "Cookie: "+cookie.Name+"="+cookie.Value)
	// Output:
	// 401
	// 401
	// 200 "ada"
}

// A custom filter sees requests and answers, a middleware calls with their Go types.
func ExampleWith_hooks() {
	greeter := sabir.NewService("greeter")
	sabir.Handle(greeter, "hello", greet)
	closed := false
	maintenance := exchange.Filter{Name: "maintenance", Before: func(x *exchange.Exchange) error {
		if closed {
			return sabir.NewError(sabir.CodeUnavailable, "Maintenance", "back at six").AsRetryable()
		}
		return nil
	}}
	shout := sabir.Middleware{Name: "shout", Local: func(_ *sabir.Action, next sabir.Handler) sabir.Handler {
		return func(ctx context.Context, r *sabir.Request) error {
			if in, ok := r.Input().(*greeting); ok {
				in.Name = strings.ToUpper(in.Name)
			}
			err := next(ctx, r)
			if x := web.ExchangeFromContext(ctx); x != nil && err == nil {
				x.Answer.Set("X-Shouted", "yes")
			}
			return err
		}
	}}
	base, stop := serve(sabir.Serve(greeter), sabir.HTTP(":0", web.With(web.Config{Filters: web.Filters{maintenance}, Use: []sabir.Wrapper{shout}})))
	defer stop()

	response := send("POST", base+"/greeter/hello", `{"name":"Ada"}`)
	text, _ := io.ReadAll(response.Body)
	response.Body.Close()
	fmt.Println(response.StatusCode, string(text), response.Header.Get("X-Shouted"))
	closed = true
	status("POST", base+"/greeter/hello", `{"name":"Ada"}`)
	// Output:
	// 200 {"text":"Hello, ADA"} yes
	// 503
}

// A stream is answered as Server-Sent Events, as lines of JSON, or as a WebSocket, as its caller chooses.
func Example_streams() {
	type from struct {
		From int `json:"from"`
	}
	clock := sabir.NewService("clock")
	sabir.HandleStream(clock, "countdown", func(_ context.Context, s *sabir.Stream[from, int]) error {
		in, err := s.Recv()
		if err != nil {
			return err
		}
		for n := in.From; n > 0; n-- {
			if err := s.Send(n); err != nil {
				return err
			}
		}
		return nil
	}, sabir.Route("GET", "/countdown/{from}"))
	base, stop := serve(sabir.Serve(clock), sabir.HTTP(":0"))
	defer stop()

	show("POST", base+"/clock/countdown", `{"from":2}`)
	show("GET", base+"/countdown/2", "", "Accept: text/event-stream")
	// Output:
	// 200 2
	// 1
	// 200 id: 1
	// data: 2
	//
	// id: 2
	// data: 1
	//
	// event: end
	// data: {}
}

// Chunks of a file are the inputs of a stream of []byte, and its only output the answer.
func Example_upload() {
	files := sabir.NewService("files")
	sabir.HandleStream(files, "put", func(ctx context.Context, s *sabir.Stream[[]byte, int]) error {
		size := 0
		for chunk, err := range s.All() {
			if err != nil {
				return err // the upload broke off
			}
			size += len(chunk)
		}
		fmt.Println("got", sabir.InfoFromContext(ctx).Metadata["file-name"])
		return s.Send(size)
	})
	base, stop := serve(sabir.Serve(files), sabir.HTTP(":0"))
	defer stop()

	show("POST", base+"/files/put", "hello", "Content-Type: application/octet-stream",
		`Content-Disposition: attachment; filename="a.txt"`, "Accept: application/json")
	// Output:
	// got a.txt
	// 200 5
}

// Every caller may listen to the events that the server lets out.
func ExampleWith_events() {
	shop := sabir.NewService("shop")
	sabir.Handle(shop, "order", func(ctx context.Context, in greeting) (sabir.Empty, error) {
		return sabir.Empty{}, sabir.Emit(ctx, shop, "orders.placed", in)
	})
	base, stop := serve(sabir.NodeID("shop-1"), sabir.Serve(shop), sabir.HTTP(":0", web.With(web.Config{Events: []string{"orders.*"}})))
	defer stop()

	events := send("GET", base+"/events?topic=orders.*", "")
	defer events.Body.Close()
	status("POST", base+"/shop/order", `{"name":"Ada"}`)
	lines := bufio.NewScanner(events.Body)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "data:") {
	}
	fmt.Println(lines.Text())
	// Output:
	// 200
	// data: {"event":"orders.placed","payload":{"name":"Ada"},"node":"shop-1"}
}

// Files are served under a prefix, a handler that is there already under another.
func ExampleStatic() {
	files := fstest.MapFS{"index.html": {Data: []byte("<h1>Shop</h1>")}, ".env": {Data: []byte("secret")}} // or an embed.FS, os.DirFS("public")
	old := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "old ", r.URL.Path) })
	base, stop := serve(sabir.HTTP(":0", web.With(web.Config{Mount: map[string]http.Handler{"/shop": web.Static(files), "/legacy": old}})))
	defer stop()

	show("GET", base+"/shop/", "")
	status("GET", base+"/shop/.env", "")
	show("GET", base+"/legacy/orders", "")
	// Output:
	// 200 <h1>Shop</h1>
	// 404
	// 200 old /legacy/orders
}

// A node without an address of its own is part of a server that is there already.
func ExampleHandler() {
	greeter := sabir.NewService("greeter")
	sabir.Handle(greeter, "hello", greet)
	node := sabir.NewNode(sabir.Serve(greeter))
	if err := node.Start(context.Background()); err != nil {
		log.Fatal(err)
	}
	defer node.Stop(context.Background())
	handler, err := web.Handler(node)
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/api/", http.StripPrefix("/api", handler))
	server := httptest.NewServer(mux)
	defer server.Close()
	defer http.DefaultClient.CloseIdleConnections()

	show("POST", server.URL+"/api/greeter/hello", `{"name":"Ada"}`)
	// Output: 200 {"text":"Hello, Ada"}
}

// Several calls in one request, each answered by itself.
func Example_batch() {
	greeter := sabir.NewService("greeter")
	sabir.Handle(greeter, "hello", greet)
	base, stop := serve(sabir.Serve(greeter), sabir.HTTP(":0"))
	defer stop()

	show("POST", base+"/batch", `[{"action":"greeter.hello","input":{"name":"Ada"}},{"action":"greeter.hello","input":{"name":"Bob"}}]`)
	// Output: 200 [{"status":200,"output":{"text":"Hello, Ada"}},{"status":200,"output":{"text":"Hello, Bob"}}]
}

// What a node reports to its operators does not exist for other callers.
func ExampleWith_operators() {
	greeter := sabir.NewService("greeter")
	sabir.Handle(greeter, "hello", greet)
	keys := &auth.Key{Keys: map[string]auth.Principal{
		"key-of-ada-0123456789": {Subject: "ada"},
		"key-of-eve-0123456789": {Subject: "eve", Roles: []string{"ops"}}}}
	base, stop := serve(sabir.Serve(greeter), sabir.HTTP("127.0.0.1:0", web.With(web.Config{Auth: []auth.Authenticator{keys}, AllowAnonymous: true, Operators: []string{"ops"}})))
	defer stop()

	show("POST", base+"/greeter/hello", `{"name":"Ada"}`)
	status("POST", base+"/$node/info", `{}`)
	status("POST", base+"/$node/info", `{}`, "X-Api-Key: key-of-ada-0123456789")
	status("POST", base+"/$node/info", `{}`, "X-Api-Key: key-of-eve-0123456789")
	status("POST", base+"/$node/emit", `{"event":"orders.placed"}`, "X-Api-Key: key-of-eve-0123456789")
	// Output:
	// 200 {"text":"Hello, Ada"}
	// 404
	// 404
	// 200
	// 404
}

// A gateway lets callers reach what it names of other nodes.
func ExampleWith_forward() {
	users := sabir.NewService("users")
	sabir.Handle(users, "hello", greet)
	sabir.Handle(users, "purge", greet)
	backend := sabir.NewNode(sabir.NodeID("backend"), sabir.Serve(users), sabir.Join("mem://forwarding"))
	if err := backend.Start(context.Background()); err != nil {
		log.Fatal(err)
	}
	defer backend.Stop(context.Background())
	base, stop := serve(sabir.NodeID("gateway"), sabir.Join("mem://forwarding"), sabir.HTTP("127.0.0.1:0", web.With(web.Config{Forward: []string{"users.hello"}})))
	defer stop()

	show("POST", base+"/users/hello", `{"name":"Ada"}`)
	status("POST", base+"/users/purge", `{"name":"Ada"}`)
	// Output:
	// 200 {"text":"Hello, Ada"}
	// 404
}
