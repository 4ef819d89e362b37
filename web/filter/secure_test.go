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
	const usual = "X-Frame-Options: DENY\nReferrer-Policy: no-referrer"
	const policy = "\nContent-Security-Policy: default-src 'none'; frame-ancestors 'none'"
	for _, c := range []struct {
		what   string
		filter filter.Secure
		change func(*exchange.Exchange)
		want   string
	}{
		{"JSON", filter.Secure{}, func(*exchange.Exchange) {}, usual + policy},
		{"a problem", filter.Secure{}, func(x *exchange.Exchange) { x.Type = "application/problem+json" }, usual + policy},
		{"a page", filter.Secure{}, func(x *exchange.Exchange) { x.Type = "text/html" }, usual},
		{"over TLS", filter.Secure{}, func(x *exchange.Exchange) { x.TLS = &tls.ConnectionState{} }, usual + "\nStrict-Transport-Security: max-age=31536000" + policy},
		{"with subdomains", filter.Secure{HSTS: time.Hour, Subdomains: true}, func(x *exchange.Exchange) { x.TLS = &tls.ConnectionState{} }, usual + "\nStrict-Transport-Security: max-age=3600; includeSubDomains" + policy},
		{"nothing", filter.Secure{HSTS: -1, Subdomains: true, Frames: "-", Referrer: "-", ContentPolicy: "-"}, func(x *exchange.Exchange) { x.TLS = &tls.ConnectionState{} }, ""},
		{"others", filter.Secure{Frames: "SAMEORIGIN", Referrer: "strict-origin, same-origin", ContentPolicy: "default-src 'self'"}, func(*exchange.Exchange) {}, "X-Frame-Options: SAMEORIGIN\nReferrer-Policy: strict-origin, same-origin\nContent-Security-Policy: default-src 'self'"},
		{"what the answer says", filter.Secure{}, func(x *exchange.Exchange) {
			x.Answer.Add("Content-Security-Policy", "default-src 'self'")
		}, usual + "\nContent-Security-Policy: default-src 'self'"},
	} {
		x := answered(request(), "{}")
		c.change(x)
		if through(c.filter.Filter(), x); headers(x, secureNames...) != c.want {
			t.Errorf("%s: got %s", c.what, headers(x, secureNames...))
		}
	}
}

func TestSecurityHeadersThatAreNotSound(t *testing.T) {
	misconfigured(t, filter.Secure{HSTS: -2}.Filter(), "HSTS")
	misconfigured(t, filter.Secure{Frames: "ALLOW-FROM x"}.Filter(), "Frames")
	misconfigured(t, filter.Secure{Referrer: "a\nb"}.Filter(), "Referrer")
	misconfigured(t, filter.Secure{ContentPolicy: "a\r\nb"}.Filter(), "ContentPolicy")
}

func BenchmarkSecure(b *testing.B) { bench(b, filter.Secure{}.Filter(), answered(roomy(), "{}"), nil) }
