package conformance_test

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/conformance"
	_ "github.com/sabir-go/sabir/transport/mem"
	"github.com/sabir-go/sabir/transport/tcp"
	"github.com/sabir-go/sabir/transport/transporttest"
)

var (
	overMem  = conformance.Transport{Name: "mem", Address: memAddress}
	overTCP  = conformance.Transport{Name: "tcp", Address: tcpAddress, Processes: true}
	overUnix = conformance.Transport{Name: "unix", Address: unixAddress, Processes: true}
	keyed    = conformance.Transport{Name: "tcp with a key", Address: tcpAddress, Processes: true,
		Options: []sabir.JoinOption{sabir.ClusterKey("the key of a cluster, for tests.")}}
	doubled = conformance.Transport{Name: "tcp with 2 connections", Address: tcpAddress, Processes: true,
		Options: []sabir.JoinOption{sabir.Connections(2)}}
	compressed = conformance.Transport{Name: "tcp with everything compressed", Address: tcpAddress, Processes: true,
		Options: []sabir.JoinOption{sabir.Compress("s2", 1)}}
)

func TestMain(m *testing.M) {
	conformance.Main(overTCP, overUnix, keyed, doubled, compressed)
	flag.Parse()
	if parallel := flag.Lookup("test.parallel"); parallel.Value.String() == parallel.DefValue {
		_ = parallel.Value.Set("12") // they wait more than they work
	}
	goleak.VerifyTestMain(m)
}

func TestMem(t *testing.T)         { conformance.Run(t, overMem) }
func TestTCP(t *testing.T)         { conformance.Run(t, overTCP) }
func TestUnix(t *testing.T)        { conformance.Run(t, overUnix) }
func TestKeyed(t *testing.T)       { conformance.Run(t, keyed) }
func TestConnections(t *testing.T) { conformance.Run(t, doubled) }
func TestCompressed(t *testing.T)  { conformance.Run(t, compressed) }

func TestTLS(t *testing.T) {
	files := transporttest.NewAuthority(t, "conformance").Issue(t, t.TempDir(), "127.0.0.1")
	config, err := tcp.Certificates(files.Cert, files.Key, files.CA)
	if err != nil {
		t.Fatal(err)
	}
	conformance.Run(t, conformance.Transport{
		Name:    "tls",
		Address: func(testing.TB) string { return "tls://127.0.0.1:0" },
		Options: []sabir.JoinOption{sabir.ClusterTLS(config)},
	})
}

func tcpAddress(testing.TB) string { return "tcp://127.0.0.1:0" }

var numbers atomic.Int64

func memAddress(testing.TB) string { return "mem://n" + strconv.FormatInt(numbers.Add(1), 10) }

// unixAddress is in a folder with a short name, for the path of a socket is bounded to about 100 bytes.
func unixAddress(t testing.TB) string {
	dir, err := os.MkdirTemp("", "sabir")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return "unix://" + filepath.Join(dir, "s")
}
