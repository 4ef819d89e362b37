package tcp

import (
	"crypto/tls"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
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
	authority, dir := transporttest.NewAuthorityFor(t, "ops", 2*time.Hour), t.TempDir()
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

func TestACertificateThatIsNotValidYetIsLogged(t *testing.T) {
	authority, dir := transporttest.NewAuthorityFor(t, "ops", 2*time.Hour), t.TempDir()
	now := time.Now().Add(-90 * time.Minute)
	server := follow(t, authority.Issue(t, dir, "server"), func() time.Time { return now }) // for an hour before and an hour after now
	if got := server.log.String(); !strings.Contains(got, "level=ERROR msg=\"a TLS certificate is not valid yet") || !strings.Contains(got, "clock") {
		t.Errorf("half an hour before it is valid the log has %q", got)
	}
	server.log.Reset()
	now = now.Add(31 * time.Minute)
	if _, err := server.GetCertificate(&tls.ClientHelloInfo{}); err != nil || server.log.String() != "" {
		t.Errorf("when it is valid: %v, and the log has %q", err, server.log.String())
	}
}

func TestTheLogWarnsOfAnAuthorityThatEndsBeforeItsCertificates(t *testing.T) {
	authority := transporttest.NewAuthorityFor(t, "ops", time.Hour)
	middle := authority.Below(t, "middle", 30*time.Minute)
	const (
		inChain        = "msg=\"the authority of a TLS certificate"
		inChainExpired = inChain + " has expired"
		allExpired     = "msg=\"all TLS authorities of a file have expired"
	)
	for _, one := range []struct {
		name   string
		issuer *transporttest.Authority
		want   map[time.Duration][]string // after so long, lines that are new
	}{
		{"the root", authority, map[time.Duration][]string{0: nil, 55 * time.Minute: {inChain + " expires soon"}, 61 * time.Minute: {inChainExpired}}},
		{"one in between", middle, map[time.Duration][]string{0: nil, 29 * time.Minute: {inChain + " expires soon"}, 31 * time.Minute: {inChainExpired},
			61 * time.Minute: {allExpired}}},
	} {
		files := one.issuer.IssueFor(t, t.TempDir(), 24*time.Hour, "server")
		server, began := follow(t, files), time.Now()
		for _, after := range []time.Duration{0, 29 * time.Minute, 31 * time.Minute, 55 * time.Minute, 61 * time.Minute} {
			server.log.Reset()
			server.clock = began.Add(after)
			server.GetCertificate(&tls.ClientHelloInfo{})
			for _, want := range one.want[after] {
				if strings.Count(server.log.String(), want) != 1 {
					t.Errorf("%s: after %v: %q is missing:\n%s", one.name, after, want, server.log.String())
				}
			}
			if want, is := one.want[after]; is && len(want) == 0 && server.log.String() != "" {
				t.Errorf("%s: after %v: %s", one.name, after, server.log.String())
			}
		}
	}
}

func TestTheLogIsSilentOfAnAuthorityThatIsReplaced(t *testing.T) {
	old, next := transporttest.NewAuthorityFor(t, "old", 30*time.Minute), transporttest.NewAuthorityFor(t, "next", 1000*time.Hour)
	former := old.Issue(t, t.TempDir(), "server")
	files := next.IssueFor(t, t.TempDir(), 1000*time.Hour, "server")
	var both []byte
	for _, file := range []string{former.CA, files.CA} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		both = append(both, text...)
	}
	if err := os.WriteFile(files.CA, both, 0o600); err != nil {
		t.Fatal(err)
	}
	server := follow(t, files)
	server.clock = server.clock.Add(40 * time.Minute)
	server.GetCertificate(&tls.ClientHelloInfo{})
	if server.log.String() != "" {
		t.Errorf("the old authority expired beside the new one, and the log has: %s", server.log.String())
	}
}

func TestTheLogWarnsNinetyDaysBeforeTheEndAtMost(t *testing.T) {
	const day = 24 * time.Hour
	server := follow(t, transporttest.NewAuthorityFor(t, "ops", 3650*day).IssueFor(t, t.TempDir(), 3650*day, "server"))
	began := time.Now()
	for left, want := range map[time.Duration]int{91 * day: 0, 89 * day: 2} { // of the certificate, and of the authority for others
		server.log.Reset()
		server.clock = began.Add(3650*day - left)
		server.GetCertificate(&tls.ClientHelloInfo{})
		if got := strings.Count(server.log.String(), "expires soon"); got != want {
			t.Errorf("%v before its end: %d lines, want %d", left, got, want)
		}
	}
}

func TestTheLogWarnsWithoutAnyHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := follow(t, transporttest.NewAuthority(t, "ops").Issue(t, t.TempDir(), "server"), time.Now)
		time.Sleep(61 * time.Minute)
		synctest.Wait()
		if server.log.String() == "" {
			t.Error("an hour has passed without a handshake, and nothing says that the certificate ends")
		}
		if _, err := server.GetCertificate(&tls.ClientHelloInfo{}); err != nil { // it is in use until here
			t.Error(err)
		}
	})
}
