package docs

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/gen/openapi"
	"github.com/sabir-go/sabir/secret"
	"github.com/sabir-go/sabir/telemetry"
	"github.com/sabir-go/sabir/web"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/auth/redissessions"
	"github.com/sabir-go/sabir/web/dashboard"
	"github.com/sabir-go/sabir/web/exchange"
	"github.com/sabir-go/sabir/web/filter"
)

// The code of the guides to HTTP.

// doc: find-items
type FindItems struct {
	Shop   int      `json:"shop"`                  // of the path, by its JSON name
	Page   int      `json:"page" validate:"min=0"` // of the query, by its JSON name
	Tags   []string `json:"tags" query:"tag"`      // ?tag=a&tag=b
	Tenant string   `json:"tenant" header:"X-Tenant"`
	Seat   string   `json:"seat" cookie:"seat"`
}

// end

type Rename struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type DeleteUser struct {
	ID string `json:"id"`
}

type SignIn struct {
	Name     string `json:"name"`
	Password string `json:"password" sabir:"secret"`
}

// doc: delete-user
func deleteUser(ctx context.Context, in DeleteUser) (sabir.Empty, error) {
	who, _ := auth.FromContext(ctx) // who.Subject, who.Roles, who.Claims
	return sabir.Empty{}, remove(in.ID, who.Subject)
}

// end

func remove(string, string) error { return nil }

func TestHTTPOfTheGuide(t *testing.T) {
	items, files, users, account := sabir.NewService("items"), sabir.NewService("files"), sabir.NewService("users"), sabir.NewService("account")
	find := func(_ context.Context, in FindItems) (FindItems, error) { return in, nil }
	rename := func(_ context.Context, in Rename) (Rename, error) { return in, nil }
	check := func(_ context.Context, name, password string) (*auth.Principal, error) {
		return &auth.Principal{Subject: name}, nil
	}
	secret := []byte("0123456789abcdef0123456789abcdef")
	var closed atomic.Bool
	// doc: routes
	sabir.Handle(items, "find", find, sabir.Route("GET", "/shops/{shop}/items"))
	sabir.Handle(items, "rename", rename, sabir.Route("PUT", "/items/{id}"), sabir.Route("POST", "/rename/{id}"))
	// end
	// doc: upload
	sabir.HandleStream(files, "put", func(ctx context.Context, s *sabir.Stream[[]byte, int]) error {
		size := 0
		for chunk, err := range s.All() {
			if err != nil {
				return err // the upload broke off: what came is not the whole file
			}
			size += len(chunk)
		}
		return s.Send(size)
	})
	// end
	// doc: require
	sabir.Handle(users, "delete", deleteUser, sabir.Use(auth.Require("admin"))) // one of these roles; without any: signed in
	// end
	// doc: sessions
	sessions := auth.Session(auth.SessionConfig{Secret: secret}) // 32 random bytes, the same on all nodes behind one name

	sabir.Handle(account, "signIn", func(ctx context.Context, in SignIn) (sabir.Empty, error) {
		who, err := check(ctx, in.Name, in.Password) // auth.Users(…), or your own table
		if err != nil || who == nil {
			return sabir.Empty{}, auth.ErrBadCredentials
		}
		return sabir.Empty{}, sessions.SignIn(web.ExchangeFromContext(ctx), *who)
	})
	// end
	// doc: maintenance
	maintenance := exchange.Filter{Name: "maintenance", Before: func(x *exchange.Exchange) error {
		if closed.Load() {
			return sabir.NewError(sabir.CodeUnavailable, "Maintenance", "back at six").AsRetryable() // 503
		}
		return nil
	}}
	// end
	// doc: filters
	filters := web.With(web.Config{Filters: web.Filters{
		filter.Log{},
		filter.Secure{},
		filter.CORS{Origins: []string{"https://app.example.com"}, Credentials: true},
		filter.Compress{},
		filter.Cache{},
		filter.RateLimit{Rate: 50, Burst: 100},
	}})
	// end
	var public fs.FS = fstest.MapFS{"public/index.html": {Data: []byte("<p>Sabir</p>")}}
	oldHandler := http.NotFoundHandler()
	// doc: static
	page, err := fs.Sub(public, "public") // of an embed.FS, or os.DirFS
	if err != nil {
		t.Fatal(err)
	}
	mounts := web.With(web.Config{
		Mount: map[string]http.Handler{"/app": web.Static(page), "/legacy": oldHandler},
	})
	// end
	node := startFor(t, sabir.NodeID("shop-1"), sabir.Serve(items, files, users, account), sabir.HTTP("127.0.0.1:0", mounts, filters, openapi.At("/docs"),
		web.With(web.Config{Auth: []auth.Authenticator{sessions}, AllowAnonymous: true, AfterAuth: web.Filters{maintenance}, Title: "Shop", Version: "1.2", Description: "Sells rope."})))
	for path, want := range map[string]int{
		"/shops/7/items?page=2&tag=a": 200, "/shops/7/items?page=-1": 422, "/app/index.html": 200, "/legacy/x": 404, "/docs": 200, "/health": 200,
	} {
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
		answer, err := client.Get("http://" + node.HTTPAddr() + path)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, answer.StatusCode, want)
		}
	}
	request, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+node.HTTPAddr()+"/shops/7/items?page=-1", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Request-Id", "6f9f3c")
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	problem, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	sameJSON(t, problem, "problem.json")
}

// sameJSON compares an answer with one that a page shows, whatever the space and the order of members.
func sameJSON(t *testing.T, got []byte, file string) {
	t.Helper()
	shown, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var is, want any
	if err := errors.Join(json.Unmarshal(got, &is), json.Unmarshal(shown, &want)); err != nil || !reflect.DeepEqual(is, want) {
		t.Errorf("the page shows\n%s\nand it is\n%s\nerror %v", shown, got, err)
	}
}

// What needs other machines, or an address that others can reach.
func httpOfOthers(ctx context.Context, greeter *sabir.Service, users *sabir.Service, certificate tls.Certificate, keys gateway.HTTPOption, key string, mux *http.ServeMux, sessionKey []byte) error {
	// doc: serve
	node := sabir.NewNode(sabir.Serve(greeter), sabir.HTTP(":3000"))
	// end
	// doc: authenticators
	open := sabir.HTTP("0.0.0.0:3000", web.With(web.Config{Auth: []auth.Authenticator{
		&auth.JWT{JWKS: "https://login.example.com/keys", Issuers: []string{"https://login.example.com"}, Audiences: []string{"shop"}},
		&auth.Key{Keys: map[string]auth.Principal{os.Getenv("BACKUP_KEY"): {Subject: "backup", Roles: []string{"reader"}}}},
	}}))
	// end
	// doc: session-store
	store, err := redissessions.Open(redissessions.Config{URL: "redis://sessions.internal:6379", Name: "shop"})
	if err != nil {
		return err
	}
	sessions := auth.Session(auth.SessionConfig{Secret: sessionKey, Store: store, Idle: time.Hour, Lifetime: 12 * time.Hour})
	// end
	// doc: sign-out
	err = sessions.SignOutEverywhere(ctx, "ada") // all sessions of a subject, on all nodes
	// end
	// doc: groups
	grouped := sabir.HTTP(":3000", web.With(web.Config{Groups: map[string]web.Config{
		"/v1":    {Services: []string{"users", "orders"}, Filters: web.Filters{filter.RateLimit{Rate: 50, Burst: 100}}, BodyLimit: 16 << 10},
		"/admin": {Services: []string{"reports"}, Auth: []auth.Authenticator{sessions}, Use: []sabir.Wrapper{auth.Require("admin")}},
	}}))
	// end
	// doc: handler
	inside := sabir.NewNode(sabir.Serve(greeter)) // without sabir.HTTP
	if err := inside.Start(ctx); err != nil {
		return err
	}
	handler, err := web.Handler(inside, keys)
	if err != nil {
		return err
	}
	mux.Handle("/api/", http.StripPrefix("/api", handler))
	// end
	// doc: gateway
	gate := sabir.NewNode(
		sabir.Join("tcp://10.0.0.5:7700", cluster.Config{KeyFromEnv: "SABIR_KEY"}),                                                       // the key of the cluster
		sabir.HTTP("0.0.0.0:3000", gateway.Key(os.Getenv("HTTP_KEY")), web.With(web.Config{Forward: []string{"users.*", "orders.get"}}))) // the key that callers send
	// end
	// doc: docs-page
	documented := sabir.HTTP(":3000", web.With(web.Config{Title: "Shop", Version: "1.2", Description: "Sells rope."}), openapi.At("/docs"))
	// end
	// doc: dashboard
	ring := dashboard.Traces(4096)
	tel, err := telemetry.New(telemetry.Config{Metrics: true, Traces: ring})
	if err != nil {
		return err
	}
	watched := sabir.NewNode(sabir.Serve(users, tel.Stats(), ring.Service()), sabir.Use(tel.Middleware()),
		sabir.HTTP(":3000", dashboard.At("/dashboard")))
	// end
	// doc: https
	secured := sabir.HTTP("0.0.0.0:443", gateway.TLS(&tls.Config{Certificates: []tls.Certificate{certificate}}), keys)
	// end
	// doc: reload
	var current atomic.Pointer[tls.Certificate]
	reload := func() error { // at the start, then on a signal or by a timer
		c, err := tls.LoadX509KeyPair("cert.pem", "key.pem")
		if err == nil {
			current.Store(&c)
		}
		return err
	}
	config := &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return current.Load(), nil }}
	// end
	// doc: dial
	client, err := web.Dial("http://10.0.0.7:3000", web.ClientConfig{Key: secret.New(key)})
	if err != nil {
		return err
	}
	out, err := client.Call(ctx, "greeter.hello", []byte(`{"name":"Ada"}`)) // JSON in and out
	// end
	// doc: upstream
	calling := sabir.NewNode(sabir.WithUpstream(client)) // the other node's actions as if they were this one's
	reply, callErr := sabir.Call[HelloReply](ctx, calling, "greeter.hello", HelloRequest{Name: "Ada"})
	// end
	_, _, _, _, _, _, _, _, _, _, _ = node, open, grouped, gate, documented, watched, secured, config, out, reply, reload
	return errors.Join(err, callErr)
}

func TestTheCodeOfHTTPThatNeedsOtherMachinesCompiles(t *testing.T) {
	if any(httpOfOthers) == nil {
		t.Error("it is missing")
	}
}
