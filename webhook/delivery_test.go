package webhook_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
	"github.com/sabir-go/sabir/webhook"
)

// fast makes retries quick.
var fast = channel.Consumer{Attempts: 3, FirstPause: time.Millisecond, MaxPause: 5 * time.Millisecond}

// deliver runs a node whose events orders.* go to the endpoints. dead has the reasons of its dead letters.
func deliver(t *testing.T, endpoints func(context.Context) ([]webhook.Endpoint, error)) (node *sabir.Node, dead chan string) {
	t.Helper()
	hooks, undertaker, dead := sabir.NewService("hooks"), sabir.NewService("undertaker"), make(chan string, 10)
	webhook.Deliver(hooks, webhook.Delivery{Channel: "shop.hooks", Events: []string{"orders.*"}, Endpoints: endpoints, Prefix: "com.example.", Client: here, Consumer: fast})
	channel.New[any]("shop.hooks.dead").Consume(undertaker, func(ctx context.Context, _ any) error {
		d, _ := channel.DeliveryFromContext(ctx)
		dead <- d.Dead.Reason
		return nil
	})
	return start(t, []*sabir.Service{hooks, undertaker}), dead
}

func always(list ...webhook.Endpoint) func(context.Context) ([]webhook.Endpoint, error) {
	return func(context.Context) ([]webhook.Endpoint, error) { return list, nil }
}

func emit(t *testing.T, node *sabir.Node, name string) {
	t.Helper()
	if err := sabir.Emit(t.Context(), node, name, placed{ID: "o-1"}); err != nil {
		t.Fatal(err)
	}
}

// A receiver that fails gets the event again, with the same id, and each receiver gets those that it wants.
func TestAnEventComesAgainUntilItsReceiverHasTakenIt(t *testing.T) {
	ids := make(chan string, 10)
	var tries atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		ids <- r.URL.Path + " " + r.Header.Get("Webhook-Id")
		if r.URL.Path == "/orders" && tries.Add(1) < 3 {
			w.WriteHeader(503)
		}
		if !strings.Contains(string(body), `"type":"com.example.orders.placed"`) || !strings.Contains(string(body), `"source":"/hooks"`) {
			t.Errorf("%s", body)
		}
	}))
	defer server.Close()
	node, _ := deliver(t, always(webhook.Endpoint{ID: "a", URL: server.URL + "/orders", Secrets: []string{secret}}, webhook.Endpoint{ID: "b", URL: server.URL + "/none", Events: []string{"orders.gone"}}))
	emit(t, node, "orders.placed")
	first := <-ids
	for range 2 {
		if again := <-ids; again != first || !strings.HasPrefix(again, "/orders ") || len(again) < 20 {
			t.Errorf("%q came after %q", again, first)
		}
	}
}

func TestADeliveryThatCannotSucceedIsADeadLetter(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		switch r.URL.Path {
		case "/gone":
			w.WriteHeader(410)
		case "/fails":
			w.WriteHeader(500)
		case "/redirects":
			http.Redirect(w, r, "/fails", http.StatusTemporaryRedirect)
		}
	}))
	defer server.Close()
	for _, test := range []struct {
		path, reason string
		asked        int64
	}{{"/gone", "the webhook x answers 410", 1}, {"/fails", "the webhook x answers 500", 3}, {"/redirects", "the webhook x answers 307", 3}} {
		asked.Store(0)
		node, dead := deliver(t, always(webhook.Endpoint{ID: "x", URL: server.URL + test.path}))
		emit(t, node, "orders.placed")
		if reason := <-dead; !strings.Contains(reason, test.reason) || asked.Load() != test.asked {
			t.Errorf("%s: %q after %d requests", test.path, reason, asked.Load())
		}
	}
}

func TestTheDeadLetterOfAnEndpointWithoutAnIDNamesItsHostAndNoSecret(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(410) }))
	defer server.Close()
	hooks := sabir.NewService("hooks")
	webhook.Deliver(hooks, webhook.Delivery{Channel: "shop.hooks", Events: []string{"orders.*"}, Client: here, Consumer: fast,
		Endpoints: always(webhook.Endpoint{URL: server.URL + "/s3cret?token=s3cret"})})
	node := start(t, []*sabir.Service{hooks})
	emit(t, node, "orders.placed")
	var letters []channel.DeadLetter
	for until := time.Now().Add(20 * time.Second); len(letters) == 0 && time.Now().Before(until); {
		var err error
		if letters, err = channel.DeadLetters(t.Context(), node, "shop.hooks.dead", 1); err != nil {
			t.Fatal(err)
		}
	}
	if len(letters) == 0 {
		t.Fatal("there is no dead letter")
	}
	host := strings.TrimPrefix(server.URL, "http://")
	data, reason := string(letters[0].Data), letters[0].Dead.Reason
	if !strings.Contains(data, `"host":"`+host+`"`) || !strings.Contains(reason, "the webhook "+host+" answers 410") || strings.Contains(data+reason, "s3cret") {
		t.Errorf("its data is %s, its reason %s", data, reason)
	}
}

func TestAnEndpointThatHasGoneGetsNothingMore(t *testing.T) {
	var asked, listed atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(503)
	}))
	defer server.Close()
	dropped := make(chan struct{}, 1)
	node, _ := deliver(t, func(context.Context) ([]webhook.Endpoint, error) {
		if listed.Add(1) > 2 { // for the event and for its first attempt
			select {
			case dropped <- struct{}{}:
			default:
			}
			return nil, nil
		}
		return []webhook.Endpoint{{ID: "x", URL: server.URL}}, nil
	})
	emit(t, node, "orders.placed")
	<-dropped
	if asked.Load() != 1 {
		t.Errorf("%d requests", asked.Load())
	}
}

// An address may come from a customer, so it must not lead into the network of the server.
func TestAddressesOfThePrivateNetworkAreNotCalled(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	e := webhook.Event{ID: "1", Source: "/s", Type: "t"}
	client := &webhook.Client{Timeout: 5 * time.Second}
	for _, host := range []string{"127.0.0.1", "localhost", "127.1", "2130706433", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
		"[fd00::1]", "[fe80::1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "224.0.0.1", "255.255.255.255", "198.18.0.1"} {
		err := client.Send(t.Context(), webhook.Endpoint{ID: "x", URL: "http://" + host + ":" + port + "/?token=hunter2"}, e)
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", host, err)
		}
	}
	if asked.Load() > 0 {
		t.Errorf("%d requests came in", asked.Load())
	}
	allowed := &webhook.Client{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}
	if err := allowed.Send(t.Context(), webhook.Endpoint{ID: "x", URL: server.URL}, e); err != nil {
		t.Error(err)
	}
}

// A receiver may change to the new secret at any time, before or after the sender knows of it.
func TestWhileASecretIsReplacedReceiversOfEitherTakeARequest(t *testing.T) {
	e := webhook.Event{ID: "1", Source: "/s", Type: "orders.placed"}
	for about, known := range map[string]string{"the old one": otherSecret, "the new one": secret} {
		taken := make(chan string, 1)
		node := start(t, nil, webhook.Receive("/hooks", webhook.Receiver{Secrets: []string{known}, Take: func(_ context.Context, e webhook.Event) error {
			taken <- e.ID
			return nil
		}}))
		to := webhook.Endpoint{ID: "x", URL: "http://" + node.HTTPAddr() + "/hooks", Secrets: []string{secret, otherSecret}}
		if err := here.Send(t.Context(), to, e); err != nil {
			t.Errorf("%s: %v", about, err)
			continue
		}
		if id := <-taken; id != "1" {
			t.Errorf("%s: took %q", about, id)
		}
	}
}

func TestEndpointsThatCannotBeMeantAreRefused(t *testing.T) {
	e := webhook.Event{ID: "1", Source: "/s", Type: "t"}
	for about, to := range map[string]webhook.Endpoint{
		"no URL": {}, "a relative one": {URL: "/hooks"}, "another scheme": {URL: "file:///etc/passwd"}, "a password": {URL: "http://a:hunter2@127.0.0.1/"}, "a short secret": {URL: "http://127.0.0.1/", Secrets: []string{"whsec_aHVudGVyMg=="}},
		"five secrets": {URL: "http://127.0.0.1/", Secrets: []string{secret, secret, secret, secret, secret}},
		"no base64":    {URL: "http://127.0.0.1/", Secrets: []string{"hunter2"}},
	} {
		if err := here.Send(t.Context(), to, e); err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "aHVudGVyMg") {
			t.Errorf("%s: %v", about, err)
		}
	}
	if err := here.Send(t.Context(), webhook.Endpoint{URL: "http://127.0.0.1/"}, webhook.Event{ID: "1"}); err == nil {
		t.Error("an event without a type was sent")
	}
}

// A receiver cannot hold up a delivery for longer than its time, and what it answers is not read.
func TestAReceiverThatIsSlowOrAnswersWithoutEndIsLeft(t *testing.T) {
	left := make(chan struct{}, 2)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { left <- struct{}{} }()
		io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/slow" {
			<-r.Context().Done()
			return
		}
		for part := make([]byte, 64<<10); ; {
			if _, err := w.Write(part); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	e := webhook.Event{ID: "1", Source: "/s", Type: "t"}
	client := &webhook.Client{Allow: here.Allow, Timeout: 100 * time.Millisecond}
	if err := client.Send(t.Context(), webhook.Endpoint{ID: "x", URL: server.URL + "/slow"}, e); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a slow one: %v", err)
	}
	<-left
	if err := here.Send(t.Context(), webhook.Endpoint{ID: "x", URL: server.URL + "/endless"}, e); err != nil {
		t.Errorf("an endless one: %v", err)
	}
	<-left
	huge := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Huge", strings.Repeat("x", 200<<10)) }))
	defer huge.Close()
	if err := here.Send(t.Context(), webhook.Endpoint{ID: "x", URL: huge.URL}, e); err == nil {
		t.Error("a head of 200 KB was read")
	}
}

func TestEndpointsWithOneIDAreAnErrorInTheLog(t *testing.T) {
	paths := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { paths <- r.URL.Path }))
	defer server.Close()
	hooks := sabir.NewService("hooks")
	webhook.Deliver(hooks, webhook.Delivery{Channel: "shop.hooks", Events: []string{"orders.*"}, Client: here, Consumer: fast,
		Endpoints: always(webhook.Endpoint{URL: server.URL + "/first"}, webhook.Endpoint{URL: server.URL + "/second"})})
	var lines strings.Builder
	node := sabir.NewNode(sabir.Logger(slog.New(slog.NewTextHandler(&lines, nil))), channel.Broker("mem://one-id"), sabir.Serve(hooks))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		emit(t, node, "orders.placed")
		if path := <-paths; path != "/first" {
			t.Errorf("%s was called", path)
		}
	}
	if err := node.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if want := "/second gets nothing"; strings.Count(lines.String(), want) != 2 || len(paths) > 0 {
		t.Errorf("%d more requests, and no %q in\n%s", len(paths), want, &lines)
	}
}

// Sixteen deliveries run at once. Each of the endpoint that hangs takes the whole time limit, and there are twenty times as many.
func TestAnEndpointThatNeverAnswersHoldsUpOthersForOneTimeLimit(t *testing.T) {
	const events, limit = 100, 500 * time.Millisecond
	var hung atomic.Int64
	released, taken := make(chan struct{}), make(chan bool, events)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hangs" {
			hung.Add(1)
			<-released
			return
		}
		taken <- true
	}))
	defer server.Close()
	defer close(released)
	hooks := sabir.NewService("hooks")
	webhook.Deliver(hooks, webhook.Delivery{Channel: "shop.hooks", Events: []string{"orders.*"}, Consumer: channel.Consumer{Attempts: 3, FirstPause: time.Hour},
		Client:    &webhook.Client{Allow: here.Allow, Timeout: limit},
		Endpoints: always(webhook.Endpoint{ID: "hangs", URL: server.URL + "/hangs"}, webhook.Endpoint{ID: "well", URL: server.URL + "/well"})})
	node := start(t, []*sabir.Service{hooks})
	for range events {
		emit(t, node, "orders.placed")
	}
	for range events {
		select {
		case <-taken:
		case <-time.After(20 * time.Second):
			t.Fatalf("%d of %d events have come", len(taken), events)
		}
	}
	// Without the rule the endpoint that hangs gets all of its events before the other has its last one.
	if hung := hung.Load(); hung > events/2 {
		t.Errorf("the endpoint that hangs was tried %d times meanwhile", hung)
	}
}
