package brokers

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestAll is the variable of the environment without which tests that take minutes are left out; ./test sets it to 1, and
// ./test nightly to nightly.
const TestAll = "SABIR_TEST_ALL"

// NotTestedFile is the variable of the environment that names a file for the messages of [NotTested]; ./test sets it, and shows
// the file at its end.
const NotTestedFile = "SABIR_NOT_TESTED"

// Slow skips a test that takes too long for the quick loop, which go test ./... is.
func Slow(t testing.TB) {
	t.Helper()
	if os.Getenv(TestAll) == "" {
		t.Skipf("not in the quick loop: run ./test, or set %s=1", TestAll)
	}
}

// Nightly skips a test that takes much of a processor's time while others of its kind run in ./test: one more carrier, version
// or client of a matrix, or the same at a larger size. ./test nightly runs it, as continuous integration does each night.
func Nightly(t testing.TB) {
	t.Helper()
	if os.Getenv(TestAll) != "nightly" {
		t.Skipf("once a night: run ./test nightly, or set %s=nightly", TestAll)
	}
}

// Long skips a test that takes seconds where go test was given -short, as ./test quick gives it.
func Long(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes seconds: run it without -short")
	}
}

// NotTested skips a test for which this machine lacks something, and reports that where it is not overlooked.
func NotTested(t testing.TB, format string, args ...any) {
	t.Helper()
	text := "NOT TESTED: " + t.Name() + ": " + fmt.Sprintf(format, args...)
	if name := os.Getenv(NotTestedFile); name != "" {
		f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		fmt.Fprintln(f, text)
	}
	t.Skip(text)
}

// Program finds a program that a test needs. Without it the test is [NotTested], naming the Debian package that has it.
func Program(t testing.TB, name, debian string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		NotTested(t, "%s was not found (Debian package %s)", name, debian)
	}
	return path
}

// ForTest starts a broker that ends with the test. At most one Config may be given. Where the broker is not installed it
// skips the test, naming the Debian package that has it, see [NotTested]. RabbitMQ, which takes seconds to start, is for
// [Slow] tests, the others for [Long] ones. If the test fails, the end of the broker's log is logged.
func ForTest(t testing.TB, kind Kind, config ...Config) *Server {
	t.Helper()
	Long(t)
	if kind == RabbitMQ {
		Slow(t)
	}
	var c Config
	if len(config) > 0 {
		c = config[0]
	}
	s, err := Start(kind, c)
	if err != nil {
		missing(t, err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the end of the log of %s:\n%s", s.kind, tail(s.Log()))
		}
		if err := s.Close(); err != nil {
			t.Errorf("%s: %v", s.kind, err)
		}
	})
	return s
}

func missing(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, ErrMissing) {
		NotTested(t, "%v", err)
	}
	t.Fatal(err)
}

var shared struct {
	sync.Mutex
	servers map[Kind]*Server
	errs    map[Kind]error
}

// ForTestShared is [ForTest] for tests that tolerate others' data in the broker, and that neither stop nor suspend
// it: all of a process's tests get the same one, with the zero Config. TestMain must end it after the tests: see [Stopping].
func ForTestShared(t testing.TB, kind Kind) *Server {
	t.Helper()
	Long(t)
	if kind == RabbitMQ {
		Slow(t)
	}
	shared.Lock()
	defer shared.Unlock()
	if s := shared.servers[kind]; s != nil {
		return s
	}
	if err := shared.errs[kind]; err != nil {
		missing(t, err)
	}
	s, err := Start(kind, Config{})
	if err != nil {
		if shared.errs == nil {
			shared.errs = make(map[Kind]error)
		}
		shared.errs[kind] = err
		missing(t, err)
	}
	if shared.servers == nil {
		shared.servers = make(map[Kind]*Server)
	}
	shared.servers[kind] = s
	return s
}

// StopShared stops the brokers that ForTestShared started. A later ForTestShared starts anew.
func StopShared() {
	shared.Lock()
	defer shared.Unlock()
	for _, s := range shared.servers {
		s.Close()
	}
	clear(shared.servers)
	clear(shared.errs)
}

// Stopping wraps m for TestMain: it runs m, then [StopShared], and then leaves some time for goroutines that end by themselves,
// such as a probe of memberlist's after its node's stop. All this comes before goleak looks for goroutines that were left
// behind, which waits for a second or two:
//
//	func TestMain(m *testing.M) { goleak.VerifyTestMain(brokers.Stopping(m)) }
//
// What goleak must ignore must be given here too.
func Stopping(m interface{ Run() int }, ignored ...goleak.Option) interface{ Run() int } {
	return stopping{m, ignored}
}

type stopping struct {
	tests   interface{ Run() int }
	ignored []goleak.Option
}

// settling is the time that goroutines may take to end: UDP waits up to a minute for the goodbye of a process that was
// killed.
const settling = 90 * time.Second

func (s stopping) Run() int {
	code := s.tests.Run()
	StopShared()
	for begun := time.Now(); code == 0 && time.Since(begun) < settling && goleak.Find(s.ignored...) != nil; {
	}
	return code
}
