package conformance_test

import (
	"flag"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	_ "github.com/sabir-go/sabir/broker/amqp"
	_ "github.com/sabir-go/sabir/broker/mqtt"
	_ "github.com/sabir-go/sabir/broker/nats"
	_ "github.com/sabir-go/sabir/broker/redis"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/conformance"
	"github.com/sabir-go/sabir/internal/race"
	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/transport/compress"
	_ "github.com/sabir-go/sabir/transport/grpc"
	_ "github.com/sabir-go/sabir/transport/h2"
	_ "github.com/sabir-go/sabir/transport/http"
	_ "github.com/sabir-go/sabir/transport/kcp"
	_ "github.com/sabir-go/sabir/transport/mem"
	_ "github.com/sabir-go/sabir/transport/quic"
	"github.com/sabir-go/sabir/transport/tcp"
	_ "github.com/sabir-go/sabir/transport/utp"
)

var (
	overMem  = conformance.Transport{Name: "mem", Address: memAddress}
	overTCP  = conformance.Transport{Name: "tcp", Address: tcpAddress, Processes: true}
	overUnix = conformance.Transport{Name: "unix", Address: unixAddress, Processes: true}
	keyed    = conformance.Transport{Name: "tcp with a key", Address: tcpAddress, Processes: true, Key: "the key of a cluster, for tests."}
	doubled  = conformance.Transport{Name: "tcp with 2 connections", Address: tcpAddress, Processes: true,
		Connections: 2, Options: []cluster.Option{cluster.Links{Connections: 2}}}
	compressed = conformance.Transport{Name: "tcp with everything compressed", Address: tcpAddress, Processes: true,
		Options: []cluster.Option{compress.S2(1)}}

	overQUIC     = conformance.Transport{Name: "quic", Address: loopback("quic"), Processes: true, Silent: true}
	overKCP      = conformance.Transport{Name: "kcp", Address: loopback("kcp"), Processes: true, Silent: true}
	overUTP      = conformance.Transport{Name: "utp", Address: loopback("utp"), Processes: true, Silent: true}
	overGRPC     = conformance.Transport{Name: "grpc", Address: loopback("grpc"), Processes: true}
	overHTTP2    = conformance.Transport{Name: "grpc+tcp", Address: loopback("grpc+tcp"), Processes: true}
	overHTTP     = conformance.Transport{Name: "http", Address: loopback("http"), Processes: true}
	overEmbedded = conformance.Transport{Name: "nats embedded", Address: embeddedAddress, Broker: true}
)

func TestMain(m *testing.M) {
	conformance.Main(overTCP, overUnix, keyed, doubled, compressed, overQUIC, overKCP, overUTP, overGRPC, overHTTP2, overHTTP,
		broker("nats", ""), broker("redis", ""), broker("mqtt", ""), broker("amqp", ""))
	flag.Parse()
	if parallel := flag.Lookup("test.parallel"); parallel.Value.String() == parallel.DefValue {
		_ = parallel.Value.Set(atOnce)
	}
	ignored := []goleak.Option{
		goleak.IgnoreTopFunction("github.com/xtaci/kcp-go/v5.(*TimedSched).sched"), // the library starts these with the process
		goleak.IgnoreTopFunction("github.com/xtaci/kcp-go/v5.(*TimedSched).prepend"),
	}
	goleak.VerifyTestMain(brokers.Stopping(m, ignored...), ignored...)
}

func TestMem(t *testing.T)         { conformance.Run(t, overMem) }
func TestTCP(t *testing.T)         { brokers.Long(t); conformance.Run(t, overTCP) }
func TestUnix(t *testing.T)        { notRaced(t, overUnix) }
func TestKeyed(t *testing.T)       { notRaced(t, keyed) }
func TestConnections(t *testing.T) { nightly(t, doubled) }
func TestCompressed(t *testing.T)  { nightly(t, compressed) }
func TestEmbedded(t *testing.T)    { notRaced(t, overEmbedded) }

func TestQUIC(t *testing.T)  { slow(t, overQUIC) }
func TestKCP(t *testing.T)   { nightly(t, overKCP) }
func TestUTP(t *testing.T)   { slow(t, overUTP) }
func TestGRPC(t *testing.T)  { slow(t, overGRPC) }
func TestHTTP2(t *testing.T) { slow(t, overHTTP2) }
func TestHTTP(t *testing.T)  { nightly(t, overHTTP) }

func TestNATS(t *testing.T)     { overBroker(t, "nats", brokers.NATS) }
func TestRedis(t *testing.T)    { overBroker(t, "redis", brokers.Redis) }
func TestMQTT(t *testing.T)     { overBroker(t, "mqtt", brokers.Mosquitto) }
func TestRabbitMQ(t *testing.T) { brokers.Nightly(t); overBroker(t, "amqp", brokers.RabbitMQ) }

// slow is a transport that the quick loop leaves out: its own package has tests in that loop.
func slow(t *testing.T, tr conformance.Transport) {
	brokers.Slow(t)
	conformance.Run(t, tr)
}

// nightly is a transport, or a form of one, that is like another: two links or compressed frames over TCP, KCP like QUIC, HTTP/1.1 like HTTP/2.
// So is RabbitMQ among brokers; what is its own is tested with the transport.
func nightly(t *testing.T, tr conformance.Transport) {
	brokers.Nightly(t)
	conformance.Run(t, tr)
}

// notRaced is a transport for which others stand under the race detector, where each takes minutes: memory, TCP and Redis
// start all there is above the transports, and each transport has tests of its own.
func notRaced(t *testing.T, tr conformance.Transport) {
	brokers.Long(t)
	if race.Enabled {
		t.Skip("under the race detector memory, TCP and Redis stand for it")
	}
	conformance.Run(t, tr)
}

func overBroker(t *testing.T, name string, kind brokers.Kind) {
	if !race.Enabled || kind != brokers.Redis {
		brokers.Slow(t)
	}
	conformance.Run(t, broker(name, brokers.ForTest(t, kind).URL()))
}

func broker(name, url string) conformance.Transport {
	return conformance.Transport{Name: name, Address: func(testing.TB) string { return url }, Broker: true, Processes: true}
}

func TestTLS(t *testing.T) {
	brokers.Long(t)
	files := transporttest.NewAuthority(t, "conformance").Issue(t, t.TempDir(), "127.0.0.1")
	config, err := tcp.Certificates(files.Cert, files.Key, files.CA)
	if err != nil {
		t.Fatal(err)
	}
	notRaced(t, conformance.Transport{
		Name:    "tls",
		Address: func(testing.TB) string { return "tls://127.0.0.1:0" },
		Options: []cluster.Option{cluster.Config{TLS: config}},
		Proven:  "127.0.0.1",
	})
}

// embeddedAddress is the same for all nodes of a cluster: each has a server of its own, and these form a NATS cluster. No
// two clusters of this process have a port in common. Both ports, of which the one for routes is 2000 above, are free, and
// below those that kernels give to outgoing connections, and those where tests of other packages start and stop servers
// meanwhile.
func embeddedAddress(t testing.TB) string {
	for range 2000 {
		port := 12288 + int(embeddedPorts.Add(1))%2000
		if canListen(port) && canListen(port+2000) {
			return "nats://embedded:" + strconv.Itoa(port)
		}
	}
	t.Fatal("no two ports 2000 apart are free")
	return ""
}

// embeddedPorts begins anywhere, for this suite may run twice on a machine.
var embeddedPorts = func() *atomic.Int64 {
	var n atomic.Int64
	n.Store(rand.Int64N(2000))
	return &n
}()

func canListen(port int) bool {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

func loopback(scheme string) func(testing.TB) string {
	return func(testing.TB) string { return scheme + "://127.0.0.1:0" }
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
