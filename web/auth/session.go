package auth

import (
	"cmp"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/chacha20poly1305"

	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/redact"
	"github.com/sabir-go/sabir/web/exchange"
)

const (
	maxCookie = 4096 // bytes of name, value and attributes that browsers keep (RFC 6265bis, section 5.6)
	minSecret = 32
)

// SessionConfig is the settings of [Session]. It needs a Secret; for the rest the zero value is right.
type SessionConfig struct {
	// Secret is at least 32 random bytes: openssl rand 32. Nodes behind one name need the same.
	Secret []byte
	// PreviousSecrets are former secrets: sessions that began under them go on, and are renewed under the new one.
	PreviousSecrets [][]byte
	// CookieName names the cookie. Over TLS the browser gets it as "__Host-<name>", which no other host,
	// not even a subdomain, can set (RFC 6265bis, section 4.1.3.2). Default: "session".
	CookieName string
	// Idle is the time after which a session without a request ends, at least a second. A request prolongs the session once
	// half of that time has passed. Default: a day, or Lifetime if that is shorter.
	Idle time.Duration
	// Lifetime bounds the time of a session, however often it is used. Default: 30 days, or Idle if that is longer.
	Lifetime time.Duration
	// Revalidate is asked at most every 5 minutes for each session whether it may go on: for users that were signed out elsewhere or
	// lost a role since. It is asked about open streams as often, and at once by [Sessions.Recheck]. It must be fast, and safe for
	// use by many goroutines. Default: each may.
	Revalidate func(p Principal, began time.Time) bool
	// Store knows which sessions there are, so that one that was ended is refused by every node at once, with all copies of its
	// cookie. Each request with a session asks it. While it cannot be asked, nobody is signed in: such requests are
	// an error with the name SessionsUnreachable. redissessions.Open makes one. Default: none; SignOut then only removes the cookie.
	Store SessionStore
}

// Format prints the settings without secrets.
func (c SessionConfig) Format(f fmt.State, verb rune) {
	type shown SessionConfig
	c.Secret, c.PreviousSecrets = nil, nil
	redact.Print(f, verb, shown(c))
}

// Sessions authenticates by a cookie that [Sessions.SignIn] set. The principal itself is in it, encrypted and signed
// (XChaCha20-Poly1305), so every node with the secret can read it. Without [SessionConfig.Store] nothing is kept on the server, and
// what SignOut removes is the cookie: a copy of it stays good until it expires, or Revalidate refuses it.
//
// SignIn begins a session with an id of its own, whatever the request came with, and ends that: an id that somebody else has put
// into a browser before is nobody's after it.
//
// The cookie is HttpOnly, SameSite=Lax and, except over plain HTTP on this machine, Secure. It keeps other sites from
// calling with it except by links; where pages of other sites may call with credentials, they may call for the user.
type Sessions struct {
	settings
	config   SessionConfig
	hostOnly string        // the cookie's name over TLS
	sealing  []cipher.AEAD // the first seals, all open
	known    *verified[*session]
	watches  watches
}

// session is the content of the cookie.
type session struct {
	Principal *Principal `json:"p"`
	Began     int64      `json:"b"` // Unix seconds
	Renewed   int64      `json:"r"`
	ID        string     `json:"i,omitempty"` // stays the same when the session is prolonged; older cookies have none
}

// Session makes sessions.
func Session(config SessionConfig) *Sessions {
	s := &Sessions{settings: settings{name: "Session"}, config: config, known: newVerified[*session]()}
	s.addSecret(config.Secret)
	for _, previous := range config.PreviousSecrets {
		s.addSecret(previous)
	}
	c := &s.config
	c.Secret, c.PreviousSecrets = nil, nil // they do not show where the sessions are printed
	c.CookieName = cmp.Or(c.CookieName, "session")
	s.hostOnly = "__Host-" + c.CookieName
	s.want(isToken(c.CookieName) && !strings.HasPrefix(c.CookieName, "__"), "CookieName is %q: want a word", c.CookieName)
	s.want(c.Idle == 0 || c.Idle >= time.Second, "Idle is %v: want at least a second", c.Idle)
	s.want(c.Lifetime == 0 || c.Lifetime >= time.Second, "Lifetime is %v: want at least a second", c.Lifetime)
	c.Lifetime = cmp.Or(c.Lifetime, max(30*24*time.Hour, c.Idle))
	c.Idle = cmp.Or(c.Idle, min(24*time.Hour, c.Lifetime))
	s.want(c.Idle <= c.Lifetime, "Idle is %v and Lifetime %v: want the former shorter", c.Idle, c.Lifetime)
	return s
}

func (s *Sessions) addSecret(secret []byte) {
	s.want(len(secret) >= minSecret, "a secret of %d bytes: want at least %d random ones", len(secret), minSecret)
	key, err := hkdf.Key(sha256.New, secret, nil, "sabir session cookie 1", chacha20poly1305.KeySize)
	if err == nil {
		var aead cipher.AEAD
		if aead, err = chacha20poly1305.NewX(key); err == nil {
			s.sealing = append(s.sealing, aead)
			return
		}
	}
	s.want(false, "the secret: %w", err)
}

// Name is "session".
func (s *Sessions) Name() string { return "session" }

// Scheme is a cookie.
func (s *Sessions) Scheme() exchange.Scheme {
	return exchange.Scheme{Type: "apiKey", In: "cookie", Name: s.hostOnly}
}

// Authenticate reads the cookie and prolongs the session when half of its idle time has passed. A cookie that is not valid
// any more is removed, and its sender has no principal: browsers send old cookies, and must be able to sign in again.
func (s *Sessions) Authenticate(x *exchange.Exchange) (*Principal, error) {
	value := x.Cookie(s.cookieName(x))
	if value == "" {
		return nil, nil
	}
	if len(s.problems) > 0 {
		return nil, because(errAuthMisconfigured, s.problem())
	}
	now := time.Now()
	found := s.open(value, now)
	if found == nil {
		s.setCookie(x, "", -1)
		return nil, nil
	}
	var until time.Time // zero where it is not prolonged
	if now.Sub(time.Unix(found.Renewed, 0)) >= s.config.Idle/2 && now.Unix() > found.Renewed {
		until = s.ends(&session{Began: found.Began, Renewed: now.Unix()})
	}
	there, err := s.stored(x.Context, found, until)
	switch {
	case there && err != nil:
		until = time.Time{} // the store may still have the end of before
	case err != nil:
		return nil, err
	case !there:
		s.setCookie(x, "", -1)
		return nil, nil
	}
	if !until.IsZero() {
		if err := s.renew(x, found, now); err != nil {
			return nil, err
		}
		prolonged := *found.Principal
		prolonged.Expires = until
		return &prolonged, nil
	}
	return found.Principal, nil
}

// open is the session in a cookie; nil for none that is good.
func (s *Sessions) open(value string, now time.Time) *session {
	if len(value) > maxCookie {
		return nil
	}
	hash := hashOf(value)
	if found, ok := s.known.get(hash, now); ok {
		return found
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(value)
	if err != nil || len(sealed) < chacha20poly1305.NonceSizeX {
		return nil
	}
	var text []byte
	for _, aead := range s.sealing {
		if text, err = aead.Open(nil, sealed[:chacha20poly1305.NonceSizeX], sealed[chacha20poly1305.NonceSizeX:], []byte(s.config.CookieName)); err == nil {
			break
		}
	}
	found := &session{}
	if err != nil || json.Codec.Decode(text, found) != nil || found.Principal == nil || found.Principal.Subject == "" {
		return nil
	}
	began, ends := time.Unix(found.Began, 0), s.ends(found)
	if !now.Before(ends) || s.config.Revalidate != nil && !s.config.Revalidate(found.Principal.plain(), began) {
		return nil
	}
	if found.Principal, err = found.Principal.ready(); err != nil {
		return nil
	}
	s.own(found)
	s.known.put(hash, found, now, ends)
	return found
}

// own notes in the principal of a session where it comes from and until when it is good.
func (s *Sessions) own(of *session) {
	id := of.ID
	if id == "" {
		id = of.Principal.Subject + " " + strconv.FormatInt(of.Began, 10)
	}
	of.Principal.Expires, of.Principal.leeway = s.ends(of), 0
	of.Principal.session = &sessionOf{config: &s.config, watches: &s.watches, id: id, began: time.Unix(of.Began, 0)}
}

// ends is the time at which the session ends if it is not prolonged.
func (s *Sessions) ends(of *session) time.Time {
	idle, last := time.Unix(of.Renewed, 0).Add(s.config.Idle), time.Unix(of.Began, 0).Add(s.config.Lifetime)
	if idle.Before(last) {
		return idle
	}
	return last
}

// SignIn begins a session: the answer to the exchange sets its cookie, and the rest of the request is made for p. A session
// that the request came with ends. The error reports that the cookie would be too large for browsers, that p has no subject, or
// one with the name NoExchange for an x that is nil.
func (s *Sessions) SignIn(x *exchange.Exchange, p Principal) error {
	if x == nil {
		return errNoExchange
	}
	if err := s.problem(); err != nil {
		return because(errAuthMisconfigured, err)
	}
	if p.Subject == "" {
		return fmt.Errorf("auth: SignIn: the principal has no subject")
	}
	p.Scheme = s.Name()
	ready, err := p.ready()
	if err != nil {
		return fmt.Errorf("auth: SignIn: the claims have no JSON form: %w", err)
	}
	now := time.Now()
	began := &session{Principal: ready, Began: now.Unix(), Renewed: now.Unix(), ID: rand.Text()}
	if err := s.renew(x, began, now); err != nil {
		return err
	}
	if err := s.replace(x, began); err != nil {
		s.setCookie(x, "", -1)
		return err
	}
	s.own(began)
	x.Principal = ready
	return nil
}

// SignOut ends the session: the answer removes its cookie, the rest of the request is made without a principal, and the
// streams, events and WebSockets of this process that were opened with it end with the error SignedOut, with a Store those of other
// processes within 10 seconds. The error has the name NoExchange for an x that is nil, and SessionsUnreachable where the Store still has
// the session: copies of the cookie are good then, once it can be asked again.
func (s *Sessions) SignOut(x *exchange.Exchange) error {
	if x == nil {
		return errNoExchange
	}
	err := s.endSession(x)
	s.setCookie(x, "", -1)
	x.Principal = nil
	return err
}

// renew sends the session with a new idle time.
func (s *Sessions) renew(x *exchange.Exchange, of *session, now time.Time) error {
	renewed := &session{Principal: of.Principal, Began: of.Began, Renewed: now.Unix(), ID: of.ID}
	text, err := json.Codec.Append(nil, renewed)
	if err != nil {
		return err
	}
	sealed := make([]byte, chacha20poly1305.NonceSizeX, chacha20poly1305.NonceSizeX+len(text)+chacha20poly1305.Overhead)
	rand.Read(sealed)
	sealed = s.sealing[0].Seal(sealed, sealed, text, []byte(s.config.CookieName))
	age := int(s.ends(renewed).Unix() - now.Unix())
	return s.setCookie(x, base64.RawURLEncoding.EncodeToString(sealed), max(age, 1))
}

// setCookie sets the cookie in the answer, in place of one that was set before. An age below 0 removes it.
func (s *Sessions) setCookie(x *exchange.Exchange, value string, age int) error {
	name := s.cookieName(x)
	cookie := http.Cookie{Name: name, Value: value, Path: "/", MaxAge: age, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: secure(x)}
	line := cookie.String()
	if line == "" || len(line) > maxCookie {
		return fmt.Errorf("auth: the session's cookie has %d bytes, and browsers keep %d: put less into the principal's claims", len(line), maxCookie)
	}
	var others []string
	for set := range x.Answer.All("Set-Cookie") {
		if !strings.HasPrefix(set, name+"=") {
			others = append(others, set)
		}
	}
	x.Answer.Set("Set-Cookie", line)
	for _, other := range others {
		x.Answer.Add("Set-Cookie", other)
	}
	return nil
}

func (s *Sessions) cookieName(x *exchange.Exchange) string {
	if secure(x) {
		return s.hostOnly
	}
	return s.config.CookieName
}

// secure reports whether cookies are for TLS only: always, except that a browser on this machine came without TLS. A proxy in
// front that ends TLS leaves its public name in the Host header.
func secure(x *exchange.Exchange) bool {
	if x.TLS != nil {
		return true
	}
	host := x.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if strings.EqualFold(host, "localhost") || len(host) > 10 && strings.EqualFold(host[len(host)-10:], ".localhost") {
		return false
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err != nil || !ip.Unmap().IsLoopback()
}
