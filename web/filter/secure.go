package filter

import (
	"fmt"
	"strings"
	"time"

	"github.com/sabir-go/sabir/web/exchange"
)

// SecureOption is an option of [Secure].
type SecureOption func(*secure)

// HSTS sets how long browsers come back over TLS only (RFC 6797). Default: a year; 0 for no header. It is sent over
// TLS only, and binds the whole host: subdomains too if they are named.
func HSTS(age time.Duration, subdomains bool) SecureOption {
	return func(s *secure) {
		s.wrong.want(age >= 0, "Secure: HSTS(%v)", age)
		s.hsts = ""
		if age > 0 {
			s.hsts = fmt.Sprintf("max-age=%d", int64(age/time.Second))
		}
		if age > 0 && subdomains {
			s.hsts += "; includeSubDomains"
		}
	}
}

// Frames sets which pages may show answers in a frame: "DENY", "SAMEORIGIN", or "" for no header. Default: "DENY".
func Frames(policy string) SecureOption {
	return func(s *secure) {
		s.wrong.want(policy == "" || policy == "DENY" || policy == "SAMEORIGIN", "Secure: Frames(%q): want \"DENY\", \"SAMEORIGIN\" or \"\"", policy)
		s.frames = policy
	}
}

// Referrer is the Referrer-Policy. Default: "no-referrer"; "" for none.
func Referrer(policy string) SecureOption {
	return func(s *secure) {
		s.wrong.want(policy == "" || isToken(strings.NewReplacer(",", "", " ", "").Replace(policy)), "Secure: Referrer(%q): want one such as \"no-referrer\"", policy)
		s.referrer = policy
	}
}

// ContentPolicy is the Content-Security-Policy of answers that are data, not pages, and have none. Default: one that
// lets browsers load and run nothing from them: "default-src 'none'; frame-ancestors 'none'".
func ContentPolicy(policy string) SecureOption {
	return func(s *secure) {
		s.wrong.want(!strings.ContainsFunc(policy, func(r rune) bool { return r < ' ' || r > '~' }), "Secure: ContentPolicy has a character that no header can have")
		s.content = policy
	}
}

type secure struct {
	wrong    problems
	hsts     string
	frames   string
	referrer string
	content  string
}

// Secure sets the headers that keep browsers from doing more with answers than they should: X-Content-Type-Options,
// X-Frame-Options, Referrer-Policy, over TLS Strict-Transport-Security, and for JSON a Content-Security-Policy. What an answer
// sets itself is not changed.
func Secure(options ...SecureOption) exchange.Filter {
	s := &secure{hsts: "max-age=31536000", frames: "DENY", referrer: "no-referrer", content: "default-src 'none'; frame-ancestors 'none'"}
	for _, o := range options {
		o(s)
	}
	return s.wrong.filter(exchange.Filter{Name: "secure", Before: s.before, After: s.after})
}

func (s *secure) before(x *exchange.Exchange) error {
	put(x, "X-Content-Type-Options", "nosniff")
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
