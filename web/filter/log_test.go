package filter_test

import (
	"bytes"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/exchange"
	"github.com/sabir-go/sabir/web/filter"
)

// logged returns the line that a filter writes for x, whose answer takes 20 ms.
func logged(t *testing.T, x *exchange.Exchange, l filter.Log) (line string) {
	bubbletest.Run(t, func(t *testing.T) {
		var out bytes.Buffer
		l.Logger = slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
		f := l.Filter()
		f.Before(x)
		time.Sleep(20 * time.Millisecond)
		f.After(x)
		line = out.String()
	})
	return line
}

func TestALineForEachAnswer(t *testing.T) {
	for _, c := range []struct {
		what   string
		log    filter.Log
		change func(*exchange.Exchange)
		want   string
	}{
		{"as usual", filter.Log{}, func(*exchange.Exchange) {}, "level=INFO msg=http method=GET path=/users/7 status=200 bytes=2 duration_ms=20 from=192.0.2.1 request_id=r1\n"},
		{"a failure", filter.Log{}, func(x *exchange.Exchange) { x.Status = 500 }, "level=ERROR msg=http method=GET path=/users/7 status=500 bytes=2 duration_ms=20 from=192.0.2.1 request_id=r1\n"},
		{"a query", filter.Log{}, func(x *exchange.Exchange) { x.Query = "token=hunter2&page=3&hunter3" }, "level=INFO msg=http method=GET path=/users/7 query=\"token=…&page=…&=…\" status=200 bytes=2 duration_ms=20 from=192.0.2.1 request_id=r1\n"},
		{"with the query", filter.Log{Query: true}, func(x *exchange.Exchange) { x.Query = "page=3" }, "level=INFO msg=http method=GET path=/users/7 query=\"page=3\" status=200 bytes=2 duration_ms=20 from=192.0.2.1 request_id=r1\n"},
		{"an action", filter.Log{}, func(x *exchange.Exchange) { x.Route = cachedFor(t, time.Second) }, "level=INFO msg=http method=GET path=/users/7 status=200 bytes=2 duration_ms=20 from=192.0.2.1 request_id=r1 action=users.get\n"},
		{"a trace", filter.Log{}, func(x *exchange.Exchange) {
			x.Header.Add("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
		}, "level=INFO msg=http method=GET path=/users/7 status=200 bytes=2 duration_ms=20 from=192.0.2.1 request_id=r1 trace_id=0af7651916cd43dd8448eb211c80319c\n"},
		{"a caller", filter.Log{Caller: true}, func(x *exchange.Exchange) { x.Principal = &auth.Principal{Subject: "ada"} }, "level=INFO msg=http method=GET path=/users/7 status=200 bytes=2 duration_ms=20 from=192.0.2.1 request_id=r1 caller=ada\n"},
		{"behind a proxy", filter.Log{}, func(x *exchange.Exchange) {
			x.Proxies = &exchange.Proxies{From: prefixes("192.0.2.1/32")}
			x.Header.Add("X-Forwarded-For", "198.51.100.7")
		}, "level=INFO msg=http method=GET path=/users/7 status=200 bytes=2 duration_ms=20 from=198.51.100.7 request_id=r1\n"},
		{"a line break in the path", filter.Log{}, func(x *exchange.Exchange) { x.Path = "/a\nlevel=ERROR" }, "level=INFO msg=http method=GET path=\"/a\\nlevel=ERROR\" status=200 bytes=2 duration_ms=20 from=192.0.2.1 request_id=r1\n"},
	} {
		x := answered(request("Authorization", "Bearer hunter2", "Cookie", "session=hunter2"), "{}")
		c.change(x)
		if got := logged(t, x, c.log); got != c.want {
			t.Errorf("%s: got %s", c.what, got)
		} else if strings.Contains(got, "hunter") {
			t.Errorf("%s: a secret is in %s", c.what, got)
		}
	}
}

func TestLongPathsAreCut(t *testing.T) {
	x := answered(request(), "{}")
	x.Path = "/" + strings.Repeat("x", 10_000)
	x.Query = strings.Repeat("a=b&", 10_000)
	if got := logged(t, x, filter.Log{}); len(got) > 2500 {
		t.Errorf("a line of %d bytes", len(got))
	}
}

func TestAnAnswerWhoseBeginningIsUnknownHasALineToo(t *testing.T) {
	var out bytes.Buffer
	f := filter.Log{Logger: slog.New(slog.NewTextHandler(&out, nil))}.Filter()
	f.After(answered(request(), "{}"))
	if got := out.String(); !strings.Contains(got, "status=200") || strings.Contains(got, "duration_ms=") {
		t.Errorf("got %s", got)
	}
}

func TestALogWithoutALoggerIsTheDefaultOne(t *testing.T) {
	var out strings.Builder
	usual := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&out, nil)))
	defer slog.SetDefault(usual)
	if through(filter.Log{}.Filter(), answered(request(), "{}")); !strings.Contains(out.String(), "msg=http") {
		t.Errorf("got %s", out.String())
	}
}

func BenchmarkLog(b *testing.B) {
	bench(b, filter.Log{Logger: slog.New(slog.NewJSONHandler(io.Discard, nil))}.Filter(), answered(request(), "{}"), nil)
}

func BenchmarkLogOff(b *testing.B) {
	bench(b, filter.Log{Logger: slog.New(slog.DiscardHandler)}.Filter(), answered(request(), "{}"), nil)
}
