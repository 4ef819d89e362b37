package micro_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/micro"
	"github.com/sabir-go/sabir/internal/brokers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(brokers.Stopping(cleaning{m})) }

type cleaning struct{ tests interface{ Run() int } }

func (c cleaning) Run() int {
	defer func() {
		for _, dir := range built.dirs {
			os.RemoveAll(dir)
		}
	}()
	return c.tests.Run()
}

// waitLimit bounds waits for what must come. It is only ever reached where it does not.
const waitLimit = time.Minute

var built struct {
	sync.Mutex
	programs, dirs map[string]string
}

// program builds the peer with a version of go-micro, "v4" or "v5". Its source is that in testdata/v5; the modules are those of testdata/<version>.
func program(t *testing.T, version string) string {
	t.Helper()
	brokers.Long(t)
	built.Lock()
	defer built.Unlock()
	if p := built.programs[version]; p != "" {
		return p
	}
	dir, err := os.MkdirTemp("", "sabir-micro-")
	if err != nil {
		t.Fatal(err)
	}
	if built.programs == nil {
		built.programs, built.dirs = make(map[string]string), make(map[string]string)
	}
	built.dirs[version] = dir
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", version))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"main.go", "mucp.go"} {
		source, err := os.ReadFile(filepath.Join("testdata", "v5", name))
		if err != nil {
			t.Fatal(err)
		}
		source = bytes.ReplaceAll(source, []byte("go-micro.dev/v5"), []byte("go-micro.dev/"+version))
		if err := os.WriteFile(filepath.Join(dir, name), source, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	download := exec.Command("go", "mod", "download")
	download.Dir = dir
	if out, err := download.CombinedOutput(); err != nil {
		brokers.NotTested(t, "the modules of go-micro cannot be had; is the network there? %v\n%s", err, out)
	}
	p := filepath.Join(dir, "peer")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", p, ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the peer with go-micro %s does not build: %v\n%s", version, err, out)
	}
	built.programs[version] = p
	return p
}

// peer is a process that is a service and a client of go-micro: see testdata/v5/main.go.
type peer struct {
	t       *testing.T
	process *exec.Cmd
	in      io.WriteCloser
	address string // of its server

	events chan *event // what its subscribers got

	mu      sync.Mutex
	next    int
	answers map[int]chan answer
}

// order is a call that a peer is to make.
type order struct {
	ID       int
	Service  string
	Endpoint string
	As       string
	In       json.RawMessage
	Address  string
	Metadata map[string]string
	MS       int
	Request  int
	Retries  int
	Topic    string
	Stream   string
	Version  string
	Region   string
}

// event holds what a subscriber of a peer got.
type event struct {
	Topic, Queue string
	In           json.RawMessage
	Metadata     map[string]string
}

type answer struct {
	Outs  []labOut
	Event *event
	ID    int
	Out   json.RawMessage
	Text  string
	Error string
}

// startPeer starts a peer with a version of go-micro.
func startPeer(t *testing.T, version string, arguments ...string) *peer {
	t.Helper()
	p := &peer{t: t, process: exec.Command(program(t, version), arguments...), answers: make(map[int]chan answer), events: make(chan *event, 10_000)}
	p.process.Stderr = t.Output()
	var err error
	if p.in, err = p.process.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.process.Start(); err != nil {
		t.Fatal(err)
	}
	lines := json.NewDecoder(out)
	var first answer
	read := make(chan error, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err := lines.Decode(&first)
		read <- err
		for err == nil {
			var a answer
			if err = lines.Decode(&a); err == nil && a.Event != nil {
				p.events <- a.Event
			} else if err == nil {
				p.mu.Lock()
				to := p.answers[a.ID]
				p.mu.Unlock()
				to <- a
			}
		}
	}()
	t.Cleanup(func() {
		p.process.Process.Kill()
		<-ended
		p.process.Wait()
	})
	select {
	case err := <-read:
		if err != nil {
			t.Fatalf("the peer did not start: %v", err)
		}
	case <-time.After(waitLimit):
		t.Fatal("the peer did not start")
	}
	p.address = first.Text
	return p
}

// call has the peer make a call.
func (p *peer) call(o order) answer {
	p.t.Helper()
	if o.As == "" {
		o.As = "application/json"
	}
	if o.In == nil {
		o.In = json.RawMessage("{}")
	}
	to := make(chan answer, 1)
	p.send(o, to)
	select {
	case a := <-to:
		return a
	case <-time.After(waitLimit):
		p.t.Fatalf("the peer did not answer %+v", o)
		return answer{}
	}
}

// send has the peer make a call, whose answer goes to the channel.
func (p *peer) send(o order, to chan answer) {
	p.t.Helper()
	p.mu.Lock()
	p.next++
	o.ID = p.next
	p.answers[o.ID] = to
	line, err := json.Marshal(o)
	if err == nil {
		_, err = p.in.Write(append(line, '\n'))
	}
	p.mu.Unlock()
	if err != nil {
		p.t.Fatal(err)
	}
}

// node starts a Sabir node with a bridge.
func node(t *testing.T, services []sabir.Servable, c micro.Config) *sabir.Node {
	t.Helper()
	return start(t, slog.DiscardHandler, services, c)
}

// serving starts a Sabir node with a bridge that listens, and returns the address.
func serving(t *testing.T, services []sabir.Servable, c micro.Config) (n *sabir.Node, at string) {
	t.Helper()
	c.Listen = ":0"
	var log lines
	n = start(t, slog.NewJSONHandler(&log, nil), services, c)
	for line := range strings.Lines(log.String()) {
		var serves struct{ Msg, Address string }
		if json.Unmarshal([]byte(line), &serves) == nil && serves.Msg == "serves clients of go-micro" {
			return n, serves.Address
		}
	}
	t.Fatalf("the log does not name the address:\n%s", log.String())
	return nil, ""
}

func start(t *testing.T, log slog.Handler, services []sabir.Servable, c micro.Config) *sabir.Node {
	t.Helper()
	n := sabir.NewNode(sabir.NodeID("go"), sabir.Logger(slog.New(log)), sabir.Serve(services...), micro.Bridge(c))
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, n) })
	return n
}

// lines is a log that is read while it is written.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func stop(t *testing.T, n *sabir.Node) {
	if n.State() == "running" {
		if err := n.Stop(t.Context()); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	}
}

// waitFor waits until a condition holds.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for begun := time.Now(); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > waitLimit {
			t.Fatalf("%s did not come", what)
		}
	}
}

// versions runs a test with a peer of each version of go-micro.
func versions(t *testing.T, test func(t *testing.T, version string)) {
	brokers.Long(t)
	for _, version := range []string{"v5", "v4"} {
		t.Run("go-micro "+version, func(t *testing.T) {
			t.Parallel()
			test(t, version)
		})
	}
}

func contains(t *testing.T, what, in string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(in, part) {
			t.Errorf("%s is %q\nwant %q in it", what, in, part)
		}
	}
}
