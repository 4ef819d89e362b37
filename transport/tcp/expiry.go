package tcp

import (
	"log/slog"
	"time"
)

const (
	// soonShare is the share of a certificate's time, at its end, in which it should have been renewed: what renews by itself does so when a third is left.
	soonShare = 6
	// soonEvery and expiredEvery are the times between two lines of the log.
	soonEvery    = 24 * time.Hour
	expiredEvery = time.Hour
)

// expiry says when the certificate that is shown to others ends. Those others refuse one that has, and all that this side gets is
// an alert, which does not name the cause.
type expiry struct {
	log  func(level slog.Level, message string, arguments ...any)
	next time.Time // of the next line
	of   time.Time // the end of the certificate that next is for
	past bool      // whether it had expired then
}

// check logs that the certificate of a file has expired or soon will, at once and then now and again.
func (e *expiry) check(file string, m *material, now time.Time) {
	if m.certificate == nil || m.certificate.Leaf == nil {
		return
	}
	leaf := m.certificate.Leaf
	past := now.After(leaf.NotAfter)
	if !leaf.NotAfter.Equal(e.of) || past != e.past {
		e.of, e.past, e.next = leaf.NotAfter, past, time.Time{}
	}
	if now.Before(e.next) {
		return
	}
	left := leaf.NotAfter.Sub(now)
	switch {
	case past:
		e.log(slog.LevelError, "a TLS certificate has expired: others refuse connections with it until the file is renewed, which takes no restart",
			"file", file, "expired", leaf.NotAfter)
		e.next = now.Add(expiredEvery)
	case left < leaf.NotAfter.Sub(leaf.NotBefore)/soonShare:
		e.log(slog.LevelWarn, "a TLS certificate expires soon, and its file has not been renewed", "file", file, "expires", leaf.NotAfter,
			"left", left.Round(time.Minute).String())
		e.next = now.Add(soonEvery)
	}
}
