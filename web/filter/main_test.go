package filter_test

import (
	"context"
	"net/netip"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web/exchange"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// request is a GET with headers, given as names and values in turn.
func request(headers ...string) *exchange.Exchange {
	x := &exchange.Exchange{Context: context.Background(), Method: "GET", Path: "/users/7", Host: "api.example.com", ID: "r1",
		Remote: netip.MustParseAddrPort("192.0.2.1:4711")}
	for i := 0; i < len(headers); i += 2 {
		x.Header.Add(headers[i], headers[i+1])
	}
	return x
}

// answered is x with an answer of JSON.
func answered(x *exchange.Exchange, body string) *exchange.Exchange {
	x.Type, x.Out = "application/json", append(x.Out[:0], body...)
	return x
}

// through takes x through a filter, and gives the error of its Before.
func through(f exchange.Filter, x *exchange.Exchange) error {
	if f.Before != nil {
		if err := f.Before(x); err != nil {
			return err
		}
	}
	if f.After != nil {
		f.After(x)
	}
	return nil
}

// headers is the answer's headers, "Name: value", without those that are not named.
func headers(x *exchange.Exchange, names ...string) string {
	var lines []string
	for _, name := range names {
		for value := range x.Answer.All(name) {
			lines = append(lines, name+": "+value)
		}
	}
	return strings.Join(lines, "\n")
}

// misconfigured expects the filter to refuse everything, with an error that gives the reason.
func misconfigured(t *testing.T, f exchange.Filter, why string) {
	t.Helper()
	if f.Before == nil {
		t.Fatalf("%s: the filter works", why)
	}
	err := f.Before(request())
	e := sabir.AsError(err)
	if e == nil || e.Name != "FilterMisconfigured" || e.Code != sabir.CodeInternal || !strings.Contains(err.Error(), why) {
		t.Errorf("got %v, want %q", err, why)
	}
}

// bench runs a filter's way over one exchange, whose answer is prepared anew each time.
func bench(b *testing.B, f exchange.Filter, x *exchange.Exchange, prepare func()) {
	b.Helper()
	answer := x.Answer
	b.ReportAllocs()
	for b.Loop() {
		x.Answer = answer
		if prepare != nil {
			prepare()
		}
		if f.Before != nil {
			if err := f.Before(x); err != nil {
				b.Fatal(err)
			}
		}
		if f.After != nil {
			f.After(x)
		}
	}
}

// roomy is an exchange whose answer has space for headers, as a pooled one has.
func roomy(headers ...string) *exchange.Exchange {
	x := request(headers...)
	for range 16 {
		x.Answer.Add("X", "x")
	}
	x.Answer.Delete("X")
	return x
}
