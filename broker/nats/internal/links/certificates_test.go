package links_test

import (
	"crypto/tls"
	"testing"

	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/transport/tcp"
)

func certificates(t *testing.T, files transporttest.Files) *tls.Config {
	t.Helper()
	config, err := tcp.Certificates(files.Cert, files.Key, files.CA)
	if err != nil {
		t.Fatal(err)
	}
	return config
}
