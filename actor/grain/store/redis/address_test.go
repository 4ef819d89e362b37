package redis

import (
	"crypto/tls"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/actor/grain/store"
)

func TestAnAddressIsReadWhole(t *testing.T) {
	for _, test := range []struct {
		address  string
		hosts    []string
		user     string
		database int
		prefix   string
		secure   bool
	}{
		{"redis://h", []string{"h:6379"}, "", 0, "sabir", false},
		{"redis://u:p@127.0.0.1:1/3?prefix=shop.2", []string{"127.0.0.1:1"}, "u", 3, "shop.2", false},
		{"redis://[::1]:2/", []string{"[::1]:2"}, "", 0, "sabir", false},
		{"redis://a,b:1", []string{"a:6379", "b:1"}, "", 0, "sabir", false},
		{"redis://a:1,b:2", []string{"a:1", "b:2"}, "", 0, "sabir", false},
		{"rediss://h:1", []string{"h:1"}, "", 0, "sabir", true},
	} {
		at, err := url.Parse(test.address)
		if err != nil {
			t.Fatal(err)
		}
		option, prefix, err := options(at, store.Config{})
		if err != nil || !slices.Equal(option.InitAddress, test.hosts) || option.Username != test.user || option.SelectDB != test.database ||
			prefix != test.prefix || (option.TLSConfig != nil) != test.secure {
			t.Errorf("%s: got %+v, %q, %v", test.address, option, prefix, err)
		}
	}
}

func TestAnAddressThatIsWrongSomewhereIsRefused(t *testing.T) {
	for _, address := range []string{
		"redis:h", "redis://", "redis://h/x", "redis://h/-1", "redis://h#f", "redis://h?db=1", "redis://h?prefix=", "redis://h?prefix=a:b",
		"redis://h?prefix={a}", "redis://h?prefix=a&prefix=b", "redis://a,b/1", "redis://a,,b", "redis://u:secret@h?x=y",
	} {
		at, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = options(at, store.Config{})
		if err == nil {
			t.Errorf("%s was taken", address)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the password is in the error: %v", address, err)
		}
	}
}

func TestATLSConfigurationIsNotIgnored(t *testing.T) {
	at := &url.URL{Scheme: "redis", Host: "h"}
	if _, _, err := options(at, store.Config{TLS: &tls.Config{}}); err == nil {
		t.Error("an address that does not encrypt was taken")
	}
	at.Scheme = "rediss"
	option, _, err := options(at, store.Config{TLS: &tls.Config{ServerName: "other"}})
	if err != nil || option.TLSConfig.ServerName != "other" {
		t.Errorf("got %+v, %v", option.TLSConfig, err)
	}
}

func FuzzAddress(f *testing.F) {
	for _, address := range []string{"redis://h", "redis://u:p@a,b:1/3?prefix=x", "rediss://[::1]:2"} {
		f.Add(address)
	}
	f.Fuzz(func(t *testing.T, address string) {
		at, err := url.Parse(address)
		if err != nil {
			return
		}
		option, prefix, err := options(at, store.Config{})
		if err == nil && (len(option.InitAddress) == 0 || prefix == "" || strings.ContainsAny(prefix, ":{}")) {
			t.Fatalf("%s: got %+v, %q", address, option, prefix)
		}
	})
}
