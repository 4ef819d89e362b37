package main

import (
	"context"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web"
)

func TestBenchMeasuresAnActionOverHTTPAndInProcess(t *testing.T) {
	startDemo(t)
	speed := make(map[string]float64)
	for _, where := range [][]string{nil, {"--local"}} {
		args := append([]string{"bench", "users.get", "id=u-1", "-d", "200ms", "--warmup", "20ms", "-c", "2", "--json"}, where...)
		got := oneJSON[benchResult](t, sabirRun(t, args...).out)
		if got.Calls == 0 || got.Failed != 0 || got.Seconds < 0.2 || got.Latency.P50 <= 0 || got.Latency.P50 > got.Latency.Max || len(got.Histogram) == 0 {
			t.Errorf("%v: %+v", where, got)
		}
		if where == nil && got.Bytes != got.Calls*int64(len(`{"id":"u-1","name":"Ada Marino","email":"ada.marino@example.com","city":"Algiers","blocked":false,"since":"2026-01-05T09:00:00Z"}`)) {
			t.Errorf("%d bytes in %d answers", got.Bytes, got.Calls)
		}
		speed[strings.Join(where, "")] = got.CallsPerSecond
	}
	if speed["--local"] < 5*speed[""] {
		t.Errorf("%.0f calls/s in process and %.0f over HTTP: want a difference", speed["--local"], speed[""])
	}
}

func TestBenchPrintsFiguresAndAHistogram(t *testing.T) {
	got := sabirRun(t, "bench", "users.get", "id=u-1", "--local", "-d", "50ms", "--warmup", "0s", "-c", "1")
	for _, want := range []string{"users.get, in process, 1 caller,", "calls/s ", "p99.9 ", " %  █", "one call in 64"} {
		if got.code != exitOK || !strings.Contains(got.out, want) {
			t.Errorf("%q is not in %+v", want, got)
		}
	}
}

func TestBenchMeasuresNothingWhenTheFirstCallFails(t *testing.T) {
	startDemo(t)
	for _, where := range [][]string{nil, {"--local"}} {
		got := sabirRun(t, append([]string{"bench", "orders.create", badOrder, "-d", "1h"}, where...)...)
		if got.code != exitFailed || got.out != "" || !strings.Contains(got.errOut, "lines[0].quantity") {
			t.Errorf("%v: %+v", where, got)
		}
	}
	if got := sabirRun(t, "bench", "no.such", "--local"); got.code != exitFailed || !strings.Contains(got.errOut, "no.such") {
		t.Errorf("an action that the demo has not: %+v", got)
	}
}

func TestBenchMeasuresFailuresWhenTheyAreAllowed(t *testing.T) {
	startDemo(t)
	got := sabirRun(t, "bench", "users.get", "id=u-99", "-d", "50ms", "--warmup", "0s", "--allow-errors", "--json")
	if r := oneJSON[benchResult](t, got.out); got.code != exitOK || r.Failed == 0 || r.Failed != r.Calls || r.Errors["UserNotFound"] != r.Calls {
		t.Errorf("%+v", got)
	}
}

func TestBenchWhoseCallsFailLaterExitsWith1AndSaysWhy(t *testing.T) {
	fickle := sabir.NewService("fickle")
	calls := make(chan struct{}, 1) // capacity for one good call
	sabir.Handle(fickle, "once", func(context.Context, struct{}) (struct{}, error) {
		select {
		case calls <- struct{}{}:
			return struct{}{}, nil
		default:
			return struct{}{}, sabir.NewError(sabir.CodeFailedPrecondition, "NotAgain", "only once")
		}
	})
	startNode(t, sabir.NewNode(quiet(), sabir.Serve(fickle), sabir.HTTP(":0", web.With(web.Config{Operators: []string{web.ThisMachine}}))))
	got := sabirRun(t, "bench", "fickle.once", "-d", "50ms", "--warmup", "0s")
	if got.code != exitFailed || !strings.Contains(got.out, "NotAgain") || !strings.Contains(got.errOut, "calls failed") {
		t.Errorf("%+v", got)
	}
}

func TestAnInterruptedBenchReportsWhatItHas(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	steady := sabir.NewService("steady")
	var calls atomic.Int64
	sabir.Handle(steady, "tick", func(context.Context, struct{}) (struct{}, error) {
		if calls.Add(1) == 100 {
			cancel()
		}
		return struct{}{}, nil
	})
	startNode(t, sabir.NewNode(quiet(), sabir.Serve(steady), sabir.HTTP(":0", web.With(web.Config{Operators: []string{web.ThisMachine}}))))
	var out, errOut strings.Builder
	code := execute(ctx, []string{"bench", "steady.tick", "-d", "1h", "--warmup", "0s"}, strings.NewReader(""), &out, &errOut)
	if code != exitOK || !strings.Contains(out.String(), "interrupted") || errOut.Len() > 0 {
		t.Errorf("exit code %d, %s %s", code, out.String(), errOut.String())
	}
}

func TestAnInterruptedCommandSaysThatItWas(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	hangs := sabir.NewService("hangs")
	sabir.Handle(hangs, "on", func(ctx context.Context, _ struct{}) (struct{}, error) {
		cancel()
		<-ctx.Done()
		return struct{}{}, ctx.Err()
	})
	startNode(t, sabir.NewNode(quiet(), sabir.Serve(hangs), sabir.HTTP(":0", web.With(web.Config{Operators: []string{web.ThisMachine}}))))
	for _, args := range [][]string{
		{"bench", "hangs.on", "--timeout", "1h", "-d", "1h"}, // while its first call runs
		{"call", "hangs.on", "-"},                            // while it reads its input
	} {
		var out, errOut strings.Builder
		stdin, never := io.Pipe()
		code := execute(ctx, args, stdin, &out, &errOut)
		never.Close()
		if code != exitFailed || out.Len() > 0 || errOut.String() != "error: interrupted\n" {
			t.Errorf("%v: exit code %d, %s %s", args, code, out.String(), errOut.String())
		}
	}
}
