package links_test

import (
	"testing"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/secret"
	"github.com/sabir-go/sabir/transport"
)

func TestConformance(t *testing.T) {
	transporttest.Bus(t, brokers.ForTest(t, brokers.NATS, brokers.Config{Password: "s3cret"}), transport.Config{})
}

func TestConformanceOverTLS(t *testing.T) {
	files := transporttest.NewAuthority(t, "test authority").Issue(t, t.TempDir(), "127.0.0.1")
	server := brokers.ForTest(t, brokers.NATS, brokers.Config{Password: "s3cret", Cert: files.Cert, Key: files.Key, CA: files.CA})
	transporttest.Bus(t, server, transport.Config{TLS: certificates(t, files)})
}

// A cluster key is for embedded servers. Others have accounts of their own, or none, and do not ask for it.
func TestAServerThatIsNotEmbeddedIsUsedWithAClusterKeyToo(t *testing.T) {
	at, err := schemes.Parse(brokers.ForTest(t, brokers.NATS).URL())
	if err != nil {
		t.Fatal(err)
	}
	conn, release, err := connect(t.Context(), at, transport.Config{Keyed: true, Secret: secret.New("made of the key of a cluster....")})
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	release()
}
