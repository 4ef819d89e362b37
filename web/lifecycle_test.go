package web

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web/exchange"
)

// gated is a service whose action signals when it was entered, and answers when it is released, even if its context has ended.
type gated struct {
	entered, release chan struct{}
	service          *sabir.Service
	ended            chan error // the context's, when the action ends
}

func newGated(t *testing.T) *gated {
	g := &gated{entered: make(chan struct{}, 8), release: make(chan struct{}), service: sabir.NewService("slow"), ended: make(chan error, 8)}
	sabir.Handle(g.service, "work", func(ctx context.Context, _ nothing) (string, error) {
		g.entered <- struct{}{}
		<-g.release
		g.ended <- ctx.Err()
		return "done", nil
	})
	sabir.Handle(g.service, "patient", func(ctx context.Context, _ nothing) (nothing, error) {
		g.entered <- struct{}{}
		<-ctx.Done()
		g.ended <- ctx.Err()
		return nothing{}, ctx.Err()
	})
	t.Cleanup(g.let)
	return g
}

func (g *gated) let() {
	select {
	case <-g.release:
	default:
		close(g.release)
	}
}

// atStop is a middleware that closes the channel when the node has begun to stop.
func atStop() (sabir.NodeOption, chan struct{}) {
	stopping := make(chan struct{})
	return sabir.Use(sabir.Middleware{Lifecycle: func(s sabir.Stage, next func(context.Context) error) func(context.Context) error {
		if s.Stop && s.Service == "" {
			close(stopping)
		}
		return next
	}}), stopping
}

func stopContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	t.Cleanup(cancel)
	return ctx
}

func TestStopLetsCallsInFlightFinishAndTakesNoNewOnes(t *testing.T) {
	g := newGated(t)
	var server *server
	node := start(t, sabir.Serve(g.service), capture(&server))
	addr := node.HTTPAddr()
	answered := make(chan answer, 1)
	go func() { answered <- post(t, "http://"+addr+"/slow/work", `{}`) }()
	<-g.entered
	stopped := make(chan error, 1)
	go func() { stopped <- node.Stop(stopContext(t)) }()
	<-server.served // it accepts no more
	if c, err := net.Dial("tcp", addr); err == nil {
		c.Close()
		t.Error("a new connection was taken")
	}
	select {
	case err := <-stopped:
		t.Fatalf("the node stopped with a call in flight: %v", err)
	default:
	}
	g.let()
	if got := <-answered; got.status != 200 || got.body != `"done"` {
		t.Errorf("the call in flight got %d %s", got.status, got.body)
	}
	if err := <-stopped; err != nil {
		t.Errorf("Stop: %v", err)
	}
}

func TestStopCutsOffWhatOutlastsItsContextAndSaysSo(t *testing.T) {
	g := newGated(t)
	node := start(t, sabir.Serve(g.service), sabir.HTTP(":0"))
	client := dialNode(t, node, ClientConfig{})
	answered := make(chan error, 1)
	go func() {
		_, err := client.Call(context.Background(), "slow.work", nil)
		answered <- err
	}()
	<-g.entered
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := node.Stop(ctx)
	if err == nil || !strings.Contains(err.Error(), "1 calls still running") || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Stop: %v", err)
	}
	if err := <-answered; !errors.Is(err, sabir.ErrServiceUnavailable) || sabir.AsError(err).Retryable {
		t.Errorf("the call got %v (retryable: %v)", err, sabir.AsError(err).Retryable)
	}
}

func TestReadinessEndsAsSoonAsTheNodeStopsWhileHealthStays(t *testing.T) {
	option, stopping := atStop()
	node := start(t, option, withLimits(func(l *limits) { l.drain, l.quiet = time.Minute, time.Minute }))
	conns := []net.Conn{rawDial(t, node), rawDial(t, node)}
	if got := ask(t, "GET", "http://"+node.HTTPAddr()+"/ready", ""); got.status != 200 { // so both are accepted
		t.Fatal(got.status)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- node.Stop(stopContext(t)) }()
	<-stopping
	for i, want := range []struct {
		path, status string
	}{{"/ready", "503"}, {"/health", "200"}} {
		io.WriteString(conns[i], "GET "+want.path+" HTTP/1.1\r\nHost: localhost\r\n\r\n")
		response, err := http.ReadResponse(bufio.NewReader(conns[i]), nil)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(response.Body)
		if !strings.HasPrefix(response.Status, want.status) {
			t.Errorf("%s: %s %s", want.path, response.Status, body)
		}
		if want.status == "503" && response.Header.Get("Retry-After") == "" {
			t.Error("the answer has no Retry-After")
		}
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

func TestAConnectionThatWasNeverUsedDoesNotHoldUpStop(t *testing.T) {
	node := start(t, sabir.HTTP(":0"))
	c, err := net.Dial("tcp", node.HTTPAddr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := ask(t, "GET", "http://"+node.HTTPAddr()+"/health", ""); got.status != 200 { // so c was accepted before
		t.Fatal(got.status)
	}
	began := time.Now()
	if err := node.Stop(stopContext(t)); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("Stop took %v", took)
	}
}

func TestNoMoreConnectionsAreOpenAtOnceThanTheLimit(t *testing.T) {
	node := start(t, withLimits(func(l *limits) { l.connections = 2 }))
	first := rawDial(t, node)
	second := rawDial(t, node)
	for _, c := range []net.Conn{first, second} {
		if status := rawAsk(t, c, "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"); status != 200 {
			t.Fatal(status)
		}
	}
	third := rawDial(t, node) // in the system's backlog
	answered := make(chan int, 1)
	go func() { answered <- rawAsk(t, third, "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n") }()
	select {
	case <-answered:
		t.Error("a third connection was served")
	case <-time.After(50 * time.Millisecond):
	}
	first.Close()
	if status := <-answered; status != 200 {
		t.Error(status)
	}
}

func TestStopEndsAListenerThatWaitsForAFreeConnection(t *testing.T) {
	node := start(t, withLimits(func(l *limits) { l.connections = 1 }))
	if status := rawAsk(t, rawDial(t, node), "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"); status != 200 {
		t.Fatal(status)
	}
	if err := node.Stop(stopContext(t)); err != nil {
		t.Error(err)
	}
}

func TestACallerWhoLeavesCancelsTheCall(t *testing.T) {
	g := newGated(t)
	node := start(t, sabir.Serve(g.service), sabir.HTTP(":0"))
	c := rawDial(t, node)
	io.WriteString(c, "POST /slow/patient HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
	<-g.entered
	c.Close()
	if err := <-g.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the handler's context ended with %v", err)
	}
}

func TestACallerWhoLeavesWhileHisCallWaitsForItsTurnIsNoErrorInTheLog(t *testing.T) {
	var log logBuffer
	waits, left := make(chan struct{}), make(chan struct{})
	queue := sabir.Middleware{Name: "queue", Local: func(_ *sabir.Action, _ sabir.Handler) sabir.Handler {
		return func(ctx context.Context, _ *sabir.Request) error { // as policy.Bulkhead does
			close(waits)
			<-ctx.Done()
			close(left)
			return ctx.Err()
		}
	}}
	node := start(t, logTo(&log), sabir.Serve(newGated(t).service), sabir.Use(queue), sabir.HTTP(":0"))
	c := rawDial(t, node)
	io.WriteString(c, "POST /slow/patient HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
	<-waits
	c.Close()
	<-left
	if err := node.Stop(stopContext(t)); err != nil { // which waits for the end of the request
		t.Error(err)
	}
	if strings.Contains(log.String(), "level=ERROR") {
		t.Errorf("the log says %s", log.String())
	}
}

func TestAHandlerThatNeverReturnsKeepsNoCallerPastTheDeadline(t *testing.T) {
	g := newGated(t)
	node := start(t, sabir.Serve(g.service), sabir.HTTP(":0"))
	got := post(t, "http://"+node.HTTPAddr()+"/slow/work", `{}`, "X-Request-Timeout: 30ms")
	if p := got.problem(t); got.status != 504 || p.Name != "DeadlineExceeded" || !strings.Contains(p.Detail, "slow.work") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestTheDefaultLimitEndsCallsThatNameNone(t *testing.T) {
	g := newGated(t)
	node := start(t, sabir.Serve(g.service), sabir.HTTP(":0", With(Config{RequestTimeout: 20 * time.Millisecond})))
	if got := post(t, "http://"+node.HTTPAddr()+"/slow/patient", `{}`); got.status != 504 {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestTheTimeForTheBodyDoesNotEndTheCall(t *testing.T) {
	for about, body := range map[string]string{"with a body": "{}", "without": ""} {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			g := newGated(t)
			const limit = time.Second // time enough to send a request
			node := start(t, sabir.Serve(g.service), withLimits(func(l *limits) { l.readBody, l.readHeaders = limit, limit }))
			answered := make(chan answer, 1)
			go func() { answered <- post(t, "http://"+node.HTTPAddr()+"/slow/work", body) }()
			<-g.entered
			time.AfterFunc(limit+limit/2, g.let)
			if got := <-answered; got.status != 200 {
				t.Errorf("%d %s", got.status, got.body)
			}
			if err := <-g.ended; err != nil {
				t.Errorf("the handler's context ended: %v", err)
			}
		})
	}
}

// counted is a service that counts its runs.
func counted(runs *atomic.Int64, options ...sabir.ServiceOption) *sabir.Service {
	s := sabir.NewService("counted", options...)
	sabir.Handle(s, "double", func(_ context.Context, in int) (int, error) {
		runs.Add(1)
		return in * 2, nil
	})
	return s
}

// A request is looked up, and then its answer is made of the table as it is by then.
func TestARequestWhoseServiceComesBetweenLookUpAndAnswerMayBeSentAgain(t *testing.T) {
	var s *server
	start(t, sabir.Serve(counted(new(atomic.Int64))), capture(&s))
	for _, method := range []string{http.MethodPost, http.MethodGet} {
		x := &exchange.Exchange{Method: method, Path: "/counted/double"}
		rc := requestContext{Exchange: x, server: s, to: &target{routeGroup: &s.settings.root}}
		rc.noTarget()
		want, retryable := http.StatusServiceUnavailable, true
		if method == http.MethodGet { // which it never takes
			want, retryable = http.StatusMethodNotAllowed, false
		}
		if x.Status != want || strings.Contains(string(x.Out), `"retryable":true`) != retryable {
			t.Errorf("%s: %d %s", method, x.Status, x.Out)
		}
	}
}

// tally counts the outcomes of many calls.
type tally struct{ right, absent, unavailable, wrong atomic.Int64 }

func (c *tally) add(t *testing.T, in int, out []byte, err error) {
	switch {
	case err == nil && string(out) == itoa(2*in):
		c.right.Add(1)
	case errors.Is(err, sabir.ErrActionNotFound):
		c.absent.Add(1)
	case errors.Is(err, sabir.ErrServiceUnavailable):
		c.unavailable.Add(1)
	default:
		if c.wrong.Add(1) < 5 {
			t.Errorf("call %d: %s, %v", in, out, err)
		}
	}
}

// storm makes at least calls calls, workers at once, and runs during when a tenth of them are done. The last call of each worker
// comes behind that.
func storm(t *testing.T, client *Client, calls, workers int, during func()) *tally {
	var result tally
	var next atomic.Int64
	var wg sync.WaitGroup
	started, over := make(chan struct{}), make(chan struct{})
	var once sync.Once
	wg.Go(func() {
		defer close(over)
		<-started
		during()
	})
	for range workers {
		wg.Go(func() {
			for last := false; !last; {
				i := int(next.Add(1))
				select {
				case <-over:
					last = i > calls
				default:
				}
				out, err := client.Call(context.Background(), "counted.double", []byte(itoa(i)))
				result.add(t, i, out, err)
				if i > calls/10 {
					once.Do(func() { close(started) })
				}
			}
		})
	}
	wg.Wait()
	if n := result.right.Load() + result.absent.Load() + result.unavailable.Load() + result.wrong.Load(); n != next.Load() {
		t.Errorf("%d of %d calls were answered", n, next.Load())
	}
	return &result
}

func TestTenThousandCallsWhileTheirServiceComesAndGoesAreAllAnswered(t *testing.T) {
	for _, about := range []string{"without a stop hook", "with a stop hook"} {
		t.Run(about, func(t *testing.T) {
			var runs atomic.Int64
			var options []sabir.ServiceOption
			if about == "with a stop hook" {
				options = append(options, sabir.OnStop(func(context.Context) error { return nil }))
			}
			service := counted(&runs, options...)
			node := start(t, sabir.Serve(service), sabir.HTTP(":0"))
			result := storm(t, dialNode(t, node, ClientConfig{}), 10_000, 64, func() {
				for range 20 {
					if err := node.Remove(t.Context(), service); err != nil {
						t.Error(err)
					}
					if err := node.Add(t.Context(), service); err != nil {
						t.Error(err)
					}
				}
				if err := node.Remove(t.Context(), service); err != nil {
					t.Error(err)
				}
			})
			if runs.Load() != result.right.Load() {
				t.Errorf("%d calls ran and %d were answered", runs.Load(), result.right.Load())
			}
			if result.right.Load() == 0 || result.absent.Load() == 0 {
				t.Errorf("the removal fell outside the calls: %d right, %d absent", result.right.Load(), result.absent.Load())
			}
		})
	}
}

func TestTenThousandCallsWhileTheNodeStopsAreAllAnsweredOrRefused(t *testing.T) {
	var runs atomic.Int64
	node := start(t, sabir.Serve(counted(&runs)), sabir.HTTP(":0"))
	result := storm(t, dialNode(t, node, ClientConfig{}), 10_000, 64, func() {
		if err := node.Stop(stopContext(t)); err != nil {
			t.Error(err)
		}
	})
	if runs.Load() != result.right.Load() {
		t.Errorf("%d calls ran and %d were answered", runs.Load(), result.right.Load())
	}
	if result.right.Load() == 0 || result.unavailable.Load() == 0 {
		t.Errorf("the stop fell outside the calls: %d right, %d refused", result.right.Load(), result.unavailable.Load())
	}
}

// lacking is an extension that needs something outside the process.
type lacking struct{ missing error }

func (e *lacking) Name() string                             { return "store" }
func (e *lacking) Start(context.Context, *sabir.Node) error { return nil }
func (e *lacking) Stop(context.Context) error               { return nil }
func (e *lacking) Ready(context.Context) error              { return e.missing }

func TestReadinessSaysWhatTheNodeLacks(t *testing.T) {
	node := start(t, sabir.HTTP(":0"), sabir.WithExtension(&lacking{errors.New("the disk of /var/lib/shop is full")}))
	got := ask(t, "GET", "http://"+node.HTTPAddr()+"/ready", "")
	if got.status != 503 || !strings.Contains(got.body, "the disk of /var/lib/shop is full") {
		t.Errorf("/ready: %d %s", got.status, got.body)
	}
	if got := ask(t, "GET", "http://"+node.HTTPAddr()+"/health", ""); got.status != 200 {
		t.Errorf("/health: %d %s", got.status, got.body)
	}
}
