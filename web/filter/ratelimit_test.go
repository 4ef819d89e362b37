package filter_test

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/policy"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/exchange"
	"github.com/sabir-go/sabir/web/filter"
)

// passes counts how many of n requests pass.
func passes(f exchange.Filter, n int, make func() *exchange.Exchange) (passed int) {
	for range n {
		if f.Before(make()) == nil {
			passed++
		}
	}
	return passed
}

func from(addr string) func() *exchange.Exchange {
	return func() *exchange.Exchange {
		x := request()
		x.Remote = netip.AddrPortFrom(netip.MustParseAddr(addr), 1)
		return x
	}
}

func TestRateLimitLetsABurstThroughAndThenTheRate(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		f := filter.RateLimit{Rate: 10, Burst: 5}.Filter()
		for _, c := range []struct {
			after time.Duration
			want  int
		}{{0, 5}, {300 * time.Millisecond, 3}, {time.Hour, 5}} {
			time.Sleep(c.after)
			if n := passes(f, 20, from("192.0.2.1")); n != c.want {
				t.Errorf("%d passed after %v, want %d", n, c.after, c.want)
			}
		}
	})
}

func TestAddressesHaveLimitsOfTheirOwn(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		f := filter.RateLimit{Rate: 1, Burst: 2}.Filter()
		for _, c := range []struct {
			addr string
			want int
		}{
			{"192.0.2.1", 2}, {"192.0.2.1", 0}, {"::ffff:192.0.2.1", 0}, {"192.0.2.2", 2},
			{"2001:db8::1", 2}, {"2001:db8::ffff:ffff:ffff:ffff", 0}, {"2001:db8:0:1::1", 2},
		} {
			if n := passes(f, 5, from(c.addr)); n != c.want {
				t.Errorf("%s: %d passed, want %d", c.addr, n, c.want)
			}
		}
		unix := func() *exchange.Exchange { return &exchange.Exchange{} }
		if n := passes(f, 5, unix); n != 2 {
			t.Errorf("without an address %d passed", n)
		}
	})
}

func TestTheAnswerToALimitedCallSaysWhenToTryAgain(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		f := filter.RateLimit{Rate: 0.4, Burst: 2}.Filter()
		x := request()
		f.Before(x)
		if got := headers(x, "RateLimit-Policy", "RateLimit", "Retry-After"); got != "RateLimit-Policy: \"default\";q=2;w=5\nRateLimit: \"default\";r=1;t=3" {
			t.Errorf("got %s", got)
		}
		f.Before(request())
		x = request()
		err := f.Before(x)
		if got := headers(x, "RateLimit-Policy", "RateLimit", "Retry-After"); got != "RateLimit-Policy: \"default\";q=2;w=5\nRateLimit: \"default\";r=0;t=3\nRetry-After: 3" {
			t.Errorf("got %s", got)
		}
		e := sabir.AsError(err)
		if !errors.Is(err, sabir.ErrRateLimited) || e.HTTPStatus() != 429 || !e.Retryable {
			t.Errorf("got %v", err)
		}
		if after, err := sabir.DataAs[policy.RetryAfter](e); err != nil || after.Seconds != 2.5 {
			t.Errorf("the data is %v, %v", after, err)
		}
		time.Sleep(2500 * time.Millisecond)
		if err := f.Before(request()); err != nil {
			t.Errorf("got %v at the time it named", err)
		}
	})
}

func TestRateLimitByPrincipalRouteAndHeader(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		make := func(addr, subject, path, tenant string) func() *exchange.Exchange {
			return func() *exchange.Exchange {
				x := from(addr)()
				x.Path = path
				x.Header.Add("X-Tenant", tenant)
				if subject != "" {
					x.Principal = &auth.Principal{Subject: subject, Scheme: "jwt"}
				}
				return x
			}
		}
		for what, c := range map[string]struct {
			f           exchange.Filter
			same, apart func() *exchange.Exchange
		}{
			"principal":           {filter.RateLimit{Rate: 1, Burst: 2, ByPrincipal: true}.Filter(), make("192.0.2.9", "ada", "/b", "b"), make("192.0.2.1", "bob", "/a", "a")},
			"principal or nobody": {filter.RateLimit{Rate: 1, Burst: 2, ByPrincipal: true}.Filter(), make("192.0.2.2", "ada", "/a", "a"), make("192.0.2.1", "", "/a", "a")},
			"route":               {filter.RateLimit{Rate: 1, Burst: 2, ByRoute: true}.Filter(), make("192.0.2.1", "bob", "/a", "b"), make("192.0.2.1", "ada", "/b", "a")},
			"header":              {filter.RateLimit{Rate: 1, Burst: 2, ByHeader: "x-tenant"}.Filter(), make("192.0.2.1", "bob", "/b", "a"), make("192.0.2.1", "ada", "/a", "b")},
			"together and route":  {filter.RateLimit{Rate: 1, Burst: 2, Together: true, ByRoute: true}.Filter(), make("192.0.2.9", "bob", "/a", "b"), make("192.0.2.1", "ada", "/b", "a")},
		} {
			first := make("192.0.2.1", "ada", "/a", "a")
			if a, b, c := passes(c.f, 5, first), passes(c.f, 5, c.same), passes(c.f, 5, c.apart); a != 2 || b != 0 || c != 2 {
				t.Errorf("%s: %d, %d, %d passed, want 2, 0, 2", what, a, b, c)
			}
		}
	})
}

func TestRateLimitByAClaimOfTheToken(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		make := func(addr, subject string, claims map[string]any) func() *exchange.Exchange {
			return func() *exchange.Exchange {
				x := from(addr)()
				if subject != "" {
					x.Principal = &auth.Principal{Subject: subject, Scheme: "jwt", Claims: claims}
				}
				return x
			}
		}
		of := func(tenant any) map[string]any { return map[string]any{"tenant": tenant} }
		for what, c := range map[string]struct {
			f           filter.RateLimit
			first       map[string]any
			same, apart func() *exchange.Exchange
		}{
			"a tenant":                         {filter.RateLimit{ByClaim: "tenant"}, of("acme"), make("192.0.2.9", "bob", of("acme")), make("192.0.2.1", "ada", of("other"))},
			"a number":                         {filter.RateLimit{ByClaim: "tenant"}, of(7.0), make("192.0.2.9", "bob", of(7.0)), make("192.0.2.1", "ada", of("7"))},
			"a claim in a claim":               {filter.RateLimit{ByClaim: "org.tenant"}, map[string]any{"org": of("acme")}, make("192.0.2.9", "bob", map[string]any{"org": of("acme")}), make("192.0.2.1", "ada", map[string]any{"org": of("other")})},
			"a claim whose name has dots":      {filter.RateLimit{ByClaim: "https://a.example/t"}, map[string]any{"https://a.example/t": "acme"}, make("192.0.2.9", "bob", map[string]any{"https://a.example/t": "acme"}), make("192.0.2.1", "ada", nil)},
			"without the claim, by address":    {filter.RateLimit{ByClaim: "tenant"}, of(""), make("192.0.2.1", "bob", nil), make("192.0.2.9", "ada", of([]any{"acme"}))},
			"without the claim, by principal":  {filter.RateLimit{ByClaim: "tenant", ByPrincipal: true}, nil, make("192.0.2.9", "ada", nil), make("192.0.2.1", "bob", of("ada"))},
			"a claim is no address or subject": {filter.RateLimit{ByClaim: "tenant", ByPrincipal: true}, of("ada"), make("192.0.2.9", "bob", of("ada")), make("192.0.2.1", "ada", nil)},
			"who is not signed in, by address": {filter.RateLimit{ByClaim: "tenant"}, nil, make("192.0.2.1", "", nil), make("192.0.2.9", "", nil)},
		} {
			c.f.Rate, c.f.Burst = 1, 2
			f := c.f.Filter()
			first := make("192.0.2.1", "ada", c.first)
			if a, b, c := passes(f, 5, first), passes(f, 5, c.same), passes(f, 5, c.apart); a != 2 || b != 0 || c != 2 {
				t.Errorf("%s: %d, %d, %d passed, want 2, 0, 2", what, a, b, c)
			}
		}
	})
}

func TestOneLimitForAllCallers(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		f := filter.RateLimit{Rate: 1, Burst: 3, Together: true}.Filter()
		if a, b := passes(f, 2, from("192.0.2.1")), passes(f, 2, from("192.0.2.2")); a != 2 || b != 1 {
			t.Errorf("%d and %d passed", a, b)
		}
	})
}

func TestRateLimitBehindAProxy(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		f := filter.RateLimit{Rate: 1, Burst: 1}.Filter()
		passed := 0
		for i := range 10 { // what the client writes before the proxy's entry changes nothing
			if f.Before(proxied(fmt.Sprintf("1.1.1.%d, 198.51.100.7", i))) == nil {
				passed++
			}
		}
		if passed != 1 {
			t.Errorf("%d passed", passed)
		}
		if err := f.Before(proxied("198.51.100.8")); err != nil {
			t.Error(err)
		}
	})
}

func TestABoundedNumberOfCallersIsRemembered(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		f := filter.RateLimit{Rate: 0.001, Burst: 1, MaxCallers: 10}.Filter()
		passed := 0
		for range 2 {
			for i := range 1000 {
				passed += passes(f, 1, from(fmt.Sprintf("10.0.%d.%d", i/256, i%256)))
			}
		}
		if passed < 1900 {
			t.Errorf("%d of 2000 passed: more than ten of a thousand callers were remembered", passed)
		}
	})
}

func TestCallsAtOnceAreCountedOnce(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		f := filter.RateLimit{Rate: 1, Burst: 100}.Filter()
		var passed atomic.Int32
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() { passed.Add(int32(passes(f, 50, from("192.0.2.1")))) })
		}
		wg.Wait()
		if passed.Load() != 100 {
			t.Errorf("%d passed, want 100", passed.Load())
		}
	})
}

func TestHeadersOfCallsThatPassedCanBeLeftOut(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		f := filter.RateLimit{Rate: 1, Burst: 1, OnlyWhenLimited: true, Name: "api"}.Filter()
		x := request()
		if f.Before(x); len(x.Answer.Fields()) != 0 {
			t.Errorf("got %q", x.Answer.Fields())
		}
		if f.Before(x); headers(x, "RateLimit") != `RateLimit: "api";r=0;t=1` {
			t.Errorf("got %q", x.Answer.Fields())
		}
	})
}

func TestRateLimitsThatAreNotSound(t *testing.T) {
	for why, f := range map[string]exchange.Filter{
		"the rate is 0": filter.RateLimit{Rate: 0, Burst: 1}.Filter(), "the rate is -1": filter.RateLimit{Rate: -1, Burst: 1}.Filter(), "the rate is 2e+07": filter.RateLimit{Rate: 2e7, Burst: 1}.Filter(), "the burst is 0": filter.RateLimit{Rate: 1, Burst: 0}.Filter(), "centuries": filter.RateLimit{Rate: 1e-9, Burst: 1e9}.Filter(),
		"MaxCallers is -1": filter.RateLimit{Rate: 1, Burst: 1, MaxCallers: -1}.Filter(), "ByHeader": filter.RateLimit{Rate: 1, Burst: 1, ByHeader: "a b"}.Filter(), "Name is": filter.RateLimit{Rate: 1, Burst: 1, Name: `a"b`}.Filter(),
		"Together excludes":    filter.RateLimit{Rate: 1, Burst: 1, Together: true, ByPrincipal: true}.Filter(),
		"excludes ByPrincipal": filter.RateLimit{Rate: 1, Burst: 1, Together: true, ByClaim: "tenant"}.Filter(),
	} {
		misconfigured(t, f, why)
	}
}

func BenchmarkRateLimit(b *testing.B) {
	for name, quiet := range map[string]bool{"headers": false, "quiet": true} {
		b.Run(name, func(b *testing.B) {
			bench(b, filter.RateLimit{Rate: 10_000_000, Burst: 1_000_000, OnlyWhenLimited: quiet}.Filter(), roomy(), nil)
		})
	}
}
