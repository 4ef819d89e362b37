package nacos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// login shows the user to servers, which give a token for a time.
type login struct {
	registry *Registry

	mu    sync.Mutex // guards what follows, and is held while a server is asked
	http  *http.Client
	token map[string]held // by servers
}

type held struct {
	token string
	until time.Time // when another is asked for
}

// tokens are those of one server.
type tokens struct {
	*login
	server string
}

func (l *login) at(server string) tokens { return tokens{l, server} }

func (l *login) close() {
	if l.http != nil {
		l.http.CloseIdleConnections()
	}
}

// headers are those of a request.
func (t tokens) headers(ctx context.Context) (map[string]string, error) {
	if t.registry.User == "" {
		return nil, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if has := t.token[t.server]; time.Now().Before(has.until) {
		return map[string]string{"accessToken": has.token}, nil
	}
	got, err := t.ask(ctx, "/nacos/v3/auth/user/login")
	if errors.Is(err, errNoSuchPath) { // Nacos 2
		got, err = t.ask(ctx, "/nacos/v1/auth/users/login")
	}
	if err != nil {
		return nil, err
	}
	if t.token == nil {
		t.token = make(map[string]held)
	}
	t.token[t.server] = got
	return map[string]string{"accessToken": got.token}, nil
}

var errNoSuchPath = errors.New("Nacos has no such address to log in")

// maxLogin bounds the answer of a login.
const maxLogin = 64 << 10

// ask logs in at a path of the server. The caller holds mu.
func (t tokens) ask(ctx context.Context, path string) (held, error) {
	if t.http == nil {
		transport := &http.Transport{TLSClientConfig: t.registry.TLS.Clone(), ForceAttemptHTTP2: true}
		t.http = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	scheme := "http"
	if t.registry.TLS != nil {
		scheme = "https"
	}
	form := url.Values{"username": {t.registry.User}, "password": {string(t.registry.Password.Bytes())}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, scheme+"://"+t.server+path, strings.NewReader(form.Encode()))
	if err != nil {
		return held{}, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	reply, err := t.http.Do(request)
	if err != nil {
		return held{}, fmt.Errorf("no login at Nacos: %w", err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(io.LimitReader(reply.Body, maxLogin))
	switch {
	case err != nil:
		return held{}, fmt.Errorf("no login at Nacos: %w", err)
	case reply.StatusCode == http.StatusNotFound:
		return held{}, errNoSuchPath
	case reply.StatusCode != http.StatusOK: // which one it is for a wrong password differs from version to version
		return held{}, fmt.Errorf("no login at Nacos as %q: it answers %s: check User and Password", t.registry.User, reply.Status)
	}
	var answer struct {
		Token string `json:"accessToken"`
		TTL   int64  `json:"tokenTtl"` // seconds
	}
	if err := json.Unmarshal(text, &answer); err != nil || answer.Token == "" {
		return held{}, errors.New("no login at Nacos: its answer has no token")
	}
	ttl := time.Duration(min(max(answer.TTL, 10), 30*24*3600)) * time.Second
	return held{answer.Token, time.Now().Add(ttl * 9 / 10)}, nil
}
