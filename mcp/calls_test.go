package mcp_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/mcp"
	"github.com/sabir-go/sabir/web"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/exchange"
	"github.com/sabir-go/sabir/web/filter"
)

const (
	adaKey = "key-of-ada-0123456789"
	bobKey = "key-of-bob-0123456789"
)

func keys() gateway.HTTPOption {
	return web.With(web.Config{Auth: []auth.Authenticator{&auth.Key{Keys: map[string]auth.Principal{adaKey: {Subject: "ada", Roles: []string{"keeper"}}, bobKey: {Subject: "bob", Roles: []string{"reader", "two words"}}}}}})
}

// vault is a service that only keepers may use, and that says who calls.
func vault() *sabir.Service {
	s := sabir.NewService("vault")
	sabir.Handle(s, "open", func(ctx context.Context, _ sabir.Empty) (map[string]any, error) {
		p, _ := auth.FromContext(ctx)
		return map[string]any{"caller": p.Subject, "metadata": sabir.InfoFromContext(ctx).Metadata["tenant"], "request": sabir.InfoFromContext(ctx).RequestID}, nil
	}, sabir.Use(auth.Require("keeper")), sabir.Route("GET", "/vault"))
	return s
}

func TestWhoMayCallAnActionMayCallItsTool(t *testing.T) {
	_, base := start(t, []*sabir.Service{vault()}, keys(), mcp.At("/mcp", mcp.Config{Tools: []string{"**"}}))
	for _, revision := range revisions {
		ada := connect(t, base+"/mcp", revision, nil, "X-Api-Key", adaKey, "X-Meta-Tenant", "acme", "X-Request-Id", "r-17")
		if result, texts := callTool(t, ada, "vault_open", nil); result.IsError || texts[0] != `{"caller":"ada","metadata":"acme","request":"r-17"}` {
			t.Errorf("%s: ada: %q", revision, texts)
		}
		bob := connect(t, base+"/mcp", revision, nil, "X-Api-Key", bobKey)
		if result, texts := callTool(t, bob, "vault_open", nil); !result.IsError || !strings.Contains(texts[1], `"code":"PermissionDenied"`) {
			t.Errorf("%s: bob: %q", revision, texts)
		}
		if _, err := dial(t, base+"/mcp", revision, nil); err == nil {
			t.Errorf("%s: nobody gets in without a key", revision)
		}
	}
}

func TestACallIsFoundUnderTheRequestIDOfTheAnswer(t *testing.T) {
	_, base := start(t, []*sabir.Service{vault()}, keys(), mcp.At("/mcp", mcp.Config{Tools: []string{"**"}}))
	body, header := alone("tools/call", `"name":"vault_open","arguments":{}`)
	a := send(t, "POST", base+"/mcp", body, append(header, "X-Api-Key", adaKey)...)
	content := a.message(t)["result"].(map[string]any)["structuredContent"].(map[string]any)
	if id := a.header.Get("X-Request-Id"); id == "" || content["request"] != id {
		t.Errorf("the answer has %q, the call %v", id, content["request"])
	}
}

// A session belongs to the caller that began it, and each of its requests has the caller that sent it.
func TestASessionIsOfNoUseToAnotherCaller(t *testing.T) {
	_, base := start(t, []*sabir.Service{vault()}, keys(), mcp.At("/mcp", mcp.Config{Tools: []string{"**"}}))
	url := base + "/mcp"
	session := initialize(t, url, "X-Api-Key", adaKey)
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"vault_open","arguments":{}}}`
	if a := send(t, "POST", url, call, session...); a.status != 200 || !strings.Contains(a.body, `\"caller\":\"ada\"`) {
		t.Errorf("ada: %d %s", a.status, a.body)
	}
	session[1] = bobKey
	for _, method := range []string{"POST", "DELETE"} {
		if a := send(t, method, url, call, session...); a.status != 403 {
			t.Errorf("bob: %s: %d %s", method, a.status, a.body)
		}
	}
	if a := send(t, "POST", url, call, append(session[2:], "X-Api-Key", "")...); a.status != 401 {
		t.Errorf("nobody: %d %s", a.status, a.body)
	}
}

func TestFiltersAndMiddlewaresOfTheServerHoldForTools(t *testing.T) {
	var seen, wrapped atomic.Int64
	look := exchange.Filter{Name: "look", Before: func(x *exchange.Exchange) error {
		if target, ok := x.Route.(interface{ Action() *sabir.Action }); ok && target.Action() != nil && target.Action().Name == "orders.get" {
			seen.Add(1)
		}
		return nil
	}}
	count := sabir.Middleware{Name: "count", Local: func(_ *sabir.Action, next sabir.Handler) sabir.Handler {
		return func(ctx context.Context, r *sabir.Request) error {
			wrapped.Add(1)
			return next(ctx, r)
		}
	}}
	_, base := start(t, []*sabir.Service{orders()}, mcp.At("/mcp", mcp.Config{Tools: []string{"orders.*"}}),
		web.With(web.Config{Groups: map[string]web.Config{"/v1": {Services: []string{"orders"}, Filters: web.Filters{look}, Use: []sabir.Wrapper{count}}}}))
	callTool(t, connect(t, base+"/mcp", withoutSessions, nil), "orders_get", map[string]any{"id": "o-1"})
	if seen.Load() != 1 || wrapped.Load() != 1 {
		t.Errorf("the filter saw %d calls and the middleware %d, want 1", seen.Load(), wrapped.Load())
	}
}

func TestRateLimitsHoldForTools(t *testing.T) {
	_, base := start(t, []*sabir.Service{orders()}, mcp.At("/mcp", mcp.Config{Tools: []string{"orders.*"}}),
		web.With(web.Config{Groups: map[string]web.Config{"/v1": {Services: []string{"orders"}, Filters: web.Filters{filter.RateLimit{Rate: 0.001, Burst: 2}}}}}))
	session := connect(t, base+"/mcp", withoutSessions, nil)
	for i := range 3 {
		result, texts := callTool(t, session, "orders_list", nil)
		if limited := i == 2; result.IsError != limited || limited && !strings.Contains(texts[1], `"code":"ResourceExhausted","retryable":true`) {
			t.Errorf("call %d: %q", i+1, texts)
		}
	}
}

// waiting is a service whose handler runs until its context ends.
func waiting() (s *sabir.Service, began, ended chan struct{}) {
	s, began, ended = sabir.NewService("waiting"), make(chan struct{}, 1), make(chan struct{}, 1)
	sabir.Handle(s, "wait", func(ctx context.Context, _ sabir.Empty) (sabir.Empty, error) {
		began <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return sabir.Empty{}, ctx.Err()
	})
	return s, began, ended
}

func TestACancelledCallEndsItsHandler(t *testing.T) {
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			service, began, ended := waiting()
			_, base := start(t, []*sabir.Service{service}, mcp.At("/mcp", mcp.Config{Tools: []string{"**"}}), web.With(web.Config{RequestTimeout: waitLimit}))
			session := connect(t, base+"/mcp", revision, nil)
			ctx, cancel := context.WithCancel(t.Context())
			answered := make(chan error, 1)
			go func() {
				_, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "waiting_wait"})
				answered <- err
			}()
			<-began
			cancel()
			<-ended // before the time limit of the call, which is that of the test
			if err := <-answered; err == nil {
				t.Error("the call has succeeded")
			}
		})
	}
}

// In the revision without sessions the end of the connection is the cancel.
func TestAClientThatGoesEndsItsCallWithoutSessions(t *testing.T) {
	service, began, ended := waiting()
	_, base := start(t, []*sabir.Service{service}, mcp.At("/mcp", mcp.Config{Tools: []string{"**"}}), web.With(web.Config{RequestTimeout: waitLimit}))
	body, header := alone("tools/call", `"name":"waiting_wait","arguments":{}`)
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "POST", base+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		if response, err := transport.RoundTrip(r); err == nil {
			response.Body.Close()
		}
	}()
	<-began
	cancel()
	<-ended
	<-gone
}

func TestACallThatTakesTooLongIsAnErrorForTheModel(t *testing.T) {
	service, _, _ := waiting()
	_, base := start(t, []*sabir.Service{service}, mcp.At("/mcp", mcp.Config{Tools: []string{"**"}}), web.With(web.Config{RequestTimeout: 100 * time.Millisecond}))
	result, texts := callTool(t, connect(t, base+"/mcp", withoutSessions, nil), "waiting_wait", nil)
	if !result.IsError || !strings.Contains(texts[1], `"code":"DeadlineExceeded"`) {
		t.Errorf("%q", texts)
	}
}
