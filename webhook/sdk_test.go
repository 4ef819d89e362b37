package webhook_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/cloudevents/sdk-go/v2/binding"
	"github.com/cloudevents/sdk-go/v2/event"
	cehttp "github.com/cloudevents/sdk-go/v2/protocol/http"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/webhook"
)

var moment = time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)

// The official SDK for Go, of the version in go.mod, sends events in all three forms.
func TestEventsOfTheSDKForGoAreEmitted(t *testing.T) {
	s, got := orders()
	node := start(t, []*sabir.Service{s}, webhook.Receive("/hooks", webhook.Receiver{Prefix: "com.example.", Events: []string{"orders.*"}}))
	url := "http://" + node.HTTPAddr() + "/hooks"
	e := event.New()
	e.SetSource("/go")
	e.SetType("com.example.orders.placed")
	e.SetTime(moment)
	e.SetExtension("myext", 7)
	if err := e.SetData("application/json", placed{"o-1", "Grüße, 世界"}); err != nil {
		t.Fatal(err)
	}
	send := func(r *http.Request) {
		t.Helper()
		answer, err := http.DefaultTransport.(*http.Transport).Clone().RoundTrip(r)
		if err != nil || answer.StatusCode != 204 {
			t.Fatal(err, answer)
		}
		answer.Body.Close()
	}
	for _, structured := range []bool{true, false} {
		ctx := binding.WithForceBinary(t.Context())
		if e.SetID("go-2"); structured {
			ctx = binding.WithForceStructured(t.Context())
			e.SetID("go-1")
		}
		r, err := http.NewRequestWithContext(ctx, "POST", url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := cehttp.WriteRequest(ctx, binding.ToMessage(&e), r); err != nil {
			t.Fatal(err)
		}
		r.Close = true
		send(r)
		if one := <-got; one.name != "orders.placed" || one.payload != (placed{"o-1", "Grüße, 世界"}) {
			t.Errorf("structured %v: %+v", structured, one)
		}
	}
	var batch []event.Event
	for i := range 100 {
		one := e.Clone()
		one.SetID("batch-" + string(rune('a'+i/26)) + string(rune('a'+i%26)))
		batch = append(batch, one)
	}
	r, err := cehttp.NewHTTPRequestFromEvents(t.Context(), url, batch)
	if err != nil {
		t.Fatal(err)
	}
	r.Close = true
	send(r)
	if len(got) != 100 {
		t.Errorf("a batch of 100: %d were emitted", len(got))
	}
}

func TestTheSDKForGoReadsWhatIsSent(t *testing.T) {
	type request struct {
		events []event.Event
		err    error
	}
	came := make(chan request, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Content-Type") == "application/cloudevents-batch+json" {
			events, err := cehttp.NewEventsFromHTTPRequest(r)
			came <- request{events, err}
		} else {
			one, err := cehttp.NewEventFromHTTPRequest(r)
			came <- request{[]event.Event{*one}, err}
		}
		w.WriteHeader(202)
	}))
	defer server.Close()
	sent := []webhook.Event{
		{ID: "1", Source: "/shop", Type: "orders.placed", Subject: `Grüße "%"`, Time: moment, Schema: "https://example.com/s", Data: []byte(`{"id":"o-1"}`), Extensions: map[string]string{"myext": "kept ✓"}},
		{ID: "2", Source: "/shop", Type: "orders.photo", DataType: "image/png", Data: []byte{0, 1, 254, 255}},
		{ID: "3", Source: "/shop", Type: "orders.note", DataType: "text/plain; charset=utf-8", Data: []byte("Grüße\n")},
		{ID: "4", Source: "/shop", Type: "orders.empty"},
	}
	check := func(about string, got event.Event, want webhook.Event) {
		t.Helper()
		if about == "binary" { // the SDK leaves the percent encoding of headers as it is
			subject, err := url.PathUnescape(got.Subject())
			if err != nil {
				t.Fatal(err)
			}
			got.SetSubject(subject)
			want.Extensions = nil
		}
		if got.ID() != want.ID || got.Source() != want.Source || got.Type() != want.Type || got.Subject() != want.Subject || !got.Time().Equal(want.Time) || got.DataSchema() != want.Schema ||
			string(got.Data()) != string(want.Data) || len(want.Extensions) > 0 && got.Extensions()["myext"] != want.Extensions["myext"] {
			t.Errorf("%s: got %v, want %+v", about, got, want)
		}
	}
	for _, binary := range []bool{false, true} {
		for _, e := range sent {
			if err := here.Send(t.Context(), webhook.Endpoint{ID: "go", URL: server.URL, Binary: binary}, e); err != nil {
				t.Fatal(err)
			}
			got := <-came
			if got.err != nil || len(got.events) != 1 {
				t.Fatal(got.err)
			}
			check(map[bool]string{true: "binary", false: "structured"}[binary], got.events[0], e)
		}
	}
	if err := here.Send(t.Context(), webhook.Endpoint{ID: "go", URL: server.URL}, sent...); err != nil {
		t.Fatal(err)
	}
	got := <-came
	if got.err != nil || len(got.events) != len(sent) {
		t.Fatal(got.err, len(got.events))
	}
	for i := range sent {
		check("a batch", got.events[i], sent[i])
	}
}

// The SDK of CloudEvents for JavaScript and the library of Standard Webhooks, of the versions in testdata/clients/package.json, send events that are
// verified here, and verify and read those that are sent.
func TestTheLibrariesForJavaScriptSendAndReadSignedEvents(t *testing.T) {
	brokers.Long(t)
	node := brokers.Program(t, "node", "nodejs")
	dir := t.TempDir()
	brokers.NodeModules(t, filepath.Join("testdata", "clients"), dir)
	s, got := orders()
	n := start(t, []*sabir.Service{s}, webhook.Receive("/hooks", webhook.Receiver{Secrets: []string{otherSecret, secret}, Prefix: "com.example.", Events: []string{"orders.*"}}))
	program := exec.CommandContext(t.Context(), node, "check.mjs", "http://"+n.HTTPAddr()+"/hooks", secret)
	program.Dir, program.Stderr = dir, os.Stderr
	in, err := program.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	line := func() string {
		t.Helper()
		text, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return text[:len(text)-1]
	}
	if statuses := line(); statuses != "[204,415,204,204]" { // the second is in the binary form, whose headers are not signed
		t.Fatalf("the events were answered %s", statuses)
	}
	for _, id := range []string{"s-1", "l-1", "l-2", "plain"} {
		if one := <-got; one.name != "orders.placed" || one.payload.ID != id || id != "plain" && one.payload.Text != "Grüße, 世界" {
			t.Errorf("got %+v, want %s", one, id)
		}
	}
	var url string
	if err := json.Unmarshal([]byte(line()), &url); err != nil {
		t.Fatal(err)
	}
	e := webhook.Event{ID: "1", Source: "/shop", Type: "orders.placed", Subject: "s", Time: moment, Data: []byte(`{"id":"世界"}`), Extensions: map[string]string{"myext": "kept"}}
	const want = `{"id":"1","source":"/shop","type":"orders.placed","subject":"s","time":"2026-01-02T03:04:05.678Z","myext":"kept","data":{"id":"世界"}}`
	for about, to := range map[string]webhook.Endpoint{"structured": {}, "binary": {Binary: true}} {
		to.ID, to.URL, to.Secrets = "js", url, []string{secret}
		if err := here.Send(t.Context(), to, e); err != nil {
			t.Fatal(err)
		}
		if got := line(); got != "["+want+"]" {
			t.Errorf("%s: %s, want %s", about, got, want)
		}
	}
	if err := here.Send(t.Context(), webhook.Endpoint{ID: "js", URL: url, Secrets: []string{secret}}, e, e); err != nil {
		t.Fatal(err)
	}
	if got := line(); got != "["+want+","+want+"]" {
		t.Errorf("a batch: %s", got)
	}
	in.Close()
	if err := program.Wait(); err != nil {
		t.Error(err)
	}
}
