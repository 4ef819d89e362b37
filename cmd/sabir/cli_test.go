package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/examples/shop"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/web"
)

// asMain is the environment variable that makes the test's program the command line: the processes of a demo are such.
const asMain = "SABIR_TEST_AS_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asMain) != "" {
		main()
		return
	}
	for _, name := range []string{"SABIR_URL", "SABIR_JOIN", "SABIR_KEY", "SABIR_HTTP_KEY", "NO_COLOR"} {
		os.Unsetenv(name)
	}
	ignored := []goleak.Option{
		goleak.IgnoreTopFunction("github.com/xtaci/kcp-go/v5.(*TimedSched).sched"), // the library starts these with the process
		goleak.IgnoreTopFunction("github.com/xtaci/kcp-go/v5.(*TimedSched).prepend"),
	}
	goleak.VerifyTestMain(brokers.Stopping(m, ignored...), ignored...)
}

// outcome is the result of one run of the command line.
type outcome struct {
	code        int
	out, errOut string
}

// sabirRun runs the command line with nothing on stdin.
func sabirRun(t testing.TB, args ...string) outcome {
	t.Helper()
	return sabirRunWith(t, strings.NewReader(""), args...)
}

func sabirRunWith(t testing.TB, stdin io.Reader, args ...string) outcome {
	t.Helper()
	var out, errOut bytes.Buffer
	code := execute(t.Context(), args, stdin, &out, &errOut)
	return outcome{code, out.String(), errOut.String()}
}

// startNode runs a node with HTTP on a free port for the length of a test and makes it the one that commands talk to.
func startNode(t testing.TB, node *sabir.Node) *sabir.Node {
	t.Helper()
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := node.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	t.(interface{ Setenv(key, value string) }).Setenv("SABIR_URL", "http://"+node.HTTPAddr())
	return node
}

func startDemo(t testing.TB, options ...gateway.HTTPOption) *sabir.Node {
	t.Helper()
	return startNode(t, shop.New(quiet(), sabir.HTTP(":0", append(options, web.With(web.Config{Operators: []string{web.ThisMachine, web.KeyHolder}}))...)).Node)
}

func quiet() sabir.NodeOption { return sabir.Logger(slog.New(slog.DiscardHandler)) }

// nowhere is an address where no node answers.
const nowhere = "http://127.0.0.1:1"

// oneJSON reads output that must be one line of JSON.
func oneJSON[T any](t testing.TB, text string) (value T) {
	t.Helper()
	if strings.Count(text, "\n") != 1 {
		t.Fatalf("want one line of JSON, got:\n%s", text)
	}
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	return value
}

const (
	goodOrder = `{"user_id":"u-1","lines":[{"sku":"rope","quantity":2}]}`
	badOrder  = `{"user_id":"u-1","lines":[{"sku":"rope","quantity":0}]}`
)

// lockedBuffer is a buffer that several goroutines may write to.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
