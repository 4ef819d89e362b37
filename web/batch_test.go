package web

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/exchange"
)

// account is a service whose actions touch the session and the headers of the answer.
func account(sessions *auth.Sessions) *sabir.Service {
	s := sabir.NewService("account")
	sabir.Handle(s, "signIn", func(ctx context.Context, in helloRequest) (nothing, error) {
		return nothing{}, sessions.SignIn(ExchangeFromContext(ctx), auth.Principal{Subject: in.Name})
	})
	sabir.Handle(s, "signOut", func(ctx context.Context, _ nothing) (nothing, error) {
		return nothing{}, sessions.SignOut(ExchangeFromContext(ctx))
	})
	sabir.Handle(s, "who", func(ctx context.Context, _ nothing) (string, error) {
		p, _ := auth.FromContext(ctx)
		return p.Subject, nil
	})
	sabir.Handle(s, "guarded", func(context.Context, nothing) (nothing, error) { return nothing{}, nil }, sabir.Use(auth.Require()))
	sabir.Handle(s, "busy", func(context.Context, nothing) (nothing, error) {
		return nothing{}, sabir.NewError(sabir.CodeResourceExhausted, "Busy", "come back later").AsRetryable()
	})
	sabir.Handle(s, "cookies", func(ctx context.Context, in map[string]string) (nothing, error) {
		x := ExchangeFromContext(ctx)
		x.Answer.Set("X-Total", "7")
		for name, value := range in {
			x.Answer.Add("Set-Cookie", (&http.Cookie{Name: name, Value: value, Path: "/"}).String())
		}
		return nothing{}, nil
	})
	sabir.Handle(s, "created", func(ctx context.Context, _ nothing) (string, error) {
		ExchangeFromContext(ctx).Status = http.StatusCreated
		return "it", nil
	})
	return s
}

// member is a browser with cookies.
type member struct {
	t      *testing.T
	base   string
	client http.Client
}

func newMember(t *testing.T, idle time.Duration) *member {
	sessions := auth.Session(auth.SessionConfig{Secret: []byte("a secret of at least 32 random bytes!"), Idle: idle})
	text := exchange.Filter{Name: "text", After: func(x *exchange.Exchange) {
		if x.Header.Has("X-Meta-Text") && strings.HasSuffix(x.Path, "/created") {
			x.Type, x.Out = "text/plain", []byte("it")
		}
	}}
	node := start(t, sabir.Serve(account(sessions)), sabir.HTTP(":0", With(Config{Auth: []auth.Authenticator{sessions}, AllowAnonymous: true, AfterAuth: Filters{text}})))
	jar, _ := cookiejar.New(nil)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &member{t, "http://" + node.HTTPAddr(), http.Client{Jar: jar, Transport: transport}}
}

// batch makes calls, each of an action and its input, and returns the answers.
func (m *member) batch(calls [][2]string, headers ...string) []batchResult {
	m.t.Helper()
	var list []string
	for _, c := range calls {
		list = append(list, `{"action":"account.`+c[0]+`","input":`+c[1]+`}`)
	}
	r, _ := http.NewRequest(http.MethodPost, m.base+"/batch", strings.NewReader("["+strings.Join(list, ",")+"]"))
	r.Header.Set("Content-Type", "application/json")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	answer, err := m.client.Do(r)
	if err != nil {
		m.t.Fatal(err)
	}
	defer answer.Body.Close()
	var answers []batchResult
	if err := json.NewDecoder(answer.Body).Decode(&answers); err != nil || len(answers) != len(calls) {
		m.t.Fatalf("%s %v %v", answer.Status, answers, err)
	}
	return answers
}

// who returns the principal that the next batch is made for.
func (m *member) who() string {
	m.t.Helper()
	return strings.Trim(string(m.batch([][2]string{{"who", "{}"}})[0].Output), `"`)
}

func (m *member) cookie(name string) string {
	u, _ := url.Parse(m.base)
	for _, c := range m.client.Jar.Cookies(u) {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

var signIn, whoami = [2]string{"signIn", `{"name":"Ada"}`}, [2]string{"who", "{}"}

func TestABatchSignsInAndOut(t *testing.T) {
	m := newMember(t, 0)
	m.batch([][2]string{whoami, signIn, whoami})
	if got := m.who(); got != "Ada" {
		t.Fatalf("after signing in it is %q", got)
	}
	m.batch([][2]string{whoami, {"signOut", "{}"}, whoami})
	if got := m.who(); got != "" || m.cookie("session") != "" {
		t.Errorf("after signing out it is %q", got)
	}
}

func TestTheLastCallOfABatchThatTouchesTheSessionCounts(t *testing.T) {
	out := [2]string{"signOut", "{}"}
	for _, test := range []struct {
		calls [][2]string
		want  string
	}{{[][2]string{out, signIn}, "Ada"}, {[][2]string{signIn, out}, ""}, {[][2]string{signIn, {"signIn", `{"name":"Bob"}`}}, "Bob"}} {
		m := newMember(t, 0)
		m.batch(test.calls)
		if got := m.who(); got != test.want {
			t.Errorf("%v: %q, want %q", test.calls, got, test.want)
		}
	}
}

func TestABatchProlongsASessionButNotOneThatACallEnds(t *testing.T) {
	m := newMember(t, 2*time.Second) // it is prolonged after one
	m.batch([][2]string{signIn})
	if m.who() != "Ada" {
		t.Fatal("nobody signed in")
	}
	first := m.cookie("session")
	eventually(t, "it is prolonged", func() bool { m.batch([][2]string{whoami, whoami}); return m.cookie("session") != first })
	second := m.cookie("session")
	eventually(t, "it would be prolonged, and ends instead", func() bool {
		if m.cookie("session") == second {
			m.batch([][2]string{{"signOut", "{}"}, whoami, whoami})
		}
		return m.cookie("session") == ""
	})
}

func TestAnOldCookieDoesNotKeepABatchFromSigningIn(t *testing.T) {
	m := newMember(t, 0)
	u, _ := url.Parse(m.base)
	m.client.Jar.SetCookies(u, []*http.Cookie{{Name: "session", Value: "old", Path: "/"}})
	m.batch([][2]string{signIn, whoami, {"guarded", "{}"}})
	if got := m.who(); got != "Ada" {
		t.Errorf("it is %q", got)
	}
}

func TestABatchCarriesStatusHeadersAndCookiesOfItsCalls(t *testing.T) {
	m := newMember(t, 0)
	got := m.batch([][2]string{{"created", "{}"}, {"busy", "{}"}, {"guarded", "{}"}, {"cookies", `{"a":"1","b":"2"}`}, {"cookies", `{"a":"3"}`}})
	if got[0].Status != 201 || string(got[0].Output) != `"it"` || got[0].Problem != nil {
		t.Errorf("created: %+v", got[0])
	}
	if got[1].Status != 429 || !slices.Equal(got[1].Headers["Retry-After"], []string{"1"}) {
		t.Errorf("busy: %+v", got[1])
	}
	if got[2].Status != 401 || len(got[2].Headers["Www-Authenticate"]) == 0 {
		t.Errorf("guarded: %+v", got[2])
	}
	if !slices.Equal(got[3].Headers["X-Total"], []string{"7"}) || m.cookie("a") != "3" || m.cookie("b") != "2" {
		t.Errorf("cookies: %+v, a=%q b=%q", got[3], m.cookie("a"), m.cookie("b"))
	}
}

func TestWhatABatchCannotHoldIsTheErrorOfItsCall(t *testing.T) {
	m := newMember(t, 0)
	long := strings.Repeat("x", 3000)
	got := m.batch([][2]string{{"cookies", `{"a":"` + long + `"}`}, {"cookies", `{"b":"` + long + `"}`}, {"cookies", `{"c":"` + long + `"}`}, whoami})
	if got[0].Status != 200 || got[1].Status != 200 || got[3].Status != 200 || m.cookie("b") != long {
		t.Errorf("cookies that have room: %d %d %d", got[0].Status, got[1].Status, got[3].Status)
	}
	if got[2].Status != 500 || !strings.Contains(string(got[2].Problem), "bytes of cookies") || m.cookie("c") != "" {
		t.Errorf("cookies without room: %d %s", got[2].Status, got[2].Problem)
	}
	got = m.batch([][2]string{{"created", "{}"}, whoami}, "X-Meta-Text: 1")
	if got[0].Status != 500 || !strings.Contains(string(got[0].Problem), "text/plain") || got[1].Status != 200 {
		t.Errorf("an answer that is not JSON: %+v", got)
	}
}

func TestTheCallsOfABatchHaveItsDeadlineTogether(t *testing.T) {
	s := sabir.NewService("slow")
	var begun atomic.Int32
	sabir.Handle(s, "wait", func(ctx context.Context, _ nothing) (nothing, error) {
		begun.Add(1)
		<-ctx.Done()
		return nothing{}, ctx.Err()
	})
	node := start(t, sabir.Serve(s), sabir.HTTP(":0"))
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	calls := `{"action":"slow.wait"}` + strings.Repeat(`,{"action":"slow.wait"}`, 2*batchWidth-1)
	r, _ := http.NewRequest(http.MethodPost, "http://"+node.HTTPAddr()+"/batch", strings.NewReader("["+calls+"]"))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Request-Timeout", "50ms")
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var answers []batchResult
	if err := json.NewDecoder(answer.Body).Decode(&answers); err != nil || len(answers) != 2*batchWidth {
		t.Fatalf("%s %v %v", answer.Status, answers, err)
	}
	for i, a := range answers {
		if a.Status != http.StatusGatewayTimeout {
			t.Errorf("call %d: status %d, %s", i+1, a.Status, a.Problem)
		}
	}
	if n := begun.Load(); n > batchWidth {
		t.Errorf("%d handlers began, %d of them after the deadline", n, n-batchWidth)
	}
}
