package filter

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/sabir-go/sabir/web/exchange"
)

// Secure sets the headers that keep browsers from doing more with answers than they should: X-Frame-Options, Referrer-Policy,
// over TLS Strict-Transport-Security, and for JSON a Content-Security-Policy. What an answer sets itself is not changed. Each answer
// has X-Content-Type-Options without it. The zero Secure is right for most.
type Secure struct {
	// HSTS is the time for which browsers come back over TLS only (RFC 6797). It is sent over TLS only, and binds the whole host.
	// Default: a year; -1 for no header.
	HSTS time.Duration
	// Subdomains extends HSTS to all subdomains of the host.
	Subdomains bool
	// Frames is which pages may show answers in a frame: "DENY", "SAMEORIGIN" or "-" for no header. Default: "DENY".
	Frames string
	// Referrer is the Referrer-Policy, or "-" for no header. Default: "no-referrer".
	Referrer string
	// ContentPolicy is the Content-Security-Policy of answers that are data, not pages, and have none, or "-" for no header. Default: one
	// that lets browsers load and run nothing from them: "default-src 'none'; frame-ancestors 'none'".
	ContentPolicy string
}

type secure struct{ hsts, frames, referrer, content string }

// Filter makes the filter.
func (f Secure) Filter() exchange.Filter {
	var wrong problems
	wrong.want(f.HSTS >= -1, "Secure: HSTS is %v", f.HSTS)
	s := &secure{frames: header(f.Frames, "DENY"), referrer: header(f.Referrer, "no-referrer"),
		content: header(f.ContentPolicy, "default-src 'none'; frame-ancestors 'none'")}
	if f.HSTS != -1 {
		s.hsts = fmt.Sprintf("max-age=%d", int64(cmp.Or(f.HSTS, 365*24*time.Hour)/time.Second))
		if f.Subdomains {
			s.hsts += "; includeSubDomains"
		}
	}
	wrong.want(s.frames == "" || s.frames == "DENY" || s.frames == "SAMEORIGIN", "Secure: Frames is %q: want \"DENY\", \"SAMEORIGIN\" or \"-\"", s.frames)
	wrong.want(s.referrer == "" || isToken(strings.NewReplacer(",", "", " ", "").Replace(s.referrer)), "Secure: Referrer is %q: want one such as \"no-referrer\"", s.referrer)
	wrong.want(!strings.ContainsFunc(s.content, func(r rune) bool { return r < ' ' || r > '~' }), "Secure: ContentPolicy has a character that no header can have")
	return wrong.filter(exchange.Filter{Name: "secure", Before: s.before, After: s.after})
}

// header is the value of a header: the one that is set, the usual one, or "" for none.
func header(set, usual string) string {
	if set == "-" {
		return ""
	}
	return cmp.Or(set, usual)
}

func (s *secure) before(x *exchange.Exchange) error {
	put(x, "X-Frame-Options", s.frames)
	put(x, "Referrer-Policy", s.referrer)
	if x.TLS != nil {
		put(x, "Strict-Transport-Security", s.hsts)
	}
	return nil
}

func (s *secure) after(x *exchange.Exchange) {
	if x.Type == "application/json" || strings.HasSuffix(x.Type, "+json") {
		put(x, "Content-Security-Policy", s.content)
	}
}

func put(x *exchange.Exchange, name, value string) {
	if value != "" && !x.Answer.Has(name) {
		x.Answer.Add(name, value)
	}
}
