package admin_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/admin"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/web"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quiet = sabir.Logger(slog.New(slog.DiscardHandler))

var metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "calls_total 7") })

func start(t *testing.T, options ...sabir.NodeOption) *sabir.Node {
	t.Helper()
	node := sabir.NewNode(append(options, quiet)...)
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if node.State() == "running" {
			_ = node.Stop(context.Background())
		}
	})
	return node
}

// get asks for a page. header is pairs of names and values; "Host" is one of them.
func get(t *testing.T, addr, path string, header ...string) (status int, body string) {
	t.Helper()
	if host, port, found := strings.Cut(addr, "[::]"); found {
		addr = host + "127.0.0.1" + port
	}
	r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+strings.Replace(addr, "0.0.0.0", "127.0.0.1", 1)+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, strings.TrimSpace(string(text))
}

func TestOneAddressHasProbesMetricsAndProfiles(t *testing.T) {
	node := start(t, admin.Serve(":0", admin.Metrics(metrics), admin.Profiler()))
	if !strings.HasPrefix(node.AdminAddr(), "127.0.0.1:") {
		t.Fatalf("it listens on %q, want this machine only", node.AdminAddr())
	}
	for path, want := range map[string]string{
		"/health":                              `200 {"status":"ok"}`,
		"/ready":                               `200 {"status":"ready"}`,
		"/metrics":                             "200 calls_total 7",
		"/debug/pprof/":                        "200 Profiles",
		"/debug/pprof/goroutine?debug=1":       "200 goroutine profile: total ",
		"/debug/pprof/heap":                    "200 \x1f\x8b",
		"/debug/pprof/profile?seconds=0.1":     "200 \x1f\x8b",
		"/debug/pprof/trace?seconds=0.1":       "200 go 1.",
		"/debug/pprof/profile?seconds=0":       "400 seconds must be above 0, and at most 120",
		"/debug/pprof/profile?seconds=1000000": "400 seconds must be above 0, and at most 120",
		"/debug/pprof/nothing":                 "404 no such profile",
		"/":                                    "404 ",
	} {
		status, body := get(t, node.AdminAddr(), path)
		if got := fmt.Sprint(status, " ", body); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %.100q, want %q", path, got, want)
		}
	}
}

func TestWhatWasNotAskedForIsNotServed(t *testing.T) {
	node := start(t, admin.Serve(":0"))
	for _, path := range []string{"/metrics", "/debug/pprof/", "/debug/pprof/heap"} {
		if status, body := get(t, node.AdminAddr(), path); status != 404 {
			t.Errorf("%s: %d %.100s", path, status, body)
		}
	}
}

func TestProbesAnswerWhileANodeStartsAndStops(t *testing.T) {
	began, goOn := make(chan struct{}), make(chan struct{})
	wait := func(context.Context) error {
		began <- struct{}{}
		<-goOn
		return nil
	}
	slow := sabir.NewService("slow", sabir.OnStart(wait), sabir.OnStop(wait))
	node := sabir.NewNode(sabir.Serve(slow), admin.Serve(":0"), quiet)
	for _, change := range []struct {
		do   func(context.Context) error
		want string
	}{{node.Start, "the node is starting"}, {node.Stop, "the node is stopping"}} {
		done := make(chan error, 1)
		go func() { done <- change.do(context.Background()) }()
		<-began
		if status, body := get(t, node.AdminAddr(), "/ready"); status != 503 || !strings.Contains(body, change.want) {
			t.Errorf("/ready: %d %s, want %q", status, body, change.want)
		}
		if status, _ := get(t, node.AdminAddr(), "/health"); status != 200 {
			t.Errorf("/health: %d while %s", status, change.want)
		}
		goOn <- struct{}{}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if addr := node.AdminAddr(); addr != "" {
		t.Errorf("after the stop it listens on %q", addr)
	}
}

func TestProbesAreAnsweredBesideAThousandConnectionsThatDoNothing(t *testing.T) {
	node := start(t, admin.Serve(":0"))
	addr := node.AdminAddr()
	ask := func(c net.Conn) error {
		c.SetDeadline(time.Now().Add(20 * time.Second))
		if _, err := io.WriteString(c, "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			return err
		}
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err == nil {
			_, err = io.Copy(io.Discard, answer.Body)
		}
		return err
	}
	var last net.Conn
	for i := range 1100 { // of which each asks once, and is kept open then
		c, err := net.Dial("tcp", addr)
		if err == nil {
			defer c.Close()
			err = ask(c)
		}
		if err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		last = c
	}
	if err := ask(last); err != nil {
		t.Errorf("the connection that has waited the shortest: %v", err)
	}
}

func TestAFailedCheckIsNamedToEverybodyAndItsErrorToOperatorsOnly(t *testing.T) {
	const key = "0123456789abcdef"
	const secret = "dial tcp 10.1.2.3:5432: connection refused"
	users := sabir.NewService("users", sabir.Ready("db", func(context.Context) error { return errors.New(secret) }))
	node := start(t, sabir.Serve(users), admin.Serve("0.0.0.0:0", gateway.Key(key)), sabir.HTTP("0.0.0.0:0", web.With(web.Config{AllowUnauthenticated: true})))
	for name, addr := range map[string]string{"admin": node.AdminAddr(), "web": node.HTTPAddr()} {
		status, body := get(t, addr, "/ready")
		if status != 503 || !strings.Contains(body, "db") || strings.Contains(body, "10.1.2.3") {
			t.Errorf("%s to everybody: %d %s", name, status, body)
		}
	}
	if status, body := get(t, node.AdminAddr(), "/ready", "Authorization", "Bearer "+key); status != 503 || !strings.Contains(body, secret) {
		t.Errorf("with the key: %d %s", status, body)
	}
}

func TestMetricsAndProfilesBeyondThisMachineWantAKey(t *testing.T) {
	const key = "0123456789abcdef"
	node := start(t, admin.Serve("0.0.0.0:0", admin.Metrics(metrics), admin.Profiler(), gateway.Key(key)))
	for _, path := range []string{"/metrics", "/debug/pprof/heap?debug=1"} {
		for header, want := range map[string]int{"": 401, "Bearer " + key[1:]: 401, "Basic " + key: 401, "Bearer " + key: 200} {
			if status, body := get(t, node.AdminAddr(), path, "Authorization", header); status != want {
				t.Errorf("%s with %q: %d %.100s, want %d", path, header, status, body, want)
			}
		}
	}
	if status, _ := get(t, node.AdminAddr(), "/ready"); status != 200 {
		t.Errorf("/ready without the key: %d", status)
	}
}

func TestProbesAloneAreForEverybodyAndSoAreMetricsWhereThatIsMeant(t *testing.T) {
	start(t, admin.Serve("0.0.0.0:0"))
	node := start(t, admin.Serve("0.0.0.0:0", admin.Metrics(metrics), admin.AllowUnauthenticatedMetrics()))
	if status, body := get(t, node.AdminAddr(), "/metrics"); status != 200 {
		t.Errorf("%d %s", status, body)
	}
}

func TestANodeRefusesToServeOperatorsWhereAnybodyCouldAsk(t *testing.T) {
	asks := &tls.Config{Certificates: make([]tls.Certificate, 1), ClientAuth: tls.RequestClientCert}
	for name, c := range map[string]struct {
		option sabir.NodeOption
		says   string
	}{
		"metrics":                        {admin.Serve("0.0.0.0:0", admin.Metrics(metrics)), "AllowUnauthenticatedMetrics"},
		"metrics, IPv6":                  {admin.Serve("[::]:0", admin.Metrics(metrics)), "AllowUnauthenticatedMetrics"},
		"profiles":                       {admin.Serve("0.0.0.0:0", admin.Profiler()), "gateway.Key"},
		"profiles where metrics are not": {admin.Serve("0.0.0.0:0", admin.Profiler(), admin.Metrics(metrics), admin.AllowUnauthenticatedMetrics()), "profiles"},
		"a short key":                    {admin.Serve("0.0.0.0:0", admin.Profiler(), gateway.Key("short")), "at least 16"},
		"a key with a line break":        {admin.Serve(":0", gateway.Key("0123456789abcdef\n")), "newline"},
		"certificates nobody checks":     {admin.Serve("0.0.0.0:0", admin.Profiler(), gateway.TLS(asks)), "RequireAndVerifyClientCert"},
		"TLS without a certificate":      {admin.Serve(":0", gateway.TLS(&tls.Config{})), "no certificate"},
		"no port":                        {admin.Serve("localhost"), "host:port"},
		"an option of the HTTP gateway":  {admin.Serve(":0", web.With(web.Config{AllowUnauthenticated: true})), "another package"},
		"two keys":                       {admin.Serve(":0", gateway.Key("0123456789abcdef"), gateway.Key("0123456789abcdef")), "gateway.Key"},
	} {
		node := sabir.NewNode(c.option, quiet)
		err := node.Start(t.Context())
		if err == nil {
			_ = node.Stop(context.Background())
		}
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: the error is %v, want %q in it", name, err, c.says)
		}
	}
}

func TestPagesOfOtherSitesCannotReadWhatIsOnThisMachine(t *testing.T) {
	node := start(t, admin.Serve(":0", admin.Profiler()))
	for host, want := range map[string]int{"evil.example": 403, "127.0.0.1.evil.example": 403, "localhost": 200, "127.0.0.1": 200} {
		if status, _ := get(t, node.AdminAddr(), "/debug/pprof/", "Host", host); status != want {
			t.Errorf("Host %s: %d, want %d", host, status, want)
		}
	}
}

func TestAProfileEndsWhenTheNodeStops(t *testing.T) {
	node := start(t, admin.Serve(":0", admin.Profiler()))
	addr := node.AdminAddr()
	got := make(chan string, 1)
	go func() {
		status := http.StatusConflict
		for status == http.StatusConflict { // the test below may be first
			status, _ = get(t, addr, "/debug/pprof/trace?seconds=100")
		}
		got <- fmt.Sprint(status)
	}()
	busy := func() bool { // the trace is being made when another one is refused
		status, _ := get(t, addr, "/debug/pprof/trace?seconds=0.001")
		return status == http.StatusConflict
	}
	for !busy() {
		if t.Context().Err() != nil {
			t.Fatal("no trace began")
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := node.Stop(ctx); err != nil {
		t.Error(err)
	}
	if status := <-got; status != "200" {
		t.Errorf("the trace ended with %s", status)
	}
}
