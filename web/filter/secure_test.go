package filter_test

import (
	"crypto/tls"
	"testing"
	"time"

	"github.com/sabir-go/sabir/web/exchange"
	"github.com/sabir-go/sabir/web/filter"
)

var secureNames = []string{"X-Content-Type-Options", "X-Frame-Options", "Referrer-Policy", "Strict-Transport-Security", "Content-Security-Policy"}

func TestSecurityHeaders(t *testing.T) {
	const usual = "X-Content-Type-Options: nosniff\nX-Frame-Options: DENY\nReferrer-Policy: no-referrer"
	const policy = "\nContent-Security-Policy: default-src 'none'; frame-ancestors 'none'"
	for _, c := range []struct {
		what    string
		options []filter.SecureOption
		change  func(*exchange.Exchange)
		want    string
	}{
		{"JSON", nil, func(*exchange.Exchange) {}, usual + policy},
		{"a problem", nil, func(x *exchange.Exchange) { x.Type = "application/problem+json" }, usual + policy},
		{"a page", nil, func(x *exchange.Exchange) { x.Type = "text/html" }, usual},
		{"over TLS", nil, func(x *exchange.Exchange) { x.TLS = &tls.ConnectionState{} }, usual + "\nStrict-Transport-Security: max-age=31536000" + policy},
		{"with subdomains", []filter.SecureOption{filter.HSTS(time.Hour, true)}, func(x *exchange.Exchange) { x.TLS = &tls.ConnectionState{} }, usual + "\nStrict-Transport-Security: max-age=3600; includeSubDomains" + policy},
		{"nothing but nosniff", []filter.SecureOption{filter.HSTS(0, true), filter.Frames(""), filter.Referrer(""), filter.ContentPolicy("")}, func(x *exchange.Exchange) { x.TLS = &tls.ConnectionState{} }, "X-Content-Type-Options: nosniff"},
		{"others", []filter.SecureOption{filter.Frames("SAMEORIGIN"), filter.Referrer("strict-origin, same-origin"), filter.ContentPolicy("default-src 'self'")}, func(*exchange.Exchange) {}, "X-Content-Type-Options: nosniff\nX-Frame-Options: SAMEORIGIN\nReferrer-Policy: strict-origin, same-origin\nContent-Security-Policy: default-src 'self'"},
		{"what the answer says", nil, func(x *exchange.Exchange) {
			x.Answer.Add("Content-Security-Policy", "default-src 'self'")
			x.Answer.Add("X-Content-Type-Options", "nosniff")
		}, usual + "\nContent-Security-Policy: default-src 'self'"},
	} {
		x := answered(request(), "{}")
		c.change(x)
		if through(filter.Secure(c.options...), x); headers(x, secureNames...) != c.want {
			t.Errorf("%s: got %s", c.what, headers(x, secureNames...))
		}
	}
}

func TestSecurityHeadersThatAreNotSound(t *testing.T) {
	misconfigured(t, filter.Secure(filter.HSTS(-1, false)), "HSTS")
	misconfigured(t, filter.Secure(filter.Frames("ALLOW-FROM x")), "Frames")
	misconfigured(t, filter.Secure(filter.Referrer("a\nb")), "Referrer")
	misconfigured(t, filter.Secure(filter.ContentPolicy("a\r\nb")), "ContentPolicy")
}

func BenchmarkSecure(b *testing.B) { bench(b, filter.Secure(), answered(roomy(), "{}"), nil) }
