package filter_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/exchange"
	"github.com/sabir-go/sabir/web/filter"
)

// tagOf is the ETag of an answer with the body.
func tagOf(body string) string {
	x := answered(request(), body)
	through(filter.Cache{}.Filter(), x)
	return x.Answer.Get("ETag")
}

func TestAnETagIsOfTheBody(t *testing.T) {
	a, b := tagOf(`{"id":7}`), tagOf(`{"id":8}`)
	if a == b || a != tagOf(`{"id":7}`) || len(a) != 18 || a[0] != '"' || a[17] != '"' {
		t.Errorf("got %s and %s", a, b)
	}
	x := answered(request(), `{"id":7}`)
	x.Answer.Add("ETag", `"own"`)
	if through(filter.Cache{}.Filter(), x); headers(x, "ETag") != `ETag: "own"` {
		t.Errorf("got %s", headers(x, "ETag"))
	}
}

func TestIfNoneMatch(t *testing.T) {
	const body = `{"id":7}`
	tag := tagOf(body)
	for line, match := range map[string]bool{
		tag:                         true,
		"W/" + tag:                  true, // weak comparison (RFC 9110, section 13.1.2)
		"w/" + tag:                  false,
		"*":                         true,
		" * ":                       true,
		`*, "x"`:                    false,
		`"x", ` + tag:               true,
		`"x",W/"y",` + tag + `,"z"`: true,
		`"x" ` + tag:                false,
		`, ,` + tag:                 true,
		"\t" + tag + " ":            true,
		`"x, ` + tag:                false,
		`"a,b", ` + tag:             true,
		`""`:                        false,
		"":                          false,
		strings.Trim(tag, `"`):      false,
		tag[:10]:                    false,
		tag + "x":                   true, // the fault is behind it
		`x, ` + tag:                 false,
		`"x"`:                       false,
	} {
		for _, method := range []string{"GET", "HEAD"} {
			x := answered(request("If-None-Match", line), body)
			x.Method = method
			through(filter.Cache{}.Filter(), x)
			if (x.Status == 304) != match {
				t.Errorf("%s %q: got %d", method, line, x.Status)
			}
			if match && (len(x.Out) != 0 || x.Type != "") || !match && string(x.Out) != body || x.Answer.Get("ETag") != tag || !x.Answer.Has("Cache-Control") {
				t.Errorf("%s %q: got %q of type %q, %q", method, line, x.Out, x.Type, x.Answer.Fields())
			}
		}
	}
	x := answered(request("If-None-Match", `"x"`, "If-None-Match", tag), body)
	if through(filter.Cache{}.Filter(), x); x.Status != 304 {
		t.Errorf("in a second line: got %d", x.Status)
	}
	x = answered(request("If-None-Match", `"own"`), body)
	x.Answer.Add("ETag", `W/"own"`)
	if through(filter.Cache{}.Filter(), x); x.Status != 304 {
		t.Errorf("a weak tag of the answer: got %d", x.Status)
	}
}

func TestWhatHasNoETag(t *testing.T) {
	for _, change := range []func(*exchange.Exchange){
		func(x *exchange.Exchange) { x.Method = "POST" },
		func(x *exchange.Exchange) { x.Method = "DELETE" },
		func(x *exchange.Exchange) { x.Status = 404 },
		func(x *exchange.Exchange) { x.Status = 201 },
		func(x *exchange.Exchange) { x.Status = 206 },
	} {
		x := answered(request("If-None-Match", "*"), "{}")
		change(x)
		status := x.Status
		if through(filter.Cache{}.Filter(), x); x.Answer.Has("ETag") || x.Status != status || string(x.Out) != "{}" {
			t.Errorf("%s %d: got %d, %q", x.Method, status, x.Status, x.Answer.Fields())
		}
	}
}

// routed is a route of an action, as the server has it.
type routed struct{ action *sabir.Action }

func (r routed) Action() *sabir.Action { return r.action }

// cachedFor is an action whose cache noted that it keeps answers so long.
func cachedFor(t testing.TB, ttl time.Duration) routed {
	s := sabir.NewService("users")
	sabir.Handle(s, "get", func(context.Context, sabir.Empty) (int, error) { return 1, nil }, sabir.Use(sabir.Middleware{Local: func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		a.Annotate(gateway.CacheNote, ttl)
		return next
	}}))
	n := sabir.NewNode(sabir.Serve(s))
	if err := n.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Stop(context.Background()) })
	return routed{n.Action("users.get")}
}

func TestCacheControl(t *testing.T) {
	minute := cachedFor(t, 90*time.Second)
	shared := filter.Cache{Shared: true}
	for _, c := range []struct {
		what   string
		filter filter.Cache
		change func(*exchange.Exchange)
		want   string
	}{
		{"nothing is kept", filter.Cache{}, func(*exchange.Exchange) {}, "private, no-cache"},
		{"an age for all", filter.Cache{MaxAge: 5 * time.Second}, func(*exchange.Exchange) {}, "private, max-age=5"},
		{"the action's cache", filter.Cache{}, func(x *exchange.Exchange) { x.Route = minute }, "private, max-age=90"},
		{"an action without one", filter.Cache{}, func(x *exchange.Exchange) { x.Route = routed{} }, "private, no-cache"},
		{"the answer says it", filter.Cache{}, func(x *exchange.Exchange) { x.Answer.Add("Cache-Control", "max-age=7") }, "max-age=7"},
		{"a cookie is set", shared, func(x *exchange.Exchange) { x.Answer.Add("Set-Cookie", "a=b") }, "no-store"},
		{"shared", shared, func(x *exchange.Exchange) { x.Route = minute }, "public, max-age=90"},
		{"shared, but somebody calls", shared, func(x *exchange.Exchange) { x.Route, x.Principal = minute, &auth.Principal{Subject: "ada"} }, "private, max-age=90"},
		{"shared, but with credentials", shared, func(x *exchange.Exchange) { x.Route = minute; x.Header.Add("Authorization", "x") }, "private, max-age=90"},
		{"shared, but with a cookie", shared, func(x *exchange.Exchange) { x.Route = minute; x.Header.Add("Cookie", "a=b") }, "private, max-age=90"},
		{"an error", shared, func(x *exchange.Exchange) { x.Route, x.Status = minute, 404 }, "no-store"},
		{"a failure", filter.Cache{}, func(x *exchange.Exchange) { x.Status = 500 }, "no-store"},
	} {
		f := c.filter.Filter()
		for range 2 { // the second time from what is remembered
			x := answered(request(), "{}")
			c.change(x)
			if through(f, x); headers(x, "Cache-Control") != "Cache-Control: "+c.want {
				t.Errorf("%s: got %s", c.what, headers(x, "Cache-Control"))
			}
		}
	}
	misconfigured(t, filter.Cache{MaxAge: -1}.Filter(), "MaxAge")
}

func TestCompressedAnswersAreFoundAgain(t *testing.T) {
	compress, cache := filter.Compress{}.Filter(), filter.Cache{}.Filter()
	ask := func(headers ...string) *exchange.Exchange {
		x := answered(request(append(headers, "Accept-Encoding", "gzip")...), document)
		cache.After(x)
		compress.After(x)
		return x
	}
	first := ask()
	tag := first.Answer.Get("ETag")
	if !strings.HasPrefix(tag, `W/"`) || first.Answer.Get("Content-Encoding") != "gzip" {
		t.Fatalf("got %q", first.Answer.Fields())
	}
	again := ask("If-None-Match", tag)
	if again.Status != 304 || again.Answer.Get("ETag") != tag || len(again.Out) != 0 || again.Answer.Has("Content-Encoding") || again.Answer.Get("Vary") != "Accept-Encoding" {
		t.Errorf("got %d, %q", again.Status, again.Answer.Fields())
	}
}

// FuzzIfNoneMatch has anything in the header: there is a match only where the tag is in it, or a star.
func FuzzIfNoneMatch(f *testing.F) {
	tag := tagOf("{}")
	for _, seed := range []string{tag, `W/"a", ` + tag, "*", `"`, `W/`, `,`, `"a" "b"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		x := answered(request("If-None-Match", line), "{}")
		through(filter.Cache{}.Filter(), x)
		if x.Status == 304 && !strings.Contains(line, tag) && strings.Trim(line, " \t") != "*" {
			t.Fatalf("%q matches %s", line, tag)
		}
	})
}

func BenchmarkCacheOfACall(b *testing.B) {
	x := roomy()
	x.Method = "POST"
	bench(b, filter.Cache{}.Filter(), answered(x, `{"id":7,"name":"Ada"}`), nil)
}

func BenchmarkCache(b *testing.B) {
	x := roomy()
	x.Route = cachedFor(b, time.Minute)
	bench(b, filter.Cache{}.Filter(), answered(x, strings.Repeat("x", 300)), nil)
}

func BenchmarkNotModified(b *testing.B) {
	body := strings.Repeat("x", 300)
	x := roomy("If-None-Match", tagOf(body))
	bench(b, filter.Cache{}.Filter(), x, func() { answered(x, body).Status = 0 })
}
