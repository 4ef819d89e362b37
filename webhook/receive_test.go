package webhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
	"github.com/sabir-go/sabir/web"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/webhook"
)

const structured = "application/cloudevents+json"

func header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

func TestWhatIsNoEventIsRefusedWithAStatus(t *testing.T) {
	s, got := orders()
	node := start(t, []*sabir.Service{s}, web.With(web.Config{BodyLimit: 4 << 10}), webhook.Receive("/hooks", webhook.Receiver{Prefix: "com.example.", Events: []string{"orders.*"}}))
	url := "http://" + node.HTTPAddr() + "/hooks"
	event := func(members string) string {
		return `{"specversion":"1.0","id":"1","source":"/s","type":"com.example.orders.placed"` + members + `}`
	}
	binary := []string{"Ce-Specversion", "1.0", "Ce-Id", "1", "Ce-Source", "/s", "Ce-Type", "com.example.orders.placed", "Content-Type", "application/json"}
	for about, test := range map[string]struct {
		method, body string
		header       []string
		status       int
	}{
		"no JSON":                       {"POST", `{`, []string{"Content-Type", structured}, 400},
		"no object":                     {"POST", `[]`, []string{"Content-Type", structured}, 400},
		"null":                          {"POST", `null`, []string{"Content-Type", structured}, 400},
		"one attribute twice":           {"POST", event(`,"type":"com.example.orders.taken"`), []string{"Content-Type", structured}, 400},
		"one member of the data twice":  {"POST", event(`,"data":{"id":"a","id":"b"}`), []string{"Content-Type", structured}, 400},
		"no id":                         {"POST", `{"specversion":"1.0","source":"/s","type":"com.example.orders.placed"}`, []string{"Content-Type", structured}, 400},
		"no source":                     {"POST", `{"specversion":"1.0","id":"1","type":"com.example.orders.placed"}`, []string{"Content-Type", structured}, 400},
		"no type":                       {"POST", `{"specversion":"1.0","id":"1","source":"/s"}`, []string{"Content-Type", structured}, 400},
		"another version":               {"POST", strings.Replace(event(""), "1.0", "0.3", 1), []string{"Content-Type", structured}, 400},
		"no version":                    {"POST", `{"id":"1","source":"/s","type":"com.example.orders.placed"}`, []string{"Content-Type", structured}, 400},
		"a time without a zone":         {"POST", event(`,"time":"2026-01-02T03:04:05"`), []string{"Content-Type", structured}, 400},
		"an attribute that is a list":   {"POST", event(`,"ext":[1]`), []string{"Content-Type", structured}, 400},
		"a bad name of an extension":    {"POST", event(`,"my_ext":"1"`), []string{"Content-Type", structured}, 400},
		"a control character":           {"POST", event(`,"subject":"a\u0000b"`), []string{"Content-Type", structured}, 400},
		"both kinds of data":            {"POST", event(`,"data":1,"data_base64":"AA=="`), []string{"Content-Type", structured}, 400},
		"broken base64":                 {"POST", event(`,"data_base64":"A"`), []string{"Content-Type", structured}, 400},
		"another charset":               {"POST", event(""), []string{"Content-Type", structured + "; charset=latin1"}, 415},
		"another format":                {"POST", event(""), []string{"Content-Type", "application/cloudevents+avro"}, 415},
		"plain JSON":                    {"POST", event(""), []string{"Content-Type", "application/json"}, 415},
		"nothing":                       {"POST", "", nil, 415},
		"a broken content type":         {"POST", event(""), []string{"Content-Type", "application/"}, 415},
		"a batch that is no list":       {"POST", event(""), []string{"Content-Type", "application/cloudevents-batch+json"}, 400},
		"a batch with one bad event":    {"POST", "[" + event(`,"data":{"id":"a"}`) + ",{}]", []string{"Content-Type", "application/cloudevents-batch+json"}, 400},
		"a header twice":                {"POST", `{}`, append([]string{"Ce-Id", "2"}, binary...), 400},
		"a text that is not UTF-8":      {"POST", `{}`, append([]string{"Ce-Subject", "\xe4"}, binary...), 400},
		"data that is not of its type":  {"POST", `{`, binary, 400},
		"data of another type":          {"POST", "x", append(binary[:len(binary)-1:len(binary)-1], "text/plain"), 400},
		"another type of event":         {"POST", strings.Replace(event(""), "orders", "users", 1), []string{"Content-Type", structured}, 403},
		"an event of the runtime":       {"POST", strings.Replace(event(""), "orders.placed", "$node.left", 1), []string{"Content-Type", structured}, 403},
		"a type without the prefix":     {"POST", strings.Replace(event(""), "com.example.", "", 1), []string{"Content-Type", structured}, 403},
		"another method":                {"GET", "", nil, 405},
		"more than the limit":           {"POST", event(`,"data":"` + strings.Repeat("x", 8<<10) + `"`), []string{"Content-Type", structured}, 413},
		"a payload of another type":     {"POST", event(`,"data":"no object"`), []string{"Content-Type", structured}, 400},
		"an attribute that is too long": {"POST", `{}`, append([]string{"Ce-Subject", strings.Repeat("x", 9<<10)}, binary...), 400},
	} {
		if status, text := post(t, test.method, url, test.body, header(test.header...)); status != test.status || strings.Contains(text, "panic") {
			t.Errorf("%s: %d %s, want %d", about, status, text, test.status)
		}
	}
	if len(got) > 0 {
		t.Errorf("%+v was emitted", <-got)
	}
}

func TestAnEventThatComesAgainIsTakenOnce(t *testing.T) {
	s, got := orders()
	node := start(t, []*sabir.Service{s}, webhook.Receive("/hooks", webhook.Receiver{Events: []string{"orders.*"}}))
	for _, id := range []string{"1", "1", "2", "1"} {
		body := fmt.Sprintf(`{"specversion":"1.0","id":%q,"source":"/s","type":"orders.placed","data":{"id":%q}}`, id, id)
		if status, text := post(t, "POST", "http://"+node.HTTPAddr()+"/hooks", body, header("Content-Type", structured)); status != 204 {
			t.Errorf("%d %s", status, text)
		}
	}
	if len(got) != 2 {
		t.Errorf("%d were emitted", len(got))
	}
}

func TestASenderIsKnownByItsSignatureAlone(t *testing.T) {
	keys := &auth.Key{Keys: map[string]auth.Principal{"key-of-ada-0123456789": {Subject: "ada"}}}
	s, got := orders()
	node := start(t, []*sabir.Service{s}, web.With(web.Config{Auth: []auth.Authenticator{keys}}), webhook.Receive("/signed", webhook.Receiver{Secrets: []string{secret}, Events: []string{"orders.*"}}),
		webhook.Receive("/keys", webhook.Receiver{Events: []string{"orders.*"}}))
	base := "http://" + node.HTTPAddr()
	const body = `{"specversion":"1.0","id":"1","source":"/s","type":"orders.placed","data":{"id":"1"}}`
	sign := func(secret string, age time.Duration, body string) http.Header {
		h := webhook.Signed(t, secret, "msg-1", time.Now().Add(-age), []byte(body))
		h.Set("Content-Type", structured)
		return h
	}
	with := func(h http.Header, name, value string) http.Header {
		h.Set(name, value)
		return h
	}
	svix := func(h http.Header) http.Header { // as senders do whom Svix serves
		for _, part := range []string{"Id", "Timestamp", "Signature"} {
			h.Set("Svix-"+part, h.Get("Webhook-"+part))
			h.Del("Webhook-" + part)
		}
		return h
	}
	for _, test := range []struct {
		about, path string
		header      http.Header
		status      int
	}{
		{"headers of Svix", "/signed", svix(sign(secret, 0, body)), 204},
		{"headers of Svix with another secret", "/signed", svix(sign(otherSecret, 0, body)), 401},
		{"headers of Svix without a signature", "/signed", with(svix(sign(secret, 0, body)), "Svix-Signature", ""), 401},
		{"headers of Svix with another id", "/signed", with(svix(sign(secret, 0, body)), "Svix-Id", "msg-2"), 401},
		{"headers of both whose standard ones are wrong", "/signed", with(svix(sign(secret, 0, body)), "Webhook-Id", "msg-2"), 401},
		{"no signature", "/signed", header("Content-Type", structured), 401},
		{"attributes that are not signed", "/signed", with(with(with(with(with(sign(secret, 0, body), "Ce-Specversion", "1.0"), "Ce-Id", "1"), "Ce-Source", "/s"), "Ce-Type", "orders.placed"), "Content-Type", "application/json"), 415},
		{"another secret", "/signed", sign(otherSecret, 0, body), 401},
		{"another body", "/signed", sign(secret, 0, body+" "), 401},
		{"an old one", "/signed", sign(secret, 6*time.Minute, body), 401},
		{"one of the future", "/signed", sign(secret, -6*time.Minute, body), 401},
		{"another id", "/signed", with(sign(secret, 0, body), "Webhook-Id", "msg-2"), 401},
		{"no number", "/signed", with(sign(secret, 0, body), "Webhook-Timestamp", "now"), 401},
		{"another version", "/signed", with(sign(secret, 0, body), "Webhook-Signature", "v2,AAAA"), 401},
		{"a key in its place", "/signed", header("Content-Type", structured, "X-Api-Key", "key-of-ada-0123456789"), 401},
		{"no key", "/keys", sign(secret, 0, body), 401},
		{"a key", "/keys", header("Content-Type", structured, "X-Api-Key", "key-of-ada-0123456789"), 204},
		{"the first of two signatures", "/signed", with(sign(secret, 0, body), "Webhook-Signature", "v1,AAAA "+sign(secret, 0, body).Get("Webhook-Signature")), 204},
	} {
		if status, text := post(t, "POST", base+test.path, body, test.header); status != test.status {
			t.Errorf("%s: %d %s, want %d", test.about, status, text, test.status)
		}
	}
	if len(got) != 2 {
		t.Errorf("%d were emitted", len(got))
	}
}

func TestASenderThatAsksFirstMaySend(t *testing.T) {
	node := start(t, nil, webhook.Receive("/hooks", webhook.Receiver{Secrets: []string{secret}, Events: []string{"orders.*"}}))
	r, err := http.NewRequestWithContext(t.Context(), "OPTIONS", "http://"+node.HTTPAddr()+"/hooks", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("WebHook-Request-Origin", "sender.example.com")
	r.Close = true
	answer, err := http.DefaultTransport.(*http.Transport).Clone().RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != 200 || answer.Header.Get("Webhook-Allowed-Origin") != "sender.example.com" || answer.Header.Get("Webhook-Allowed-Rate") != "*" {
		t.Errorf("%d %v", answer.StatusCode, answer.Header)
	}
}

// A program that must lose none publishes what comes on a channel, whose error is answered so that the sender comes again.
func TestWhatComesIsPublishedOnAChannel(t *testing.T) {
	messages := channel.New[webhook.Event]("shop.incoming")
	got := make(chan webhook.Event, 1)
	s := sabir.NewService("incoming")
	messages.Consume(s, func(_ context.Context, e webhook.Event) error {
		got <- e
		return nil
	})
	var node *sabir.Node
	down := true
	node = start(t, []*sabir.Service{s}, webhook.Receive("/hooks", webhook.Receiver{Take: func(ctx context.Context, e webhook.Event) error {
		if down {
			return fmt.Errorf("the broker says hunter2")
		}
		_, err := messages.PublishWithID(ctx, node, e.ID, e)
		return err
	}}))
	const body = `{"specversion":"1.0","id":"1","source":"/s","type":"any","myext":true,"count":7,"datacontenttype":"image/png","data_base64":"AAH+/w=="}`
	if status, text := post(t, "POST", "http://"+node.HTTPAddr()+"/hooks", body, header("Content-Type", structured)); status != 500 || strings.Contains(text, "hunter2") {
		t.Errorf("%d %s", status, text)
	}
	down = false
	if status, text := post(t, "POST", "http://"+node.HTTPAddr()+"/hooks", body, header("Content-Type", structured)); status != 204 {
		t.Errorf("%d %s", status, text)
	}
	if e := <-got; string(e.Data) != "\x00\x01\xfe\xff" || e.Extensions["myext"] != "true" || e.Extensions["count"] != "7" {
		t.Errorf("%+v", e)
	}
}

// The SDK for Python sends bytes so.
func TestBytesWithoutATypeAreTaken(t *testing.T) {
	got := make(chan webhook.Event, 1)
	node := start(t, nil, webhook.Receive("/hooks", webhook.Receiver{Take: func(_ context.Context, e webhook.Event) error { got <- e; return nil }}))
	for about, r := range map[string]struct {
		body    string
		headers []string
	}{
		"structured": {`{"specversion":"1.0","id":"1","source":"/s","type":"any","data_base64":"AAH+/w=="}`, []string{"Content-Type", structured}},
		"binary":     {"\x00\x01\xfe\xff", []string{"Ce-Specversion", "1.0", "Ce-Id", "2", "Ce-Source", "/s", "Ce-Type", "any"}},
	} {
		if status, text := post(t, "POST", "http://"+node.HTTPAddr()+"/hooks", r.body, header(r.headers...)); status != 204 {
			t.Fatalf("%s: %d %s", about, status, text)
		}
		if e := <-got; string(e.Data) != "\x00\x01\xfe\xff" || e.DataType != "application/octet-stream" {
			t.Errorf("%s: got %+v", about, e)
		}
	}
}

// The sender is not told what went wrong inside, so the log is.
func TestAnEventThatCouldNotBeTakenIsInTheLogWithItsRequest(t *testing.T) {
	var log bytes.Buffer
	node := sabir.NewNode(sabir.NodeID("n1"), sabir.Logger(slog.New(slog.NewTextHandler(&log, nil))), sabir.HTTP(":0", webhook.Receive("/hooks", webhook.Receiver{
		Take: func(context.Context, webhook.Event) error { return errors.New("the disk is gone") }})))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	const body = `{"specversion":"1.0","id":"1","source":"/s","type":"any"}`
	status, text := post(t, "POST", "http://"+node.HTTPAddr()+"/hooks", body,
		header("Content-Type", structured, "X-Request-Id", "r-1", "Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
	if err := node.Stop(t.Context()); err != nil { // after which nothing writes to the log
		t.Fatal(err)
	}
	if status != 500 || strings.Contains(text, "disk") {
		t.Errorf("%d %s", status, text)
	}
	for _, part := range []string{"request_id=r-1 trace_id=0af7651916cd43dd8448eb211c80319c event=any event_id=1", "the disk is gone"} {
		if !strings.Contains(log.String(), part) {
			t.Errorf("%q is not in the log: %s", part, log.String())
		}
	}
}

func TestMistakesInAReceiverAreErrorsOfTheStart(t *testing.T) {
	for about, r := range map[string]webhook.Receiver{"nothing": {}, "a short secret": {Secrets: []string{"whsec_AAAA"}, Events: []string{"a.*"}}, "a bad pattern": {Events: []string{"a..b"}}} {
		node := sabir.NewNode(sabir.HTTP(":0", webhook.Receive("/hooks", r)))
		if err := node.Start(t.Context()); err == nil {
			t.Errorf("%s: it starts", about)
			node.Stop(context.Background())
		}
	}
}

func FuzzEvents(f *testing.F) {
	for _, seed := range []string{`{"specversion":"1.0","id":"1","source":"/s","type":"t","data":{"a":1},"time":"2026-01-02T03:04:05Z"}`, `{"specversion":"1.0","id":"1","source":"/s","type":"t","datacontenttype":"text/plain","data":"x","ext":7}`,
		`{"specversion":"1.0","id":"1","source":"/s","type":"t","datacontenttype":"image/png","data_base64":"AAE="}`, `{}`, `null`, `[]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var e, again webhook.Event
		if json.Unmarshal(text, &e) != nil {
			return
		}
		written, err := json.Marshal(e)
		if err != nil {
			t.Fatalf("%q is read and cannot be written: %v", text, err)
		}
		if err := json.Unmarshal(written, &again); err != nil {
			t.Fatalf("%q becomes %q: %v", text, written, err)
		}
		if e.ID != again.ID || e.Source != again.Source || e.Type != again.Type || e.Subject != again.Subject || !e.Time.Equal(again.Time) || len(e.Extensions) != len(again.Extensions) || len(e.Data) > 0 != (len(again.Data) > 0) {
			t.Errorf("%q becomes %q", text, written)
		}
	})
}

// The SDKs for Go and Java do not encode the percent sign of an attribute.
func TestAnAttributeInAHeaderThatIsNotEncodedIsTakenAsItIs(t *testing.T) {
	var took []string
	node := start(t, nil, webhook.Receive("/hooks", webhook.Receiver{Events: []string{"orders.*"}, Take: func(_ context.Context, e webhook.Event) error {
		took = append(took, e.Subject)
		return nil
	}}))
	for i, subject := range []string{"100%", "50% of %zz", "Gr%C3%BC%C3%9Fe 100%25", "Grüße, 100%"} {
		h := header("Ce-Specversion", "1.0", "Ce-Id", strconv.Itoa(i), "Ce-Source", "/s", "Ce-Type", "orders.placed", "Ce-Subject", subject, "Content-Type", "application/json")
		if status, text := post(t, "POST", "http://"+node.HTTPAddr()+"/hooks", `{}`, h); status != 204 {
			t.Errorf("%s: %d %s", subject, status, text)
		}
	}
	if want := []string{"100%", "50% of %zz", "Grüße 100%", "Grüße, 100%"}; !slices.Equal(took, want) {
		t.Errorf("got %q, want %q", took, want)
	}
}
