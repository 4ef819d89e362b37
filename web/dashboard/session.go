package dashboard

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/httpaccess"
)

// cookieName is the session's cookie.
const cookieName = "sabir-dashboard"

// sessionTime is the time for which a login is valid.
const sessionTime = 12 * time.Hour

// maxRevoked bounds the sessions that are remembered as logged out.
const maxRevoked = 4096

// sessions makes and checks the cookies of users that have logged in. A cookie is the time when it ends, 16 random bytes and an
// HMAC of both; the HMAC's key comes from the dashboard's (RFC 5869), so sessions outlive a restart of the node, and a new
// key that goes before the others ends them all. Nothing is kept of a session until it is logged out.
type sessions struct {
	keys *httpaccess.Keys
	now  func() time.Time

	mu      sync.Mutex
	revoked map[[16]byte]int64 // to the end of the session, Unix seconds
	since   int64              // sessions that end no later than this many seconds are void
}

func newSessions(keys *httpaccess.Keys, now func() time.Time) (*sessions, error) {
	s := &sessions{keys: keys, now: now, revoked: make(map[[16]byte]int64)}
	_, err := s.secret()
	return s, err
}

// secret is the key of the HMAC. Its error is of a key that is too short for FIPS 140.
func (s *sessions) secret() ([]byte, error) {
	return hkdf.Key(sha256.New, []byte(s.keys.First()), nil, "sabir dashboard session", sha256.Size)
}

const tokenData = 8 + 16 // bytes before the HMAC

func (s *sessions) make() string {
	token := make([]byte, tokenData, tokenData+sha256.Size)
	binary.BigEndian.PutUint64(token, uint64(s.now().Add(sessionTime).Unix()))
	rand.Read(token[8:])
	return base64.RawURLEncoding.EncodeToString(s.sign(token))
}

func (s *sessions) sign(data []byte) []byte {
	secret, err := s.secret()
	if err != nil {
		panic(err) // keys that take the place of others are no shorter
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write(data)
	return mac.Sum(data)
}

// read returns the end and the id of a session from a cookie that this dashboard has signed.
func (s *sessions) read(cookie string) (end int64, id [16]byte, ok bool) {
	if len(cookie) > 2*(tokenData+sha256.Size) {
		return 0, id, false
	}
	token, err := base64.RawURLEncoding.Strict().DecodeString(cookie)
	if err != nil || len(token) != tokenData+sha256.Size {
		return 0, id, false
	}
	if !hmac.Equal(token, s.sign(token[:tokenData:tokenData])) {
		return 0, id, false
	}
	return int64(binary.BigEndian.Uint64(token)), [16]byte(token[8:tokenData]), true
}

func (s *sessions) valid(cookie string) bool {
	end, id, ok := s.read(cookie)
	if !ok || end <= s.now().Unix() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, gone := s.revoked[id]
	return !gone && end > s.since
}

// revoke ends a session. Where too many are remembered, all that exist end: rather one login too many than one too few.
func (s *sessions) revoke(cookie string) {
	end, id, ok := s.read(cookie)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if len(s.revoked) >= maxRevoked {
		for old, ends := range s.revoked {
			if ends <= now.Unix() {
				delete(s.revoked, old)
			}
		}
	}
	if len(s.revoked) >= maxRevoked {
		clear(s.revoked)
		s.since = now.Add(sessionTime).Unix()
	}
	s.revoked[id] = end
}

func tooManyAttempts() *sabir.Error {
	return &sabir.Error{Code: sabir.CodeResourceExhausted, Name: "TooManyAttempts", Message: "too many wrong keys: wait a few seconds before the next try", Retryable: true}
}

// login checks the key that the login page sends as a form, and starts a session.
func (b *dashboard) login(w http.ResponseWriter, r *http.Request) {
	if b.sessions == nil {
		http.Redirect(w, r, b.prefix+"/", http.StatusSeeOther)
		return
	}
	if !b.attempts.allow(b.config.client(r)) {
		w.Header().Set("Retry-After", "5")
		http.Redirect(w, r, b.prefix+"/login?wait", http.StatusSeeOther)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, 4<<10)
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); kind != "application/x-www-form-urlencoded" || r.ParseForm() != nil || !b.config.keys.Fits(r.PostForm.Get("key")) {
		b.attempts.failed(b.config.client(r))
		http.Redirect(w, r, b.prefix+"/login?wrong", http.StatusSeeOther)
		return
	}
	http.SetCookie(w, b.cookie(r, b.sessions.make(), int(sessionTime.Seconds())))
	http.Redirect(w, r, b.prefix+"/", http.StatusSeeOther)
}

func (b *dashboard) logout(w http.ResponseWriter, r *http.Request) {
	if cookie, err := r.Cookie(cookieName); err == nil && b.sessions != nil {
		b.sessions.revoke(cookie.Value)
	}
	http.SetCookie(w, b.cookie(r, "", -1))
	w.WriteHeader(http.StatusNoContent)
}

// cookie is sent by browsers to the dashboard alone, never for another site's page, and scripts cannot read it.
func (b *dashboard) cookie(r *http.Request, value string, age int) *http.Cookie {
	return &http.Cookie{Name: cookieName, Value: value, Path: b.prefix + "/", MaxAge: age, HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode}
}
