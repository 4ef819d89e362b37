package auth_test

import (
	"context"
	"errors"
	"testing"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/exchange"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// request is an exchange with headers, given as names and values in turn.
func request(headers ...string) *exchange.Exchange {
	x := &exchange.Exchange{Context: context.Background(), Method: "POST", Path: "/users/get", Host: "api.example.com"}
	for i := 0; i < len(headers); i += 2 {
		x.Header.Add(headers[i], headers[i+1])
	}
	return x
}

func bearer(token string) *exchange.Exchange { return request("Authorization", "Bearer "+token) }

// admitted is the principal that the filter found.
func admitted(t *testing.T, a auth.Authenticator, x *exchange.Exchange) auth.Principal {
	t.Helper()
	if err := auth.Filter(a).Before(x); err != nil {
		t.Fatalf("refused: %v", err)
	}
	p, ok := auth.Of(x)
	if !ok {
		t.Fatal("nobody was found")
	}
	return p
}

// refused expects the filter to refuse x with the error.
func refused(t *testing.T, a auth.Authenticator, x *exchange.Exchange, want *sabir.Error) *sabir.Error {
	t.Helper()
	err := auth.Filter(a).Before(x)
	if !errors.Is(err, want) {
		t.Fatalf("got %v, want %s", err, want.Name)
	}
	if _, ok := auth.Of(x); ok {
		t.Fatal("refused, but with a caller")
	}
	return sabir.AsError(err)
}

func start(t testing.TB, options ...sabir.NodeOption) *sabir.Node {
	t.Helper()
	n := sabir.NewNode(options...)
	if err := n.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return n
}

// whoami is a service whose action returns the principal that it works for.
func whoami(options ...sabir.ActionOption) *sabir.Service {
	s := sabir.NewService("who")
	sabir.Handle(s, "ami", func(ctx context.Context, _ sabir.Empty) (string, error) {
		p, ok := auth.FromContext(ctx)
		if !ok {
			return "nobody", nil
		}
		return p.Scheme + ":" + p.Subject, nil
	}, options...)
	return s
}

// sabirName is the name of an error; "" for none.
func sabirName(err error) string {
	if err == nil {
		return ""
	}
	return sabir.AsError(err).Name
}
