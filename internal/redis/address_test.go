package redis

import (
	"crypto/tls"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/replication"
)

func read(t *testing.T, text string) *Address {
	t.Helper()
	at, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	a, err := Parse(at, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAnAddressIsReadWhole(t *testing.T) {
	for _, test := range []struct {
		address  string
		servers  []string
		user     string
		database int
		prefix   string
		secure   bool
		public   string
	}{
		{"redis://127.0.0.1", []string{"127.0.0.1:6379"}, "", 0, "sabir", false, "redis://127.0.0.1:6379"},
		{"redis://localhost:7000/", []string{"127.0.0.1:7000"}, "", 0, "sabir", false, "redis://127.0.0.1:7000"},
		{"redis://:7000", []string{"127.0.0.1:7000"}, "", 0, "sabir", false, "redis://127.0.0.1:7000"},
		{"redis://[::1]:2/", []string{"[::1]:2"}, "", 0, "sabir", false, "redis://[::1]:2"},
		{"redis://u:secret@h:1/3?prefix=shop.2", []string{"h:1"}, "u", 3, "shop.2", false, "redis://h:1/3"},
		{"redis://a,b:1", []string{"a:6379", "b:1"}, "", 0, "sabir", false, "redis://a:6379,b:1"},
		{"redis://a:1,b:2?sentinel=s", []string{"a:1", "b:2"}, "", 0, "sabir", false, "redis://a:1,b:2?sentinel=s"},
		{"rediss://:secret@h:1", []string{"h:1"}, "", 0, "sabir", true, "rediss://h:1"},
	} {
		a := read(t, test.address)
		if !slices.Equal(a.Servers, test.servers) || a.User != test.user || a.Database != test.database || a.Prefix != test.prefix || (a.TLS != nil) != test.secure {
			t.Errorf("%s is read as %+v", test.address, a)
		}
		if got := a.Public(); got != test.public {
			t.Errorf("%s is for others %s", test.address, got)
		}
		if strings.Contains(a.Name, "secret") {
			t.Errorf("the name shows the password: %s", a.Name)
		}
	}
}

func TestAnAddressSaysHowManyReplicasMustHaveAWrite(t *testing.T) {
	for address, want := range map[string]replication.Setting{
		"redis://h":                         {Replicas: replication.Auto},
		"redis://h?replicas=auto":           {Replicas: replication.Auto},
		"redis://h?replicas=0":              {},
		"redis://h?replicas=2&fsync=false":  {Replicas: 2},
		"redis://h?replicas=2&fsync=true":   {Replicas: 2, Fsync: true},
		"redis://a,b?sentinel=s&replicas=1": {Replicas: 1},
	} {
		if got := read(t, address).Writes; got != want {
			t.Errorf("%s: got %+v", address, got)
		}
	}
}

func TestOneServerIsCheckedAgainstItsNameInTLS(t *testing.T) {
	if got := read(t, "rediss://h:1").TLS.ServerName; got != "h" {
		t.Errorf("got %q", got)
	}
	if got := read(t, "rediss://a,b").TLS.ServerName; got != "" {
		t.Errorf("each of several servers has a name of its own, got %q", got)
	}
	at := &url.URL{Scheme: "rediss", Host: "h"}
	a, err := Parse(at, &tls.Config{ServerName: "other"})
	if err != nil || a.TLS.ServerName != "other" {
		t.Errorf("got %+v, %v", a, err)
	}
}

func FuzzAddress(f *testing.F) {
	for _, address := range []string{"redis://h", "redis://u:p@a,b:1/0?prefix=x", "rediss://[::1]:2", "redis://a?sentinel=s"} {
		f.Add(address)
	}
	f.Fuzz(func(t *testing.T, address string) {
		at, err := url.Parse(address)
		if err != nil || at.Scheme != "redis" && at.Scheme != "rediss" {
			return
		}
		a, err := Parse(at, nil)
		if err != nil {
			return
		}
		if len(a.Servers) == 0 || a.Prefix == "" || strings.ContainsAny(a.Prefix, ":{}") {
			t.Fatalf("%s: got %+v", address, a)
		}
		again, err := url.Parse(a.Public())
		if err != nil {
			t.Fatalf("%q is for others %q: %v", address, a.Public(), err)
		}
		if b, err := Parse(again, nil); err != nil || !slices.Equal(a.Servers, b.Servers) || a.Database != b.Database || a.Sentinel != b.Sentinel {
			t.Errorf("%q is for others %q, read as %+v, %v", address, a.Public(), b, err)
		}
	})
}
