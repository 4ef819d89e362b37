package auth

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir/internal/isolate"
)

// The bounds of fetching keys.
const (
	maxKeySet       = 512 << 10 // bytes
	maxKeysInSet    = 100
	keysFresh       = time.Hour        // after that they are fetched again, while the old ones still serve
	keysStale       = 24 * time.Hour   // after that the old ones serve no more
	keysPause       = 30 * time.Second // before a key is looked for again that was not there, and between two fetches of old keys
	keysGap         = time.Second      // between two fetches, whatever key ids tokens name
	keysPauseFailed = 2 * time.Second  // after a fetch that failed
	maxAbsentKeys   = 1000             // that are remembered
	keysTimeout     = 10 * time.Second
)

func checkKeyURL(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return errors.New("want a URL such as https://login.example.com/keys")
	}
	ip, _ := netip.ParseAddr(u.Hostname())
	if u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || ip.IsLoopback()) {
		return nil
	}
	return errors.New("want https: keys that come in the clear can be anybody's")
}

// keySet is keys that come from a URL.
type keySet struct {
	url        string
	client     *http.Client
	current    atomic.Pointer[fetchedKeys]
	generation atomic.Uint64 // rises when the keys change

	mu     sync.Mutex
	flight chan struct{}           // closed when the fetch under way ends; nil for none
	tried  time.Time               // when the last fetch began
	failed error                   // why the last fetch failed; nil if it did not
	absent map[absentKey]time.Time // keys that a fetch did not find, and when it ended
}

type absentKey [sha256.Size]byte

type fetchedKeys struct {
	keys  []tokenKey
	body  []byte
	began time.Time // the fetch
	at    time.Time // when it ended
}

func newKeySet(address string, client *http.Client) *keySet {
	own := http.Client{}
	if client != nil {
		own = *client
	}
	if own.CheckRedirect == nil {
		own.CheckRedirect = func(r *http.Request, via []*http.Request) error {
			if len(via) > 3 {
				return errors.New("too many redirects")
			}
			return checkKeyURL(r.URL.String())
		}
	}
	return &keySet{url: address, client: &own, absent: make(map[absentKey]time.Time)}
}

// find is the keys for a token. It waits for a fetch only where the keys that are there do not serve. None is the result only
// where a fetch has not found them that began after the token had come, or within keysPause before: issuers may sign with a
// key as soon as they have published it.
func (s *keySet) find(ctx context.Context, kid, alg string) ([]tokenKey, error) {
	came, key := time.Now(), absentKey(sha256.Sum256([]byte(kid+"\x00"+alg)))
	for {
		current := s.current.Load()
		if current != nil && came.Sub(current.at) < keysStale {
			if found := fitting(current.keys, kid, alg); len(found) > 0 {
				if came.Sub(current.at) >= keysFresh {
					s.fetch(came, keysPause)
				}
				return found, nil
			}
			if s.isAbsent(key, came, current) {
				return nil, nil
			}
		}
		flight, wait := s.fetch(time.Now(), keysGap)
		if flight == nil && wait == 0 {
			return nil, s.lastFailure()
		}
		var gap <-chan time.Time
		if flight == nil {
			timer := time.NewTimer(wait)
			defer timer.Stop()
			gap = timer.C
		}
		select {
		case <-flight:
			if err := s.lastFailure(); err != nil {
				return nil, err
			}
		case <-gap:
		case <-ctx.Done():
			return nil, because(errKeysUnreachable, context.Cause(ctx))
		}
	}
}

// lastFailure is why the last fetch failed; nil if it did not.
func (s *keySet) lastFailure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil {
		return nil
	}
	return because(errKeysUnreachable, fmt.Errorf("%s: %w", s.url, s.failed))
}

// isAbsent reports whether a key that is not among the current ones need not be fetched again, and remembers it.
func (s *keySet) isAbsent(key absentKey, came time.Time, current *fetchedKeys) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !current.began.Before(came) {
		if len(s.absent) >= maxAbsentKeys {
			clear(s.absent)
		}
		s.absent[key] = current.at
		return true
	}
	at, known := s.absent[key]
	return known && came.Sub(at) < keysPause
}

// fetch begins to fetch the keys, unless that was tried within the pause. The channel is closed when the fetch under way ends.
// Without one, wait is the time after which a fetch may begin, and 0 where the last one has failed just now.
func (s *keySet) fetch(now time.Time, pause time.Duration) (flight <-chan struct{}, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.flight != nil {
		return s.flight, 0
	}
	if s.failed != nil {
		pause = max(pause, keysPauseFailed)
	}
	if since := now.Sub(s.tried); !s.tried.IsZero() && since < pause {
		if s.failed != nil {
			return nil, 0
		}
		return nil, pause - since
	}
	s.tried, s.flight = now, make(chan struct{})
	var fetched *fetchedKeys
	get := func() (err error) {
		if fetched, err = s.get(); err != nil {
			s.client.CloseIdleConnections() // HTTP/2 would stay on one that carries nothing any more
		}
		return err
	}
	go isolate.Run(get, func(err error) { // the transport of the client may be the application's
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.failed = err; err == nil {
			fetched.began = now
			old := s.current.Swap(fetched)
			if old == nil || !bytes.Equal(old.body, fetched.body) {
				s.generation.Add(1)
				clear(s.absent)
			}
		}
		close(s.flight)
		s.flight = nil
	})
	return s.flight, 0
}

// get fetches the keys. It is not bound to the request that needs them: others wait for them too.
func (s *keySet) get() (*fetchedKeys, error) {
	ctx, cancel := context.WithTimeout(context.Background(), keysTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/jwk-set+json, application/json")
	answer, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answered %s", answer.Status)
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxKeySet+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxKeySet {
		return nil, fmt.Errorf("it answered with more than %d bytes", maxKeySet)
	}
	keys, err := parseKeySet(body)
	if err != nil {
		return nil, err
	}
	return &fetchedKeys{keys: keys, body: body, at: time.Now()}, nil
}

// webKey is a JSON web key (RFC 7517, section 4; RFC 7518, section 6; RFC 8037, section 2).
type webKey struct {
	Kty    string   `json:"kty"`
	Kid    string   `json:"kid"`
	Use    string   `json:"use"`
	KeyOps []string `json:"key_ops"`
	Alg    string   `json:"alg"`
	Crv    string   `json:"crv"`
	N      string   `json:"n"`
	E      string   `json:"e"`
	X      string   `json:"x"`
	Y      string   `json:"y"`
}

// parseKeySet reads the keys that can check signatures. Others are left out (RFC 7517, section 5).
func parseKeySet(body []byte) ([]tokenKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(body, &set); err != nil {
		return nil, fmt.Errorf("it is no JSON web key set: %w", err)
	}
	if len(set.Keys) > maxKeysInSet {
		return nil, fmt.Errorf("it has %d keys: want at most %d", len(set.Keys), maxKeysInSet)
	}
	var keys []tokenKey
	for _, raw := range set.Keys {
		var w webKey
		if json.Unmarshal(raw, &w) != nil {
			continue
		}
		if k, ok := w.tokenKey(); ok {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("it has no key that can check a signature")
	}
	return keys, nil
}

func (w *webKey) tokenKey() (tokenKey, bool) {
	if w.Use != "" && w.Use != "sig" || len(w.KeyOps) > 0 && !slices.Contains(w.KeyOps, "verify") {
		return tokenKey{}, false
	}
	public, err := w.public()
	if err != nil {
		return tokenKey{}, false
	}
	k, err := newTokenKey(w.Kid, public)
	if err != nil {
		return k, false
	}
	if w.Alg != "" {
		if !slices.Contains(k.algs, w.Alg) {
			return k, false
		}
		k.algs = []string{w.Alg}
	}
	return k, true
}

func (w *webKey) public() (any, error) {
	switch {
	case w.Kty == "RSA":
		n, err1 := base64.RawURLEncoding.DecodeString(w.N)
		e, err2 := base64.RawURLEncoding.DecodeString(w.E)
		if err := errors.Join(err1, err2); err != nil || len(n) > maxRSA/8 || len(e) == 0 || len(e) > 3 {
			return nil, errors.New("no RSA key")
		}
		return &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(new(big.Int).SetBytes(e).Int64())}, nil
	case w.Kty == "EC":
		curve, ok := map[string]elliptic.Curve{"P-256": elliptic.P256(), "P-384": elliptic.P384(), "P-521": elliptic.P521()}[w.Crv]
		x, err1 := base64.RawURLEncoding.DecodeString(w.X)
		y, err2 := base64.RawURLEncoding.DecodeString(w.Y)
		if err := errors.Join(err1, err2); err != nil || !ok || len(x) != (curve.Params().BitSize+7)/8 || len(y) != len(x) {
			return nil, errors.New("no EC key")
		}
		return ecdsa.ParseUncompressedPublicKey(curve, slices.Concat([]byte{4}, x, y))
	case w.Kty == "OKP" && w.Crv == "Ed25519":
		x, err := base64.RawURLEncoding.DecodeString(w.X)
		return ed25519.PublicKey(x), err
	}
	return nil, fmt.Errorf("a key of type %q", w.Kty)
}
