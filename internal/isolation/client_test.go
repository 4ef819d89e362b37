package isolation_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/dashboard"
)

// clientEntryPoints are the ways of calls that a node passes on to another one by web.Client.
var clientEntryPoints = []entryPoint{
	{name: "input of a call through a client", open: func(t *testing.T, log *slog.Logger) way {
		n := throughClient(t, log, func(context.Context, Payload) (Payload, error) { return good(), nil })
		return func(ctx context.Context, p Payload) error {
			_, err := sabir.Call[Payload](ctx, n, "there.take", p)
			return err
		}
	}, cannot: sameGoroutine},
	{name: "answer of a call through a client", open: func(t *testing.T, log *slog.Logger) way {
		var answer atomic.Pointer[Payload]
		n := throughClient(t, log, func(context.Context, Payload) (Payload, error) { return *answer.Load(), nil })
		return func(ctx context.Context, p Payload) error {
			answer.Store(&p)
			_, err := sabir.Call[Payload](ctx, n, "there.take", good())
			return err
		}
	}, cannot: merge(sameGoroutine, map[fault]string{panicsChecked: notChecked, exitsChecked: notChecked})},
	{name: "data of an error through a client", open: func(t *testing.T, log *slog.Logger) way {
		failed := sabir.NewError(sabir.CodeFailedPrecondition, "Refused", "no")
		var data atomic.Pointer[Payload]
		n := throughClient(t, log, func(context.Context, Payload) (Payload, error) { return good(), failed.WithData(data.Load()) })
		return func(ctx context.Context, p Payload) error {
			data.Store(&p)
			_, err := sabir.Call[Payload](ctx, n, "there.take", good())
			if got, wrong := sabir.DataAs[Payload](err); wrong == nil && got.Text == p.Text {
				return nil
			}
			return err
		}
	}, cannot: merge(sameGoroutine, map[fault]string{panicsRead: untypedData, panicsChecked: notChecked, exitsChecked: notChecked})},
}

// sessionEntryPoints are the ways of values of handlers into cookies, and into the answers of the dashboard.
var sessionEntryPoints = []entryPoint{
	{name: "claims of a session", open: func(t *testing.T, log *slog.Logger) way {
		sessions := auth.Session(auth.SessionConfig{Secret: []byte("0123456789abcdef0123456789abcdef")})
		s := sabir.NewService("there")
		sabir.Handle(s, "signIn", func(ctx context.Context, in askedFor) (sabir.Empty, error) {
			claim := Payload{Text: Text(in.Text)}
			if in.Deep {
				claim = with(nestsTooDeep)
			}
			return sabir.Empty{}, sessions.SignIn(web.ExchangeFromContext(ctx), auth.Principal{Subject: "ada", Claims: map[string]any{"claim": claim}})
		})
		there := start(t, sabir.NodeID("there"), sabir.Logger(log), sabir.Serve(s), sabir.HTTP("127.0.0.1:0", web.With(web.Config{Auth: []auth.Authenticator{sessions}, AllowAnonymous: true})))
		client, err := web.Dial("http://"+there.HTTPAddr(), web.ClientConfig{})
		if err != nil {
			t.Fatal(err)
		}
		here := start(t, sabir.NodeID("here"), sabir.Logger(log), sabir.WithUpstream(client))
		return func(ctx context.Context, p Payload) error {
			_, err := sabir.Call[sabir.Empty](ctx, here, "there.signIn", askedFor{string(p.Text), p.Next != nil})
			return err
		}
	}, cannot: merge(onlyWritten, map[fault]string{exitsWritten: "the handler signs in, and ends as any handler that ends its goroutine"})},
	{name: "data of an error in the dashboard", open: func(t *testing.T, log *slog.Logger) way {
		failed := sabir.NewError(sabir.CodeFailedPrecondition, "Refused", "no")
		var data atomic.Pointer[Payload]
		s := sabir.NewService("there")
		sabir.Handle(s, "fail", func(context.Context, sabir.Empty) (sabir.Empty, error) {
			return sabir.Empty{}, failed.WithData(data.Load())
		})
		n := start(t, sabir.NodeID("there"), sabir.Logger(log), sabir.Serve(s), sabir.HTTP("127.0.0.1:0", dashboard.At("/dashboard")))
		return func(ctx context.Context, p Payload) error {
			data.Store(&p)
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+n.HTTPAddr()+"/dashboard/api/call", strings.NewReader(`{"action":"there.fail"}`))
			if err != nil {
				return err
			}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("X-Sabir-Dashboard", "1")
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			answer, err := client.Do(r)
			if err != nil {
				return err
			}
			defer answer.Body.Close()
			body, err := io.ReadAll(answer.Body)
			if err == nil && !strings.Contains(string(body), `"word":"`+string(p.Text)+`"`) {
				err = fmt.Errorf("the data is not in %d %s", answer.StatusCode, body)
			}
			return err
		}
	}, cannot: merge(onlyWritten, map[fault]string{exitsWritten: "the goroutine is that of the request, whose connection ends with it"})},
}

// onlyWritten is the reasons of entry points behind which nothing reads a value into its type.
var onlyWritten = map[fault]string{panicsRead: "nothing reads it into its type", exitsRead: "nothing reads it into its type", panicsChecked: notChecked, exitsChecked: notChecked}

// throughClient starts a node that passes calls on over HTTP to one with the action there.take.
func throughClient(t *testing.T, log *slog.Logger, take func(context.Context, Payload) (Payload, error)) *sabir.Node {
	t.Helper()
	s := sabir.NewService("there")
	sabir.Handle(s, "take", take)
	there := start(t, sabir.NodeID("there"), sabir.Logger(log), sabir.Serve(s), sabir.HTTP("127.0.0.1:0"))
	client, err := web.Dial("http://"+there.HTTPAddr(), web.ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	return start(t, sabir.NodeID("here"), sabir.Logger(log), sabir.WithUpstream(client))
}
