package redis

import (
	"net/url"
	"strings"
	"testing"
)

func TestAddressesAreRead(t *testing.T) {
	for text, want := range map[string]address{
		"redis://127.0.0.1":                 {hostPort: "127.0.0.1:6379"},
		"redis://localhost:7000/":           {hostPort: "127.0.0.1:7000"},
		"redis://:7000":                     {hostPort: "127.0.0.1:7000"},
		"redis://[::1]":                     {hostPort: "[::1]:6379"},
		"redis://ada:secret@example.com/12": {hostPort: "example.com:6379", database: 12},
		"rediss://:secret@example.com:1":    {hostPort: "example.com:1", secure: true},
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		a, err := parse(u)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if a.hostPort != want.hostPort || a.database != want.database || a.secure != want.secure {
			t.Errorf("%s is read as %s, database %d, TLS %v", text, a.hostPort, a.database, a.secure)
		}
		if strings.Contains(a.public(), "secret") {
			t.Errorf("the address for others shows the password: %s", a.public())
		}
	}
}

func TestAddressesWithPartsThatMeanNothingAreRefused(t *testing.T) {
	for _, text := range []string{
		"redis:", "redis://", "redis:///0", "redis://a/b", "redis://a/1/2", "redis://a/-1", "redis://a?db=1", "redis://a?", "redis://a#b", "redis://a:0",
		"redis://ada:secret@a:b", "redis://ada:secret@a/x",
	} {
		u, err := url.Parse(text)
		if err != nil {
			continue // refused before
		}
		if _, err := parse(u); err == nil {
			t.Errorf("%s was taken", text)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error shows the password: %v", text, err)
		}
	}
}

func FuzzAddress(f *testing.F) {
	for _, text := range []string{"redis://ada:secret@a:1/2", "rediss://[::1]", "redis://:1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := url.Parse(text)
		if err != nil {
			return
		}
		a, err := parse(u)
		if err != nil {
			return
		}
		again, err := url.Parse(a.public())
		if err != nil {
			t.Fatalf("%q is for others %q: %v", text, a.public(), err)
		}
		if b, err := parse(again); err != nil || a.hostPort != b.hostPort || a.database != b.database {
			t.Errorf("%q is for others %q, read as %+v, %v", text, a.public(), b, err)
		}
	})
}
