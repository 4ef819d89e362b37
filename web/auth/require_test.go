package auth_test

import (
	"context"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web/auth"
)

func TestRequireAdmitsOnlyCallersWithARole(t *testing.T) {
	someone := auth.Principal{Subject: "bob"}
	for _, c := range []struct {
		what  string
		roles []string
		who   *auth.Principal
		want  *sabir.Error
	}{
		{"nobody, no roles", nil, nil, auth.ErrNotSignedIn},
		{"nobody, a role", []string{"admin"}, nil, auth.ErrNotSignedIn},
		{"without roles, no roles", nil, &someone, nil},
		{"without roles, a role", []string{"admin"}, &someone, auth.ErrNotAllowed},
		{"with the role", []string{"admin"}, &ada, nil},
		{"with one of the roles", []string{"root", "user"}, &ada, nil},
		{"with others", []string{"root", "Admin"}, &ada, auth.ErrNotAllowed},
		{"the system", []string{"root"}, &auth.Principal{Subject: "timer", Scheme: "system"}, nil},
	} {
		t.Run(c.what, func(t *testing.T) {
			node := start(t, sabir.Serve(whoami(sabir.Use(auth.Require(c.roles...)))))
			ctx := t.Context()
			if c.who != nil {
				ctx = auth.As(ctx, *c.who)
			}
			got, err := sabir.Call[string](ctx, node, "who.ami", sabir.Empty{})
			if c.want == nil && (err != nil || !strings.HasSuffix(got, c.who.Subject)) || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("got %q, %v, want %v", got, err, c.want)
			}
		})
	}
}

func TestACallThatCameFromAnotherNodeIsGuardedByItsMetadata(t *testing.T) {
	node := start(t, sabir.Serve(whoami(sabir.Use(auth.Require("admin")))))
	text := sabir.InfoFromContext(auth.As(t.Context(), ada)).Metadata[auth.MetadataKey]
	if got, err := sabir.Call[string](sabir.WithMetadata(t.Context(), auth.MetadataKey, text), node, "who.ami", sabir.Empty{}); err != nil || got != "jwt:ada" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := sabir.Call[string](sabir.WithMetadata(t.Context(), auth.MetadataKey, `{"sub":"eve"}`), node, "who.ami", sabir.Empty{}); !errors.Is(err, auth.ErrNotAllowed) {
		t.Errorf("got %v", err)
	}
}

func TestANestedCallIsMadeForTheSameCaller(t *testing.T) {
	outer := sabir.NewService("outer")
	sabir.Handle(outer, "run", func(ctx context.Context, _ sabir.Empty) (string, error) {
		return sabir.Call[string](ctx, sabir.NodeFromContext(ctx), "who.ami", sabir.Empty{})
	})
	node := start(t, sabir.Serve(outer), sabir.Serve(whoami(sabir.Use(auth.Require("admin")))))
	if got, err := sabir.Call[string](auth.As(t.Context(), ada), node, "outer.run", sabir.Empty{}); err != nil || got != "jwt:ada" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := sabir.Call[string](t.Context(), node, "outer.run", sabir.Empty{}); !errors.Is(err, auth.ErrNotSignedIn) {
		t.Errorf("got %v", err)
	}
}

func TestRequireGuardsStreams(t *testing.T) {
	s := sabir.NewService("numbers")
	sabir.HandleStream(s, "count", func(ctx context.Context, stream *sabir.Stream[int, int]) error {
		return stream.Send(1)
	}, sabir.Use(auth.Require("admin"), auth.RequireFunc(func(_ context.Context, _ auth.Principal, in any) error {
		if in != nil {
			return errors.New("a stream has no input")
		}
		return nil
	})))
	node := start(t, sabir.Serve(s))
	recv := func(ctx context.Context) error {
		stream, err := sabir.OpenStream[int, int](ctx, node, "numbers.count")
		if err != nil {
			return err
		}
		defer stream.Close()
		stream.CloseSend()
		for {
			if _, err := stream.Recv(); err != nil {
				return err
			}
		}
	}
	if err := recv(auth.As(t.Context(), ada)); err != io.EOF {
		t.Errorf("got %v", err)
	}
	if err := recv(t.Context()); !errors.Is(err, auth.ErrNotSignedIn) {
		t.Errorf("got %v", err)
	}
}

func TestRequireFuncSeesTheInput(t *testing.T) {
	type get struct{ ID string }
	own := auth.RequireFunc(func(_ context.Context, p auth.Principal, in any) error {
		switch in := in.(*get); {
		case in.ID == p.Subject:
			return nil
		case in.ID == "declared":
			return sabir.NewError(sabir.CodeFailedPrecondition, "Locked", "it is locked")
		}
		return errors.New("row 17 of secrets says no")
	})
	s := sabir.NewService("users")
	sabir.Handle(s, "get", func(_ context.Context, in get) (string, error) { return in.ID, nil }, sabir.Use(own))
	node := start(t, sabir.Serve(s))
	call := func(ctx context.Context, id string) error {
		_, err := sabir.Call[string](ctx, node, "users.get", get{id})
		return err
	}
	user := auth.As(t.Context(), ada)
	if err := call(user, "ada"); err != nil {
		t.Error(err)
	}
	if err := call(user, "bob"); !errors.Is(err, auth.ErrNotAllowed) || strings.Contains(err.Error(), "secrets") {
		t.Errorf("got %v", err)
	}
	if err := call(user, "declared"); sabir.AsError(err).Name != "Locked" {
		t.Errorf("got %v", err)
	}
	if err := call(t.Context(), "ada"); !errors.Is(err, auth.ErrNotSignedIn) {
		t.Errorf("got %v", err)
	}
	if err := call(auth.AsSystem(t.Context(), "timer"), "bob"); err != nil {
		t.Errorf("the system gets %v", err)
	}
}

func TestRequireNotesItsRoles(t *testing.T) {
	noted := func(options ...sabir.ActionOption) any {
		return start(t, sabir.Serve(whoami(options...))).Action("who.ami").Annotation(auth.ScopesKey)
	}
	allow := func(context.Context, auth.Principal, any) error { return nil }
	for _, c := range []struct {
		got, want any
	}{
		{noted(), nil},
		{noted(sabir.Use(auth.Require())), []string{}},
		{noted(sabir.Use(auth.Require("a", "b"))), []string{"a", "b"}},
		{noted(sabir.Use(auth.Require(), auth.Require("a"))), []string{"a"}},
		{noted(sabir.Use(auth.Require("a"), auth.RequireFunc(allow))), []string{"a"}},
		{noted(sabir.Use(auth.RequireFunc(allow))), []string{}},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("got %#v, want %#v", c.got, c.want)
		}
	}
}

func TestRequireRefusesWhatItCannotGuard(t *testing.T) {
	for _, m := range []sabir.Middleware{auth.Require(""), auth.RequireFunc(nil)} {
		n := sabir.NewNode(sabir.Serve(whoami(sabir.Use(m))))
		if err := n.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "auth.Require") {
			t.Errorf("got %v", err)
		}
		n.Stop(context.Background())
	}
}
