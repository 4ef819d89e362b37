package tcp

import (
	"crypto/tls"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/transporttest"
)

func TestTheLogWarnsOfACertificateThatEnds(t *testing.T) {
	authority, dir := transporttest.NewAuthority(t, "ops"), t.TempDir()
	server := follow(t, authority.Issue(t, dir, "server")) // for an hour before and an hour after now
	lines := func(after time.Duration, begun string) int {
		server.clock = server.clock.Add(after)
		if _, err := server.GetCertificate(&tls.ClientHelloInfo{}); err != nil {
			t.Fatal(err)
		}
		return strings.Count(server.log.String(), begun)
	}
	const soon, expired = "level=WARN msg=\"a TLS certificate expires soon", "level=ERROR msg=\"a TLS certificate has expired"
	if got := lines(35*time.Minute, soon); got != 0 {
		t.Errorf("with a fifth of its time left there are %d lines:\n%s", got, server.log.String())
	}
	if got := lines(10*time.Minute, soon); got != 1 {
		t.Errorf("with an eighth left there are %d lines, want one", got)
	}
	if got := lines(10*time.Minute, soon); got != 1 {
		t.Errorf("ten minutes later there are %d lines, want one a day", got)
	}
	if got := lines(10*time.Minute, expired); got != 1 {
		t.Errorf("when it has expired there are %d lines, want one at once", got)
	}
	if got := lines(50*time.Minute, expired); got != 1 {
		t.Errorf("50 minutes later there are %d lines, want one an hour", got)
	}
	if got := lines(20*time.Minute, expired); got != 2 {
		t.Errorf("70 minutes later there are %d lines, want two", got)
	}
}

func TestACertificateThatHasExpiredIsLoggedAtTheStart(t *testing.T) {
	authority, dir := transporttest.NewAuthority(t, "ops"), t.TempDir()
	files := authority.Issue(t, dir, "server")
	m, err := load([3]string{files.Cert, files.Key, files.CA})
	if err != nil {
		t.Fatal(err)
	}
	source := &certificateFiles{paths: [3]string{files.Cert, files.Key, files.CA}, now: func() time.Time { return m.certificate.Leaf.NotAfter.Add(time.Second) }}
	logged := 0
	source.expiry.log = func(slog.Level, string, ...any) { logged++ }
	if _, err := source.config(); err != nil || logged != 1 {
		t.Errorf("%d lines, %v", logged, err)
	}
}
