package auth_test

import (
	"context"
	"maps"
	"reflect"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/web/auth"
)

var ada = auth.Principal{Subject: "ada", Roles: []string{"admin", "user"}, Scheme: "jwt", Claims: map[string]any{"tenant": "blue"}}

func TestAHandlerGetsThePrincipalOfItsCaller(t *testing.T) {
	node := start(t, sabir.Serve(whoami()))
	for _, c := range []struct {
		ctx  context.Context
		want string
	}{
		{t.Context(), "nobody"},
		{auth.As(t.Context(), ada), "jwt:ada"},
		{auth.As(auth.As(t.Context(), ada), auth.Principal{Subject: "bob", Scheme: "key"}), "key:bob"},
		{auth.As(auth.As(t.Context(), ada), auth.Principal{}), "nobody"},
		{auth.AsSystem(t.Context(), "cleaner"), "system:cleaner"},
	} {
		if got, err := sabir.Call[string](c.ctx, node, "who.ami", sabir.Empty{}); err != nil || got != c.want {
			t.Errorf("got %q, %v, want %q", got, err, c.want)
		}
	}
}

func TestAPrincipalTravelsAsMetadata(t *testing.T) {
	text := sabir.InfoFromContext(auth.As(t.Context(), ada)).Metadata[auth.MetadataKey]
	if want := `{"sub":"ada","roles":["admin","user"],"scheme":"jwt","claims":{"tenant":"blue"}}`; text != want {
		t.Errorf("got %s, want %s", text, want)
	}
	elsewhere := sabir.WithMetadata(t.Context(), auth.MetadataKey, text) // all that arrives on another node
	if got, ok := auth.FromContext(elsewhere); !ok || !reflect.DeepEqual(got, ada) {
		t.Errorf("arrived as %+v, %v", got, ok)
	}
}

func TestAPrincipalThatCannotBeReadIsNone(t *testing.T) {
	for _, text := range []string{"", "{}", "null", `"ada"`, `{"sub":""}`, `{"sub":"ada"`, `{"sub":"ada","sub":"root"}`, `{"sub":1}`} {
		if p, ok := auth.FromContext(sabir.WithMetadata(t.Context(), auth.MetadataKey, text)); ok {
			t.Errorf("%s is taken for %+v", text, p)
		}
	}
}

func TestTheMetadataDecidesWhereTheContextKnowsAnother(t *testing.T) {
	ctx := sabir.WithMetadata(auth.As(t.Context(), ada), auth.MetadataKey, `{"sub":"bob"}`)
	if p, _ := auth.FromContext(ctx); p.Subject != "bob" || p.HasAny("admin") {
		t.Errorf("got %+v", p)
	}
}

func TestAChangedCopyOfAPrincipalIsWhatTravels(t *testing.T) {
	p, _ := auth.FromContext(auth.As(t.Context(), ada))
	p.Roles = []string{"user"}
	again, _ := auth.FromContext(sabir.WithMetadata(t.Context(), auth.MetadataKey, sabir.InfoFromContext(auth.As(t.Context(), p)).Metadata[auth.MetadataKey]))
	if !reflect.DeepEqual(again.Roles, p.Roles) {
		t.Errorf("the roles are %v", again.Roles)
	}
}

func TestTheSystemHasEveryRole(t *testing.T) {
	if p, _ := auth.FromContext(auth.AsSystem(t.Context(), "x")); !p.HasAny("anything") {
		t.Error("it has not")
	}
	if ada.HasAny("root") || ada.HasAny() || !ada.HasAny("root", "user") {
		t.Error("a user's roles are wrong")
	}
}

func TestInboundMakesACallOneOfTheCaller(t *testing.T) {
	node := start(t, sabir.Serve(whoami()))
	action := node.Action("who.ami")
	call := func(caller any, metadata map[string]string) string {
		x := request()
		x.Principal = caller
		in := gateway.Inbound{Context: t.Context(), Metadata: metadata}
		in.Context, in.Metadata = auth.Inbound(x, in.Context, in.Metadata)
		out, err := action.ServeJSON(in, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	other := map[string]string{"trace": "1"}
	for _, c := range []struct {
		what     string
		caller   any
		metadata map[string]string
		want     string
	}{
		{"nobody", nil, nil, `"nobody"`},
		{"nobody with metadata", nil, maps.Clone(other), `"nobody"`},
		{"nobody who says to be somebody", nil, map[string]string{auth.MetadataKey: `{"sub":"root"}`}, `"nobody"`},
		{"somebody", &ada, nil, `"jwt:ada"`},
		{"somebody with metadata", &ada, maps.Clone(other), `"jwt:ada"`},
		{"somebody who says to be another", &ada, map[string]string{auth.MetadataKey: `{"sub":"root"}`}, `"jwt:ada"`},
		{"a caller of another type", "ada", nil, `"nobody"`},
	} {
		if got := call(c.caller, c.metadata); got != c.want {
			t.Errorf("%s: got %s, want %s", c.what, got, c.want)
		}
	}
}

func TestContextIsInboundForStreams(t *testing.T) {
	x := request()
	if ctx := auth.Context(t.Context(), x); ctx != t.Context() {
		t.Error("nobody's context is another one")
	}
	if _, ok := auth.FromContext(auth.Context(sabir.WithMetadata(t.Context(), auth.MetadataKey, `{"sub":"root"}`), x)); ok {
		t.Error("nobody became somebody")
	}
	x.Principal = &ada
	if p, ok := auth.FromContext(auth.Context(t.Context(), x)); !ok || p.Subject != "ada" {
		t.Errorf("got %+v, %v", p, ok)
	}
}
