package moleculer_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/moleculer"
	_ "github.com/sabir-go/sabir/broker/nats"
	"github.com/sabir-go/sabir/internal/brokers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(brokers.Stopping(cleaning{m})) }

type cleaning struct{ tests interface{ Run() int } }

func (c cleaning) Run() int {
	defer func() {
		if installed.dir != "" {
			os.RemoveAll(installed.dir)
		}
	}()
	return c.tests.Run()
}

// waitLimit bounds waits for what must come. It is only ever reached where it does not.
const waitLimit = time.Minute

var installed struct {
	sync.Mutex
	dir string
}

// peersFolder has the Moleculer nodes, of the versions in testdata/node/package-lock.json.
func peersFolder(t *testing.T) string {
	t.Helper()
	installed.Lock()
	defer installed.Unlock()
	if installed.dir != "" {
		return installed.dir
	}
	dir, err := os.MkdirTemp("", "sabir-moleculer-")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if installed.dir == "" { // the test is left out, and so will be the next
			os.RemoveAll(dir)
		}
	}()
	brokers.NodeModules(t, filepath.Join("testdata", "node"), dir)
	installed.dir = dir
	return dir
}

// peer is a process that is a Moleculer node: see testdata/node/peer.js.
type peer struct {
	t       *testing.T
	id      string
	process *exec.Cmd
	in      io.WriteCloser
	events  chan string

	mu      sync.Mutex
	next    int
	answers map[int]chan answer
}

// answer holds the process's reply to one line of its standard input.
type answer struct {
	ID     int             `json:"id"`
	Event  json.RawMessage `json:"event"`
	Result json.RawMessage `json:"result"`
	Error  *jsError        `json:"error"`
}

type jsError struct {
	Name, Message, Type, NodeID string
	Code                        any
	Retryable                   bool
	Data                        any
}

func (e *jsError) Error() string {
	return fmt.Sprintf("%s %v %s %v: %s", e.Name, e.Code, e.Type, e.Retryable, e.Message)
}

// place is a broker and a namespace of one test.
type place struct {
	t         *testing.T
	broker    *brokers.Server
	namespace string
	options   map[string]any   // of the Moleculer nodes
	bridge    moleculer.Config // that the options ask for
	at        string           // of a Go node without a broker
}

func newPlace(t *testing.T) *place {
	t.Helper()
	return newPlaceAt(t, brokers.NATS)
}

func newPlaceAt(t *testing.T, kind brokers.Kind) *place {
	t.Helper()
	broker := brokers.ForTestShared(t, kind)
	namespace := strings.NewReplacer("/", "-", "#", "-", "_", "-", " ", "-").Replace(t.Name())
	return &place{t: t, broker: broker, namespace: namespace, options: map[string]any{"transporter": broker.URL()}}
}

// peer starts a Moleculer node that speaks the version of the protocol.
func (a *place) peer(version, id string) *peer {
	a.t.Helper()
	dir := peersFolder(a.t)
	p := &peer{t: a.t, id: id, answers: make(map[int]chan answer), events: make(chan string, 4096)}
	options, err := json.Marshal(a.options)
	if err != nil {
		a.t.Fatal(err)
	}
	p.process = exec.Command(brokers.Program(a.t, "node", "nodejs"), "peer.js", version, id, a.namespace, string(options))
	p.process.Dir, p.process.Stderr = dir, os.Stderr
	if p.in, err = p.process.StdinPipe(); err != nil {
		a.t.Fatal(err)
	}
	out, err := p.process.StdoutPipe()
	if err != nil {
		a.t.Fatal(err)
	}
	if err := p.process.Start(); err != nil {
		a.t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		p.read(out)
	}()
	a.t.Cleanup(func() {
		p.in.Close()
		_ = p.process.Process.Kill()
		<-read
		_ = p.process.Wait()
	})
	if err := p.do(nil, "start"); err != nil {
		a.t.Fatal(err)
	}
	return p
}

func (p *peer) read(out io.Reader) {
	lines := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			for id, to := range p.answers {
				delete(p.answers, id)
				to <- answer{Error: &jsError{Name: "Ended"}}
			}
			return
		}
		var a answer
		if err := json.Unmarshal(line, &a); err != nil {
			p.t.Logf("%s says %s", p.id, line)
			continue
		}
		if a.Event != nil {
			p.events <- string(line)
			continue
		}
		p.mu.Lock()
		to := p.answers[a.ID]
		delete(p.answers, a.ID)
		p.mu.Unlock()
		if to != nil {
			to <- a
		}
	}
}

// do has the peer do something, and stores what came of it.
func (p *peer) do(result any, verb string, arguments ...any) error {
	p.t.Helper()
	p.mu.Lock()
	p.next++
	id, to := p.next, make(chan answer, 1)
	p.answers[id] = to
	line, err := json.Marshal(append([]any{id, verb}, arguments...))
	if err != nil {
		p.t.Fatal(err)
	}
	_, err = p.in.Write(append(line, '\n'))
	p.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case a := <-to:
		if a.Error != nil {
			return a.Error
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(a.Result, result)
	case <-time.After(waitLimit):
		p.t.Fatalf("%s did not answer %s", p.id, line)
		return nil
	}
}

// must is do for what succeeds.
func (p *peer) must(result any, verb string, arguments ...any) {
	p.t.Helper()
	if err := p.do(result, verb, arguments...); err != nil {
		p.t.Fatalf("%s %s %v: %v", p.id, verb, arguments, err)
	}
}

// called is the answer to a call of a peer.
type called struct {
	Result json.RawMessage
	Meta   map[string]any
}

// call calls an action from the peer.
func (p *peer) call(action string, params any, options ...map[string]any) (called, error) {
	p.t.Helper()
	var c called
	arguments := []any{action, params}
	for _, o := range options {
		arguments = append(arguments, o)
	}
	err := p.do(&c, "call", arguments...)
	return c, err
}

// event waits for the next event that the peer's handlers got.
func (p *peer) event() string {
	p.t.Helper()
	select {
	case line := <-p.events:
		return line
	case <-time.After(waitLimit):
		p.t.Fatal("no event came")
		return ""
	}
}

// node starts a Sabir node with a bridge.
func (a *place) node(id string, services []sabir.Servable, c moleculer.Config) *sabir.Node {
	a.t.Helper()
	at := a.at
	if at == "" {
		at = a.broker.URL()
	}
	c.Address, c.Namespace = at, a.namespace
	to, from := reflect.ValueOf(&c).Elem(), reflect.ValueOf(a.bridge)
	for i := range to.NumField() {
		if to.Field(i).IsZero() {
			to.Field(i).Set(from.Field(i))
		}
	}
	n := sabir.NewNode(sabir.NodeID(id), sabir.Logger(slog.New(slog.DiscardHandler)), sabir.Serve(services...), moleculer.Bridge(c))
	if err := n.Start(a.t.Context()); err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() {
		if n.State() == "running" {
			if err := n.Stop(a.t.Context()); err != nil && a.t.Context().Err() == nil {
				a.t.Error(err)
			}
		}
	})
	return n
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

// versions runs a test with a Moleculer node of each version of the protocol.
func versions(t *testing.T, test func(t *testing.T, a *place, js *peer)) {
	brokers.Long(t)
	for _, version := range []string{"5", "4"} {
		t.Run("protocol "+version, func(t *testing.T) {
			t.Parallel()
			a := newPlace(t)
			test(t, a, a.peer(version, "js-"+version))
		})
	}
}
