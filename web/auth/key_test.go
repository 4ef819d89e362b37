package auth_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web/auth"
)

const (
	backupKey = "4f2b9c81d07e4b5fa1c6"
	reportKey = "a9f04c7733de41b2b0de"
)

func TestAPIKeys(t *testing.T) {
	a := &auth.Key{Keys: map[string]auth.Principal{backupKey: {Subject: "backup", Roles: []string{"reader"}}, auth.HashAPIKey(reportKey): {Subject: "report", Scheme: "reports"}}}
	if p := admitted(t, a, request("x-api-key", backupKey)); p.Subject != "backup" || p.Scheme != "key" || !p.HasAny("reader") {
		t.Errorf("got %+v", p)
	}
	if p := admitted(t, a, request("X-Api-Key", reportKey)); p.Subject != "report" || p.Scheme != "reports" {
		t.Errorf("got %+v", p)
	}
	for _, key := range []string{"", " ", backupKey[1:], backupKey + "x", strings.ToUpper(backupKey), auth.HashAPIKey(reportKey), strings.Repeat("x", 513)} {
		refused(t, a, request("X-Api-Key", key), auth.ErrBadCredentials)
	}
	refused(t, a, request("X-Api-Key", backupKey, "X-Api-Key", backupKey), auth.ErrBadCredentials)
	refused(t, a, request(), auth.ErrNotSignedIn)
	refused(t, a, bearer(backupKey), auth.ErrBadCredentials) // another header
}

func TestKeysInOtherHeaders(t *testing.T) {
	keys := map[string]auth.Principal{backupKey: {Subject: "backup"}}
	admitted(t, &auth.Key{Keys: keys, Header: "X-Backup"}, request("X-Backup", backupKey))
	admitted(t, &auth.Key{Keys: keys, Bearer: true}, bearer(backupKey))
	if s := (&auth.Key{Keys: keys, Bearer: true}).Scheme(); s.Type != "http" || s.Scheme != "bearer" {
		t.Errorf("got %+v", s)
	}
}

func TestABearerIsATokenOrAKey(t *testing.T) {
	filter := auth.Filter(&auth.JWT{Secret: secret}, &auth.Key{Keys: map[string]auth.Principal{backupKey: {Subject: "backup"}}, Bearer: true})
	for credentials, want := range map[string]string{backupKey: "backup", sign(hs256, secret, claims(nil), nil): "ada"} {
		x := bearer(credentials)
		if err := filter.Before(x); err != nil {
			t.Fatal(err)
		}
		if p, _ := auth.Of(x); p.Subject != want {
			t.Errorf("got %+v, want %s", p, want)
		}
	}
}

func TestKeysThatAFunctionKnows(t *testing.T) {
	broken := errors.New("the table at 10.0.0.7 is gone")
	a := &auth.Key{Lookup: func(_ context.Context, key string) (*auth.Principal, error) {
		switch key {
		case backupKey:
			return &auth.Principal{Subject: "backup"}, nil
		case "broken":
			return nil, broken
		case "away":
			return nil, sabir.NewError(sabir.CodeUnavailable, "KeysUnreachable", "")
		}
		return nil, nil
	}}
	if p := admitted(t, a, request("X-Api-Key", backupKey)); p.Subject != "backup" || p.Scheme != "key" {
		t.Errorf("got %+v", p)
	}
	refused(t, a, request("X-Api-Key", "other"), auth.ErrBadCredentials)
	refused(t, a, request("X-Api-Key", "away"), sabir.NewError(sabir.CodeUnavailable, "KeysUnreachable", ""))
	if e := refused(t, a, request("X-Api-Key", "broken"), auth.ErrBadCredentials); strings.Contains(e.Message, "10.0.0.7") || !errors.Is(e, broken) {
		t.Errorf("got %v", e)
	}
}

func TestTheFunctionIsAskedForKeysThatAreNotInTheMap(t *testing.T) {
	var asked []string
	a := &auth.Key{Keys: map[string]auth.Principal{backupKey: {Subject: "backup"}}, Lookup: func(_ context.Context, key string) (*auth.Principal, error) {
		asked = append(asked, key)
		if key == reportKey {
			return &auth.Principal{Subject: "report"}, nil
		}
		return nil, nil
	}}
	for key, want := range map[string]string{backupKey: "backup", reportKey: "report"} {
		if p := admitted(t, a, request("X-Api-Key", key)); p.Subject != want {
			t.Errorf("got %+v, want %s", p, want)
		}
	}
	refused(t, a, request("X-Api-Key", "other"), auth.ErrBadCredentials)
	if !slices.Equal(asked, []string{reportKey, "other"}) {
		t.Errorf("asked for %q", asked)
	}
}
