package filter

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sabir-go/sabir/web/exchange"
)

// CORS lets browsers call for pages of other sites (Fetch standard, section 3.2). A preflight is answered with 204 or, for
// what is not allowed, 403. An origin that is not allowed never appears in an answer; its calls are not refused here, but
// browsers keep the answers from the page. The opaque origin "null" is never allowed: every sandboxed page has it. The zero
// CORS allows none.
type CORS struct {
	// Origins lists the origins that may call: "https://app.example.com", "https://*.example.com" for every name under that
	// one (not itself), "http://localhost:*" for every port, or "*" alone for all, which excludes Credentials.
	Origins []string
	// Allow is asked about origins that Origins does not have. It must be exact: a check by prefix lets
	// https://example.com.evil.org in.
	Allow func(origin string) bool
	// Methods may be used besides GET, HEAD and POST. Default: PUT, PATCH and DELETE.
	Methods []string
	// Headers may be sent besides those that browsers send without asking and those that the server itself reads: Content-Type,
	// Authorization, X-Api-Key, X-Request-Id, X-Request-Timeout, If-Match, If-None-Match, Last-Event-ID, and those of Connect, gRPC-Web, tRPC and MCP.
	// "*" is all but Authorization, and works without Credentials only; an empty list that is not nil is none.
	Headers []string
	// Expose is the headers of answers that pages may read besides those that the server itself writes: X-Request-Id, ETag, Retry-After,
	// RateLimit, RateLimit-Policy, WWW-Authenticate, the status of gRPC-Web and the session of MCP. An empty list that is not nil is none.
	Expose []string
	// Credentials lets browsers send cookies and client certificates along.
	Credentials bool
	// MaxAge sets how long browsers remember the answer to a preflight. Default: 10 minutes; browsers allow at most 2
	// to 24 hours.
	MaxAge time.Duration
	// PrivateNetwork lets pages of public sites call an address in a private network.
	PrivateNetwork bool
}

const (
	maxOrigin         = 512 // bytes of an Origin that is looked at
	maxRequestHeaders = 64  // names in Access-Control-Request-Headers
)

// Filter makes the filter.
func (p CORS) Filter() exchange.Filter {
	c, wrong := newCORS(p)
	return wrong.filter(exchange.Filter{Name: "cors", Before: c.before, Preflight: c.preflight})
}

// Allows reports whether pages of the origin may call. A server that refuses calls of other sites asks it first.
func (p CORS) Allows(origin string) bool {
	c, wrong := newCORS(p)
	return len(wrong) == 0 && c.allows(origin)
}

type cors struct {
	any         bool // every origin, without credentials
	exact       map[string]bool
	under       []originPattern
	allow       func(string) bool
	methods     []string
	headers     map[string]bool // in lower case
	anyHeader   bool
	expose      string
	credentials bool
	maxAge      string
	private     bool
}

// originPattern is an origin with a star in place of the first labels of its name or of its port.
type originPattern struct{ before, after string }

func newCORS(p CORS) (*cors, problems) {
	var wrong problems
	c := &cors{exact: make(map[string]bool), allow: p.Allow, headers: make(map[string]bool), credentials: p.Credentials, private: p.PrivateNetwork}
	for _, origin := range p.Origins {
		wrong.want(c.addOrigin(origin), "CORS: %q is no origin: want \"https://app.example.com\", without a path, \"https://*.example.com\" or \"*\"", origin)
	}
	wrong.want(!c.any || !p.Credentials, "CORS: every origin and Credentials exclude each other: any page could act for the user")
	wrong.want(!c.any || len(p.Origins) == 1 && p.Allow == nil, "CORS: next to \"*\", other origins mean nothing")
	wrong.want(p.MaxAge >= 0, "CORS: MaxAge is %v", p.MaxAge)
	c.methods = orElse(p.Methods, "PUT", "PATCH", "DELETE")
	for _, name := range besides(p.Headers, "Content-Type", "Authorization", "X-Api-Key", "X-Request-Id", "X-Request-Timeout", "If-Match", "If-None-Match", "Last-Event-ID",
		"Connect-Protocol-Version", "Connect-Timeout-Ms", "X-Grpc-Web", "X-User-Agent", "Grpc-Timeout", "Trpc-Accept",
		"Mcp-Protocol-Version", "Mcp-Session-Id", "Mcp-Method", "Mcp-Name") {
		wrong.want(isToken(name), "CORS: %q is no name of a header", name)
		if name == "*" {
			wrong.want(!p.Credentials, "CORS: every header and Credentials exclude each other")
			c.anyHeader = true
		}
		c.headers[strings.ToLower(name)] = true
	}
	for _, name := range slices.Concat(c.methods, p.Expose) {
		wrong.want(isToken(name) && name != "*", "CORS: %q is no name of a method or a header", name)
	}
	c.expose = strings.Join(besides(p.Expose, "X-Request-Id", "ETag", "Retry-After", "RateLimit", "RateLimit-Policy",
		"Grpc-Status", "Grpc-Message", "Grpc-Status-Details-Bin", "Mcp-Session-Id", "WWW-Authenticate"), ", ")
	age := p.MaxAge
	if age == 0 {
		age = 10 * time.Minute
	}
	c.maxAge = strconv.Itoa(int(age / time.Second))
	return c, wrong
}

// besides returns the usual names with those that were given. An empty list that is not nil stands for none, and "*" for itself.
func besides(given []string, usual ...string) []string {
	if given != nil && len(given) == 0 || slices.Contains(given, "*") {
		return given
	}
	return append(usual, given...)
}

func orElse(given []string, usual ...string) []string {
	if given == nil {
		return usual
	}
	return given
}

func (c *cors) addOrigin(origin string) bool {
	if origin == "*" {
		c.any = true
		return true
	}
	before, after, pattern := strings.Cut(origin, "*")
	sample := origin
	switch {
	case !pattern:
	case strings.HasSuffix(before, "://") && strings.HasPrefix(after, "."):
		sample = before + "a" + after
	case strings.HasSuffix(before, ":") && after == "" && strings.Contains(before, "://"):
		sample = before + "1"
	default:
		return false
	}
	u, err := url.Parse(sample)
	if err != nil || u.Scheme == "" || u.Host == "" || u.Hostname() == "" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || strings.Contains(sample, "*") || strings.HasSuffix(sample, "#") || strings.HasSuffix(sample, "?") || strings.ToLower(sample) != sample {
		return false
	}
	if pattern {
		c.under = append(c.under, originPattern{before, after})
	} else {
		c.exact[origin] = true
	}
	return true
}

// allows compares by bytes: browsers send origins in one spelling (RFC 6454, section 6.2).
func (c *cors) allows(origin string) bool {
	switch {
	case origin == "" || origin == "null" || len(origin) > maxOrigin:
		return false
	case c.any || c.exact[origin]:
		return true
	}
	for _, p := range c.under {
		if p.matches(origin) {
			return true
		}
	}
	return c.allow != nil && c.allow(origin)
}

func (p originPattern) matches(origin string) bool {
	if len(origin) <= len(p.before)+len(p.after) || !strings.HasPrefix(origin, p.before) || !strings.HasSuffix(origin, p.after) {
		return false
	}
	star := origin[len(p.before) : len(origin)-len(p.after)]
	for i := range len(star) {
		switch ch := star[i]; {
		case '0' <= ch && ch <= '9':
		case p.after != "" && ('a' <= ch && ch <= 'z' || ch == '-' || ch == '_' || ch == '.' && i > 0): // labels; otherwise a port
		default:
			return false
		}
	}
	return true
}

// before permits the page to read the answer. What is stored anywhere must not reach a page of another origin, so
// answers have a Vary header, also those that came for none.
func (c *cors) before(x *exchange.Exchange) error {
	if c.any {
		if x.Header.Has("Origin") {
			x.Answer.Set("Access-Control-Allow-Origin", "*")
			x.Answer.Set("Access-Control-Expose-Headers", c.expose)
		}
		return nil
	}
	vary(x, "Origin")
	origin := x.Header.Get("Origin")
	if origin == "" || !c.allows(origin) {
		return nil
	}
	c.admit(x, origin)
	x.Answer.Set("Access-Control-Expose-Headers", c.expose)
	return nil
}

func (c *cors) admit(x *exchange.Exchange, origin string) {
	if c.any {
		origin = "*"
	}
	x.Answer.Set("Access-Control-Allow-Origin", strings.Clone(origin))
	if c.credentials {
		x.Answer.Set("Access-Control-Allow-Credentials", "true")
	}
}

// preflight answers what a browser asks before a call.
func (c *cors) preflight(x *exchange.Exchange) bool {
	origin, method := x.Header.Get("Origin"), x.Header.Get("Access-Control-Request-Method")
	if x.Method != "OPTIONS" || origin == "" || method == "" {
		return false
	}
	for _, name := range []string{"Origin", "Access-Control-Request-Method", "Access-Control-Request-Headers"} {
		vary(x, name)
	}
	x.Type, x.Out, x.Status = "", x.Out[:0], 403
	if !c.allows(origin) || !c.allowsMethod(method) {
		return true
	}
	headers, ok := c.allowedHeaders(x)
	if !ok {
		return true
	}
	x.Status = 204
	c.admit(x, origin)
	x.Answer.Set("Access-Control-Allow-Methods", strings.Clone(method))
	if headers != "" {
		x.Answer.Set("Access-Control-Allow-Headers", headers)
	}
	x.Answer.Set("Access-Control-Max-Age", c.maxAge)
	if c.private && x.Header.Get("Access-Control-Request-Private-Network") == "true" {
		x.Answer.Set("Access-Control-Allow-Private-Network", "true")
	}
	return true
}

// allowsMethod compares with case, as the Fetch standard does.
func (c *cors) allowsMethod(method string) bool {
	return method == "GET" || method == "HEAD" || method == "POST" || slices.Contains(c.methods, method)
}

// allowedHeaders returns the headers that the preflight asks for, if all of them are allowed.
func (c *cors) allowedHeaders(x *exchange.Exchange) (asked string, ok bool) {
	var names []string
	for line := range x.Header.All("Access-Control-Request-Headers") {
		for name := range strings.SplitSeq(line, ",") {
			if name = strings.ToLower(strings.Trim(name, " \t")); name == "" {
				continue
			}
			if len(names) == maxRequestHeaders || !c.headers[name] && !(c.anyHeader && name != "authorization" && isToken(name)) {
				return "", false
			}
			names = append(names, strings.Clone(name))
		}
	}
	return strings.Join(names, ", "), true
}
