package nats

import (
	"cmp"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestAddressesAreRead(t *testing.T) {
	for text, want := range map[string]Address{
		"nats://example.com":                    {Servers: []string{"example.com:4222"}},
		"nats://localhost:5000":                 {Servers: []string{"127.0.0.1:5000"}},
		"nats://:5000":                          {Servers: []string{"127.0.0.1:5000"}},
		"nats://[::1]:5000/":                    {Servers: []string{"[::1]:5000"}},
		"nats://[::1]":                          {Servers: []string{"[::1]:4222"}},
		"nats://a,b:1":                          {Servers: []string{"a:4222", "b:1"}},
		"nats://a:1,b:2,c:3":                    {Servers: []string{"a:1", "b:2", "c:3"}},
		"nats://ada:secret@a:1?tls=true":        {Servers: []string{"a:1"}, Secure: true},
		"nats://a?prefix=shop_2&replicas=3":     {Servers: []string{"a:4222"}, Prefix: "shop_2", Replicas: 3},
		"nats://token@a:1?tls=false":            {Servers: []string{"a:1"}},
		"nats://embedded":                       {Port: 4222},
		"nats://embedded:0":                     {Port: 0},
		"nats://embedded:1?host=0.0.0.0":        {Port: 1, Host: "0.0.0.0"},
		"nats://embedded?routes=a,b:1,[::1]:2":  {Port: 4222, Routes: []string{"a:6222", "b:1", "[::1]:2"}},
		"nats://embedded?store=/var/s&sync=1":   {Port: 4222, Store: "/var/s", Sync: true},
		"nats://embedded?store=%2Fvar%2Fa%20b":  {Port: 4222, Store: "/var/a b"},
		"nats://embedded:65535?store=/s&host=a": {Port: 65535, Store: "/s", Host: "a"},
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		a, err := Parse(u)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if !slices.Equal(a.Servers, want.Servers) || a.Secure != want.Secure || a.Port != want.Port || a.Host != want.Host ||
			!slices.Equal(a.Routes, want.Routes) || a.Store != filepath.FromSlash(want.Store) || a.Sync != want.Sync || a.Prefix != cmp.Or(want.Prefix, "sabir") || a.Replicas != want.Replicas {
			t.Errorf("%s is read as %+v, want %+v", text, *a, want)
		}
	}
}

func TestAddressesWithPartsThatMeanNothingAreRefused(t *testing.T) {
	for _, text := range []string{
		"nats:", "nats://", "nats:///path", "nats://a/path", "nats://a#part", "nats://a?colour=red", "nats://a?tls=perhaps",
		"nats://a?tls=true&tls=false", "nats://a?store=/s", "nats://a:0", "nats://a:1,", "nats://a:1,embedded:2", "nats://a,b/c",
		"nats://ada:secret@embedded", "nats://embedded?tls=true", "nats://embedded?sync=true", "nats://embedded?store=/s&routes=a",
		"nats://embedded?routes=a:0", "nats://embedded?routes=:1", "nats://embedded?store=/s&sync=often", "nats://embedded:70000",
		"nats://embedded,a", "nats://embedded?%zz",
	} {
		u, err := url.Parse(text)
		if err != nil {
			continue // refused before
		}
		if a, err := Parse(u); err == nil {
			t.Errorf("%s is read as %+v", text, *a)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error shows the password: %v", text, err)
		}
	}
}

func TestTheAddressForOthersHasNoPassword(t *testing.T) {
	u, err := url.Parse("nats://ada:secret@a,b:1?tls=1")
	if err != nil {
		t.Fatal(err)
	}
	a, err := Parse(u)
	if err != nil {
		t.Fatal(err)
	}
	if got := a.Public(); got != "nats://a:4222,b:1?tls=true" {
		t.Errorf("it is %s", got)
	}
}

func TestRoutePortsFit(t *testing.T) {
	for port, want := range map[int]int{4222: 6222, 1: 2001, 63535: 65535, 63536: 61536, 65535: 63535} {
		if got := (&Address{Port: port}).RoutePort(); got != want {
			t.Errorf("port %d has routes at %d, want %d", port, got, want)
		}
	}
}

func FuzzAddress(f *testing.F) {
	for _, text := range []string{"nats://a:1,[::1]:2?tls=true", "nats://u:p@a", "nats://embedded:0?routes=a:1,b&host=::1", "nats://embedded?store=/s&sync=true"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := url.Parse(text)
		if err != nil {
			return
		}
		a, err := Parse(u)
		if err != nil || a.Embedded() {
			return
		}
		again, err := url.Parse(a.Public())
		if err != nil {
			t.Fatalf("%q is for others %q: %v", text, a.Public(), err)
		}
		b, err := Parse(again)
		if err != nil || !slices.Equal(a.Servers, b.Servers) || a.Secure != b.Secure {
			t.Errorf("%q is for others %q, read as %+v, %v", text, a.Public(), b, err)
		}
	})
}
