package auth

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/redact"
	"github.com/sabir-go/sabir/web/exchange"
)

const (
	maxToken      = 8 << 10 // bytes of a token
	defaultLeeway = 30 * time.Second
)

// JWT authenticates by a JSON web token (RFC 7519) in "Authorization: Bearer <token>", of at most 8 KiB. A text without two
// dots is no token, and left to the authenticators after it.
//
// The signature is checked with a key that the settings name, by an algorithm that is made for it: what the token states about
// itself selects among those, no more. A token must have an expiry and a subject; it may not be used before its nbf, nor before it was issued (iat), where it names them. Tokens
// with critical extensions are refused (RFC 7515, section 4.1.11). A token that was found valid is remembered by its hash
// until it expires, at most 5 minutes and until the fetched keys change; 10,000 at most.
//
// It needs a Secret, Keys or JWKS; for the rest the zero value is right. Its settings are read when it is first used.
type JWT struct {
	// Secret is a key for HS256, HS384 and HS512, which has at least 32, 48 and 64 bytes for them. It checks tokens of any key id;
	// give it an id, or give more than one, in Keys.
	Secret []byte
	// Keys are further keys.
	Keys []TokenKey
	// JWKS is a URL to fetch keys from (RFC 7517, section 5): https, or http on this machine. They are fetched when the first
	// token comes, hourly, and when a token names a key that is not among them, at most every 30 seconds. While the URL cannot
	// be reached the keys serve for 24 hours. Secret keys (kty "oct") in it are ignored, and so are keys for encryption.
	JWKS string
	// Client fetches JWKS, for a proxy or private authorities. Default: a client of its own.
	Client *http.Client
	// Algorithms allows these only, of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA, HS256, HS384 and
	// HS512. Default: those that fit a key. "none" never is.
	Algorithms []string
	// Issuers are the only issuers whose tokens are taken. Default: any.
	Issuers []string
	// Audiences takes tokens that are for one of these. Default: only tokens that name no audience at all
	// (RFC 7519, section 4.1.3), see AnyAudience.
	Audiences []string
	// AnyAudience takes tokens for any audience: then one that was given to another service works here too.
	AnyAudience bool
	// Leeway is the difference between clocks that is tolerated. Default: 30 seconds; at most 5 minutes; -1 is none.
	Leeway time.Duration
	// AllowNoExpiry accepts tokens without an expiry too, which stay valid as long as their key.
	AllowNoExpiry bool
	// TokenType takes only tokens whose header has this type, such as "at+jwt" for access tokens (RFC 9068, section 4).
	TokenType string
	// RolesClaims names the claims that hold roles, with dots for claims in claims: "realm_access.roles". Each is a list of texts,
	// or one text with spaces between ("scope"). Default: "roles".
	RolesClaims []string
	// SubjectClaim names the claim that holds the subject. Default: "sub".
	SubjectClaim string
	// KeepClaims keeps only these claims in the principal, which travels with calls. Default: all; an empty list keeps none.
	KeepClaims []string

	opened opened[tokens]
}

// Format prints the settings without secrets.
func (c JWT) Format(f fmt.State, verb rune) { redact.Print(f, verb, c.shown()) }

// MarshalJSON writes the settings without secrets.
func (c JWT) MarshalJSON() ([]byte, error) {
	//lint:ignore SA1026 where a Client is set the functions in it make this an error, which shows nothing
	return json.Marshal(c.shown())
}

type shownJWT JWT

func (c JWT) shown() shownJWT {
	c.Secret, c.opened = nil, opened[tokens]{}
	return shownJWT(c)
}

// TokenKey is a key that tokens are signed with.
type TokenKey struct {
	// ID is the key id that tokens name in their header; a key without one checks tokens of any id.
	ID string
	// Key is an *rsa.PublicKey of 2048 to 8192 bits, an *ecdsa.PublicKey on P-256, P-384 or P-521, an ed25519.PublicKey, or a
	// []byte as for [JWT.Secret].
	Key any
}

// Format prints the key without a secret.
func (k TokenKey) Format(f fmt.State, verb rune) { redact.Print(f, verb, k.shown()) }

// MarshalJSON writes the key without a secret.
func (k TokenKey) MarshalJSON() ([]byte, error) { return json.Marshal(k.shown()) }

type shownTokenKey TokenKey

func (k TokenKey) shown() shownTokenKey {
	if _, is := k.Key.([]byte); is {
		k.Key = redact.Hidden
	}
	return shownTokenKey(k)
}

var allAlgorithms = []string{"HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}

// tokens is a JWT that is in use, with its defaults.
type tokens struct {
	settings
	JWT
	keys    []tokenKey
	fetched *keySet // of JWKS; nil for none

	parser *jwt.Parser
	known  *verified[knownToken]
}

type knownToken struct {
	principal  *Principal
	generation uint64 // of the fetched keys it was checked with
}

func (c *JWT) open() *tokens {
	t := &tokens{settings: settings{name: "JWT"}, JWT: *c, known: newVerified[knownToken]()}
	t.readKeys()
	t.want(t.Leeway == -1 || t.Leeway >= 0 && t.Leeway <= 5*time.Minute, "Leeway is %v: want 0 to 5 minutes, or -1", t.Leeway)
	t.Leeway = max(cmp.Or(t.Leeway, defaultLeeway), 0)
	t.SubjectClaim = cmp.Or(t.SubjectClaim, "sub")
	if len(t.RolesClaims) == 0 {
		t.RolesClaims = []string{"roles"}
	}
	t.want(!t.AnyAudience || len(t.Audiences) == 0, "Audiences and AnyAudience exclude each other")
	for _, name := range t.Algorithms {
		t.want(slices.Contains(allAlgorithms, name), "no algorithm is called %q", name)
	}
	if len(t.Algorithms) == 0 {
		t.Algorithms = allAlgorithms
	}
	rules := []jwt.ParserOption{jwt.WithValidMethods(t.Algorithms), jwt.WithLeeway(t.Leeway), jwt.WithIssuedAt(), jwt.WithStrictDecoding()}
	if !t.AllowNoExpiry {
		rules = append(rules, jwt.WithExpirationRequired())
	}
	if len(t.Audiences) > 0 {
		rules = append(rules, jwt.WithAudience(t.Audiences...))
	}
	t.parser = jwt.NewParser(rules...)
	return t
}

func (t *tokens) readKeys() {
	given := t.Keys
	if t.Secret != nil {
		given = append([]TokenKey{{Key: t.Secret}}, given...)
	}
	for _, g := range given {
		k, err := newTokenKey(g.ID, g.Key)
		t.want(err == nil, "a key for %q is %w", g.ID, err)
		t.keys = append(t.keys, k)
	}
	t.Secret, t.Keys = nil, nil // they do not show where the authenticator is printed
	if t.JWKS != "" {
		err := checkKeyURL(t.JWKS)
		t.want(err == nil, "JWKS is %q: %w", t.JWKS, err)
		t.fetched = newKeySet(t.JWKS, t.Client)
	}
	t.want(len(t.keys) > 0 || t.fetched != nil, "no key: give it a Secret, Keys or JWKS")
}

// Name is "jwt".
func (c *JWT) Name() string { return "jwt" }

// Scheme is the Authorization header.
func (c *JWT) Scheme() exchange.Scheme {
	return exchange.Scheme{Type: "http", Scheme: "bearer", Format: "JWT"}
}

func (c *JWT) problem() error { return c.opened.get(c.open).settings.problem() }

// Authenticate reads the Authorization header.
func (c *JWT) Authenticate(x *exchange.Exchange) (*Principal, error) {
	return c.opened.get(c.open).authenticate(x)
}

func (t *tokens) authenticate(x *exchange.Exchange) (*Principal, error) {
	token, ok, err := authorization(x, "Bearer")
	if err != nil || !ok || strings.Count(token, ".") != 2 {
		return nil, err
	}
	if err := t.settings.problem(); err != nil {
		return nil, because(errAuthMisconfigured, err)
	}
	if len(token) > maxToken {
		return nil, badCredentials(fmt.Sprintf("the token has more than %d bytes", maxToken))
	}
	hash, now := hashOf(token), time.Now()
	if known, ok := t.known.get(hash, now); ok && known.generation == t.generation() {
		return known.principal, nil
	}
	generation := t.generation()
	claims := jwt.MapClaims{}
	_, err = t.parser.ParseWithClaims(strings.Clone(token), claims, func(token *jwt.Token) (any, error) {
		return t.keysFor(x.Context, token.Header)
	})
	if err == nil {
		err = t.checkClaims(claims)
	}
	if err != nil {
		return nil, tokenFault(err)
	}
	p, err := t.principal(claims)
	if err != nil {
		return nil, err
	}
	until := now.Add(maxVerifiedAge)
	if expiry, err := claims.GetExpirationTime(); err == nil && expiry != nil {
		until = expiry.Add(t.Leeway)
		p.Expires, p.leeway = expiry.Time, t.Leeway
	}
	t.known.put(hash, knownToken{p, generation}, now, until)
	return p, nil
}

func (t *tokens) generation() uint64 {
	if t.fetched == nil {
		return 0
	}
	return t.fetched.generation.Load()
}

// keysFor is the keys that a token with the header may be signed with.
func (t *tokens) keysFor(ctx context.Context, header map[string]any) (any, error) {
	if _, critical := header["crit"]; critical {
		return nil, badCredentials("the token has critical extensions, and none is known here")
	}
	if typ, _ := header["typ"].(string); t.TokenType != "" && !strings.EqualFold(strings.TrimPrefix(typ, "application/"), t.TokenType) {
		return nil, badCredentials("the token is of another type than " + t.TokenType)
	}
	alg, _ := header["alg"].(string)
	kid, isText := header["kid"].(string)
	if _, given := header["kid"]; given && !isText {
		return nil, badCredentials("the token's key id is no text")
	}
	found := fitting(t.keys, kid, alg)
	if len(found) == 0 && t.fetched != nil {
		var err error
		if found, err = t.fetched.find(ctx, kid, alg); err != nil {
			return nil, err
		}
	}
	if len(found) == 0 {
		return nil, badCredentials("no key here fits the token's key id and algorithm")
	}
	set := jwt.VerificationKeySet{}
	for _, k := range found {
		set.Keys = append(set.Keys, k.key())
	}
	return set, nil
}

// checkClaims checks what the library does not: one of several issuers, and an audience that was not asked for.
func (t *tokens) checkClaims(claims jwt.MapClaims) error {
	issuer, err := claims.GetIssuer()
	if err != nil {
		return err
	}
	if len(t.Issuers) > 0 && !slices.Contains(t.Issuers, issuer) {
		return jwt.ErrTokenInvalidIssuer
	}
	if len(t.Audiences) > 0 || t.AnyAudience {
		return nil
	}
	if _, given := claims["aud"]; given {
		return badCredentials("the token names an audience, and no audience is configured for this node")
	}
	return nil
}

// principal makes a Principal of the claims.
func (t *tokens) principal(claims jwt.MapClaims) (*Principal, error) {
	p := &Principal{Scheme: t.Name(), Claims: claims}
	p.Subject, _ = claimAt(claims, t.SubjectClaim).(string)
	if p.Subject == "" {
		return nil, badCredentials("the token names no subject")
	}
	for _, path := range t.RolesClaims {
		p.Roles = append(p.Roles, texts(claimAt(claims, path))...)
	}
	if t.KeepClaims != nil {
		p.Claims = nil
		for _, name := range t.KeepClaims {
			if value, ok := claims[name]; ok {
				if p.Claims == nil {
					p.Claims = make(map[string]any, len(t.KeepClaims))
				}
				p.Claims[name] = value
			}
		}
	}
	return p.ready()
}

// claimAt finds a claim, by its whole name first: there are names with dots, such as those that are URLs.
func claimAt(claims map[string]any, path string) any {
	if value, ok := claims[path]; ok {
		return value
	}
	first, rest, ok := strings.Cut(path, ".")
	if inner, isObject := claims[first].(map[string]any); ok && isObject {
		return claimAt(inner, rest)
	}
	return nil
}

// texts is a claim that is a list of texts, or one with spaces between (RFC 8693, section 4.2).
func texts(claim any) (all []string) {
	switch claim := claim.(type) {
	case string:
		return strings.Fields(claim)
	case []any:
		for _, value := range claim {
			if text, ok := value.(string); ok && text != "" {
				all = append(all, text)
			}
		}
	}
	return all
}

// tokenFault is the answer to a token that is not valid. Its text is known to the bearer.
func tokenFault(err error) error {
	if e, ok := errors.AsType[*sabir.Error](err); ok {
		return e
	}
	for _, fault := range tokenFaults {
		if errors.Is(err, fault.err) {
			return badCredentials(fault.text)
		}
	}
	return badCredentials("the token is not valid")
}

var tokenFaults = []struct {
	err  error
	text string
}{
	{jwt.ErrTokenSignatureInvalid, "the token's signature is not valid"},
	{jwt.ErrTokenMalformed, "the token is malformed"},
	{jwt.ErrTokenExpired, "the token has expired"},
	{jwt.ErrTokenNotValidYet, "the token is not valid yet"},
	{jwt.ErrTokenUsedBeforeIssued, "the token was issued in the future: the clocks of its issuer and of this node differ by more than the leeway"},
	{jwt.ErrTokenInvalidAudience, "the token is for another audience"},
	{jwt.ErrTokenInvalidIssuer, "the token is of another issuer"},
	{jwt.ErrTokenRequiredClaimMissing, "the token lacks a claim that is needed: exp, or an audience"},
}

// settings is the part that all authenticators have: a name, and what is wrong with the options.
type settings struct {
	name     string
	problems []error
}

// want notes a problem unless ok.
func (s *settings) want(ok bool, format string, args ...any) {
	if !ok {
		s.problems = append(s.problems, fmt.Errorf("auth."+s.name+": "+format, args...))
	}
}

// problem returns what is wrong with the settings; nil for nothing.
func (s *settings) problem() error { return errors.Join(s.problems...) }
