package brokers

import (
	"errors"
	"os"
	"sync"
	"testing"
)

// TestAll is the variable of the environment that makes a missing broker a failure of the tests that want it, and without
// which the tests that take minutes are left out; ./test sets it.
const TestAll = "SABIR_TEST_ALL"

// Slow skips a test that takes too long for the quick loop, which go test ./... is.
func Slow(t testing.TB) {
	t.Helper()
	if os.Getenv(TestAll) == "" {
		t.Skipf("NOT TESTED: not in the quick loop; run ./test, or set %s=1", TestAll)
	}
}

// ForTest starts a broker that ends with the test. At most one Config may be given. Where the broker is not installed it
// skips the test, naming the Debian package that has it, or fails it where the variable SABIR_TEST_ALL is set; so it does
// with RabbitMQ, which takes seconds to start, where that is not set. If
// the test fails, the end of the broker's log is logged.
func ForTest(t testing.TB, kind Kind, config ...Config) *Server {
	t.Helper()
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
	if errors.Is(err, ErrMissing) && os.Getenv(TestAll) == "" {
		t.Skipf("NOT TESTED: %v", err)
	}
	t.Fatal(err)
}

var shared struct {
	sync.Mutex
	servers map[Kind]*Server
	errs    map[Kind]error
}

// ForTestShared is [ForTest] for tests that can live with others' data in the broker, and that neither stop nor suspend
// it: all of a process's tests get the same one, with the zero Config. TestMain must end it after the tests: see [Stopping].
func ForTestShared(t testing.TB, kind Kind) *Server {
	t.Helper()
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

// StopShared ends what ForTestShared started. A later ForTestShared starts anew.
func StopShared() {
	shared.Lock()
	defer shared.Unlock()
	for _, s := range shared.servers {
		s.Close()
	}
	clear(shared.servers)
	clear(shared.errs)
}

// Stopping is for TestMain: m, and then StopShared. That comes before goleak looks for goroutines that were left behind:
//
//	func TestMain(m *testing.M) { goleak.VerifyTestMain(brokers.Stopping(m)) }
func Stopping(m interface{ Run() int }) interface{ Run() int } { return stopping{m} }

type stopping struct{ tests interface{ Run() int } }

func (s stopping) Run() int {
	defer StopShared()
	return s.tests.Run()
}
