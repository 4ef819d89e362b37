package tcp

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"time"
	"weak"
)

const (
	// soonShare is the share of a certificate's time, at its end, in which it should have been renewed: what renews by itself does so when a third is left.
	soonShare = 6
	// soonAtMost bounds that time: of an authority for ten years it would be twenty months.
	soonAtMost = 90 * 24 * time.Hour
	// soonEvery and expiredEvery are the times between two lines of the log.
	soonEvery    = 24 * time.Hour
	expiredEvery = time.Hour
	// watchEvery is the time after which certificates are looked at without any handshake: links stand for months.
	watchEvery = time.Hour
	// longestChain bounds how many authorities are followed upwards.
	longestChain = 8
)

// expiry says when the certificates end by which this side is known to others and by which it knows them, and which are not valid yet. Others refuse
// such ones, and all that this side gets is an alert, which does not name the cause.
type expiry struct {
	log  func(level slog.Level, message string, arguments ...any)
	told map[string]told // by the bytes of the certificate
}

// told records when the log has had a certificate, so that not every look repeats it.
type told struct {
	next  time.Time // of the next line
	phase validity  // of the certificate then
}

// validity is the part of a certificate's time at a moment.
type validity uint8

const (
	valid validity = iota
	notYet
	noMore
)

// ending is a certificate whose end is the end of what the files are for.
type ending struct {
	file        string
	certificate *x509.Certificate
	expired     string // what is logged then
	soon        string
}

// endings returns the certificates that end first: the own one, the authority in its chain, and the authority for others that ends last, each once.
// One of several authorities for others may have expired without harm, while they are replaced.
func endings(paths [3]string, m *material) (list []ending) {
	add := func(file string, c *x509.Certificate, expired, soon string) {
		for _, e := range list {
			if e.certificate.Equal(c) {
				return
			}
		}
		list = append(list, ending{file, c, expired, soon})
	}
	if m.certificate != nil && m.certificate.Leaf != nil {
		leaf := m.certificate.Leaf
		add(paths[0], leaf, "a TLS certificate has expired: others refuse connections with it until the file is renewed, which takes no restart",
			"a TLS certificate expires soon, and its file has not been renewed")
		var above []*x509.Certificate
		for _, der := range m.certificate.Certificate[1:] {
			if c, err := x509.ParseCertificate(der); err == nil {
				above = append(above, c)
			}
		}
		if first := firstEnd(leaf, append(above, m.listed...), longestChain); first != leaf {
			add(paths[0], first, "the authority of a TLS certificate has expired: others refuse connections with the certificate until both are renewed, which takes no restart",
				"the authority of a TLS certificate expires soon, before the certificate does")
		}
	}
	var last *x509.Certificate
	for _, c := range m.listed {
		if last == nil || c.NotAfter.After(last.NotAfter) {
			last = c
		}
	}
	if last != nil {
		add(paths[2], last, "all TLS authorities of a file have expired: connections with certificates of them are refused until the file is renewed, which takes no restart",
			"the last of the TLS authorities of a file expires soon, and the file has not been renewed")
	}
	return list
}

// firstEnd returns the certificate that ends first on the way from c upwards: of several authorities that signed one certificate, by the one
// with which that is latest.
func firstEnd(c *x509.Certificate, authorities []*x509.Certificate, depth int) *x509.Certificate {
	var above *x509.Certificate
	for _, a := range authorities {
		if depth == 0 || a.Equal(c) || !bytes.Equal(a.RawSubject, c.RawIssuer) || c.CheckSignatureFrom(a) != nil {
			continue
		}
		if first := firstEnd(a, authorities, depth-1); above == nil || first.NotAfter.After(above.NotAfter) {
			above = first
		}
	}
	if above != nil && above.NotAfter.Before(c.NotAfter) {
		return above
	}
	return c
}

// check logs that a certificate has expired, soon will, or is not valid yet, at once and then now and again.
func (e *expiry) check(list []ending, now time.Time) {
	before := e.told
	e.told = make(map[string]told, len(list))
	for _, of := range list {
		c := of.certificate
		t := before[string(c.Raw)]
		phase := valid
		if now.Before(c.NotBefore) {
			phase = notYet
		} else if now.After(c.NotAfter) {
			phase = noMore
		}
		if phase != t.phase {
			t = told{phase: phase}
		}
		left := c.NotAfter.Sub(now)
		switch {
		case now.Before(t.next):
		case phase == notYet:
			e.log(slog.LevelError, "a TLS certificate is not valid yet, and connections that need it are refused until it is: is the clock of this machine right?",
				"file", of.file, "subject", c.Subject.String(), "valid_from", c.NotBefore)
			t.next = now.Add(expiredEvery)
		case phase == noMore:
			e.log(slog.LevelError, of.expired, "file", of.file, "subject", c.Subject.String(), "expired", c.NotAfter)
			t.next = now.Add(expiredEvery)
		case left < min(c.NotAfter.Sub(c.NotBefore)/soonShare, soonAtMost):
			e.log(slog.LevelWarn, of.soon, "file", of.file, "subject", c.Subject.String(), "expires", c.NotAfter, "left", left.Round(time.Minute).String())
			t.next = now.Add(soonEvery)
		}
		e.told[string(c.Raw)] = t
	}
}

// watch has the files looked at now and then, as long as a configuration uses them.
func watch(files weak.Pointer[certificateFiles]) {
	time.AfterFunc(watchEvery, func() {
		if f := files.Value(); f != nil {
			f.latest()
			watch(files)
		}
	})
}

// certificatesIn returns the certificates of a text in PEM form, without those that cannot be read, as [x509.CertPool.AppendCertsFromPEM] leaves them out.
func certificatesIn(text []byte) (list []*x509.Certificate) {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if c, err := x509.ParseCertificate(block.Bytes); err == nil && block.Type == "CERTIFICATE" {
			list = append(list, c)
		}
	}
	return list
}
