package web

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"
	"github.com/golang-jwt/jwt/v5"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/exchange"
)

var tokenSecret = []byte("a secret of at least 32 random bytes!")

// counting reports that the handler of endless.count has its first value.
var counting = make(chan struct{}, 1)

// endless is a service with a stream that goes on until its caller goes.
func endless() *sabir.Service {
	s := sabir.NewService("endless")
	sabir.HandleStream(s, "values", func(ctx context.Context, s *sabir.Stream[nothing, int]) error {
		if err := s.Send(1); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	})
	sabir.HandleStream(s, "count", func(ctx context.Context, s *sabir.Stream[int, int]) error {
		n := 0
		for _, err := range s.All() {
			if err != nil {
				return err
			}
			if n++; n == 1 {
				counting <- struct{}{}
			}
		}
		return s.Send(n)
	})
	return s
}

// lasting is the ways in which an answer lasts. Each opens one, calls opened when it has begun, and returns how it ended.
var lasting = map[string]func(base string, h http.Header, opened func()) (string, error){
	"SSE": func(base string, h http.Header, opened func()) (string, error) {
		return follow(base+"/endless/values", "POST", h, "text/event-stream", opened)
	},
	"NDJSON": func(base string, h http.Header, opened func()) (string, error) {
		return follow(base+"/endless/values", "POST", h, "application/x-ndjson", opened)
	},
	"events": func(base string, h http.Header, opened func()) (string, error) {
		return follow(base+"/events", "GET", h, "text/event-stream", opened)
	},
	"WebSocket": func(base string, h http.Header, opened func()) (string, error) {
		return converse(base+"/endless/values", h, opened)
	},
	"WebSocket events": func(base string, h http.Header, opened func()) (string, error) {
		return converse(base+"/events", h, opened)
	},
	"endless input": func(base string, h http.Header, opened func()) (string, error) {
		body, send := io.Pipe()
		defer send.Close()
		go func() {
			if _, err := io.WriteString(send, "1\n"); err == nil {
				<-counting
				opened()
			}
		}()
		r, err := http.NewRequest("POST", base+"/endless/count", body)
		if err != nil {
			return "", err
		}
		r.Header = h.Clone()
		r.Header.Set("Content-Type", "application/x-ndjson")
		r.Header.Set("Accept", "application/json")
		return read(r)
	},
}

func follow(url, method string, h http.Header, accept string, opened func()) (string, error) {
	r, err := http.NewRequest(method, url, nil)
	if err != nil {
		return "", err
	}
	r.Header = h.Clone()
	r.Header.Set("Accept", accept)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	answer, err := transport.RoundTrip(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	opened()
	text, _ := io.ReadAll(answer.Body) // NDJSON is broken off behind its error
	return string(text), nil
}

func read(r *http.Request) (string, error) {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	answer, err := transport.RoundTrip(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return string(text), err
}

func converse(url string, h http.Header, opened func()) (string, error) {
	conn, buffered, _, err := ws.Dialer{Protocols: []string{"sabir.v1"}, Header: ws.HandshakeHeaderHTTP(h)}.Dial(context.Background(), "ws"+strings.TrimPrefix(url, "http"))
	if err != nil {
		return "", err
	}
	defer conn.Close()
	opened()
	var from io.Reader = conn
	if buffered != nil {
		from = io.MultiReader(io.LimitReader(buffered, int64(buffered.Buffered())), conn)
	}
	from = bufio.NewReader(from)
	var all strings.Builder
	for {
		text, err := wsutil.ReadServerText(struct {
			io.Reader
			io.Writer
		}{from, conn})
		if closed, ok := errors.AsType[wsutil.ClosedError](err); ok {
			if closed.Code != 4401 || !strings.Contains(all.String(), closed.Reason) || closed.Reason == "" {
				return "", fmt.Errorf("it closed with %d %q behind %s", closed.Code, closed.Reason, &all)
			}
			return all.String(), nil
		}
		if err != nil {
			return "", err
		}
		all.Write(text)
	}
}

// ending is a custom authenticator whose keys have an end.
type ending struct{ at time.Time }

func (ending) Name() string { return "ending" }
func (ending) Scheme() exchange.Scheme {
	return exchange.Scheme{Type: "apiKey", In: "header", Name: "X-Ending"}
}
func (e ending) Authenticate(*exchange.Exchange) (*auth.Principal, error) {
	return &auth.Principal{Subject: "Ada", Expires: e.at}, nil
}

func serveEndless(t *testing.T, services sabir.NodeOption, options ...gateway.HTTPOption) (base string) {
	node := start(t, sabir.Serve(endless()), services, sabir.HTTP(":0", append(options, With(Config{Events: []string{"orders.*"}}))...))
	return "http://" + node.HTTPAddr()
}

// ends checks that each answer that lasts ends with the error, after end was called on one that has begun.
func ends(t *testing.T, name string, base string, header func() http.Header, end func()) {
	t.Helper()
	for way := range lasting {
		t.Run(way, func(t *testing.T) { mustEnd(t, name, way, base, header(), end) })
	}
}

// endByThemselves is ends for answers that end at a time. All of them wait for it together.
func endByThemselves(t *testing.T, name string, base string, header func(*testing.T) http.Header) {
	t.Helper()
	var open sync.WaitGroup
	for way := range lasting {
		open.Go(func() {
			t.Run(way, func(t *testing.T) { mustEnd(t, name, way, base, header(t), func() {}) })
		})
	}
	open.Wait()
}

func mustEnd(t *testing.T, name, way, base string, header http.Header, end func()) {
	t.Helper()
	began := time.Now()
	text, err := lasting[way](base, header, end)
	if err != nil || !strings.Contains(text, `"name":"`+name+`"`) || !strings.Contains(text, `"status":401`) {
		t.Errorf("after %v it ended with %q %v", time.Since(began), text, err)
	}
}

func TestWhatLastsEndsWithItsToken(t *testing.T) {
	base := serveEndless(t, sabir.Serve(), With(Config{Auth: []auth.Authenticator{&auth.JWT{Secret: tokenSecret}}}))
	endByThemselves(t, "TokenExpired", base, func(t *testing.T) http.Header {
		token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"sub": "Ada", "exp": time.Now().Unix() + 2}).SignedString(tokenSecret)
		if err != nil {
			t.Fatal(err)
		}
		return http.Header{"Authorization": {"Bearer " + token}}
	})
}

func TestWhatLastsEndsWhenAnAuthenticatorSaidSo(t *testing.T) {
	base := serveEndless(t, sabir.Serve(), With(Config{Auth: []auth.Authenticator{ending{time.Now().Add(500 * time.Millisecond)}}}))
	endByThemselves(t, "TokenExpired", base, func(*testing.T) http.Header { return http.Header{} })
	if got := post(t, base+"/endless/values", ""); got.status != 401 {
		t.Errorf("afterwards: %d", got.status)
	}
}

// sessionHeader signs in and returns the header with the session's cookie.
func sessionHeader(t *testing.T, base string) http.Header {
	t.Helper()
	got := post(t, base+"/account/signIn", `{"name":"Ada"}`)
	cookie, _, _ := strings.Cut(got.header.Get("Set-Cookie"), ";")
	if got.status != 200 || cookie == "" {
		t.Fatal(got)
	}
	return http.Header{"Cookie": {cookie}}
}

func TestWhatLastsEndsWithItsSession(t *testing.T) {
	sessions := auth.Session(auth.SessionConfig{Secret: tokenSecret, Idle: 2 * time.Second, Lifetime: 2 * time.Second})
	base := serveEndless(t, sabir.Serve(account(sessions)), With(Config{Auth: []auth.Authenticator{sessions}, AllowAnonymous: true}))
	endByThemselves(t, "TokenExpired", base, func(t *testing.T) http.Header { return sessionHeader(t, base) })
}

func TestWhatLastsEndsWithSigningOut(t *testing.T) {
	sessions := auth.Session(auth.SessionConfig{Secret: tokenSecret})
	base := serveEndless(t, sabir.Serve(account(sessions)), With(Config{Auth: []auth.Authenticator{sessions}, AllowAnonymous: true}))
	var header http.Header
	ends(t, "SignedOut", base, func() http.Header { header = sessionHeader(t, base); return header }, func() {
		if got := post(t, base+"/account/signOut", "{}", "Cookie: "+header.Get("Cookie")); got.status != 200 {
			t.Error(got)
		}
	})
}

func TestSigningOutEndsNothingOfAnotherSession(t *testing.T) {
	sessions := auth.Session(auth.SessionConfig{Secret: tokenSecret})
	base := serveEndless(t, sabir.Serve(account(sessions)), With(Config{Auth: []auth.Authenticator{sessions}, AllowAnonymous: true}))
	mine, other := sessionHeader(t, base), sessionHeader(t, base) // of the same subject
	text, err := lasting["SSE"](base, mine, func() {
		if got := post(t, base+"/account/signOut", "{}", "Cookie: "+other.Get("Cookie")); got.status != 200 {
			t.Error(got)
		}
		if got := post(t, base+"/account/who", "{}", "Cookie: "+mine.Get("Cookie")); got.body != `"Ada"` {
			t.Error(got)
		}
		post(t, base+"/account/signOut", "{}", "Cookie: "+mine.Get("Cookie"))
	})
	if err != nil || strings.Count(text, "SignedOut") == 0 {
		t.Errorf("%q %v", text, err)
	}
}

// What is remembered of a session lets its requests in for a while; a stream that it opens in that while could last much longer.
func TestAStreamAsksOnceMoreWhetherItsSessionIsGood(t *testing.T) {
	var bad atomic.Bool
	sessions := auth.Session(auth.SessionConfig{Secret: tokenSecret, Revalidate: func(auth.Principal, time.Time) bool { return !bad.Load() }})
	base := serveEndless(t, sabir.Serve(account(sessions)), With(Config{Auth: []auth.Authenticator{sessions}, AllowAnonymous: true}))
	h := sessionHeader(t, base)
	if got := post(t, base+"/account/who", "{}", "Cookie: "+h.Get("Cookie")); got.body != `"Ada"` {
		t.Fatal(got)
	}
	bad.Store(true)
	text, err := follow(base+"/endless/values", "POST", h, "text/event-stream", func() {})
	if err != nil || !strings.Contains(text, "SignedOut") {
		t.Errorf("%q %v", text, err)
	}
}

func TestWhatLastsEndsWhenItsSessionIsNoLongerGood(t *testing.T) {
	var bad atomic.Bool
	sessions := auth.Session(auth.SessionConfig{Secret: tokenSecret, Revalidate: func(auth.Principal, time.Time) bool { return !bad.Load() }})
	base := serveEndless(t, sabir.Serve(account(sessions)), With(Config{Auth: []auth.Authenticator{sessions}, AllowAnonymous: true}))
	ends(t, "SignedOut", base, func() http.Header { bad.Store(false); return sessionHeader(t, base) }, func() {
		bad.Store(true)
		sessions.Recheck("Ada")
	})
}

func TestAnUploadGoesOnBehindTheEndOfItsToken(t *testing.T) {
	files := sabir.NewService("files")
	sabir.HandleStream(files, "put", func(_ context.Context, s *sabir.Stream[[]byte, int]) error {
		size := 0
		for chunk, err := range s.All() {
			if err != nil {
				return err
			}
			size += len(chunk)
		}
		return s.Send(size)
	})
	end := time.Now().Add(300 * time.Millisecond)
	base := serveEndless(t, sabir.Serve(files), With(Config{Auth: []auth.Authenticator{ending{end}}}))
	body, send := io.Pipe()
	go func() {
		io.WriteString(send, "one")
		<-time.After(time.Until(end) + 100*time.Millisecond)
		io.WriteString(send, "two")
		send.Close()
	}()
	r, _ := http.NewRequest("POST", base+"/files/put", body)
	r.Header.Set("Content-Type", "application/octet-stream")
	r.Header.Set("Accept", "application/json")
	if text, err := read(r); err != nil || text != "6" {
		t.Errorf("%q %v", text, err)
	}
}
