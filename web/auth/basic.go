package auth

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/sabir-go/sabir/web/exchange"
)

// maxWaiting bounds the requests that wait for their passwords to be checked.
const maxWaiting = 100

// Basic authenticates by a name and a password (RFC 7617), which every request brings: use it over TLS. A bounded number of
// checks runs at once, requests beyond those that may wait get an error with the name TooManyChecks, and correct credentials are remembered.
// It needs a Check; for the rest the zero value is right. Its settings are read when it is first used.
type Basic struct {
	// Check returns the principal of a name and a password, such as [Users] does; nil, nil if one of them is wrong. It may be slow.
	Check func(ctx context.Context, name, password string) (*Principal, error)
	// MaxChecks bounds how many passwords are checked at once. Default: the number of processors. 100 further requests wait.
	MaxChecks int
	// Remember is the time for which a password that was right is not checked again. Only a keyed hash of it is kept. Default:
	// a minute; at most 5 minutes; -1 is not at all.
	Remember time.Duration

	opened opened[basic]
}

// basic is a Basic that is in use.
type basic struct {
	settings
	check    func(ctx context.Context, name, password string) (*Principal, error)
	remember time.Duration

	slots   chan struct{}
	waiting atomic.Int32
	secret  [sha256.Size]byte
	known   *verified[*Principal]
}

func (c *Basic) open() *basic {
	b := &basic{settings: settings{name: "Basic"}, check: c.Check, known: newVerified[*Principal]()}
	b.want(c.Check != nil, "Check is nil: give it a function, such as what Users returns")
	b.want(c.MaxChecks >= 0, "MaxChecks is %d: want at least 1, or 0 for the number of processors", c.MaxChecks)
	b.want(c.Remember == -1 || c.Remember >= 0 && c.Remember <= maxVerifiedAge, "Remember is %v: want 0 to %v, or -1", c.Remember, maxVerifiedAge)
	b.remember = max(cmp.Or(c.Remember, time.Minute), 0)
	b.slots = make(chan struct{}, max(cmp.Or(c.MaxChecks, runtime.GOMAXPROCS(0)), 1))
	rand.Read(b.secret[:])
	return b
}

// Name is "basic".
func (c *Basic) Name() string { return "basic" }

// Scheme is the Authorization header.
func (c *Basic) Scheme() exchange.Scheme { return exchange.Scheme{Type: "http", Scheme: "basic"} }

func (c *Basic) problem() error { return c.opened.get(c.open).problem() }

// Authenticate reads the Authorization header.
func (c *Basic) Authenticate(x *exchange.Exchange) (*Principal, error) {
	return c.opened.get(c.open).authenticate(x)
}

func (b *basic) authenticate(x *exchange.Exchange) (*Principal, error) {
	credentials, ok, err := authorization(x, "Basic")
	if err != nil || !ok {
		return nil, err
	}
	if len(b.problems) > 0 {
		return nil, because(errAuthMisconfigured, b.problem())
	}
	name, password, ok := parseBasic(credentials)
	if !ok {
		return nil, ErrBadCredentials
	}
	hash, now := b.hash(credentials), time.Now()
	if p, ok := b.known.get(hash, now); ok {
		return p, nil
	}
	if err := b.wait(x.Context); err != nil {
		return nil, err
	}
	p, err := b.checked(x.Context, name, password)
	if err != nil || p == nil {
		if err == nil {
			err = ErrBadCredentials
		}
		return nil, err
	}
	c := *p
	if c.Scheme == "" {
		c.Scheme = "basic"
	}
	if c.Subject == "" || c.Scheme == systemScheme {
		c.carried = nil
		return &c, nil // the filter reports what is wrong with it
	}
	ready, err := c.ready()
	if err != nil {
		return nil, because(errAuthMisconfigured, err)
	}
	now = time.Now()
	b.known.put(hash, ready, now, now.Add(b.remember))
	return ready, nil
}

// wait waits for its turn to check a password.
func (b *basic) wait(ctx context.Context) error {
	select {
	case b.slots <- struct{}{}:
		return nil
	default:
	}
	if b.waiting.Add(1) > maxWaiting {
		b.waiting.Add(-1)
		return errTooManyChecks
	}
	defer b.waiting.Add(-1)
	select {
	case b.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b *basic) checked(ctx context.Context, name, password string) (*Principal, error) {
	defer func() { <-b.slots }()
	return b.check(ctx, name, password)
}

// hash returns the key under which checked credentials are remembered. It is of no use without the secret, which never leaves
// the process.
func (b *basic) hash(credentials string) [sha256.Size]byte {
	var buffer [256]byte
	return sha256.Sum256(append(append(buffer[:0], b.secret[:]...), credentials...))
}

// parseBasic reads "name:password" in base64. Neither may have control characters, and the text is UTF-8 (RFC 7617,
// section 2 and 2.1).
func parseBasic(credentials string) (name, password string, ok bool) {
	if len(credentials) > 2*maxPassword {
		return "", "", false
	}
	text, err := base64.StdEncoding.DecodeString(credentials)
	if err != nil || !utf8.Valid(text) {
		return "", "", false
	}
	if strings.ContainsFunc(string(text), func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", "", false
	}
	name, password, ok = strings.Cut(string(text), ":")
	return name, password, ok && name != ""
}
